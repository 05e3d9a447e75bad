"""`moot eval`: every recorded verdict, and the statistics."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace

import pytest

from moot.cli.eval import eval_
from moot.evaluate.validate import Check
from tests.cli.conftest import Moot

pytestmark = pytest.mark.slow


def test_an_audit_reads_every_completed_debate_and_finds_the_one_that_was_changed(moot: Moot):
    for question in ("Tabs or spaces?", "Redis or PostgreSQL?"):
        assert moot(question, "--format", "classic", "--rounds", "1", "--model", "sim:", "--plain").code == 0
    well = moot("eval", "audit")
    assert (well.code, well.err) == (0, "")
    assert well.out.startswith("2 completed debates. In 2, what was announced is what is recorded")
    changed = (
        "update debate_sessions set outcome = json_set(outcome, '$.headline', 'Nothing of the kind.') where id = ?"
    )
    moot.sql(changed, moot.ids[0])
    found = moot("eval", "audit")
    assert found.code == 1
    assert f"Debate {moot.ids[0][:8]}: Announced:" in found.out
    assert "Recorded: Nothing of the kind." in found.out
    document = json.loads(moot("eval", "audit", "--json").out)
    assert (document["debates"], list(document["problems"])) == (2, [moot.ids[0]])


@pytest.mark.soak
def test_the_statistics_hold_as_they_are_printed(moot: Moot):
    done = moot("eval", "validate", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["seed"] == 1
    assert all(each["holds"] for each in document["checks"])
    assert {each["side"] for each in document["checks"]} == {"at least", "at most"}


def test_a_check_that_does_not_hold_is_marked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    checks = [Check(name=name, measured=0.9, side=name, limit=0.5) for name in ("at least", "at most")]
    monkeypatch.setattr("moot.cli.eval.validate", lambda seed: checks)
    asked = Namespace(action="validate", what=[], seed=2, json=True)
    assert asyncio.run(eval_(asked)) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["seed"], [each["holds"] for each in document["checks"]]) == (2, [True, False])
    asked.json = False
    assert asyncio.run(eval_(asked)) == 1
    shown = capsys.readouterr()
    assert [line.endswith("no") for line in shown.out.splitlines()[1:]] == [False, True]
    assert "1 of 2 checks failed." in shown.err
