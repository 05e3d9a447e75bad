"""`moot outcome` and `moot calibration`."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow


def test_how_a_decision_turned_out_is_kept_shown_exported_and_summed_up(done, tmp_path):
    short = done.ids[0][:8]
    document = done("record", short, "--print").out
    assert "No decision has an outcome yet" in done("calibration").err
    told = done("outcome", short, "0.7", "--note", "It held, mostly.")
    assert (told.code, "turned out 70% right" in told.out) == (0, True)
    assert "It held, mostly." in done("show", short).err
    assert "turned out 70% right" in done("audit", short).out
    assert json.loads(done("audit", short, "--json").out)["debate"]["turned_out"]["right"] == 0.7
    assert json.loads(done("list", "--json").out)["debates"][0]["turned_out"]["note"] == "It held, mostly."
    assert json.loads(done("record", short, "--json").out)["turned_out"]["right"] == 0.7
    assert done("record", short, "--print").out == document, "a decision reads the same, however it turned out"
    assert done("replay", short).code == 0

    summed = done("calibration", "--by", "format")
    assert "1 decision, 70% right" in summed.out
    assert "classic" in summed.out
    assert "Only 1 decision with a recorded outcome: these figures say little." in summed.err
    sources = json.loads(done("calibration", "--json").out)["sources"]
    assert [(each["source"], each["n"], each["brier"]) for each in sources] == [("level", 1, None)]

    copy = tmp_path / "copy.jsonl"
    assert done("export", "--all", "--out", str(copy)).code == 0
    assert done("delete", done.ids[0], "--yes").code == 0
    assert done.sql("select count(*) from debate_sessions") == [(0,)]
    other = str(tmp_path / "other.db")
    assert done("import", str(copy), "--db", other).code == 0
    assert json.loads(done("list", "--json", "--db", other).out)["debates"][0]["turned_out"]["right"] == 0.7
    assert done("outcome", short, "unknown", "--db", other).code == 0
    assert json.loads(done("list", "--json", "--db", other).out)["debates"][0]["turned_out"] is None


def test_what_is_no_outcome_is_refused(done):
    refused = done("outcome", done.ids[0], "2")
    assert (refused.code, refused.out) == (2, "")
    assert "right, wrong, unknown, or a number from 0 (wrong) to 1 (right), not '2'" in refused.err
    assert done.sql("select turned_out from debate_sessions") == [(None,)]
