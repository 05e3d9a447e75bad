"""The nouns. Each is defined once, here or in the modules imported here; docs/glossary.md has a line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Annotated, Any, Literal, Protocol, Self, get_args

from pydantic import Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core.core_schema import CoreSchema

from moot.core.outcome import ArguedPosition as ArguedPosition
from moot.core.outcome import Check as Check
from moot.core.outcome import Confidence as Confidence
from moot.core.outcome import FinalAnswer as FinalAnswer
from moot.core.outcome import GivenAnswer as GivenAnswer
from moot.core.outcome import Level as Level
from moot.core.outcome import Outcome as Outcome
from moot.core.outcome import RecordParts as RecordParts
from moot.core.outcome import Section as Section
from moot.core.outcome import TurnedOut as TurnedOut
from moot.core.outcome import VoteCast as VoteCast
from moot.core.poll import ABSTAINS as ABSTAINS
from moot.core.poll import TIE as TIE
from moot.core.poll import UNDECIDED as UNDECIDED
from moot.core.poll import Ballot as Ballot
from moot.core.poll import Candidate as Candidate
from moot.core.poll import CountRound as CountRound
from moot.core.poll import Poll as Poll
from moot.core.poll import Result as Result
from moot.core.reading import strictly
from moot.core.values import Frozen as Frozen
from moot.core.values import Json as Json
from moot.core.values import NonEmpty as NonEmpty
from moot.core.values import Trimmed as Trimmed
from moot.core.values import record as record

Status = Literal["pending", "running", "waiting", "stopping", "stopped", "failed", "completed", "canceled"]
STATUSES: tuple[Status, ...] = get_args(Status)
TERMINAL: frozenset[Status] = frozenset({"completed", "canceled"})

StepKind = Literal["ask", "gate", "recall", "use", "guidance"]
GateKind = Literal["checkpoint", "clarification", "approval", "statement", "guidance"]
Learned = Literal["lessons", "episodes"]
Corpus = Literal["templates", "decisions", "lessons", "episodes"]
Ability = Literal["code"]  # what not every machine can do: run code that models wrote
ABILITIES: tuple[Ability, ...] = get_args(Ability)
Scope = Literal["read", "run", "decide", "admin"]  # what an access token allows
SCOPES: tuple[Scope, ...] = get_args(Scope)
Role = Literal["system", "user", "assistant"]

# A finish reason of our own, for an answer whose stream ended without one. "length" is what providers say at the cap.
INCOMPLETE = "incomplete"
CUT: frozenset[str] = frozenset({"length", INCOMPLETE})

CHARS_PER_TOKEN = 4  # an estimate, for text that no tokenizer has counted
HUMAN = "human"  # the model of a seat that a person speaks for

# "limit", "invalid" and "tool" can become turns; the others leave the step open and the debate `failed`.
FailureKind = Literal[
    "limit", "invalid", "tool", "unavailable", "timeout", "overloaded", "unreachable", "script", "crashed", "error"
]

# Which default model and token cap a seat gets.
Tier = Literal["debater", "judge"]
TIERS: tuple[Tier, ...] = get_args(Tier)


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
    estimated: bool = False  # a part was counted by moot: the provider gave no figure, or one that can't be right

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            tokens_stored=self.tokens_stored + other.tokens_stored,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            estimated=self.estimated or other.estimated,
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


class Answer(Frozen):
    """What a model gives back when it is asked for more than text. `prose` is what people read of it.

    A number must be given as a number: `true`, `"7"` and NaN are invalid, and so is 7.5 where an int is asked for. A
    choice of texts (`Literal`) matches without regard to case. Derive nested models from `Answer`, too.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        return strictly(handler(source))

    def prose(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.model_dump().items())

    def tests_run(self, arguments: Json) -> list[Json] | None:
        """Of the result of a tool that ran tests: each `case` with its `outcome` and what it `got`, for the turn's
        `test_results`. `arguments` are those that the tool was given. None: no tests were run."""
        return None

    def reflected(self) -> list[Json] | None:
        """The reflections in an answer, without what follows from them, for the turn's `reflections`. None: it is no
        reflection."""
        return None


class TextAnswer(Answer):
    """A typed answer that a model writes as text, for what JSON would spoil: a model writes worse code inside of it.

    The prompt says how the text is to look. The turn stores the fields, so a replay parses nothing."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Raises ValueError, whose message tells the model what is missing."""
        raise NotImplementedError

    @classmethod
    def ended(cls, text: str) -> str:
        """A text that ended by itself or where a text of `Sampling.stop` began, with what such a text would have
        closed."""
        return text

    def as_text(self) -> str:
        """The text that a model would have written; for simulated models."""
        raise NotImplementedError


@record
class Failure:
    kind: FailureKind
    message: str


@record
class Prompt:
    """A rendered prompt: the file it came from, and what is said."""

    name: str
    text: str


SEEDS = 2**31


class Sampling(Frozen):
    """How a model picks its words. What is left out is up to the provider."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: Annotated[int, Field(ge=0, lt=SEEDS)] | None = None
    stop: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=100)], ...], Field(max_length=4)
    ] = ()

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are set."""
        return {name: value for name, value in self if value not in (None, ())}

    def over(self, below: Sampling) -> Sampling:
        """These settings, and those of `below` where these say nothing."""
        return Sampling(**{**below.given, **self.given})


class Hat(Frozen):
    """A role of the catalog, which a seat takes on beside its own."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
    about: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300, pattern=r"^[^\n]*$")] = ""
    prompt: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
    tools: tuple[str, ...] = ()  # that it may use, where a format has them
    affinities: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)  # by domain
    leads: tuple[str, ...] = ()  # phases that it leads, where a topology has no fixed leader


@record
class SeatSpec:
    """One participant, as the debate's cast records it."""

    id: str
    name: str
    role: str  # what the seat is called in its format: any word
    model: str
    max_tokens: int
    tier: Tier = "judge"
    voice: bool = False  # it speaks on stage: it has a lane, is quoted in the record, and hears precedents
    optional: bool = False  # part of the debate only once the format names it
    stance: str = ""  # what it stands for, in a few words
    brief: str = ""  # what it was told to argue
    small: bool = False  # its model is small: rules may word their questions more simply
    sampling: Sampling = field(default_factory=Sampling)
    hats: tuple[Hat, ...] = ()  # roles that it takes on; their words are part of its briefing

    @property
    def as_json(self) -> Json:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {
            "sampling": self.sampling.given,
            "hats": [hat.model_dump(mode="json") for hat in self.hats],
        }

    @classmethod
    def of(cls, values: Json) -> SeatSpec:
        """The seat that `as_json` gives."""
        read: Json = {
            "sampling": Sampling(**values["sampling"]),
            "hats": tuple(Hat(**each) for each in values.get("hats", ())),
        }
        return cls(**(values | read))


Objection = Callable[[str], str]
"""Says what is wrong with a text, to follow "it"; empty if nothing is. Pure."""


@record
class Call:
    """One request to a model. `key` and `seat` are for models on this machine; they are never sent."""

    key: str
    seat: str
    messages: Sequence[Message]
    max_tokens: int  # of one try
    tries: int = 3  # at most so many tries when the shape is wrong
    most_tokens: int | None = None  # of all attempts together, whatever they fail of; None: no such limit
    sampling: Sampling = field(default_factory=Sampling)
    returns: type[Answer] | None = None
    objection: Objection | None = None  # to a text: it is asked for once more if there is one

    @property
    def json_shape(self) -> type[Answer] | None:
        """What is to be written as JSON; None: the answer is text, typed or not."""
        return None if self.returns is None or issubclass(self.returns, TextAnswer) else self.returns


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
    tool_calls: tuple[Json, ...] = ()  # what is recorded of the tools that were used


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


class Tool(Protocol):
    """Turns arguments into a result, both JSON objects. Raises ToolError when it can't. `texts` are those that the
    arguments name by their sha256."""

    async def __call__(self, arguments: Json, texts: Mapping[str, str], /) -> Json: ...


Toolbox = Mapping[str, Tool]  # where `use` steps are executed; by name


@record
class Asker:
    """For whom memory is asked."""

    debate_id: str = ""  # empty: for no debate
    room_usd: float | None = None  # what its limits leave for an embedder; None: they leave it alone


class Memory(Protocol):
    """Where recall steps are answered. It never fails a debate: without an embedder, words are compared."""

    async def recall(self, query: str, corpus: Corpus, k: int, asker: Asker, /) -> tuple[Recollection, Usage]:
        """The debate that asks is told no decision that one of its readers may not see."""
        ...

    async def learned(
        self, query: str, corpus: Learned, k: int, agent: str, asker: Asker, /
    ) -> tuple[Recollection, Usage]:
        """Recall what earlier debates have learnt. `agent`: only this agent's; empty: everyone's. The debate that asks
        is told nothing of a debate that one of its readers may not see."""
        ...

    async def compare(self, pairs: Sequence[tuple[str, str]], asker: Asker, /) -> tuple[Likeness, Usage]: ...

    def most_usd(self, texts: Sequence[str], /) -> float | None:
        """The most that an embedder may cost when it is asked about these texts; None: its price is not known."""
        ...


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
    tool_calls: list[Json] | None = None  # of each use of a tool: request, limits, programs, how it ended, how long
    test_results: list[Json] | None = None  # each `case` that was run, its `outcome`, and what it `got`
    reflections: list[Json] | None = None  # what the seat makes of its failures
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

    @property
    def usage(self) -> Usage:
        return Usage(
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            tokens_cached=self.tokens_cached,
            cost_usd=self.cost_usd,
        )

    @property
    def cut(self) -> bool:
        """Whether the answer ends before its end: at its token cap, or because the stream broke off."""
        return self.finish_reason in CUT

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
    initiated_by: str = ""  # the name of its token at that time, or of the local user
    token_id: str = ""  # the token it was made with, which pays for it; empty: the local user
    parent_id: str | None = None
    forked_at: str | None = None  # the key asked anew in a fork
    follows: str | None = None  # the debate that its question was asked after
    epoch: int = 0  # the fencing number: raised each time someone takes the debate to drive it
    owner: str | None = None
    lease_until: float | None = None
    crashes: int = 0  # drivers in a row that died or fell silent before they stored a step
    alone: int = 0  # drivers in a row, each after a death, that drove nothing else until a step was stored
    turn_count: int = 0
    shown_count: int = 0  # how many of the script's events are stored
    artifact_count: int = 0  # how many of the script's artifacts were stored
    last_seq: int = 0  # of its events
    total_rounds: int = 0
    guided: int = 0  # how often someone has said something between steps, heard or not yet
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    lost: Usage = field(default_factory=Usage)  # paid for attempts that left no turn
    error: Failure | None = None
    outcome: Outcome | None = None
    user_rating: int | None = None
    turned_out: TurnedOut | None = None  # how its decision turned out; None: not recorded
    quarantined_at: float | None = None  # since when its decision is kept from being recalled; None: it is not
    quarantined_by: str | None = None
    private: bool = False  # only its token, and `admin`, see it
    title: str = ""  # what people call it; empty: its question
    pinned: bool = False
    archived: bool = False  # lists leave it out unless they are asked for it
    tags: tuple[str, ...] = ()
    evaluation: str = ""  # the evaluation whose cell it is: it is in no list and no memory; empty: none
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

    @property
    def name(self) -> str:
        """Its title, or else its question."""
        return self.title or self.topic

    @property
    def names(self) -> dict[str, str]:
        """What the seats are called, as far as the stored debate knows."""
        return {seat.id: seat.name for seat in self.cast} | (self.outcome.names if self.outcome else {})

    @property
    def winner_name(self) -> str | None:
        return None if self.outcome is None else self.names.get(self.outcome.winner)
