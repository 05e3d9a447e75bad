"""`moot rate`."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow


def test_a_rating_is_kept_changed_and_shown(done):
    short = done.ids[0][:8]
    document = done("record", short, "--print").out
    assert json.loads(done("record", short, "--json").out)["user_rating"] is None
    first = done("rate", short, "4")
    assert (first.code, first.out) == (0, f"Debate {short} is rated 4 of 5.\n")
    assert done("rate", short, "2").out == f"Debate {short} is rated 2 of 5, before 4.\n"
    assert "rated 2 of 5" in done("show", short).err
    assert "Rated 2 of 5." in done("audit", short).out
    assert json.loads(done("audit", short, "--json").out)["debate"]["user_rating"] == 2
    assert json.loads(done("list", "--json").out)["debates"][0]["user_rating"] == 2
    assert json.loads(done("record", short, "--json").out)["user_rating"] == 2
    assert done("record", short, "--print").out == document, "a decision reads the same, whatever it is rated"
    assert done("replay", short).code == 0


@pytest.mark.parametrize("rating", ["6", "4.5"])
def test_a_bad_rating_is_refused_and_changes_nothing(done, rating):
    assert done("rate", done.ids[0], "3").code == 0
    refused = done("rate", done.ids[0], rating)
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.splitlines()) == 1
    assert done.sql("select user_rating from debate_sessions") == [(3,)]


def test_what_is_not_completed_is_not_rated(moot):
    assert moot("Is it so?", "--model", moot.script({"1/speak/a": {"fail": "unavailable"}})).code == 1
    short = moot.ids[0][:8]
    refused = moot("rate", short, "5")
    assert refused.code == 2
    assert "is failed; it can't be rated, only a completed debate can" in refused.err
    assert f"moot retry {short}" in refused.err
    assert moot("rate", "ffff", "5").code == 2
    assert moot.sql("select user_rating from debate_sessions") == [(None,)]
