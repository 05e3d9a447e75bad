"""Events in words, from a format's vocabulary. Command line, transcript, chat and dashboard render events with it."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from moot.core.script import AGAIN
from moot.core.stage import CAST
from moot.core.types import ABSTAINS, INCOMPLETE, TIE, Check, Debate, Event, Json, Turn, record
from moot.formats.format import (
    COMMON,
    COMMON_PHASES,
    Chart,
    EventType,
    Format,
    Grid,
    Lines,
    Mark,
    Series,
    Tone,
    ending_in,
)
from moot.reasoning.fence import one_line

PERSON_ID = "you"
STANCE_CHARS = 60  # of a stance behind a name
CUT_WORDS = {"length": "cut off at its token cap", INCOMPLETE: "cut off: the stream broke off"}


@record
class Note:
    """A mark with its value."""

    text: str
    tone: Tone = ""


@record
class Caption:
    """An event in words: a heading, typed facts beside it, and lines below."""

    heading: str
    notes: tuple[Note, ...] = ()
    lines: tuple[str, ...] = ()
    grid: Grid | None = None  # what the lines say, as a table

    @property
    def headline(self) -> str:
        """Heading and notes in one line."""
        facts = ", ".join(note.text for note in self.notes)
        return f"{self.heading}: {facts}" if facts else self.heading


@record
class Point:
    """A point of a chart."""

    seat: str
    label: str
    x: int
    y: float


_UNKNOWN = EventType()


@dataclass
class Wording:
    """The words for one debate. Call `hear` with its events in order: some name seats."""

    format: Format | None  # None: not installed here; words are derived from the events' types
    unit: str  # what rounds are called
    names: dict[str, str]
    named: set[str]  # seats that take part: those that are not optional, and those that were named
    badges: dict[str, str] = field(default_factory=dict[str, str])
    chapter: str = ""  # the heading of the part of the debate that is under way
    parts: tuple[str, ...] = ()  # the names of all parts, where the format says them
    parts_off: tuple[str, ...] = ()  # those of parts that are switched off
    candidates: dict[str, str] = field(default_factory=dict[str, str])  # and how each stands, in a line
    part: int = 0  # the number of the one that is under way, from 1
    stances: Mapping[str, str] = field(default_factory=dict[str, str])  # of seats with a voice

    @classmethod
    def of(cls, debate: Debate, format_: Format | None) -> Wording:
        return cls(
            format=format_,
            unit=format_.unit if format_ else "round",
            names={PERSON_ID: "You", **debate.names},
            named={seat.id for seat in debate.cast if not seat.optional} | set(_outcome_names(debate)),
            stances={seat.id: seat.stance for seat in debate.cast if seat.voice},
        )

    def name(self, seat: str) -> str:
        return self.names.get(seat, seat)

    def side(self, seat: str) -> str:
        """A seat's name with what it stands for: "Debater A (Redis)"."""
        return side_name(self.name(seat), self.stances.get(seat, ""))

    def speaker(self, seat: str) -> str:
        """The name to print over a turn. Memory and tools speak without having a seat."""
        tool, _, subject = seat.partition(":")
        return self.names.get(seat) or (f"{tool.capitalize()} ({self.name(subject)})" if subject else tool.capitalize())

    def hear(self, event: Event) -> None:
        """Take over names and badges of seats from an event."""
        if event.type == CAST:
            names = cast("Mapping[str, str]", event.data.get("names") or {})
            self.names.update(names)
            self.named.update(names)
        if self.format and event.type == self.format.chapters:
            self.chapter = self.caption(event).heading
            self.parts = _names(event.data.get("rail"))
            self.parts_off = _names(event.data.get("off"))
            self.part = int(event.data.get("number") or 0)
        kind = self.type(event.type)
        if kind.candidates is not None:
            before = {} if kind.grid is not None else self.candidates
            self.candidates = {**before, **kind.candidates(event.data)}
        badge = kind.badge
        if badge and event.data.get("seat"):
            self.badges[str(event.data["seat"])] = badge

    def type(self, name: str) -> EventType:
        known = self.format.vocabulary if self.format else COMMON
        return known.get(name, _UNKNOWN)

    def phase(self, phase: str) -> str:
        """What a turn of this phase is called."""
        known: Mapping[str, str] = {**COMMON_PHASES, **(self.format.phases if self.format else {})}
        if phase in known:
            return known[phase]
        if phase.endswith(AGAIN) and phase.removesuffix(AGAIN) in known:
            return f"{known[phase.removesuffix(AGAIN)]}, once more"
        text = phase.replace("-", " ").replace("_", " ")
        return text[:1].upper() + text[1:]

    def ending(self, ended_by: str) -> str:
        return ending_in(self.format.endings if self.format else {}, ended_by)

    def progress(self, debate: Debate, current: int = 0) -> tuple[str, int, int | None]:
        """The unit that the format counts, how many are done, and of how many (None: not known)."""
        of = debate.config.get(self.format.length) if self.format else None
        if isinstance(of, int):
            return self.unit, max(debate.total_rounds, current), of
        return "step", debate.turn_count, None

    def doing(self, shows: str, phase: str) -> str:
        """What a seat does in an open step."""
        return self.type(shows).verb or ("speaks" if shows else f"works on: {self.phase(phase).lower()}")

    def heading(self, shows: str, seat: str, round: int, *, failed: bool = False) -> str:
        """The heading of a step, known before it is done."""
        kind = self.type(shows)
        verb = kind.failed if failed else kind.verb
        when = f", {self.unit} {round}" if round else ""
        who = side_name(self.speaker(seat), self.stances.get(seat, ""))
        return f"{who}{f' {verb}' if verb else ''}{when}"

    def header(self, event: Event) -> tuple[str, ...]:
        """The lines below the question."""
        return _lines(self.format.header, event.data) if self.format else ()

    def caption(self, event: Event) -> Caption:
        """The event in words."""
        kind, turn = self.type(event.type), event.turn
        notes = () if turn is not None and turn.failure else self.notes(kind, event)
        if turn is not None:
            heading = self.heading(event.type, turn.seat, turn.round, failed=turn.failure is not None)
            cut = (Note(text=CUT_WORDS[turn.finish_reason], tone="bad"),) if turn.cut else ()
            return Caption(heading=heading, notes=(*notes, *cut))
        return Caption(
            heading=_filled(kind.heading, event.data) or event.type.replace("_", " ").capitalize(),
            notes=notes,
            lines=_lines(kind.lines, event.data),
            grid=None if kind.grid is None else kind.grid(event.data),
        )

    def notes(self, kind: EventType, event: Event) -> tuple[Note, ...]:
        made = (self._note(mark, event) for mark in kind.marks)
        return tuple(note for note in made if note is not None)

    def points(self, event: Event) -> list[Point]:
        chart = self.format.chart if self.format else None
        if chart is None:
            return []
        return [
            point
            for series in chart.series
            if series.event == event.type
            for point in self._points(series, chart, event)
        ]

    def _note(self, mark: Mark, event: Event) -> Note | None:
        value = found(mark.path, event)
        if _empty(value):
            return None
        key = _key(value)
        if key in mark.values:
            text = mark.values[key]
        elif mark.names:
            text = mark.text.format(mark.join.join(self.side(str(each)) for each in _many(value)))
        else:
            text = mark.text.format(_shown(value, mark.join))
        if not text:
            return None
        tone = mark.tone if isinstance(mark.tone, str) else mark.tone.get(key, "")
        return Note(text=f"{self.side(mark.seat)} {text}" if mark.seat else text, tone=tone)

    def _points(self, series: Series, chart: Chart, event: Event) -> list[Point]:
        value = found(series.path, event)
        x = event.turn.round if event.turn else int(event.data.get("round") or 0)
        times = 100 if chart.unit == "%" else 1
        numbers: Mapping[str, Any] = (
            cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {self._whose(series, event): value}
        )
        return [
            Point(seat=seat, label=series.label or self.side(seat), x=x, y=float(number) * times)
            for seat, number in numbers.items()
            if isinstance(number, int | float)
        ]

    def _whose(self, series: Series, event: Event) -> str:
        if series.seat in self.names:
            return series.seat
        return str(found(series.seat, event) or (event.turn.seat if event.turn else ""))


def found(path: str, event: Event) -> Any:
    """The value at a dotted path in the turn's typed answer, else its metadata, else the event's data."""
    turn = event.turn
    for place in ((turn.data or {}, turn.metadata) if turn else ()) + (event.data,):
        value: Any = place
        for name in path.split("."):
            value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


def side_name(name: str, stance: str) -> str:
    """A name with what its seat stands for, if anything: "Debater A (Redis)"."""
    return f"{name} ({one_line(stance, STANCE_CHARS)})" if stance.strip() else name


def tally_words(tally: Mapping[str, float], name: Callable[[str], str]) -> str:
    """A count of votes: "2 for Ada, 1 for Basil, 1 for neither". Ties and abstentions only if there are any."""
    words = {TIE: "for neither", ABSTAINS: "abstained"}
    counted = {choice: votes for choice, votes in tally.items() if votes or choice not in words}
    return ", ".join(f"{votes:g} {words.get(choice) or f'for {name(choice)}'}" for choice, votes in counted.items())


def points_words(scores: Mapping[str, float | None], scale: float, name: Callable[[str], str], by: str = "") -> str:
    """Scores: "Points of 10: 7 for Ada, 5 for Basil", or "Points of 10 by the judge: …"; empty if there are none."""
    points = [f"{given:g} for {name(seat)}" for seat, given in scores.items() if given is not None]
    return f"Points of {scale:g}{f' by {by}' if by else ''}: {', '.join(points)}" if points else ""


def checks_words(checks: Sequence[Check]) -> str:
    """What was checked about a verdict, in one line, doubts first; empty if nothing was:
    "Doubtful: Ada's statement 2 was cut off. Checked: the other order agrees."."""

    def found(passed: bool | None) -> list[str]:
        return [check.words.strip().rstrip(".") for check in checks if check.passed is passed]

    labelled = {"Doubtful": found(False), "Checked": found(True)}
    parts = [f"{label}: {'; '.join(words)}." for label, words in labelled.items() if words]
    return " ".join([*parts, *(f"{words[:1].upper()}{words[1:]}." for words in found(None))])


def words_of(turn: Turn) -> str:
    """A turn's content for people, with a mark if it was cut off: a heading that is printed first can't have it."""
    return turn.content.strip() + (f"\n\n[{CUT_WORDS[turn.finish_reason]}]" if turn.cut else "")


def _outcome_names(debate: Debate) -> Mapping[str, str]:
    return debate.outcome.names if debate.outcome else {}


def _lines(lines: Lines, data: Json) -> tuple[str, ...]:
    if callable(lines):
        return tuple(lines(data))
    fields = [(line, [name for _, name, _, _ in string.Formatter().parse(line) if name]) for line in lines]
    return tuple(_filled(line, data) for line, names in fields if not any(_empty(data.get(name)) for name in names))


def _filled(words: Any, data: Json) -> str:
    if callable(words):
        return str(words(data))
    return str(words).format_map(defaultdict(str, {name: _shown(value, ", ") for name, value in data.items()}))


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, cast("Sequence[Any]", value or ())))


def _empty(value: object) -> bool:
    return value is None or value in ("", [], ())


def _key(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _many(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)


def _shown(value: object, join: str) -> str:
    if isinstance(value, list | tuple):
        return join.join(_shown(each, join) for each in cast("Sequence[object]", value))
    return f"{value:g}" if isinstance(value, float) else str(value)
