"""What a person says when rejecting a phase reaches everyone, and changes what is delivered."""

from __future__ import annotations

from typing import Any

import pytest

from moot.formats.forge.bounds import calls_of_people, redone_calls
from moot.formats.forge.settings import PHASES, ForgeSettings
from tests.formats.forge.world import (
    LIMIT,
    RIGHT,
    TASK,
    WORSE,
    World,
    calls,
    delivered,
    forge,
    repair,
    solution,
    worst,
)
from tests.playing import play, script_of

WORDS = "Of two negative numbers, give -1."
HEEDED = "def mid(a, b):\n    return -1 if a < 0 > b else max(a, b)\n"
REJECTS = {"choice": "reject", "text": WORDS}


def rejected(phase: str, world: World | None = None, **settings):
    world = world or World(**{f"0/approve-{phase}/you": REJECTS, "revise": repair(HEEDED)})
    return forge(world, gates=[phase], **settings)


def test_after_a_rejected_proposal_authors_revise_and_blind_seats_state_anew():
    exact: dict[str, Any] = {"0/approve-proposal/you": REJECTS, "revise": repair(HEEDED)}
    exact["predict-rejected"] = lambda step: says(step, "-1")
    played = rejected("proposal", World(**exact), optimization=False)
    asked = {(step.phase, step.seat.id) for step in played.steps if step.kind == "ask"}
    assert {("revise", "e1"), ("tests-rejected", "tester"), ("predict-rejected", "o1")} <= asked
    later = played.steps[[step.key for step in played.steps].index("0/approve-proposal/you") + 1 :]
    read = [step for step in later if step.kind == "ask"]
    assert read
    assert all(f"The person in charge says: {WORDS}" in step.prompt.text for step in read)
    assert delivered(played.outcome) == HEEDED


def says(step, value: str) -> dict:
    """What an oracle says that heeds the person: -1 for two negative numbers, else the larger one."""
    lines = [line.split(": ", 1) for line in step.prompt.text.split("Calls:")[1].splitlines() if ": mid(" in line]
    known = {}
    for n, call in lines:
        a, b = (int(part) for part in call.removeprefix("mid(").removesuffix(")").split(","))
        known[int(n)] = value if a < 0 > b else str(max(a, b))
    return {"predictions": [{"number": n, "expected": each} for n, each in known.items()]}


@pytest.mark.parametrize("phase", ["critique", "optimization", "adversarial", "convergence"])
def test_where_tests_can_not_tell_the_version_that_knows_the_words_is_taken(phase):
    """The words are about something that no test sees."""
    same = RIGHT.replace("def", "# as the person said\ndef")
    exact = {f"0/approve-{phase}/you": REJECTS, "revise": repair(same)}
    played = rejected(phase, World(**exact, refactor={"code": same}, speed={"code": same}))
    assert delivered(played.outcome) == same
    if phase == "critique":
        assert played.outcome.how.startswith(
            "Chosen because, of the versions that were written knowing what a person said when rejecting, it is the "
        )


def test_a_rejected_review_is_answered_again_even_if_there_was_no_issue():
    world = World(review={"answers": [], "code": HEEDED}, **{"0/approve-review/you": REJECTS})
    played = rejected("review", world)
    assert {step.seat.id for step in played.steps if step.phase == "review-again"} == {"e1", "e2"}


@pytest.mark.parametrize("phase", PHASES)
def test_no_round_is_beyond_what_the_settings_say(phase):
    played = rejected(phase)
    assert f"0/approve-{phase}-again/you" in played.keys
    assert played.rounds <= 3
    assert played.outcome.answer is not None


def test_a_phase_that_is_played_once_more_says_so():
    shown = [each.data for each in rejected("critique").shown if each.type == "PHASE_BEGINS"]
    assert [each["name"] for each in shown if each["phase"] == "critique"] == ["Critique", "Critique, once more"]
    assert [each["number"] for each in shown if each["phase"] == "critique"] == [4, 4]


QUICK = ("self_evolvement", "proposal", "adversarial", "convergence")
HEEDING = ("revise", "tests-rejected", "predict-rejected", "confirm-rejected")


def within_limits(world, *rejected: str, **settings):
    """A forge as the runtime limits it, in which these phases are rejected."""
    script = script_of("forge", TASK, gates=[*rejected], **settings)

    def answer(step):
        if step.kind == "gate":
            return REJECTS if not step.phase.endswith("-again") else {"choice": "approve", "text": ""}
        if step.kind == "ask":
            most, spent = script.stage.limits.max_calls, script.stage.spent.calls
            if most - spent - (step.leave.calls if step.leave else 0) < 1:
                return LIMIT
        return world(step)

    return play(script, answer, one_by_one=True)


def refused_again(played) -> list[str]:
    """Keys of calls that belong to a phase that is played once more, and that a limit refused."""
    refused = {turn.key for turn in played.turns if turn.failure and turn.failure.kind == "limit"}
    again = [step for step in played.steps if step.phase.endswith("-again") or step.phase in HEEDING]
    return [step.key for step in again if step.key in refused]


@pytest.mark.parametrize("phase", QUICK)
@pytest.mark.parametrize("world", [World(), worst])
def test_a_rejected_phase_of_a_quick_forge_has_calls_to_be_played_again(phase, world):
    played = within_limits(world, phase, preset="quick")
    rejected = [each.data["phase"] for each in played.shown if each.data.get("name", "").endswith("once more")]
    assert len(rejected) == 1
    assert rejected == [phase] or (world is worst and rejected == ["convergence"])  # a limit ended it before its gate
    assert not refused_again(played)
    assert calls(played) <= 12 + redone_calls(ForgeSettings(preset="quick"), rejected[0])
    assert played.outcome.headline


@pytest.mark.parametrize("world", [World(), worst])
def test_however_often_a_quick_forge_is_rejected_it_ends_within_what_was_said(world):
    settings = ForgeSettings(preset="quick", gates=QUICK)
    played = within_limits(world, *QUICK, preset="quick")
    assert not refused_again(played)
    assert 12 < calls(played) <= 12 + calls_of_people(settings)
    if world is not worst:
        assert {f"0/approve-{phase}-again/you" for phase in QUICK} <= set(played.keys)


def test_a_rejected_proposal_has_calls_for_engineers_who_start_afresh_after_it():
    """With given tests and small blind seats, revised versions that differ have the engineers start afresh."""

    def codes(step):
        return repair("def mid(a, b):\n    return b\n" if step.seat.id == "e1" else "def mid(a, b):\n    return 3\n")

    exact = {"0/approve-proposal/you": REJECTS, "write-afresh": solution(WORSE)}
    world = World({"e1": RIGHT, "e2": RIGHT}, revise=codes, **exact)
    chosen = {"preset": "quick", "engineers": 2, "fresh_starts": 3, "cases": ["mid(2, 3) == 3"]}
    played = forge(world, small=True, gates=["proposal"], **chosen)
    keys = [step.key for step in played.steps]
    later = played.steps[keys.index("0/approve-proposal/you") : keys.index("0/approve-proposal-again/you")]
    assert sum("write-afresh" in step.phase for step in later) == 6
    assert sum(step.kind == "ask" for step in later) <= redone_calls(ForgeSettings(**chosen), "proposal")


def test_calls_that_a_phase_did_not_take_again_are_not_there_for_others():
    played = rejected("critique", preset="quick", critique=True, max_calls=30)
    made = sum(
        step.kind == "ask" and (step.phase.endswith("-again") or "reject" in step.phase) for step in played.steps
    )
    made += sum(step.phase == "revise" for step in played.steps)
    assert played.script.stage.limits.max_calls == 30 + made


def test_the_gate_says_what_a_rejection_takes():
    played = rejected("proposal")
    more = redone_calls(ForgeSettings(), "proposal")
    assert f"for up to {more} calls more" in played.step("0/approve-proposal/you").prompt.text
    assert "was played once more already" in played.step("0/approve-proposal-again/you").prompt.text
