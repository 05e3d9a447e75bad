"""Who hears whom in panel and council: read off every message that is sent, in every topology, also when seats fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest

from moot.core.script import Step
from moot.formats import installed
from moot.reasoning.topology import Agent, Kind, build
from tests.formats.council import answers as council
from tests.formats.panel import answers as panel
from tests.formats.ways import GONE, without
from tests.playing import Played, debate_of, play, script_of

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


def held(step: Step) -> dict[str, Any]:
    return council.opinion(step.seat.id, step.round, answer=f"{words(step)}.", reasons=[mark(step)])


def objected(step: Step) -> dict[str, Any]:
    usual: Any = council.council()(step)
    return {**usual, "objection": words(step)}


ANSWERS: Mapping[str, Callable[[Step], Any]] = {
    "panel": panel.answers(
        analyze=panel.analysis(debaters=4, perspectives=PERSPECTIVES),
        argue=words,
        rebut=lambda step: panel.rebuttal(text=words(step), recommendation=words(step)),
    ),
    "council": council.council(
        behind=(),
        answer=held,
        object=objected,
        rebut=lambda step: {"rebuttal": words(step), "revised": held(step)},
    ),
}


def answered(format: str, missing: Missing) -> Callable[[Step], Any]:
    usual = without(ANSWERS[format], missing)

    def answer(step: Step) -> Any:
        if not step.phase.startswith("claims-"):
            return usual(step)
        claim = {"text": words(step), "stance": "none", "target": "", "quote": "", "evidence": "", "concedes": []}
        return {"claims": [claim]}

    return answer


def played(format: str, topology: str, missing: Missing = lambda _: False, **settings: Any) -> Played:
    return play(script_of(format, **SETTINGS[format], topology=topology, **settings), answered(format, missing))


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


@pytest.mark.parametrize(("topology", "claims"), [*((each, False) for each in get_args(Kind)), ("tree", True)])
@pytest.mark.parametrize("format", list(SEATS))
def test_only_words_of_neighbours_are_sent(format: str, topology: str, claims: bool):
    game = played(format, topology, claims=claims)
    assert heard(game, format) == neighbours(format, topology)
    assert {step.phase for step in game.steps} >= set(SPOKEN[format])


@pytest.mark.parametrize("topology", ["mesh", "chain"])
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
    waves: list[set[str]] = []

    def seen(steps: list[Step]) -> list[Step]:
        waves.append({step.seat.id for step in steps if step.phase == phase and step.round == 1})
        return steps

    play(script_of("panel", **SETTINGS["panel"], topology=topology), ANSWERS["panel"], order=seen)
    assert [wave for wave in waves if wave] == order


@pytest.mark.parametrize("topology", get_args(Kind))
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


@pytest.mark.parametrize("topology", ["mesh", "tree"])
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


@pytest.mark.parametrize("topology", ["mesh", "tree"])
@pytest.mark.parametrize("format", list(SEATS))
def test_when_no_one_is_there_all_are_asked_again_and_not_spared(format: str, topology: str):
    first = {"panel": "argue", "council": "answer"}[format]
    game = played(format, topology, lambda step: step.phase == first)
    again = [step for step in game.steps if step.phase == f"{first}-again"]
    assert {step.seat.id for step in again} == set(SEATS[format])
    assert not any(step.spared for step in again)
    assert not [each for each in game.shown if each.type in ("MISSING", "LEFT")]


@pytest.mark.parametrize("topology", get_args(Kind))
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


@pytest.mark.parametrize("topology", ["mesh", "tree"])
@pytest.mark.parametrize("format", list(SEATS))
def test_a_replay_with_failures_leads_to_the_same_events(format: str, topology: str):
    game = played(format, topology, lambda step: step.seat.id.endswith("3") and step.round < 2)
    again = script_of(format, **SETTINGS[format], topology=topology)
    assert again.replay(game.turns) == game.shown
    assert again.outcome == game.outcome
