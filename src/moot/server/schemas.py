"""What the API gives of debates and of itself. Nouns have the names that moot/core/types.py gives them.

`bodies` is what the API takes, `catalog_schemas` what it gives of the things a debate can choose from.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from moot.core import types
from moot.core.lifecycle import ACTIONS, RULES, Action
from moot.core.types import FailureKind, GateKind, Json, Scope, Status, StepKind, Tier
from moot.formats.format import Tone
from moot.reasoning.claims import Claim

LABELS: Json = {action: RULES[action].label for action in ACTIONS}  # the dashboard's buttons

Seconds = Annotated[float, Field(description="seconds since 1970, UTC")]


class Seat(BaseModel):
    id: str
    name: str
    role: str = Field(description="what the seat is called in its format")
    tier: Tier = Field(description="which default model and token cap it gets")
    voice: bool = Field(description="it speaks on stage: it has a lane and is quoted in the record")
    optional: bool = Field(description="part of the debate only once a `CAST` event names it")
    stance: str = Field(description="what it stands for, in a few words; may be empty")
    model: str
    max_tokens: int
    sampling: dict[str, Any] = Field(description="the sampling settings that are set, for example `temperature`")
    hats: list[str] = Field(description="the roles that it takes on beside its own")


class Failure(BaseModel):
    kind: FailureKind
    message: str


class Progress(BaseModel):
    done: int
    of: int | None = Field(description="null: the format does not count up to a number")
    unit: Literal["round", "turn", "step"]


class TurnedOut(BaseModel):
    """How a decision turned out, as recorded later."""

    right: float = Field(description="1: right; 0: wrong; between: partly")
    note: str
    by: str
    at: Seconds


class DebateSummary(BaseModel):
    """A debate as a list shows it."""

    id: str
    topic: str
    format: str
    status: Status
    interrupted: bool = Field(description="it should be running, and no process drives it")
    progress: Progress
    turns: int
    last_seq: int = Field(description="of its events")
    open: list[str] = Field(description="keys of the steps that are open")
    winner: str | None = Field(description="a seat's id, or `tie`, `undecided`, `consensus`; null: no outcome yet")
    winner_name: str | None
    headline: str | None = Field(description="the outcome in one sentence: the answer, where there is one")
    how: str | None = Field(description="how it came about, in one sentence; can be empty")
    user_rating: int | None
    turned_out: TurnedOut | None = Field(description="how the decision turned out; null: not recorded")
    quarantined_at: Seconds | None = Field(description="since when its decision is kept out of new debates")
    quarantined_by: str | None
    private: bool = Field(description="only its own token, and the scope `admin`, see it")
    title: str = Field(description="what people call it; empty: its question")
    pinned: bool
    archived: bool = Field(description="lists leave it out, unless they are asked for it")
    tags: list[str]
    demonstration: bool = Field(description="a demonstration model takes part: the verdict means nothing")
    error: Failure | None
    tokens_in: int
    tokens_out: int
    cost_usd: float | None = Field(description="null: a price is not known")
    parent: str | None
    forked_at: str | None
    follows: str | None = Field(description="the debate that its question was asked after")
    initiated_by: str
    created_at: Seconds
    updated_at: Seconds
    started_at: Seconds | None
    completed_at: Seconds | None
    actions: list[Action] = Field(description="what can be done with it now")


class Cursor(BaseModel):
    open: list[str]
    next_round: int | None
    next_actor: str | None


class Lost(BaseModel):
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


class Outcome(types.Outcome):
    """What the format returned. Every number is computed by code from typed turns."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    checked: str = Field(description="the checks in one line, doubts first; empty: nothing was checked")
    ended: str = Field(description="why the debate ended, in words: `ended because` goes before them")
    limit: str | None = Field(description="the limit that cut the debate short; null: none did")
    html: str | None = Field(description="the statement as HTML, when asked for with `html=true`")


class EventWords(BaseModel):
    """Words and flags of one type of event."""

    verb: str = Field(description="what the speaker does, for example `scores`; empty: it speaks")
    failed: str = Field(description="instead of the verb, where no valid answer was given")
    public: bool = Field(description="false: plans and thoughts, which stay with their seat")
    quiet: bool = Field(description="set it back where everything is shown")
    hidden: bool = Field(description="show it nowhere: other events say it")


class Hears(BaseModel):
    """Seats of the role `listener` read what seats of the role `speaker` say; either can be a seat's id instead."""

    listener: str
    speaker: str


class Chart(BaseModel):
    title: str
    most: float = Field(description="the largest value that its axis shows")
    unit: str = Field(description="behind each value, for example `%`; may be empty")


class Vocabulary(BaseModel):
    """What the debate's format says of itself, for clients that show it. A format that is not installed here has
    general words."""

    unit: Literal["round", "turn"] = Field(description="what `round` of a turn counts")
    length: str | None = Field(description="the setting that says how many rounds or turns there are")
    events: dict[str, EventWords] = Field(description="by type of event")
    phases: dict[str, str] = Field(description="what a turn of each phase is called")
    hears: list[Hears]
    chart: Chart | None = Field(description="null: its events have no points")
    ledger: bool = Field(description="it can keep a ledger of claims: the setting `claims`")
    table: str = Field(description="name of the lane for the seats without a voice")
    versions: bool = Field(description="it makes versions of code: `GET /v1/debates/{id}/versions`")
    chapters: str = Field(description="the type of event with which a part begins; empty: parts are rounds or turns")


class Debate(DebateSummary):
    format_version: int
    settings: dict[str, Any]
    seats: list[Seat]
    cursor: Cursor
    lost: Lost = Field(description="paid for attempts that left no turn")
    outcome: Outcome | None
    vocabulary: Vocabulary


class DebatePage(BaseModel):
    items: list[DebateSummary]
    next: str | None = Field(description="give it as `cursor` to see what comes next; null: that was all")


class Turn(BaseModel):
    key: str
    seq: int
    kind: StepKind
    round: int
    phase: str
    seat: str
    role: str
    content: str
    html: str | None = Field(description="the content as HTML, when asked for with `html=true`")
    data: dict[str, Any] | None = Field(description="the typed answer")
    tool_calls: list[dict[str, Any]] | None = Field(
        description="of each use of a tool: the request's hash, limits, programs, how it ended, how long it took"
    )
    test_results: list[dict[str, Any]] | None = Field(
        description="each `case` that was run, its `outcome`, and what it `got`; null: no tests were run"
    )
    reflections: list[dict[str, Any]] | None = Field(description="what the seat makes of its failures")
    failure: Failure | None
    model: str
    provider: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost_usd: float | None
    finish_reason: str
    duration_ms: int
    response_time_ms: int | None
    prompt: str
    prompt_hash: str
    started_at: Seconds
    created_at: Seconds
    metadata: dict[str, Any]


class TurnPage(BaseModel):
    items: list[Turn]
    next: int | None = Field(description="give it as `after` to see what comes next; null: that was all for now")


class Note(BaseModel):
    """A typed fact beside the words of an event."""

    text: str
    tone: Tone


class GridRow(BaseModel):
    name: str
    cells: list[str] = Field(description="a mark or a word for each column")
    note: str


class Grid(BaseModel):
    """A table of marks, for example which version of a program passes which case."""

    columns: list[str]
    rows: list[GridRow]
    more: int = Field(description="rows that are left out")


class Caption(BaseModel):
    """An event in words."""

    heading: str
    notes: list[Note]
    lines: list[str] = Field(description="below the heading, of an event without a turn")
    grid: Grid | None = Field(description="what the lines say as a table; null: they are none")


class Point(BaseModel):
    """A value of the debate's chart."""

    seat: str
    label: str = Field(description="name of the series")
    x: int = Field(description="the round or turn")
    y: float


class Badge(BaseModel):
    """A label that a seat has from this event on."""

    seat: str
    text: str


class Event(BaseModel):
    """Something that happened. Upper-case types come from the format, lower-case ones from the runtime."""

    debate: str
    seq: int
    type: str
    key: str
    data: dict[str, Any]
    created_at: Seconds
    turn: Turn | None
    caption: Caption | None = Field(description="in words; null: it comes from the runtime")
    points: list[Point] = Field(description="what it adds to the debate's chart")
    badge: Badge | None
    public: bool = Field(description="false: plans and thoughts, which stay with their seat")
    quiet: bool = Field(description="set it back where everything is shown")
    hidden: bool = Field(description="show it nowhere: other events, or the debate itself, say it")


class EventPage(BaseModel):
    items: list[Event]
    next: int | None = Field(description="give it as `after` to see what comes next; null: that was all for now")


class Delta(BaseModel):
    """New text of a step in flight: the stream's event `delta`. Append it when `offset` is where you are; when it is 0,
    forget what you have of this key."""

    debate: str
    key: str
    seat: str
    round: int
    phase: str
    shows: str = Field(description="type of the event that will show it; empty: it will not be shown")
    attempt: int = Field(description="raised when a new try begins, which starts again at offset 0")
    offset: int = Field(description="where `text` belongs, counted in characters (code points)")
    end: int = Field(description="where the next delta of this key begins")
    text: str
    done: bool = Field(description="nothing more will be said; the event that shows it may take a while")


class End(BaseModel):
    """The last thing a stream says about a debate: the stream's event `end`."""

    debate: str
    status: Status = Field(description="of a deleted debate: the last that was known")
    last_seq: int
    deleted: bool


class Deleted(BaseModel):
    """What is left of a deleted debate."""

    id: str
    deleted_at: Seconds
    deleted_by: str


class Share(BaseModel):
    """A link that shows one debate, and nothing else, to everyone who has it."""

    id: str
    made_by: str
    created_at: Seconds
    expires_at: Seconds | None
    last_used_at: Seconds | None = Field(description="about, in minutes")


class NewShare(BaseModel):
    id: str
    path: str = Field(description="its address on this server. It is given this once")
    expires_at: Seconds | None


class Shares(BaseModel):
    items: list[Share]


class Purged(BaseModel):
    ids: list[str] = Field(description="of the debates that are gone or, with `dry_run`, would be")
    more: bool = Field(description="there are more: ask again")


class NotImported(BaseModel):
    id: str = Field(description="of the debate, as far as it can be read; empty: another part of the file")
    why: str = Field(description="a part of a sentence")


class Imports(BaseModel):
    """What became of the debates of an export."""

    new: int = Field(description="debates that were imported")
    same: int = Field(description="debates that were here already, just so")
    refused: int = Field(description="debates, or parts of the file, that were not imported")
    problems: list[NotImported] = Field(description="the first hundred of those")


class Gate(BaseModel):
    """A question to a person."""

    debate: str
    key: str
    kind: GateKind
    question: str
    html: str | None = Field(description="the question as HTML for people, without fence marks, with `html=true`")
    choices: list[str] = Field(description="empty: any words will do")
    artifacts: dict[str, Any] = Field(description="what helps to decide")
    status: Literal["open", "decided"]
    requested_at: Seconds
    expires_at: Seconds | None
    decision: dict[str, Any] | None
    reviewer: str | None
    decided_at: Seconds | None


class GateList(BaseModel):
    items: list[Gate]


class Answered(BaseModel):
    """An answer that was taken, and the debate after it."""

    gate: Gate
    debate: DebateSummary


class Guided(BaseModel):
    key: str = Field(description="of the turn that it will be")
    debate: DebateSummary


class Price(BaseModel):
    model: str
    usd_in: float | None = Field(description="US dollars for a million tokens; null: not known")
    usd_out: float | None
    demonstration: bool = Field(description="what it decides means nothing")


class Amount(BaseModel):
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None = Field(description="null: a price is not known")


class Bound(BaseModel):
    tokens_out: int
    cost_usd: float | None = Field(description="null: there is no such limit; set max_cost_usd")
    runtime_seconds: int


class Estimate(BaseModel):
    """What a debate would take."""

    full_length: Amount = Field(
        description="when every statement uses its whole cap and nothing is tried twice, by a run of the rules alone"
    )
    most: Amount | None = Field(
        description="when it makes as many calls as max_calls, and people who are asked, allow, each as large as the "
        "largest; null: max_calls is not set"
    )
    limits: Bound = Field(description="what it can't exceed, whatever happens")
    format: str
    chosen: list[str] = Field(description="what moot has chosen by itself, and why: the format, for example")
    seats: list[Seat]
    prices: list[Price]
    demonstration: bool
    notes: list[str]


class IssueDraft(BaseModel):
    title: str
    body: str


class Proof(BaseModel):
    """Whether the rules, run again on the recorded turns, lead to the recorded transcript."""

    same: bool
    sha256: str
    bytes: int
    turns: int
    line: int | None = Field(description="the first line that differs")
    recorded: str | None
    replayed: str | None


class Audit(BaseModel):
    """Everything that is known of a debate, with every word that was sent to a model."""

    debate: dict[str, Any]
    turns: list[dict[str, Any]]
    events: list[dict[str, Any]]


class Trace(BaseModel):
    """A format's own account of a debate. Not every format has one."""

    format: str
    trace: dict[str, Any]


class Claims(BaseModel):
    """The ledger: what was claimed, and what became of it. docs/claims.md describes it."""

    model_config = ConfigDict(extra="allow")

    type: Literal["moot.ledger"]
    version: int
    debate: str
    topic: str
    format: str
    status: Status
    names: dict[str, str]
    counts: dict[str, int]
    claims: list[Claim]
    statements: list[dict[str, Any]]


class Health(BaseModel):
    status: Literal["ok"]


class Check(BaseModel):
    name: str
    ok: bool
    detail: str


class Readiness(BaseModel):
    status: Literal["ready", "not ready"]
    checks: list[Check]


class Budget(BaseModel):
    """What the caller has used since midnight UTC, and what is left. Tokens are output tokens."""

    cost_usd: float
    tokens: int
    reserved_usd: float = Field(description="the most that calls in flight may cost, and calls of killed processes")
    reserved_tokens: int
    left_usd: float | None = Field(description="null: as much as you like")
    left_tokens: int | None = Field(description="null: as many as you like")
    debate_usd: float | None = Field(description="what one debate may cost at most; null: as much as it likes")
    debate_tokens: int | None = Field(description="what one debate may write at most; null: as much as it likes")
    opens_at: Seconds = Field(description="when the next day begins")


class Me(BaseModel):
    """The caller's name and scopes."""

    name: str
    scopes: list[Scope]
    token_needed: bool = Field(description="this server demands a token")
    private: bool = Field(description="only debates made with this token are shown, private or not")
    expires_at: Seconds | None = Field(description="when the token ends; null: never")
    budget: Budget
    version: str
