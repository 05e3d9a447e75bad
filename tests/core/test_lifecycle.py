"""The lifecycle table: complete, closed, free of commands, and the same in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.lifecycle import (
    ACTIONS,
    INTERRUPTED,
    LIVE,
    RULES,
    STANDING,
    actions,
    next_step,
    next_verb,
    refusal,
    running_seconds,
)
from moot.core.types import STATUSES, TERMINAL, Debate, Event, Failure, FailureKind, Status

ARCHITECTURE = Path(__file__).parents[2] / "docs/architecture.md"


def a_debate(status: Status) -> Debate:
    return Debate(id="3f2a91c0-0000", topic="", format="f", format_version=1, status=status, config={}, cast=())


def test_every_action_has_a_rule_and_a_label():
    assert {verb for verb, rule in RULES.items() if rule.label} == set(ACTIONS)
    assert [verb for verb in RULES if verb in ACTIONS] == list(ACTIONS), "the same order everywhere"
    assert all(rule.advice for verb, rule in RULES.items() if verb in (*ACTIONS, "watch"))


def test_the_rules_are_closed():
    for rule in RULES.values():
        assert set(rule.unoffered) <= set(rule.moves)
        assert set(rule.orphaned) <= set(LIVE)
        for source, to in (*rule.moves.items(), *rule.orphaned.items()):
            assert source == to or source not in TERMINAL, "what is over stays over"


def test_every_status_has_a_next_step():
    for status in STATUSES:
        assert STANDING[status].endswith(".")
        assert next_step(status) == f"{STANDING[status]} {RULES[next_verb(status)].advice}"
    assert next_step("stopping") == "It finishes the step in progress, then rests. Follow it"


def test_what_people_are_offered():
    assert actions("pending") == ["start", "cancel", "guide", "fork", "delete"]
    assert actions("running") == ["stop", "cancel", "guide", "fork"]
    assert actions("waiting") == ["answer", "stop", "cancel", "guide", "fork", "delete"]
    assert actions("stopping") == ["cancel", "guide", "fork"]
    assert actions("stopped") == ["resume", "cancel", "guide", "fork", "delete"]
    assert actions("failed") == ["retry", "cancel", "guide", "fork", "delete"]
    assert actions("completed") == ["record", "fork", "rate", "delete"]
    assert actions("canceled") == ["fork", "delete"]


def test_an_interrupted_debate_can_be_resumed():
    for status in LIVE:
        assert actions(status, interrupted=True)[0] == "resume"
        assert next_step(status, interrupted=True) == f"{INTERRUPTED} Let it go on"


@pytest.mark.parametrize("status", STATUSES)
def test_a_refusal_has_data_and_no_command(status: Status):
    for verb, rule in RULES.items():
        error = refusal(a_debate(status), verb)
        assert (error.debate, error.status, error.verb, error.remedy) == ("3f2a91c0", status, verb, next_verb(status))
        assert str(error).startswith(f"Debate 3f2a91c0 is {status}; it can't {rule.cannot}")
        assert str(error).endswith(f"{next_step(status)}.")
        assert "moot " not in str(error)
        assert "`" not in str(error)


def test_a_refusal_names_the_only_status():
    assert str(refusal(a_debate("failed"), "rate")) == (
        "Debate 3f2a91c0 is failed; it can't be rated, only a completed debate can. "
        "A step failed; nothing that was said is lost. Try its open steps again."
    )


def documented() -> str:
    """The table of docs/architecture.md, as the rules have it."""

    def listed(moves: list[tuple[str, Status, Status]]) -> str:
        return ", ".join(f"{verb} → `{to}`" if to != source else verb for verb, source, to in moves)

    lines = ["| status | where it stands | what can be done | when its process is gone |", "|---|---|---|---|"]
    for status in STATUSES:
        possible = [(verb, status, RULES[verb].moves[status]) for verb in actions(status)]
        orphaned = [(verb, status, RULES[verb].orphaned[status]) for verb in ACTIONS if status in RULES[verb].orphaned]
        lines.append(f"| `{status}` | {STANDING[status]} | {listed(possible)} | {listed(orphaned)} |")
    return "\n".join(lines)


def test_the_documentation_has_the_table():
    assert documented() in ARCHITECTURE.read_text(encoding="utf-8"), f"docs/architecture.md needs:\n\n{documented()}\n"


def events(*told: tuple[float, str] | tuple[float, str, str]) -> list[Event]:
    """Events at these times: a status, who set it if not the drive; or "TURN"."""
    made: list[Event] = []
    for seq, (at, what, *by) in enumerate(told, 1):
        data = {} if what == "TURN" else {"status": what, **({"by": by[0]} if by else {})}
        made.append(Event(seq=seq, type="TURN" if what == "TURN" else "status", key="", data=data, created_at=at))
    return made


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ([], 0),
        ([(0, "pending")], 0),
        ([(0, "pending"), (5, "running"), (21, "failed")], 16),
        ([(5, "running"), (7, "TURN"), (9, "completed")], 4),
        ([(5, "running"), (8, "waiting"), (900, "running"), (901, "completed")], 4),
        ([(5, "running"), (8, "stopping", "stop"), (9, "stopped"), (50, "running"), (51, "completed")], 5),
        ([(5, "running"), (8, "canceled", "cancel")], 3),
        ([(5, "running"), (8, "TURN")], 3),  # still running, or killed
        ([(5, "running"), (8, "TURN"), (900, "running"), (902, "completed")], 5),  # killed
        ([(5, "running"), (900, "running"), (902, "completed")], 2),  # killed before its first turn
        ([(5, "running"), (8, "TURN"), (900, "stopped", "recovery")], 3),
        ([(5, "running"), (8, "TURN"), (900, "stopped", "recovery"), (900, "canceled", "cancel")], 3),
        ([(5, "running"), (2, "TURN"), (3, "completed")], 0),  # a clock was set back
    ],
)
def test_running_time(told, seconds):
    assert running_seconds(events(*told)) == seconds


@pytest.mark.parametrize(("kind", "first"), [("unavailable", True), ("unreachable", True), ("overloaded", False)])
def test_a_try_that_can_not_help_is_not_suggested_before_the_cause_is_fixed(kind: FailureKind, first: bool):
    said = next_step("failed", failure=Failure(kind=kind, message="No."))
    assert ("fix the cause first" in said) is first
