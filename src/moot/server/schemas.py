"""The shapes of what the API takes and gives. Nouns have the names that moot/types.py gives them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from moot.gates import MAX_WORDS
from moot.reasoning.claims import Claim
from moot.settings import MAX_TOPIC_CHARS
from moot.types import FailureKind, GateKind, Status, StepKind

Action = Literal["start", "stop", "resume", "cancel", "retry", "answer", "guide", "fork", "rate", "record"]
Scope = Literal["read", "run", "decide", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

Seconds = Annotated[float, Field(description="seconds since 1970, UTC")]
Words = Annotated[str, StringConstraints(max_length=MAX_WORDS)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Given(BaseModel):
    """What a client sends."""

    model_config = ConfigDict(extra="forbid")


class NewDebate(Given):
    topic: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOPIC_CHARS)] = Field(
        description="the question", examples=["Should we use Redis or PostgreSQL for caching?"]
    )
    format: str | None = Field(None, max_length=100, description="its rules; the server's default when left out")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="settings of the format: `GET /v1/formats/{name}` has their schema"
    )
    start: bool = Field(True, description="whether it begins at once")


class Fork(Given):
    at: Key | None = Field(None, description="key of the step to ask anew; where it stands when left out")
    settings: dict[str, Any] = Field(default_factory=dict, description="settings that differ from the parent's")
    guidance: Words | None = Field(None, description="what the branch should look at, from that step on")
    start: bool = Field(True, description="whether it begins at once")


class Rating(Given):
    rating: int = Field(ge=1, le=5, description="1 (poor) to 5 (very good)")


class Guidance(Given):
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORDS)] = Field(
        description="whoever is asked next hears it"
    )


class GateAnswer(Given):
    """`choice` where the gate has choices, `text` where it asks for words or the choice calls for some."""

    key: Key | None = Field(None, description="which question; needed when several are open")
    choice: str | None = Field(None, max_length=100)
    text: Words = ""


class Verdict(Given):
    key: Key | None = Field(None, description="which approval; needed when several are open")
    reason: Words = Field("", description="why, for the record")


class Login(Given):
    token: str = Field(min_length=1, max_length=200)


class Seat(BaseModel):
    id: str
    name: str
    role: str
    model: str
    max_tokens: int
    temperature: float | None


class Failure(BaseModel):
    kind: FailureKind
    message: str


class Progress(BaseModel):
    done: int
    of: int | None = Field(description="null: the format does not count up to a number")
    unit: Literal["round", "turn", "step"]


class DebateSummary(BaseModel):
    """A debate as a list shows it."""

    id: str
    topic: str
    format: str
    status: Status
    interrupted: bool = Field(description="it should be running, and nobody drives it")
    progress: Progress
    turns: int
    last_seq: int = Field(description="of its events")
    open: list[str] = Field(description="keys of the steps that are open")
    winner: str | None = Field(description="a seat's id, or `tie`, `undecided`, `consensus`; null: no outcome yet")
    winner_name: str | None
    headline: str | None
    user_rating: int | None
    demonstration: bool = Field(description="a demonstration model takes part: the verdict means nothing")
    error: Failure | None
    tokens_in: int
    tokens_out: int
    cost_usd: float | None = Field(description="null: a price is not known")
    parent: str | None
    forked_at: str | None
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


class Usage(BaseModel):
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


class Outcome(BaseModel):
    """What the format made of it. Every number is computed by code from typed turns."""

    winner: str
    headline: str
    ended_by: str
    verdict_source: Literal["judge", "jury", "fallback"]
    reason: str
    statement: str
    scores: dict[str, float | None]
    details: dict[str, Any]
    html: str | None = Field(description="the statement as HTML, when asked for with `html=true`")


class Debate(DebateSummary):
    format_version: int
    settings: dict[str, Any]
    cast: list[Seat]
    cursor: Cursor
    lost: Usage = Field(description="paid for attempts that left no turn")
    outcome: Outcome | None


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
    confidence: float | None
    tool_calls: list[Any] | None
    test_results: list[Any] | None
    reflections: list[Any] | None


class TurnPage(BaseModel):
    items: list[Turn]
    next: int | None = Field(description="give it as `after` to see what comes next; null: that was all for now")


class Event(BaseModel):
    """Something that happened. Upper-case types come from the format, lower-case ones from the runtime."""

    debate: str
    seq: int
    type: str
    key: str
    data: dict[str, Any]
    created_at: Seconds
    turn: Turn | None


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
    status: Status
    last_seq: int


class Gate(BaseModel):
    """A question to a person."""

    debate: str
    key: str
    kind: GateKind
    question: str
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
    limits: Bound = Field(description="what it can't exceed, whatever happens")
    cast: list[Seat]
    prices: list[Price]
    demonstration: bool
    notes: list[str]


class FormatPart(BaseModel):
    id: str
    name: str
    role: str


class Perspective(BaseModel):
    name: str
    priorities: list[str]
    trade_offs: str
    opposes: list[str]


class Example(BaseModel):
    title: str
    topic: str
    settings: dict[str, Any]


class Format(BaseModel):
    name: str
    version: int
    summary: str
    default: bool = Field(description="it is what a new debate gets when nothing is said")
    settings_schema: dict[str, Any] = Field(description="JSON Schema of its settings")
    defaults: dict[str, Any] = Field(description="its settings when nothing is said")
    parts: list[FormatPart] = Field(description="its seats with these defaults")
    perspectives: list[Perspective] = Field(description="that it can choose from, where it has such a catalog")
    examples: list[Example]


class FormatList(BaseModel):
    items: list[Format]


class ModelChoice(BaseModel):
    role: str
    model: str
    reason: str
    demonstration: bool


class Provider(BaseModel):
    name: str
    example: str = Field(description="how one of its models is written")
    about: str
    key_variable: str | None = Field(description="the variable that its key is taken from; null: it needs none")
    usable: bool = Field(description="its key is set, or it needs none")


class Providers(BaseModel):
    chosen: list[ModelChoice] = Field(description="what a new debate would take now, and why")
    items: list[Provider]


class ConfigEntry(BaseModel):
    name: str
    value: Any
    layer: Literal["default", "user", "project", "environment", "flag"]


class ConfigList(BaseModel):
    items: list[ConfigEntry]


class Hit(BaseModel):
    """A past debate that was found."""

    id: str
    topic: str
    format: str
    winner: str | None
    headline: str
    demonstration: bool
    score: float = Field(description="0 to 1; larger fits better")
    completed_at: Seconds | None


class Search(BaseModel):
    query: str
    items: list[Hit]
    by: str = Field(description="how they were found")
    note: str
    more: bool = Field(description="not all debates have been looked at yet: search again")
    tokens_in: int = Field(description="that the embedder has read")
    cost_usd: float | None


class TemplateSummary(BaseModel):
    id: str
    name: str
    summary: str
    domains: list[str]
    keywords: list[str]
    own: bool = Field(description="it is the user's own")


class Template(TemplateSummary):
    questions: list[str]
    text: str
    html: str | None


class TemplateList(BaseModel):
    items: list[TemplateSummary]
    problems: list[str] = Field(description="files of the user that can't be read")


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
    """A format's own account of a debate."""

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


class Me(BaseModel):
    """Who asks, as far as the server knows."""

    name: str
    scopes: list[Scope]
    token_needed: bool = Field(description="this server demands a token")
    version: str
