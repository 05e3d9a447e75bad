"""Which statements carry nothing of their own."""

from __future__ import annotations

import pytest

from moot.reasoning import statements
from moot.reasoning.statements import Known, flaw_of

OWN = "PostgreSQL already runs here, so a cache in it needs no second service to watch at night."
OTHER = "Redis answers in microseconds, because everything that it holds is in memory and nothing waits for a disk."


def test_a_statement_of_its_own_has_no_flaw():
    assert flaw_of(OWN, "stop", Known([]), Known([OTHER])) == ""
    assert flaw_of(OWN, "length", Known([]), Known([OTHER])) == ""  # what came before our own cap counts


@pytest.mark.parametrize(
    ("text", "finish", "flaw"),
    [
        ("", "stop", statements.SAYS_NOTHING),
        (" … !", "stop", statements.SAYS_NOTHING),
        (OTHER, "stop", statements.REPEATS_OPPONENT),
        (OTHER.upper() + " Yes.", "stop", statements.REPEATS_OPPONENT),
        (OWN, "stop", statements.REPEATS_ITSELF),
        ("Monday tomorrow " * 30, "stop", statements.GOES_ROUND),
        ("It is cheaper to run,", "incomplete", statements.LOST),
        ("It is cheaper to run,", "content_filter", statements.LOST),
    ],
)
def test_what_carries_no_verdict(text: str, finish: str, flaw: str):
    assert flaw_of(text, finish, Known([OWN]), Known([OTHER])) == flaw


def test_a_short_answer_that_equals_the_opponents_is_copied():
    assert flaw_of("Too slow.", "stop", Known([]), Known(["too  SLOW."])) == statements.REPEATS_OPPONENT


def test_quoting_a_part_of_the_opponent_is_no_copy():
    answer = f"They say: {OTHER[:40]}. That is true of reads, and it is not what we lack: we lack people who run it."
    assert flaw_of(answer, "stop", Known([]), Known([OTHER])) == ""
