"""`moot eval`: every recorded verdict, and the statistics."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from tests.cli.conftest import Moot

pytestmark = pytest.mark.slow


def test_an_audit_reads_every_completed_debate_and_finds_the_one_that_was_changed(moot: Moot):
    for question in ("Tabs or spaces?", "Redis or PostgreSQL?"):
        assert moot(question, "--format", "classic", "--rounds", "1", "--model", "sim:", "--plain").code == 0
    well = moot("eval", "audit")
    assert (well.code, well.err) == (0, "")
    assert well.out.startswith("2 completed debates. In 2, what was announced is what is recorded")
    with closing(sqlite3.connect(moot.db)) as database:
        (stored,) = database.execute("select outcome from debate_sessions where id = ?", (moot.ids[0],)).fetchone()
        changed = json.dumps({**json.loads(stored), "headline": "Nothing of the kind."})
        database.execute("update debate_sessions set outcome = ? where id = ?", (changed, moot.ids[0]))
        database.commit()
    found = moot("eval", "audit")
    assert found.code == 1
    assert f"Debate {moot.ids[0][:8]}: Announced:" in found.out
    assert "Recorded: Nothing of the kind." in found.out
    document = json.loads(moot("eval", "audit", "--json").out)
    assert (document["debates"], list(document["problems"])) == (2, [moot.ids[0]])


def test_an_empty_database_has_nothing_wrong(moot: Moot):
    done = moot("eval", "audit")
    assert (done.code, done.out.split(".")[0]) == (0, "0 completed debates")


def test_the_statistics_hold_as_they_are_printed(moot: Moot):
    done = moot("eval", "validate", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["seed"] == 1
    assert all(each["holds"] for each in document["checks"])
    assert {each["side"] for each in document["checks"]} == {"at least", "at most"}
    printed = moot("eval", "validate", "--seed", "2")
    assert printed.out.count("\n") == len(document["checks"]) + 1
    assert moot("eval", "guess").code == 2
