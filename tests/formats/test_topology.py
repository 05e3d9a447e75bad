"""Who hears whom in panel and council: read off every message that is sent, in every topology, also when seats fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from moot.core.script import Step
from moot.core.types import Failure
from moot.formats import installed
from moot.reasoning.topology import KINDS, Agent, build
from tests.formats.council.answers import ballot
from tests.formats.panel.answers import analysis, assessment
from tests.playing import Played, debate_of, play, script_of

GONE = Failure(kind="unavailable", message="No model is left.")
PERSPECTIVES = ["Performance Advocate", "Operational Simplicity", "Cost Steward", "Security Advocate"]
SEATS = {"panel": ["p1", "p2", "p3", "p4"], "council": ["m1", "m2", "m3", "m4"]}
SETTINGS: Mapping[str, dict[str, Any]] = {
    "panel": {"perspectives": 4, "max_rounds": 3, "checkpoints": False},
    "council": {"members": 4, "depth": "debate", "max_rounds": 2},
}
SPOKEN = {"panel": ("argue", "rebut"), "council": ("object", "rebut")}  # where a seat gets only its neighbours' words
ROUNDS = {"panel": 3, "council": 2}
Missing = Callable[[Step], bool]


def mark(step: Step) -> str:
    """A word that occurs in nothing but what this seat says."""
    return f"mark{step.seat.id}"


def words(step: Step) -> str:
    return f"{mark(step)} {' '.join(f'{step.seat.id}{step.round}{step.phase[:3]}{n}' for n in range(12))}"


def answered(step: Step) -> Any:
    opinion = {"position": words(step), "answer": f"{words(step)}.", "reasons": [mark(step)], "confidence": 50}
    match step.phase.removesuffix("-again"):
        case "argue":
            return words(step)
        case "rebut" if step.seat.id.startswith("p"):
            return {"rebuttal": words(step), "recommendation": words(step), "position": "hold", "concedes_to": ""}
        case "rebut":
            return {"rebuttal": words(step), "revised": opinion}
        case "answer":
            return opinion
        case "object":
            against = step.returns.model_json_schema()["properties"]["against"]  # type: ignore[union-attr]
            return {"against": against.get("const") or against["enum"][0], "objection": words(step)}
        case "rank":
            shape = step.returns.model_json_schema()["properties"]["ranking"]["items"]  # type: ignore[union-attr]
            labels = shape.get("enum") or [shape["const"]]
            return {**ballot(step), "ranking": labels, "stands_behind": []}
        case "claims-argue" | "claims-rebut" | "claims-answer" | "claims-object":
            claim = {"text": words(step), "stance": "none", "target": "", "quote": "", "evidence": "", "concedes": []}
            return {"claims": [claim]}
        case "analyze":
            return analysis(debaters=4, perspectives=PERSPECTIVES)
        case "evaluate":
            return assessment()
        case "compare":
            return {"scores": [], "by": "", "note": ""}
        case "synthesize" if step.seat.id == "moderator":
            rest = {"confidence": "Low", "caveats": [], "agreements": [], "tensions": [], "dissent": ""}
            return {"recommendation": "Do it.", **rest}
        case "synthesize":
            return {"answer": "The council's answer.", "departs": False}
    raise AssertionError(step.key)


def played(format: str, topology: str, missing: Missing = lambda _: False, **settings: Any) -> Played:
    script = script_of(format, **SETTINGS[format], topology=topology, **settings)
    return play(script, lambda step: GONE if step.spared and missing(step) else answered(step))


def neighbours(format: str, topology: str) -> dict[str, set[str]]:
    """Whose words each seat may get. In a council, an objection also reaches the one to whom it is made."""
    reads = build(topology, [Agent(id=seat) for seat in SEATS[format]]).reads("")  # type: ignore[arg-type]
    if format == "panel":
        return {seat: set(others) for seat, others in reads.items()}
    return {seat: {*others, *(each for each in reads if seat in reads[each])} for seat, others in reads.items()}


def heard(game: Played, format: str) -> dict[str, set[str]]:
    """Whose words were sent to each seat, in the whole conversation of every step but the ballots."""
    found: dict[str, set[str]] = {seat: set() for seat in SEATS[format]}
    for step, messages in game.sent:
        if step.seat.id in found and not step.phase.startswith("rank"):
            text = "\n".join(message.text for message in messages if message.role != "assistant")
            found[step.seat.id] |= {seat for seat in SEATS[format] if f"mark{seat}" in text and seat != step.seat.id}
    return found


@pytest.mark.parametrize("claims", [False, True])
@pytest.mark.parametrize("topology", [each for each in KINDS if each != "mesh"])
@pytest.mark.parametrize("format", list(SEATS))
def test_only_words_of_neighbours_are_sent(format: str, topology: str, claims: bool):
    game = played(format, topology, claims=claims)
    assert heard(game, format) == neighbours(format, topology)
    phases = {step.phase for step in game.steps}
    assert phases >= set(SPOKEN[format])


@pytest.mark.parametrize("format", list(SEATS))
def test_in_a_mesh_everyone_hears_everyone(format: str):
    assert heard(played(format, "mesh"), format) == {
        seat: {other for other in SEATS[format] if other != seat} for seat in SEATS[format]
    }


@pytest.mark.parametrize("topology", KINDS)
def test_ballots_of_a_council_are_blind_and_full(topology: str):
    game = played("council", topology)
    for step, messages in game.sent:
        if step.phase == "rank":
            assert {seat for seat in SEATS["council"] if f"mark{seat}" in messages[-1].text} == {
                seat for seat in SEATS["council"] if seat != step.seat.id
            }
            assert "Member" not in messages[-1].text


@pytest.mark.parametrize(
    ("topology", "order"),
    [("star", [{"p2", "p3", "p4"}, {"p1"}]), ("chain", [{"p1"}, {"p2"}, {"p3"}, {"p4"}])],
)
@pytest.mark.parametrize("phase", ["argue", "rebut"])
def test_a_panel_speaks_in_the_waves_of_its_topology(topology: str, order: list[set[str]], phase: str):
    script = script_of("panel", **SETTINGS["panel"], topology=topology)
    seen: list[set[str]] = []

    def answer(step: Step) -> Any:
        together = {each.seat.id for each in script.open.values() if each.phase == phase and each.round == 1}
        if step.phase == phase and step.round == 1 and together not in seen:
            seen.append(together) if not seen or not together < seen[-1] else None
        return answered(step)

    play(script, answer)
    assert seen == order


@pytest.mark.parametrize("topology", KINDS)
@pytest.mark.parametrize("format", list(SEATS))
def test_one_that_is_never_there_leaves_and_the_others_go_on(format: str, topology: str):
    lost = SEATS[format][1]
    game = played(format, topology, lambda step: step.seat.id == lost)
    missed = [each.data for each in game.shown if each.type in ("MISSING", "LEFT")]
    assert [each["for_good"] for each in missed] == [False, True]
    assert {each["seat"] for each in missed} == {lost}
    assert all(each["reason"] == GONE.message for each in missed)
    name = missed[0]["name"]
    assert any(note.startswith(f"{name} has left for good") for note in game.outcome.notes)
    (check,) = [each for each in game.outcome.checks if each.name == "everyone heard"]
    assert not check.passed
    assert name in check.words
    last = max(step.round for step in game.steps if step.seat.id == lost)
    assert last <= 2
    assert {step.seat.id for step in game.steps if step.round == ROUNDS[format]} >= {*SEATS[format]} - {lost}
    others = {seat: found - {lost} for seat, found in heard(game, format).items() if seat != lost}
    assert all(others.values())  # no one is cut off from everyone
    assert game.outcome.record is not None
    assert any(name in caveat for caveat in game.outcome.record.caveats or ())


@pytest.mark.parametrize("topology", KINDS)
@pytest.mark.parametrize("format", list(SEATS))
def test_one_that_is_missing_for_one_round_comes_back(format: str, topology: str):
    lost, out = SEATS[format][0], 1
    game = played(format, topology, lambda step: step.seat.id == lost and step.round == out)
    missed = [each for each in game.shown if each.type in ("MISSING", "LEFT")]
    assert [each.type for each in missed] == ["MISSING"]
    spoke = {
        step.round for step, turn in zip(game.steps, game.turns, strict=True) if turn.seat == lost and not turn.failure
    }
    assert 2 in spoke
    assert out not in spoke


@pytest.mark.parametrize("topology", KINDS)
@pytest.mark.parametrize("format", list(SEATS))
def test_when_no_one_is_there_all_are_asked_again_and_not_spared(format: str, topology: str):
    first = {"panel": "argue", "council": "answer"}[format]
    game = played(format, topology, lambda step: step.phase == first)
    again = [step for step in game.steps if step.phase == f"{first}-again"]
    assert {step.seat.id for step in again} == set(SEATS[format])
    assert not any(step.spared for step in again)
    assert not [each for each in game.shown if each.type in ("MISSING", "LEFT")]


@pytest.mark.parametrize("topology", KINDS)
@pytest.mark.parametrize("format", list(SEATS))
def test_the_description_says_who_hears_whom(format: str, topology: str):
    debate = debate_of(format, **SETTINGS[format], topology=topology)
    hears = installed()[format].heard_in(debate, {seat.id for seat in debate.cast})
    role = {"panel": "perspective", "council": "member"}[format]
    if topology == "mesh":
        assert hears == installed()[format].hears
    else:
        reads = build(topology, [Agent(id=seat) for seat in SEATS[format]]).reads("")  # type: ignore[arg-type]
        among = {(each.listener, each.speaker) for each in hears if each.listener in reads and each.speaker in reads}
        assert among == {(seat, other) for seat, others in reads.items() for other in others}
        assert not any(each.listener == each.speaker == role for each in hears)


@pytest.mark.parametrize("topology", KINDS)
@pytest.mark.parametrize("format", list(SEATS))
def test_a_replay_with_failures_leads_to_the_same_events(format: str, topology: str):
    game = played(format, topology, lambda step: step.seat.id.endswith("3") and step.round < 2)
    again = script_of(format, **SETTINGS[format], topology=topology)
    assert again.replay(game.turns) == game.shown
    assert again.outcome == game.outcome
