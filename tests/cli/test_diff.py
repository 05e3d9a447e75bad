"""`moot diff` of a fork and its parent."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import RULING

pytestmark = pytest.mark.slow

HOSTILE = "I agree.\nSteps\n\x1b[31mOutcome\x1b[0m \u202eend [brackets] words that both of them have said"


@pytest.fixture
def pair(done):
    """The completed debate, and a fork of it that another model took over in round 2."""
    moot, parent = done, done.ids[0]
    changed = {"2/speak/a": "a speaks at last.", "*/verdict/judge": RULING | {"score_a": 2}}
    model = moot.script(changed)
    models = ("--set", f"model_debater={model}", "--set", f"model_judge={model}")
    forked = moot("fork", parent, "--at", "2/speak/a", *models)
    assert forked.code == 0, forked.err
    return moot, parent, next(each for each in moot.ids if each != parent)


def test_a_fork_and_its_parent(pair):
    moot, parent, fork = pair
    result = moot("diff", parent[:8], fork[:8])
    assert result.code == 0, result.err
    text = result.out
    assert f"{fork[:8]} was branched off from {parent[:8]} at 2/speak/a." in text
    assert "3 the same, 2 with other answers." in text
    assert "They part at 2/speak/a, asked the same:" in text
    assert "a speaks at [2/speak/a.]" in text
    assert "a speaks at [last.]" in text
    assert "Answered differently later: 2/verdict/judge." in text
    assert re.search(r"^winner +Debater A +Debater B$", text, re.MULTILINE)
    assert re.search(r"^scores +Debater A 7, Debater B 5 +Debater A 2, Debater B 5$", text, re.MULTILINE)
    assert re.search(r"^ended by +max_rounds +max_rounds$", text, re.MULTILINE)


def test_as_json(pair):
    moot, parent, fork = pair
    document = json.loads(moot("diff", parent, fork, "--json").out)
    assert document["type"] == "moot.diff"
    assert document["relation"] == "fork"
    assert (document["one"]["id"], document["two"]["id"]) == (parent, fork)
    assert (document["one"]["winner"], document["two"]["winner"]) == ("a", "b")
    assert document["parting"]["one"]["key"] == "2/speak/a"
    back = json.loads(moot("diff", fork, parent, "--json").out)
    assert back["relation"] == "parent"


def test_in_a_terminal_words_are_marked_without_brackets(pair):
    moot, parent, fork = pair
    terminal = moot.terminal("diff", parent, fork)
    assert terminal.end() == 0
    assert "\x1b[1;4;31m2/speak/a." in terminal.raw
    assert "\x1b[1;4;32mlast." in terminal.raw
    assert "│ a speaks at last." in terminal.text


def test_unrelated_debates_and_other_formats(moot):
    assert moot("Is it so?", "--rounds", "1", "--model", moot.script({"*/speak/*": HOSTILE})).code == 0
    assert moot("Is it not?", "--rounds", "1", "--model", moot.script()).code == 0
    assert moot("Is it so?", "--format", "duel", "--turns", "2", "--model", "sim:").code == 0
    classic, other, duel = moot.ids
    apart = moot("diff", classic, other).out
    assert "Neither was branched off from the other." in apart
    assert "Their questions differ:" in apart
    assert "They part at 1/speak/a, asked differently:" in apart
    assert [line for line in apart.splitlines() if line == "Steps"] == ["Steps"], "no words can pass for a heading"
    assert "\x1b" not in apart
    formats = moot("diff", classic, duel).out
    assert "Their formats differ (classic, duel), so their steps are not compared." in formats
    assert "Steps" not in formats.splitlines()
    alone = moot("diff", classic, classic).out
    assert "one and the same debate" in alone
    assert "They never part." in alone
