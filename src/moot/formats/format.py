"""The description of a format: its rules, and the vocabulary in which people read what the rules do.

Command line, transcript, record, chat and dashboard render every format from its description; none of them knows a
format by name. Built-in formats use nothing that a plug-in can't.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Container, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast, get_args

from pydantic import ValidationError

from moot.core.answers import AnswerKind
from moot.core.errors import ScriptError
from moot.core.explaining import Details, found_in
from moot.core.limits import LIMITS, Limits
from moot.core.script import Script, Stage
from moot.core.settings import DebateSettings, read
from moot.core.stage import CAST, HEADER, PERSON, VERDICT
from moot.core.types import ABILITIES, Ability, Debate, Event, Hat, Json, Outcome, Sampling, SeatSpec, Tier, Turn
from moot.formats.command import FormatCommand, problems_of
from moot.formats.shared import roles, structured
from moot.formats.shared.precedent import precedent
from moot.reasoning.language import language_of
from moot.reasoning.question import Kind

Effort = Literal["quick", "standard", "thorough"]
EFFORTS: tuple[Effort, ...] = get_args(Effort)
Tone = Literal["", "strong", "good", "bad"]
Words = str | Callable[[Json], str]
Lines = tuple[str, ...] | Callable[[Json], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A seat before its model is chosen."""

    id: str
    name: str
    role: str  # what the seat is called: any word
    tier: Tier = "judge"  # which default model and token cap it gets
    voice: bool = False  # it speaks on stage: it has a lane, is quoted in the record, and hears precedents
    optional: bool = False  # part of the debate only once `stage.name_seats` names it
    stance: str = ""  # what it stands for, in a few words
    brief: str = ""  # the position it is given, for the record
    model: str | None = None
    max_tokens: int | None = None
    sampling: Sampling = field(default_factory=Sampling)
    hats: tuple[str, ...] = ()  # names of the roles that it takes on

    def seated(
        self, model: str, settings: DebateSettings, *, small: bool = False, kept: Sequence[Hat] = ()
    ) -> SeatSpec:
        """The seat with its model, and with caps and sampling from the debate's settings where it has none. `kept`:
        roles that come before those of the catalogs. Raises UnknownName for a role that there is not."""
        cap = settings.judge_max_tokens if self.tier == "judge" else settings.debater_max_tokens
        return SeatSpec(
            id=self.id,
            name=self.name,
            role=self.role,
            tier=self.tier,
            voice=self.voice,
            optional=self.optional,
            stance=self.stance,
            brief=self.brief,
            model=model,
            small=small,
            max_tokens=self.max_tokens or cap,
            sampling=self.sampling.over(settings.sampling),
            hats=roles.worn(self.hats, settings.custom_roles, kept),
        )


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A typed fact shown beside the heading of an event."""

    path: str  # dotted path into the typed answer, else the turn's metadata, else the event's data
    text: str = "{}"  # around the value
    values: Mapping[str, str] = field(default_factory=dict[str, str])  # words for values; an empty one shows nothing
    seat: str = ""  # the value is this seat's: "Ada 7"
    names: bool = False  # the value is a seat's id, or a list of them
    join: str = ", "  # between the items of a list
    tone: Tone | Mapping[str, Tone] = ""


@dataclass(frozen=True, kw_only=True)
class GridRow:
    name: str
    cells: tuple[str, ...]  # a mark or a word for each column
    note: str = ""  # how the row came about


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of marks, for example which version passes which case."""

    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    more: int = 0  # rows that are left out


@dataclass(frozen=True, kw_only=True)
class EventType:
    """How an event is shown to people.

    An event with a turn is headed by its speaker and `verb`. One without has `heading` and `lines`: templates over its
    data (a line with an empty field is left out), or functions of it.
    """

    verb: str = ""  # what the speaker does: "scores"; empty: it speaks
    failed: str = "gave no valid answer"
    public: bool = True  # False: plans and thoughts, which stay with their seat and out of transcripts
    quiet: bool = False  # set back where everything is shown
    hidden: bool = False  # shown nowhere: other events say it
    marks: tuple[Mark, ...] = ()
    heading: Words = ""
    lines: Lines = ()
    grid: Callable[[Json], Grid] | None = None  # what the lines say as a table, where one can be drawn
    # Candidates, each with a short line of how it stands: kept in view while the debate runs, below those of earlier
    # events. An event with a `grid` says how all stand, and takes the place of earlier ones.
    candidates: Callable[[Json], Mapping[str, str]] | None = None
    badge: str = ""  # from here on, a label of the seat in its data's `seat`


@dataclass(frozen=True, kw_only=True)
class Hears:
    """Seats of the role `listener` read what seats of the role `speaker` say. Where the settings of a debate decide who
    reads whom, either can be the id of a seat instead."""

    listener: str
    speaker: str


@dataclass(frozen=True, kw_only=True)
class Series:
    """A line of a chart: one number from each event of a type, or one for each seat."""

    event: str
    path: str  # dotted path to a number, or to a mapping from seats to numbers
    seat: str = ""  # whose it is: a seat's id, or a dotted path to one
    label: str = ""  # instead of the seat's name


@dataclass(frozen=True, kw_only=True)
class Chart:
    title: str
    series: tuple[Series, ...]
    most: float = 10
    unit: str = ""  # "%" multiplies by 100


@dataclass(frozen=True, kw_only=True)
class Example:
    title: str
    topic: str
    settings: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """Something that the rules choose from, such as a perspective."""

    name: str
    about: str


@dataclass(frozen=True, kw_only=True)
class BlindReading:
    """One reader's choice, made from a transcript without knowing who spoke."""

    reader: str  # a seat's id; the same for its readings in both orders
    first: str  # the seat whose side it read first
    choice: str  # a seat's id, "tie" or "abstains"
    wording: str  # in what words it was asked for: "other words"
    model: str


@dataclass(frozen=True, kw_only=True)
class Rereading:
    """How the verdict of a stored debate can be read again, in a fork of it, by readers who know no one's name."""

    settings: Callable[[Any, int, Sequence[str]], Json]  # of that fork: for so many readers, of these models in turn
    readings: Callable[[Sequence[Turn]], list[BlindReading]]  # what the readers of a debate chose


class Dialect(Protocol):
    """Translates events for clients of another protocol. Its messages must have a `type`; None: nothing is sent."""

    def event(self, event: Event, debate: Debate, trace: Json | None, /) -> Json | None:
        """`trace` is the format's trace, given with the verdict."""
        ...

    def chunk(self, phase: str, round: int, text: str, /) -> Json | None:
        """New text of an open step."""
        ...


# Events that the stage shows for every format.
COMMON: Mapping[str, EventType] = {
    HEADER: EventType(hidden=True),
    CAST: EventType(heading=lambda data: f"Taking part: {', '.join(_mapping(data.get('names')).values())}"),
    PERSON: EventType(),
    VERDICT: EventType(heading="Verdict"),
}


COMMON_PHASES: Mapping[str, str] = structured.PHASES


@dataclass(frozen=True, kw_only=True)
class Format:
    name: str
    version: int  # raised when recorded debates would no longer replay
    purpose: str  # what a person would choose it for, in a few words
    summary: str
    settings: type[DebateSettings]
    parts: Callable[[Any], list[Part]]
    play: Callable[[Stage, Any], Coroutine[Any, Any, Outcome]]
    events: Mapping[str, EventType]  # that the rules show, beside those of the stage
    phases: Mapping[str, str]  # what a turn of each phase is called
    endings: Mapping[str, str]  # why it ended, for each `ended_by` that is not a limit
    answers: tuple[AnswerKind, ...] = ()  # kinds of typed answers that it can come to, with the setting `answer`
    arms: Mapping[str, Json] = field(
        default_factory=dict[str, Json]
    )  # settings of further arms in evaluations, by name
    pool: Callable[[int, Sequence[str]], Json] | None = None  # settings that draw so many samples of these models
    length: str = "max_rounds"  # the setting that says how many rounds or turns there are; empty: it has none
    unit: Literal["round", "turn"] = "round"
    header: Lines = ()  # below the question: templates over, or a function of, what `stage.open` was given
    statements: tuple[str, ...] = ()  # the phases in which seats with a voice speak to everyone: the record quotes them
    hears: tuple[Hears, ...] = ()
    hears_in: Callable[[Any, Sequence[SeatSpec]], tuple[Hears, ...]] | None = None  # with these settings and seats
    chart: Chart | None = None
    chapters: str = ""  # the event with which a part of the debate begins, where rounds say less; empty: rounds do
    examples: tuple[Example, ...] = ()
    dialects: Mapping[str, Dialect] = field(default_factory=dict[str, Dialect])
    settle: Callable[[Any, str], Any] | None = None  # settings with what the question decides, where they leave it open
    suits: tuple[Kind, ...] = ()  # the kinds of question for which it is taken when nothing else is said
    efforts: Mapping[Effort, Json] = field(
        default_factory=dict[Effort, Json]
    )  # settings for little and for much effort
    unattended: Json = field(default_factory=dict[str, Any])  # settings that leave out what a person is asked
    keeps_ledger: bool = False  # with its setting `claims`, it keeps a ledger of claims
    small: Json = field(default_factory=dict[str, Any])  # settings for small models, where nothing else is said
    small_note: str = ""  # what `small` changes, in words
    calls_of_people: Callable[[Any], int] | None = None  # that people may add to `max_calls` by what they answer
    needs: tuple[Ability, ...] = ()  # what a process must be able to do to drive its debates
    catalog: Callable[[], Sequence[CatalogEntry]] | None = None  # what the rules choose from, beside the settings
    rereading: Rereading | None = None  # None: its verdict can't be read again
    trace: Callable[[Debate, Sequence[Turn]], Json] | None = None  # the format's own account of a stored debate
    command: FormatCommand | None = None  # a command with its name, at the terminal

    @property
    def vocabulary(self) -> Mapping[str, EventType]:
        return {**COMMON, **self.events}

    def script(self, debate: Debate) -> Script:
        if debate.format_version != self.version:
            raise ScriptError(
                f"Debate {debate.short} was made with version {debate.format_version} of the format {self.name!r}; "
                f"this moot has version {self.version}. Run it with the moot that made it, or start a new debate."
            )
        settings = read(self.settings, debate.config)
        return Script(
            lambda stage: self._played(stage, settings),
            cast=debate.cast,
            limits=Limits.of(settings),
            topic=debate.topic,
            precedent=precedent(debate),
            reminder=spoken.ask if (spoken := language_of(debate.topic)) else "",
            events=self.vocabulary,
            private=frozenset(type for type, event in self.vocabulary.items() if not event.public),
        )

    async def _played(self, stage: Stage, settings: DebateSettings) -> Outcome:
        schema = settings.answer_schema
        if schema is None:
            return await self.play(stage, settings)
        scribe = structured.scribe_of(stage)
        return await structured.structured(stage, scribe, await self.play(stage, settings), schema)

    def heard_in(self, debate: Debate, named: Container[str]) -> tuple[Hears, ...]:
        """Who hears whom in a debate; `named` are the seats that take part."""
        if self.hears_in is None:
            return self.hears
        return self.hears_in(read(self.settings, debate.config), [seat for seat in debate.cast if seat.id in named])

    def ending(self, ended_by: str) -> str:
        """Why a debate ended, in words."""
        return ending_in(self.endings, ended_by)


def ending_in(endings: Mapping[str, str], ended_by: str) -> str:
    limit = LIMITS.get(ended_by)
    return limit.words if limit else endings.get(ended_by, ended_by.replace("_", " "))


def problems(format_: Format) -> list[str]:
    """What is wrong with a format's description, each in a sentence; empty if it can be used."""
    known = format_.vocabulary
    words = {"name": format_.name, "purpose": format_.purpose, "summary": format_.summary}
    found = [f"`{name}` is empty." for name, text in words.items() if not text.strip()]
    found += [
        f"The event {type!r} is not in upper case; lower-case events are the runtime's."
        for type in format_.events
        if not type.isupper()
    ]
    found += [
        f"The event {type!r} is the stage's own; call it something else." for type in COMMON if type in format_.events
    ]
    found += [
        f"A mark of {type!r} (`{mark.path}`) must have one {{}} in its text, and no other field: {mark.text!r}."
        for type, event in format_.events.items()
        for mark in event.marks
        if _fields(mark.text) != [""]
    ]
    shown = [(repr(type), words) for type, event in format_.events.items() for words in (event.heading, event.lines)]
    found += [
        f"The words {text!r} of {name} are no template."
        for name, words in (*shown, ("the header", format_.header))
        for text in ((words,) if isinstance(words, str) else () if callable(words) else words)
        if _fields(text) is None
    ]
    found += [f"`needs` names the ability {name!r}; there is {', '.join(ABILITIES)}." for name in _unknown(format_)]
    found += [
        f"The chart draws the event {series.event!r}, which is not declared in `events`."
        for series in (format_.chart.series if format_.chart else ())
        if series.event not in known
    ]
    if format_.chapters and format_.chapters not in known:
        found.append(f"`chapters` names the event {format_.chapters!r}, which is not declared in `events`.")
    for kind, words in (("phases", format_.phases), ("endings", format_.endings)):
        found += [f"`{kind}` has no words for {name!r}." for name, text in words.items() if not text.strip()]
    found += [
        f"`statements` names the phase {name!r}, which `phases` does not."
        for name in format_.statements
        if name not in format_.phases
    ]
    for name, given in (("small", format_.small), ("unattended", format_.unattended), *format_.efforts.items()):
        try:
            format_.settings.model_validate(given)
        except ValidationError as invalid:
            where = ".".join(str(part) for part in invalid.errors()[0]["loc"])
            found.append(f"The settings of {name!r} are not valid: {where}: {invalid.errors()[0]['msg']}.")
    lengths = {"`length` names": format_.length} if format_.length else {}
    needed = {**lengths, **({"`keeps_ledger` needs": "claims"} if format_.keeps_ledger else {})}
    found += [
        f"{what} the setting {name!r}, which the settings don't have."
        for what, name in needed.items()
        if name not in format_.settings.model_fields
    ]
    if format_.command is not None:
        found += problems_of(format_.command, format_.settings.model_fields)
    try:
        parts = format_.parts(format_.settings.model_validate({}))
    except (Exception, SystemExit) as error:  # a plug-in can raise anything
        return [*found, f"Its seats can't be made from its default settings: {error.__class__.__name__}: {error}."]
    ids, roles = [part.id for part in parts], {part.role for part in parts}
    for example in format_.examples:
        try:
            roles |= {part.role for part in format_.parts(format_.settings.model_validate(example.settings))}
        except ValidationError as invalid:
            problem = found_in(format_.settings, cast("list[Details]", invalid.errors()))[0].text
            return [*found, f"The settings of the example {example.title!r} are not valid: {problem}."]
    found += [f"Two seats have the id {id!r}." for id in sorted({id for id in ids if ids.count(id) > 1})]
    named = {role for hears in format_.hears for role in (hears.listener, hears.speaker)}
    found += [
        f"`hears` names the role {role!r}; the seats have {', '.join(sorted(roles))}." for role in sorted(named - roles)
    ]
    return found


def _unknown(format_: Format) -> list[str]:
    return [name for name in format_.needs if name not in ABILITIES]


def _fields(template: str) -> list[str] | None:
    """The names of a template's fields; None if it can't be parsed."""
    try:
        return [name + (spec or "") for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    except ValueError:
        return None


def _mapping(value: object) -> dict[str, str]:
    return cast("dict[str, str]", value) if isinstance(value, Mapping) else {}
