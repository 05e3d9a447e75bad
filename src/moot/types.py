"""The nouns. Each is defined once, here; docs/glossary.md has a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict

Json = dict[str, Any]
C = TypeVar("C")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[C]) -> type[C]:
    """A frozen, keyword-only record. The type checker sees to it that it is never changed: to check that at run time,
    too, would make a turn four times as slow to build."""
    return dataclass(kw_only=True, slots=True)(cls)


Status = Literal["pending", "running", "waiting", "stopping", "stopped", "failed", "completed", "canceled"]
STATUSES: tuple[Status, ...] = (
    "pending",
    "running",
    "waiting",
    "stopping",
    "stopped",
    "failed",
    "completed",
    "canceled",
)
TERMINAL: frozenset[Status] = frozenset({"completed", "canceled"})

StepKind = Literal["ask", "gate", "tool", "recall", "guidance"]
GateKind = Literal["checkpoint", "clarification", "approval", "statement", "guidance"]
Corpus = Literal["templates", "decisions"]
Role = Literal["system", "user", "assistant"]

CHARS_PER_TOKEN = 4  # about, where nobody has counted
HUMAN = "human"  # the model of a seat that a person speaks for

# "limit" and "invalid" can become turns; the others leave the step open and the debate `failed`.
FailureKind = Literal["limit", "invalid", "unavailable", "timeout", "overloaded", "script", "error"]


@record
class Message:
    role: Role
    text: str


@record
class Usage:
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0  # the part of tokens_in that the provider had cached
    tokens_stored: int = 0  # the part of tokens_in that the provider put into its cache, which can cost extra
    cost_usd: float | None = 0.0  # None: the price is not known

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            tokens_stored=self.tokens_stored + other.tokens_stored,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )

    def __sub__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            tokens_in=self.tokens_in - other.tokens_in,
            tokens_out=self.tokens_out - other.tokens_out,
            tokens_cached=self.tokens_cached - other.tokens_cached,
            tokens_stored=self.tokens_stored - other.tokens_stored,
            cost_usd=(self.cost_usd or 0.0) - (other.cost_usd or 0.0) if known else None,
        )


@record
class Price:
    """US dollars for a million tokens."""

    usd_in: float
    usd_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.usd_in + tokens_out * self.usd_out) / 1_000_000


class Answer(BaseModel):
    """What a model gives back when it is asked for more than text. `prose` is what people read of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def prose(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.model_dump().items())


@record
class Failure:
    kind: FailureKind
    message: str


@record
class Prompt:
    """A rendered prompt: the file it came from, and what is said."""

    name: str
    text: str


@record
class SeatSpec:
    """One participant, as the debate's cast records it."""

    id: str
    name: str
    role: str
    model: str
    max_tokens: int
    temperature: float | None = None


@record
class Call:
    """One request to a model. `key` and `seat` are for models that look answers up; they are never sent."""

    key: str
    seat: str
    messages: Sequence[Message]
    max_tokens: int  # of one try
    tries: int = 3  # at most so many tries when the shape is wrong
    most_tokens: int | None = None  # of all attempts together, whatever they fail of; None: no such limit
    temperature: float | None = None
    returns: type[Answer] | None = None


@record
class Reply:
    text: str
    model: str
    provider: str
    usage: Usage = field(default_factory=Usage)
    answer: Answer | None = None  # set when the call had `returns`
    finish_reason: str = "stop"
    first_token_ms: int | None = None
    attempts: tuple[str, ...] = ()  # why earlier tries, models and time-outs did not count


class Hear(Protocol):
    """Receives text as it is generated. `None`: forget what was heard, a new try begins."""

    def __call__(self, text: str | None, /) -> None: ...


class Model(Protocol):
    """Anything that answers a call; wrappers are models around models."""

    async def __call__(self, call: Call, hear: Hear, /) -> Reply: ...


class Models(Protocol):
    """Where the runtime gets models from: a spec is `provider:model`."""

    def open(self, spec: str) -> Model: ...

    def check(self, spec: str) -> None:
        """Raises UnknownModel or InputError when it can't be opened; uses no network."""
        ...

    def price(self, spec: str) -> Price | None:
        """None: not known."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors that are near each other when the texts mean much the same."""

    @property
    def name(self) -> str:
        """Stored with its vectors: those of different embedders can't be compared."""
        ...

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        """A vector for each text: 32-bit floats, little-endian, of length 1. Raises ModelError."""
        ...


class Recalled(Answer):
    """Something that memory holds, and how well it fits."""

    id: str
    title: str
    text: str
    score: float  # larger fits better; only comparable within one recollection


class Recollection(Answer):
    """What memory gives back, best first."""

    found: tuple[Recalled, ...] = ()
    by: str  # how it was found: "bm25", or "bm25 + openai:text-embedding-3-small"
    note: str = ""  # what did not work, and what was done instead

    def prose(self) -> str:
        names = ", ".join(each.title for each in self.found) or "nothing that fits"
        return f"Found {names} (by {self.by})."


class Likeness(Answer):
    """How alike pairs of texts are in meaning, 0 to 1. Alike is not agreed: contradictions are alike, too."""

    scores: tuple[float, ...] = ()  # one for each pair; none when there is no embedder
    by: str = ""  # the embedder; empty: there is none
    note: str = ""

    def prose(self) -> str:
        if not self.scores:
            return self.note or "Not measured: there is no embedder."
        return f"{', '.join(f'{score:.2f}' for score in self.scores)} (by {self.by})"


class Memory(Protocol):
    """Where recall steps are answered. It never fails a debate: without an embedder, words are compared."""

    async def recall(self, query: str, corpus: Corpus, k: int, /) -> tuple[Recollection, Usage]: ...

    async def compare(self, pairs: Sequence[tuple[str, str]], /) -> tuple[Likeness, Usage]: ...


@record
class Turn:
    """The persisted result of a step."""

    key: str
    seq: int
    kind: StepKind
    round: int
    phase: str
    seat: str
    role: str
    content: str  # what people read
    raw: str | None = None  # what the model wrote, where that is not `content`
    data: Json | None = None  # the typed answer
    failure: Failure | None = None
    model: str = ""
    provider: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd: float | None = 0.0
    finish_reason: str = ""
    duration_ms: int = 0
    response_time_ms: int | None = None  # until the first token
    prompt: str = ""
    prompt_hash: str = ""
    started_at: float = 0.0
    created_at: float = 0.0
    metadata: Json = field(default_factory=dict[str, Any])
    confidence: float | None = None
    tool_calls: list[Any] | None = None
    test_results: list[Any] | None = None
    reflections: list[Any] | None = None

    @property
    def usage(self) -> Usage:
        return Usage(
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            tokens_cached=self.tokens_cached,
            cost_usd=self.cost_usd,
        )

    @property
    def written(self) -> str:
        """The words as the model wrote them: what its own chat history holds."""
        return self.content if self.raw is None else self.raw


@record
class Cursor:
    """Where a debate stands. Derived from the turns; stored for those who only look."""

    open: tuple[str, ...] = ()
    next_round: int | None = None
    next_actor: str | None = None


@record
class Shown:
    """An event as a script emits it, before the store numbers it."""

    type: str
    key: str = ""
    data: Json = field(default_factory=dict[str, Any])
    turn: Turn | None = None


@record
class Event:
    """What a watcher sees. Upper-case types come from the format, lower-case ones from the runtime."""

    seq: int
    type: str
    key: str
    data: Json
    created_at: float
    turn: Turn | None = None


@record
class Gate:
    """A step that a person answers, as it is stored while it waits."""

    debate_id: str
    key: str
    kind: GateKind
    question: str
    choices: tuple[str, ...] = ()  # empty: any words will do
    artifacts: Json = field(default_factory=dict[str, Any])  # what helps to decide
    status: Literal["open", "decided"] = "open"
    requested_at: float = 0.0
    expires_at: float | None = None
    decision: Json | None = None
    reviewer: str | None = None
    decided_at: float | None = None


@record
class Outcome:
    """What a format returns. Every number in it is computed by code from typed turns."""

    winner: str  # a seat's id, or "tie", or "undecided"
    headline: str  # one sentence for people
    ended_by: str  # the rule or limit that ended the debate
    verdict_source: Literal["judge", "jury", "fallback"]
    reason: str = ""  # why it is undecided or a tie
    statement: str = ""  # the judge's own words
    scores: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    details: Json = field(default_factory=dict[str, Any])


@record
class Debate:
    id: str
    topic: str
    format: str
    format_version: int
    status: Status
    config: Json  # the format's settings, as given and completed by defaults
    cast: tuple[SeatSpec, ...]
    cursor: Cursor = field(default_factory=Cursor)
    created_at: float = 0.0
    updated_at: float = 0.0
    started_at: float | None = None
    completed_at: float | None = None
    initiated_by: str = ""
    parent_id: str | None = None
    forked_at: str | None = None  # the key asked anew in a fork
    epoch: int = 0  # the fencing number: raised each time someone takes the debate to drive it
    owner: str | None = None
    lease_until: float | None = None
    turn_count: int = 0
    shown_count: int = 0  # how many of the script's events are stored
    last_seq: int = 0  # of its events
    total_rounds: int = 0
    guided: int = 0  # how often someone has said something between steps, heard or not yet
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    lost: Usage = field(default_factory=Usage)  # paid for attempts that left no turn
    error: Failure | None = None
    outcome: Json | None = None
    user_rating: int | None = None
    metadata: Json = field(default_factory=dict[str, Any])

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL

    @property
    def usage(self) -> Usage:
        """Everything that was paid for, with what led to no turn."""
        return self.lost + Usage(tokens_in=self.tokens_in, tokens_out=self.tokens_out, cost_usd=self.cost_usd)

    @property
    def short(self) -> str:
        return self.id[:8]

    def with_(self, **changes: Any) -> Debate:
        return replace(self, **changes)
