"""What a format says of itself: descriptions that are wrong, and words for everything that the rules produce."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from moot.core.errors import ScriptError
from moot.core.limits import LIMITS
from moot.core.script import AGAIN, Stage, Step
from moot.core.types import Outcome, Prompt, Turn
from moot.formats import installed, wording_of
from moot.formats.format import COMMON, Chart, EventType, Example, Format, Hears, Mark, Part, Series, problems
from tests.formats.ways import played, ways_of
from tests.playing import Played, debate_of, good, play

DUEL = installed()["duel"]


def with_event(**event: Any) -> dict[str, Any]:
    return {"events": {**DUEL.events, "LEG": EventType(**event)}}


def failing_parts(settings: Any) -> list[Part]:
    raise LookupError("no seats today")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": " "}, "`name` is empty."),
        (
            {"events": {**DUEL.events, "Leg": EventType()}},
            "The event 'Leg' is not in upper case; lower-case events are the runtime's.",
        ),
        (
            {"events": {**DUEL.events, "VERDICT": EventType()}},
            "The event 'VERDICT' is the stage's own; call it something else.",
        ),
        (
            with_event(marks=(Mark(path="score", text="of 10"),)),
            "A mark of 'LEG' (`score`) must have one {} in its text, and no other field: 'of 10'.",
        ),
        (with_event(heading="Leg {of"), "The words 'Leg {of' of 'LEG' are no template."),
        (with_event(lines=("{left} left", "{")), "The words '{' of 'LEG' are no template."),
        ({"header": ("The premise: }",)}, "The words 'The premise: }' of the header are no template."),
        (
            {"chart": Chart(title="Legs", series=(Series(event="LEG", path="n"),))},
            "The chart draws the event 'LEG', which is not declared in `events`.",
        ),
        ({"phases": {**DUEL.phases, "plan": " "}}, "`phases` has no words for 'plan'."),
        ({"endings": {"turns": ""}}, "`endings` has no words for 'turns'."),
        ({"statements": ("shout",)}, "`statements` names the phase 'shout', which `phases` does not."),
        ({"length": "max_legs"}, "`length` names the setting 'max_legs', which the settings don't have."),
        (
            {"examples": (Example(title="Long", topic="T", settings={"turns": 1}),)},
            "The settings of the example 'Long' are not valid: turns must be a whole number from 2 to 200.",
        ),
        ({"parts": failing_parts}, "Its seats can't be made from its default settings: LookupError: no seats today."),
        (
            {"parts": lambda settings: [*DUEL.parts(settings), Part(id="a", name="Eve", role="judge")]},
            "Two seats have the id 'a'.",
        ),
        (
            {"hears": (*DUEL.hears, Hears(listener="chair", speaker="debater"))},
            "`hears` names the role 'chair'; the seats have debater, judge, juror.",
        ),
    ],
)
def test_what_is_wrong_with_a_description_is_named(changes: Any, problem: str):
    assert problems(replace(DUEL, **changes)) == [problem]


@pytest.mark.parametrize("name", list(installed()))
def test_the_descriptions_of_installed_formats_are_right(name: str):
    assert problems(installed()[name]) == []


def test_all_problems_are_named_at_once():
    assert len(problems(replace(DUEL, purpose="", summary="", statements=("shout",)))) == 3


@pytest.mark.parametrize("how", ["shown", "a step"])
def test_an_event_that_a_format_does_not_declare_is_an_error_of_its_rules(how: str):
    async def rules(stage: Stage, settings: Any) -> Outcome:
        if how == "shown":
            stage.show("MUTED", seat="a")
        await stage.seat("a").ask("plan", Prompt(name="x", text="x"), shows="MUTED")
        return Outcome(winner="tie", headline="Done.", ended_by="turns", verdict_source="rules")

    debate = debate_of("duel")
    with pytest.raises(ScriptError, match="an event 'MUTED' that their format does not declare in `events`"):
        replace(DUEL, play=rules).script(debate).begin()
    declared = replace(DUEL, play=rules, events={**DUEL.events, "MUTED": EventType()})
    play(declared.script(debate), good)


Words = dict[str, set[str]]  # by the field of the format that has them


def produced(games: Iterable[Played]) -> Words:
    """Every phase, event and ending of these debates."""
    found: Words = {"phases": set(), "events": set(), "endings": set()}
    for game in games:
        found["phases"] |= {turn.phase for turn in game.turns}
        found["events"] |= {shown.type for shown in game.shown} - COMMON.keys()
        found["endings"] |= {game.outcome.ended_by} - LIMITS.keys()
    return found


def missing(format_: Format, found: Words) -> Words:
    """What was produced and has no words. What is played once more needs none of its own."""
    lacking = {
        field: {each for each in all_ if not {each, each.removesuffix(AGAIN)} & getattr(format_, field).keys()}
        for field, all_ in found.items()
    }
    return {field: words for field, words in lacking.items() if words}


def unused(format_: Format, found: Words) -> Words:
    """What has words and was not produced."""
    return {field: words for field, all_ in found.items() if (words := getattr(format_, field).keys() - all_)}


@pytest.fixture(scope="module", params=list(installed()))
def name(request: Any) -> str:
    return request.param


@pytest.fixture(scope="module")
def games(name: str) -> list[Played]:
    return [played(name, way) for way in ways_of(name)]


def test_there_are_words_for_everything_that_the_rules_produce_and_for_nothing_else(name: str, games: list[Played]):
    format_, found = installed()[name], produced(games)
    assert missing(format_, found) == {}
    assert unused(format_, found) == {}


def test_every_event_that_is_shown_has_a_caption(name: str, games: list[Played]):
    for game, way in zip(games, ways_of(name), strict=True):
        wording = wording_of(debate_of(name, **way.settings))
        for event in game.events:
            wording.hear(event)
            caption = wording.caption(event)
            assert caption.heading.strip()
            assert all(note.text.strip() for note in caption.notes)
            assert all(line.strip() for line in (*caption.lines, *wording.header(event)))
            assert all(0 <= point.y <= (wording.format.chart.most) for point in wording.points(event))


def test_every_mark_and_every_series_is_found_in_some_event(name: str, games: list[Played]):
    """A path that leads nowhere would silently show nothing."""
    format_ = installed()[name]
    wording = wording_of(debate_of(name))
    events = [event for game in games for event in game.events]
    for type, kind in format_.events.items():
        for mark in kind.marks:
            bare = replace(kind, marks=(replace(mark, values={}),))
            assert any(wording.notes(bare, event) for event in events if event.type == type), (type, mark.path)
    for series in format_.chart.series if format_.chart else ():
        only = replace(wording, format=replace(format_, chart=replace(format_.chart, series=(series,))))
        assert any(only.points(event) for event in events), series


def readers(name: str, game: Played, *, public: bool) -> Iterable[tuple[Step, Turn]]:
    """The steps in which one seat reads what another has said, in events that are public or not."""
    kinds = installed()[name].vocabulary
    shown = [each.turn for each in game.shown if each.turn and kinds[each.type].public == public]
    said = [turn for turn in shown if turn.kind == "ask" and not turn.failure]
    texts = [turn.content[:150] for turn in said]
    for step, messages in game.sent:
        read = "\n".join(message.text for message in messages if message.role == "user" and step.kind == "ask")
        for turn, text in zip(said, texts, strict=True):
            told = len(text.split()) > 3  # shorter ones occur by chance
            if told and turn.seat != step.seat.id and texts.count(text) == 1 and text in read:
                yield step, turn


def test_who_hears_whom_is_declared_as_it_is_played(name: str, games: list[Played]):
    """Blind readers, who are asked at the end only, need not be declared."""
    declared = {(hears.listener, hears.speaker) for hears in installed()[name].hears}
    heard = [(step, (step.seat.role, turn.role)) for game in games for step, turn in readers(name, game, public=True)]
    assert {pair for step, pair in heard if not step.closing} <= declared <= {pair for _, pair in heard}


def test_what_is_not_public_is_read_by_no_other_seat(name: str, games: list[Played]):
    assert [(step.key, turn.key) for game in games for step, turn in readers(name, game, public=False)] == []


@pytest.mark.parametrize("name", list(installed()))
def test_only_formats_with_a_ledger_have_its_settings(name: str):
    format_ = installed()[name]
    lists = any(phase.startswith("claims-") for phase in format_.phases)
    assert ("claims_max_tokens" in format_.settings.model_fields) == lists
    assert format_.keeps_ledger == (lists or name == "crucible")
