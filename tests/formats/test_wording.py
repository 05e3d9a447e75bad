"""Events in words: marks, headings, endings, progress, charts, names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from moot.core.settings import DebateSettings
from moot.core.types import Event, Failure, Outcome, SeatSpec, Turn
from moot.formats import wording_of
from moot.formats.format import Chart, EventType, Format, Mark, Part, Series
from moot.formats.wording import Note, Point, Wording, points_words, side_name, tally_words, words_of
from tests.formats.panel.answers import answers as panel_answers
from tests.playing import debate_of, play, script_of

ADA = SeatSpec(id="a", name="Ada", role="speaker", model="sim:", max_tokens=9)
BOB = SeatSpec(id="b", name="Bob", role="speaker", model="sim:", max_tokens=9, optional=True)


class Settings(DebateSettings):
    legs: int = 4


async def unplayed(stage: Any, settings: Any) -> Outcome:
    raise NotImplementedError


def a_format(*, chart: Chart | None = None, header: Any = (), **events: EventType) -> Format:
    return Format(
        name="relay",
        version=1,
        purpose="For tests",
        summary="For tests.",
        settings=Settings,
        parts=lambda settings: [Part(id="a", name="Ada", role="speaker")],
        play=unplayed,
        events=events,
        phases={"run": "A leg of the relay"},
        endings={"dropped": "the baton was dropped"},
        length="legs",
        unit="turn",
        header=header,
        chart=chart,
    )


DEBATE = replace(debate_of("classic"), format="relay", config={"legs": 4}, cast=(ADA, BOB))


def wording(format_: Format | None) -> Wording:
    return Wording.of(DEBATE, format_)


def turn(data: Any = None, metadata: Any = None, **more: Any) -> Turn:
    fields = {"key": "2/run/a", "seq": 1, "kind": "ask", "round": 2, "phase": "run", "seat": "a", "role": "speaker"}
    return Turn(**{**fields, "content": "Words.", "data": data, "metadata": metadata or {}, **more})


def event(type: str = "LEG", turn: Turn | None = None, **data: Any) -> Event:
    return Event(seq=1, type=type, key="", data=data, created_at=0.0, turn=turn)


def notes(mark: Mark, of: Event) -> list[Note]:
    made = wording(a_format(LEG=EventType(marks=(mark,))))
    return list(made.caption(of).notes)


@pytest.mark.parametrize(
    ("mark", "data", "text"),
    [
        (Mark(path="score"), {"score": 7}, "7"),
        (Mark(path="score"), {"score": 7.0}, "7"),
        (Mark(path="score"), {"score": 0.25}, "0.25"),
        (Mark(path="score", text="{} of 10"), {"score": 7}, "7 of 10"),
        (Mark(path="score", seat="a"), {"score": 7}, "Ada 7"),
        (Mark(path="of.whom", text="of {}"), {"of": {"whom": "all"}}, "of all"),
        (Mark(path="to", text="to {}", names=True), {"to": ["a", "b", "judge"]}, "to Ada, Bob, judge"),
        (Mark(path="order", join=" > "), {"order": ["x", "y"]}, "x > y"),
        (Mark(path="ready", values={"true": "ready", "false": "not ready"}), {"ready": False}, "not ready"),
        (Mark(path="choice", values={"tie": "neither"}, text="for {}", names=True), {"choice": "tie"}, "neither"),
        (Mark(path="choice", values={"tie": "neither"}, text="for {}", names=True), {"choice": "a"}, "for Ada"),
        (Mark(path="state"), {"state": "{curly}"}, "{curly}"),
    ],
)
def test_a_mark_puts_a_typed_value_into_words(mark: Mark, data: Any, text: str):
    assert notes(mark, event(turn=turn(data))) == [Note(text=text)]


@pytest.mark.parametrize("data", [{}, {"score": None}, {"score": ""}, {"score": []}, {"score": "none"}, {"other": 1}])
def test_a_mark_without_a_value_or_with_empty_words_is_not_shown(data: Any):
    assert notes(Mark(path="score", values={"none": ""}), event(turn=turn(data))) == []


def test_a_mark_looks_into_the_answer_then_the_metadata_then_the_events_data():
    mark = Mark(path="score")
    assert notes(mark, event(turn=turn({"score": 1}, {"score": 2}), score=3)) == [Note(text="1")]
    assert notes(mark, event(turn=turn({"score": None}, {"score": 2}), score=3)) == [Note(text="2")]
    assert notes(mark, event(turn=turn(), score=3)) == [Note(text="3")]
    assert notes(mark, event(score=3)) == [Note(text="3")]


def test_the_tone_can_depend_on_the_value():
    fixed, by_value = Mark(path="ready", tone="strong"), Mark(path="ready", tone={"true": "good"})
    assert notes(fixed, event(turn=turn({"ready": False}))) == [Note(text="False", tone="strong")]
    assert notes(by_value, event(turn=turn({"ready": True}))) == [Note(text="True", tone="good")]
    assert notes(by_value, event(turn=turn({"ready": False}))) == [Note(text="False")]


def test_a_turn_is_headed_by_its_speaker_what_it_does_and_when():
    known = wording(a_format(LEG=EventType(verb="runs", failed="stumbles", marks=(Mark(path="score"),))))
    assert known.caption(event(turn=turn({"score": 7}))).headline == "Ada runs, turn 2: 7"
    assert known.caption(event(turn=turn(round=0))).headline == "Ada runs"
    failed = turn({"score": 7}, failure=Failure(kind="invalid", message="No."))
    assert known.caption(event(turn=failed)).headline == "Ada stumbles, turn 2"
    assert known.heading("LEG", "a", 3) == "Ada runs, turn 3"
    assert known.heading("", "memory", 3) == "Memory, turn 3"
    assert wording(a_format(LEG=EventType())).caption(event(turn=turn())).headline == "Ada, turn 2"
    assert known.caption(event("PERSON", turn(seat="you"))).heading == "You, turn 2"


def test_an_event_without_a_turn_has_its_own_heading_and_lines():
    lines = ("{left} are left.", "{names} are out.", "Always.")
    by_template = wording(a_format(LEG=EventType(heading="Leg {leg} of {of}", lines=lines)))
    caption = by_template.caption(event(leg=1, of=4, left=0, names=[]))
    assert (caption.heading, caption.lines) == ("Leg 1 of 4", ("0 are left.", "Always."))
    caption = by_template.caption(event(leg=1, left=2.0, names=["Ada", "Bob"]))
    assert (caption.heading, caption.lines) == ("Leg 1 of ", ("2 are left.", "Ada, Bob are out.", "Always."))
    by_function = EventType(heading=lambda data: f"Leg {data['leg']}!", lines=lambda data: [str(data["leg"]) * 2])
    caption = wording(a_format(LEG=by_function)).caption(event(leg=3))
    assert (caption.heading, caption.lines) == ("Leg 3!", ("33",))
    assert wording(a_format(LEG=EventType())).caption(event()).heading == "Leg"


def test_what_an_open_step_does():
    known = wording(a_format(LEG=EventType(verb="runs"), WORD=EventType()))
    assert known.doing("LEG", "run") == "runs"
    assert known.doing("WORD", "run") == "speaks"
    assert known.doing("", "run") == "works on: a leg of the relay"
    assert known.doing("", "warm_up") == "works on: warm up"


def test_words_for_phases_and_endings():
    known = wording(a_format())
    assert (known.phase("run"), known.phase("cool-down_walk")) == ("A leg of the relay", "Cool down walk")
    assert known.ending("dropped") == "the baton was dropped"
    assert known.ending("max_cost_usd") == "the money was used up"
    assert known.ending("fell_over") == "fell over"


def test_progress_is_counted_in_the_formats_unit():
    known = wording(a_format())
    assert known.progress(replace(DEBATE, total_rounds=2)) == ("turn", 2, 4)
    assert known.progress(replace(DEBATE, total_rounds=2), current=3) == ("turn", 3, 4)
    assert known.progress(replace(DEBATE, config={}, turn_count=7)) == ("step", 7, None)
    assert wording(None).progress(replace(DEBATE, turn_count=7)) == ("step", 7, None)


def test_the_header_has_the_lines_whose_facts_are_given():
    known = wording(a_format(header=("The premise: {premise}", "{legs} legs")))
    assert known.header(event("HEADER", premise=None, legs=4)) == ("4 legs",)
    assert known.header(event("HEADER", premise="P", legs=4)) == ("The premise: P", "4 legs")
    assert wording(None).header(event("HEADER", premise="P", legs=4)) == ()


def drawn(series: Series, of: Event, **chart: Any) -> list[Point]:
    return wording(a_format(LEG=EventType(), chart=Chart(title="T", series=(series,), **chart))).points(of)


def test_points_of_a_chart():
    scored = event(turn=turn({"score": 7, "of": "b"}))
    assert drawn(Series(event="LEG", path="score"), scored) == [Point(seat="a", label="Ada", x=2, y=7)]
    assert drawn(Series(event="LEG", path="score", seat="of"), scored) == [Point(seat="b", label="Bob", x=2, y=7)]
    labelled = Series(event="LEG", path="score", seat="a", label="Answer")
    assert drawn(labelled, scored) == [Point(seat="a", label="Answer", x=2, y=7)]
    shares = event(shares={"a": 0.5, "b": 0.25, "c": None}, round=3)
    assert drawn(Series(event="LEG", path="shares"), shares, unit="%") == [
        Point(seat="a", label="Ada", x=3, y=50),
        Point(seat="b", label="Bob", x=3, y=25),
    ]
    assert drawn(Series(event="LEG", path="score"), event(turn=turn({"score": None}))) == []
    assert drawn(Series(event="OTHER", path="score"), scored) == []
    assert wording(a_format(LEG=EventType())).points(scored) == []


def test_seats_are_named_by_the_cast_event():
    known = wording(a_format(LEG=EventType(verb="runs"), OUT=EventType(badge="out")))
    assert known.named == {"a"}  # b is optional
    known.hear(event("OUT", seat="a"))
    known.hear(event("OUT"))
    known.hear(event("CAST", names={"b": "Beatrix"}))
    assert known.named == {"a", "b"}
    assert known.name("b") == "Beatrix"
    assert known.badges == {"a": "out"}
    assert known.caption(event(turn=turn(seat="b"))).heading == "Beatrix runs, turn 2"
    assert known.caption(event("CAST", names={"a": "Ada", "b": "Beatrix"})).heading == "Taking part: Ada, Beatrix"


def test_seats_that_a_panel_does_not_fill_take_no_part():
    debate = debate_of("panel", perspectives="auto", max_rounds=1)
    known = wording_of(debate)
    for each in play(script_of("panel", perspectives="auto", max_rounds=1), panel_answers()).events:
        known.hear(each)
    assert [seat.id for seat in debate.cast] == ["moderator", "p1", "p2", "p3", "p4"]
    assert known.named == {"moderator", "p1", "p2"}


def test_a_format_that_is_not_installed_is_told_in_general_words():
    known = wording_of(DEBATE)
    assert known.format is None
    assert known.caption(event("TEA_BREAK", minutes=5)).headline == "Tea break"
    assert known.caption(event("LEG", turn({"score": 7}))).headline == "Ada, round 2"
    failed = turn(failure=Failure(kind="invalid", message="No."))
    assert known.caption(event("LEG", failed)).headline == "Ada gave no valid answer, round 2"
    assert (known.phase("warm_up"), known.ending("fell_over")) == ("Warm up", "fell over")
    assert known.ending("max_runtime_seconds") == "the running time was used up"
    assert known.points(event("LEG", turn({"score": 7}))) == []
    assert known.caption(event("VERDICT")).heading == "Verdict"
    known.hear(event("CAST", names={"b": "Beatrix"}))
    assert known.name("b") == "Beatrix"


def test_what_was_cut_off_is_marked():
    assert words_of(turn(content=" Words. ")) == "Words."
    assert words_of(turn(content="Words of", finish_reason="length")) == "Words of\n\n[cut off at its token cap]"


@pytest.mark.parametrize(
    ("finish_reason", "said"),
    [("length", ": cut off at its token cap"), ("incomplete", ": cut off: the stream broke off")],
)
def test_the_heading_over_words_that_were_cut_off_says_so(finish_reason: str, said: str):
    cut = turn(content="Words of", finish_reason=finish_reason)
    assert cut.cut
    assert wording_of(DEBATE).caption(event("LEG", cut)).headline == f"Ada, round 2{said}"


def test_sides_are_named_with_what_they_stand_for():
    cast = (replace(ADA, voice=True, stance="Redis"), replace(BOB, stance="PostgreSQL"))
    marks = (Mark(path="to", text="for {}", names=True), Mark(path="score", text="{}", seat="a"))
    chart = Chart(title="Scores", most=10, series=(Series(event="LEG", path="scores"),))
    known = Wording.of(replace(DEBATE, cast=cast), a_format(chart=chart, LEG=EventType(marks=marks)))
    assert (known.side("a"), known.side("b"), known.side("tie")) == ("Ada (Redis)", "Bob", "tie")
    given = event(turn=turn({"to": "a", "score": 7, "scores": {"a": 7}}))
    assert known.caption(given).headline == "Ada (Redis), turn 2: for Ada (Redis), Ada (Redis) 7"
    assert [point.label for point in known.points(given)] == ["Ada (Redis)"]
    assert points_words({"a": 7, "b": 5}, 10, known.side) == "Points of 10: 7 for Ada (Redis), 5 for Bob"
    assert side_name("Ada", "x" * 100) == f"Ada ({'x' * 59}…)"


def test_votes_in_words():
    tally = {"a": 2, "b": 0, "tie": 0, "abstains": 1}
    assert tally_words(tally, {"a": "Ada", "b": "Bob"}.__getitem__) == "2 for Ada, 0 for Bob, 1 abstained"
