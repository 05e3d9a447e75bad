"""`moot tally`: ballots, rounds of the count, and whether the stored result is right."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Moot

pytestmark = pytest.mark.slow

COUNCIL = ("--format", "council", "--set", "members=3", "--set", "depth=vote", "--set", "voting=condorcet")


@pytest.fixture(scope="module")
def voted(shared: Moot) -> Moot:
    assert shared("Which database?", *COUNCIL, "--model", "sim:?seed=2").code == 0
    assert shared("Redis or PostgreSQL?", "--format", "classic", "--rounds", "1", "--model", "sim:").code == 0
    return shared


def test_the_votes_are_printed_and_counted_again(voted: Moot):
    done = voted("tally", voted.ids[0][:8], "--method", "schulze")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [f"Votes of debate {voted.ids[0][:8]}", "Which database?"]
    assert "Method: condorcet; ties are broken by pairwise, then support" in lines
    assert lines.count("Round 1: head-to-head wins, 2 at most") == 2  # by each of the two methods
    assert "By schulze" in lines
    assert sum(line.startswith("Member ") and "/rank/m" in line for line in lines) == 3
    assert lines[-1] == "Every ballot was read again from the debate's turns, and every vote counted again."
    document = json.loads(voted("tally", voted.ids[0], "--json").out)
    assert (document["type"], document["same"], document["read_from_turns"]) == ("moot.tally", True, True)
    (vote,) = document["votes"]
    assert (vote["method"], vote["decides"], vote["recounted"] == vote["result"]) == ("condorcet", True, True)


def test_a_changed_result_is_noticed(voted: Moot):
    saved = voted.db.read_bytes()
    changed = json.loads(voted.sql("select outcome from debate_sessions where id = ?", voted.ids[0])[0][0])
    result = changed["polls"][0]["result"]
    result["places"] = [[name] for place in result["places"] for name in place][::-1]
    result["winner"] = result["places"][0][0]
    voted.sql("update debate_sessions set outcome = ? where id = ?", json.dumps(changed), voted.ids[0])
    done = voted("tally", voted.ids[0])
    assert done.code == 1
    assert "Counted again, the result is another one than is stored." in done.out
    voted.db.write_bytes(saved)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((1,), "has no vote to count"),
        ((0, "--method", "dice"), "There is no voting method 'dice'"),
    ],
)
def test_what_can_not_be_counted_is_refused(voted: Moot, args, problem):
    done = voted("tally", voted.ids[args[0]], *args[1:])
    assert done.code == 2
    assert problem in done.err
