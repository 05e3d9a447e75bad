"""Steps: the requests a script makes. A step is one of `Ask`, `AskPerson`, `Recall` and `Use`; the runtime has an
executor for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, ClassVar

from moot.core.types import (
    Answer,
    Corpus,
    Failure,
    FailureKind,
    GateKind,
    Json,
    Message,
    Objection,
    Prompt,
    SeatSpec,
    StepKind,
    record,
)

# The failures of a model that a spared step leaves to the script.
ABSENT: frozenset[FailureKind] = frozenset({"timeout", "unavailable", "unreachable", "overloaded"})


@record
class Failed:
    """What a tolerant step gives the script instead of an answer."""

    failure: Failure
    raw: str

    @property
    def absent(self) -> bool:
        """Whether the model could not be had at all, as opposed to an answer that could not be used."""
        return self.failure.kind in ABSENT


@record
class Closing:
    """What the end of a debate will take: a verdict must stay affordable."""

    model: str
    calls: int
    tokens: int  # of output, in all calls together


@record
class Cap:
    """A cap on the tokens of an answer, and the setting that sets it."""

    tokens: int
    setting: str


@record
class Step:
    """What all steps have in common."""

    kind: ClassVar[StepKind]

    key: str  # unique in the debate
    round: int
    phase: str
    seat: SeatSpec
    prompt: Prompt
    prompt_hash: str  # of everything that determines the answer: the turn of this step must carry the same
    returns: type[Answer] | None = None
    tolerant: bool = False  # the script handles an invalid answer
    spared: bool = False  # the script handles a model that can't be had; see `ABSENT`
    closing: bool = False  # may use what is kept for the closing of the debate
    shows: str = ""  # the event type it is shown as, if any
    record: Callable[[Any], Json] | None = None  # metadata for the turn, computed from the answer

    @property
    def messages(self) -> list[Message]:
        """What is sent, as far as this kind of step sends messages."""
        return [Message(role="user", text=self.prompt.text)]

    @property
    def about(self) -> Json:
        """Metadata of the step's turn that does not depend on the result."""
        return {}


@record
class Ask(Step):
    """Ask a model."""

    kind: ClassVar[StepKind] = "ask"

    history: list[Message]  # the seat's own, growing list: only the first `seen` belong to this step
    seen: int
    max_tokens: int  # of one try
    capped_by: str = ""  # the setting that sets `max_tokens`; empty: the seat's own cap
    most_tokens: int | None = None  # of all tries together; None: no such limit
    leave: Closing | None = None  # what must be left for the closing when this step has been paid
    off_record: bool = False  # guidance does not reach it
    objection: Objection | None = None  # to a text, which is asked for once more if there is one

    @property
    def messages(self) -> list[Message]:
        return [*self.history[: self.seen], Message(role="user", text=self.prompt.text)]

    @property
    def about(self) -> Json:
        return {"off_record": True} if self.off_record else {}


@record
class AskPerson(Step):
    """Ask a person: a gate."""

    kind: ClassVar[StepKind] = "gate"

    gate: GateKind
    timeout_seconds: float | None = None
    otherwise: Json | None = None  # the answer when the time is over; None: the debate pauses
    artifacts: Json = field(default_factory=dict[str, Any])  # what helps to decide


@record
class Recall(Step):
    """Ask memory: the best `k` of a corpus, or, without a corpus, how alike pairs of texts are."""

    kind: ClassVar[StepKind] = "recall"

    corpus: Corpus | None = None
    k: int = 0
    agent: str = ""  # of episodes: only this agent's
    pairs: tuple[tuple[str, str], ...] = ()


@record
class Use(Step):
    """Use a tool of the toolbox."""

    kind: ClassVar[StepKind] = "use"

    tool: str
    arguments: Json = field(default_factory=dict[str, Any])
    texts: Mapping[str, str] = field(default_factory=dict[str, str])  # by sha256; not stored: other turns have them

    @property
    def about(self) -> Json:
        return {"tool": self.tool, "arguments": self.arguments}
