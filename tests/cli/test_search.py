"""`moot search`, `moot templates`, and precedents of new debates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import ANSWER
from tests.forking import constants
from tests.memory.test_library import GOOD

pytestmark = pytest.mark.slow


def test_a_past_debate_is_found_with_its_outcome(finished):
    moot, _ = finished
    result = moot("search", "postgresql", "caching")
    head, question, outcome = result.out.splitlines()
    assert head.split() == ["ID", "DATE", "MATCH", "QUESTION", "AND", "OUTCOME"]
    assert re.match(rf"{moot.ids[0][:8]}  \d{{4}}-\d\d-\d\d  0\.\d\d +Redis or PostgreSQL\?$", question)
    assert outcome.strip() == ANSWER
    assert f"moot show {moot.ids[0][:8]}" in result.err
    assert "by bm25" in result.err


def test_a_search_as_json(finished):
    moot, _ = finished
    document = json.loads(moot("search", "redis", "--json", "--limit", "1").out)
    assert (document["query"], document["by"], document["note"], document["more"]) == ("redis", "bm25", "", False)
    assert (document["tokens_in"], document["cost_usd"]) == (0, 0)
    (found,) = document["found"]
    assert (found["id"], found["topic"], found["format"]) == (moot.ids[0], "Redis or PostgreSQL?", "classic")
    assert (found["winner"], found["headline"]) == ("a", ANSWER)
    assert (found["score"], found["demonstration"]) == (1.0, False)
    assert found["completed_at"] > 0


@pytest.mark.parametrize("words", [["elephants"], ["redis*", "OR", '("']])
def test_whatever_is_typed_is_only_words(finished, words):
    moot, _ = finished
    result = moot("search", *words)
    assert result.code == 0
    assert result.out == "" or "Redis or PostgreSQL?" in result.out
    if not result.out:
        assert "Try other words" in result.err


def test_a_search_in_nothing_says_what_to_do_and_writes_nothing(moot):
    result = moot("search", "caching")
    assert (result.code, result.out) == (0, "")
    assert "Begin one" in result.err
    assert json.loads(moot("search", "caching", "--json").out)["found"] == []
    assert not moot.db.exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["search"], "Missing: WORDS"),
        (["search", "x", "--limit", "0"], "it can be 1 to 100"),
        (["templates", "pigenhole"], "Did you mean 'pigeonhole'?"),
    ],
)
def test_bad_input(moot, args, said):
    result = moot(*args)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not moot.db.exists()


def test_an_embedder_that_is_not_there_is_told_and_words_are_compared(finished):
    moot, _ = finished
    patient = constants({"moot.models.registry.EMBEDDER_SECONDS": 600})
    result = moot("search", "redis", MOOT_EMBEDDER="ollama:nomic-embed-text", OLLAMA_HOST="127.0.0.1:1", **patient)
    assert result.code == 0
    assert "Redis or PostgreSQL?" in result.out
    assert "Only words were compared. ollama:nomic-embed-text can't be reached" in result.err


def test_a_demonstration_is_labelled(moot):
    assert moot("Is it a demonstration?", "--rounds", "1", "--model", "sim:").code == 0
    assert "(a demonstration: it means nothing)" in moot("search", "demonstration").out


def test_a_debate_begins_with_what_was_decided_before(moot):
    assert moot("Redis or PostgreSQL for caching?", "--rounds", "1", "--model", moot.script()).code == 0
    first = moot.ids[0][:8]
    second = moot("Should we cache in Redis or PostgreSQL?", "--rounds", "1", "--model", moot.script())
    assert second.code == 0
    told = f"A question much like this was decided before, in {first} on "
    assert told in second.out
    assert "The debaters are not told; to let them know: --set recall_decisions=true." in second.out
    assert told in moot("show", moot.ids[1][:8]).out
    events = moot("show", moot.ids[1][:8], "--json").events
    assert first in next(event["data"]["text"] for event in events if event["type"] == "notice")
    assert moot("replay", moot.ids[1]).code == 0
    third = moot(
        "Redis or PostgreSQL for caching?", "--rounds", "1", "--model", moot.script(), "--set", "recall_decisions=false"
    )
    assert "decided before" not in third.out


class TestTemplates:
    def test_all_are_listed_and_one_is_printed(self, moot):
        listed = moot("templates")
        assert listed.code == 0
        lines = listed.out.splitlines()
        assert lines[0].split()[0] == "TEMPLATE"
        assert len(lines) > 24
        assert any(line.startswith("pre-mortem ") for line in lines)
        assert "yours" not in listed.out
        one = moot("templates", "pre-mortem")
        assert one.out.startswith("Pre-mortem (pre-mortem)\n")
        for section in ("When to use", "Steps", "Pitfalls", "Worked example"):
            assert f"\n## {section}\n" in one.out
        assert not moot.db.exists()

    def test_your_own_are_marked_and_a_bad_one_is_told(self, moot):
        folder = Path(moot.folder, "mine")
        folder.mkdir()
        (folder / "two.md").write_text(GOOD.format(id="two-envelopes"))
        (folder / "bad.md").write_text("nothing")
        listed = moot("templates", MOOT_TEMPLATES_DIR="mine")
        assert re.search(r"^two-envelopes +yours +Compare what is in both\.$", listed.out, re.MULTILINE)
        assert "Left out: The template mine/bad.md has no front matter." in listed.err
        one = moot("templates", "two-envelopes", MOOT_TEMPLATES_DIR="mine")
        assert "Open one. Then think." in one.out
        assert "Your own: mine/two.md" in one.err
        bad = moot("templates", "bad", MOOT_TEMPLATES_DIR="mine")
        assert bad.code == 2
        assert "bad.md has no front matter" in bad.err

    def test_they_are_looked_for_beside_the_users_file(self, moot):
        folder = Path(moot.folder, "config", "templates")
        folder.mkdir(parents=True)
        (folder / "two.md").write_text(GOOD.format(id="two-envelopes"))
        (folder.parent / "config.yaml").write_text("")
        assert "two-envelopes" in moot("templates", MOOT_CONFIG="config/config.yaml").out
