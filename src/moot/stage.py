"""What a format sees: a stage with seats. Asking a seat is the only thing it can wait for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, overload

from pydantic import ValidationError

from moot.errors import LimitReached, ScriptChanged, ScriptError
from moot.limits import Limits, Spent
from moot.types import (
    HUMAN,
    Answer,
    Corpus,
    Failure,
    GateKind,
    Json,
    Likeness,
    Message,
    Prompt,
    Recollection,
    SeatSpec,
    Shown,
    StepKind,
    Turn,
    record,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A", bound=Answer)


@record
class Failed:
    """What a tolerant step gives the script instead of an answer."""

    failure: Failure
    raw: str


@record
class Closing:
    """What the end of a debate will take: a verdict must stay affordable."""

    model: str
    calls: int
    tokens: int  # of output, in all calls together


@record
class Waiting:
    """How a person is asked, and what happens when nobody answers."""

    kind: GateKind
    timeout_seconds: float | None = None
    otherwise: Json | None = None  # the answer when the time is over; None: the debate pauses
    artifacts: Json = field(default_factory=dict[str, Any])


@record
class Lookup:
    """What memory is asked: the best of a corpus, or how alike pairs of texts are."""

    corpus: Corpus | None = None
    k: int = 0
    pairs: tuple[tuple[str, str], ...] = ()


@record
class Step:
    """One request the script makes. Its key is unique in the debate."""

    key: str
    kind: StepKind
    round: int
    phase: str
    seat: SeatSpec
    prompt: Prompt
    prompt_hash: str  # of the whole conversation up to here and the shape asked for: a turn must have been asked this
    history: list[Message]  # the seat's own, growing list: read no more than `seen` of it
    seen: int
    max_tokens: int
    returns: type[Answer] | None = None
    tolerant: bool = False  # no valid answer is an answer too: the script handles it
    closing: bool = False  # may use what is kept for the closing of the debate
    leave: Closing | None = None  # what must be left for the closing when this step has been paid
    shows: str = ""  # the event type it is shown as, if any
    record: Callable[[Any], Json] | None = None  # metadata for the turn, computed from the answer
    waiting: Waiting | None = None  # set when a person is asked
    lookup: Lookup | None = None  # set when memory is asked
    beside: bool = False  # it is asked beside the debate: guidance does not reach it

    @property
    def messages(self) -> list[Message]:
        return [*self.history[: self.seen], Message(role="user", text=self.prompt.text)]


class Ask(Generic[T]):
    """An awaitable step; awaiting it gives the typed answer."""

    def __init__(self, seat: Seat, step: Callable[[], Step]) -> None:
        self._seat, self._step = seat, step

    def __await__(self) -> Generator[Any, Any, T]:
        # The step comes back with its turn: guidance may have changed it before it was executed.
        step, turn = cast("tuple[Step, Turn]", (yield self._step()))
        return cast(T, self._seat.take(step, turn))


class Seat:
    """A participant during play. Its chat history only ever grows, so a provider can cache all but the newest part."""

    def __init__(self, stage: Stage, spec: SeatSpec) -> None:
        self._stage = stage
        self._history: list[Message] = []
        self._busy: str | None = None
        self._chain = ""  # a hash of all that this seat has read and written
        self._heard = 0  # how much of the stage's guidance it has been told
        self._beside = False
        self.spec = spec
        self.id, self.name = spec.id, spec.name

    def brief(self, prompt: Prompt) -> None:
        """Set the system prompt, before anything is asked."""
        if self._history:
            raise ScriptError(f"Seat {self.id!r} is briefed twice; brief it once, before it is asked anything.")
        told = self._stage.precedent if self.spec.role == "debater" else ""
        text = f"{prompt.text}\n\n{told}" if told else prompt.text
        self._history.append(Message(role="system", text=text))
        self._chain = _digest(text)

    def aside(self, max_tokens: int) -> Seat:
        """This participant for a question beside the debate: it knows what it has read and written until now, and won't
        remember the question. It can be asked while the participant itself is asked something else."""
        beside = Seat(self._stage, replace(self.spec, max_tokens=max_tokens))
        beside._history, beside._chain, beside._beside = [*self._history], self._chain, True
        return beside

    @overload
    def ask(
        self, phase: str, prompt: Prompt, *, round: int = ..., shows: str = ..., closing: bool = ..., share: int = ...
    ) -> Ask[str]: ...
    @overload
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
        share: int = ...,
        record: Callable[[A], Json] | None = ...,
        tolerant: Literal[False] = ...,
    ) -> Ask[A]: ...
    @overload
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        tolerant: Literal[True],
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
        share: int = ...,
        record: Callable[[A | Failed], Json] | None = ...,
    ) -> Ask[A | Failed]: ...
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[Answer] | None = None,
        tolerant: bool = False,
        round: int = 0,
        shows: str = "",
        closing: bool = False,
        share: int = 0,
        record: Callable[[Any], Json] | None = None,
    ) -> Ask[Any]:
        """Ask this seat's model, or the person who speaks for it; `share` caps the tokens below the seat's own cap."""
        waiting = Waiting(kind="statement") if self.spec.model == HUMAN else None
        return self.request(
            "ask" if waiting is None else "gate",
            phase,
            prompt,
            returns=returns,
            tolerant=tolerant,
            round=round,
            shows=shows,
            closing=closing,
            share=share,
            record=record,
            waiting=waiting,
        )

    def request(
        self,
        kind: StepKind,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[Answer] | None,
        round: int,
        shows: str,
        tolerant: bool = False,
        closing: bool = False,
        share: int = 0,
        record: Callable[[Any], Json] | None = None,
        waiting: Waiting | None = None,
        lookup: Lookup | None = None,
    ) -> Ask[Any]:
        """What `ask` and the stage's own questions have in common. The step is made when it is awaited."""

        def step() -> Step:
            key = f"{round}/{phase}/{self.id}"
            if self._busy is not None:
                raise ScriptError(f"Seat {self.id!r} is asked {key!r} before it has answered {self._busy!r}.")
            limit = None if closing else self._stage.reached()
            if limit is not None:
                raise limit
            self._busy = key
            return self.hear(
                Step(
                    key=key,
                    kind=kind,
                    round=round,
                    phase=phase,
                    seat=self.spec,
                    prompt=prompt,
                    prompt_hash=self._hash(kind, returns, prompt, lookup),
                    history=self._history,
                    seen=len(self._history),
                    max_tokens=min(share or self.spec.max_tokens, self.spec.max_tokens),
                    returns=returns,
                    tolerant=tolerant,
                    closing=closing,
                    leave=None if closing else self._stage.kept,
                    shows=shows,
                    record=record,
                    waiting=waiting,
                    lookup=lookup,
                    beside=self._beside,
                )
            )

        return Ask[Any](self, step)

    def hear(self, step: Step) -> Step:
        """The step with what the person in charge has said since this seat was last asked."""
        said = self._stage.guidance[self._heard :]
        if step.kind != "ask" or step.beside or not said:
            return step
        self._heard += len(said)
        words = "\n\n".join(f"The person who asked the question adds: {text}" for text in said)
        prompt = Prompt(name=step.prompt.name, text=f"{step.prompt.text}\n\n{words}")
        return replace(step, prompt=prompt, prompt_hash=self._hash(step.kind, step.returns, prompt, step.lookup))

    def _hash(self, kind: StepKind, returns: type[Answer] | None, prompt: Prompt, lookup: Lookup | None) -> str:
        asked = () if lookup is None else (f"{lookup.corpus} {lookup.k} {len(lookup.pairs)}",)
        return _digest(kind, _shape(returns), self._chain, prompt.text, *asked)[:16]

    def take(self, step: Step, turn: Turn) -> Any:
        self._busy = None
        failure = turn.failure
        if failure is not None and failure.kind == "limit":
            raise LimitReached(str(turn.metadata.get("limit", "budget")), failure.message)
        self._history.append(Message(role="user", text=step.prompt.text))
        self._history.append(Message(role="assistant", text=turn.written))
        self._chain = _digest(self._chain, step.prompt.text, turn.written)
        if failure is not None:
            if not step.tolerant:
                raise ScriptChanged(step.key, "a failed answer", "a step that must succeed")
            return Failed(failure=failure, raw=turn.written)
        if step.returns is None:
            return turn.content
        try:
            return step.returns.model_validate(turn.data)
        except ValidationError as invalid:
            problem = invalid.errors()[0]["msg"]
            raise ScriptChanged(step.key, f"an answer that no longer fits ({problem})", step.returns.__name__) from None


class Running(Awaitable[T_co], Protocol[T_co]):
    """A part of the script that runs beside the rest. Await it for its result."""

    @property
    def done(self) -> bool: ...


class Director(Protocol):
    """What the stage needs of the script that drives it."""

    def spawn(self, coro: Coroutine[Any, Any, T]) -> Running[T]: ...

    def show(self, shown: Shown) -> None: ...


class Stage:
    """What a format sees of the world: its seats, what is spent, and a place to show events."""

    def __init__(
        self, director: Director, cast_: Sequence[SeatSpec], limits: Limits, topic: str, precedent: str = ""
    ) -> None:
        self._director = director
        self.precedent = precedent  # what debaters are told of an earlier decision; most often nothing
        self._seats = {spec.id: Seat(self, spec) for spec in cast_}
        self._person = Seat(self, SeatSpec(id="you", name="You", role="person", model=HUMAN, max_tokens=1))
        self.topic = topic
        self.limits = limits
        self.spent = Spent()
        self.kept: Closing | None = None
        self.guidance: list[str] = []  # what the person in charge has said between steps
        self.notebook: dict[str, Callable[[], object]] = {}  # what the rules keep beside the debate, as it stands

    def seat(self, seat_id: str) -> Seat:
        return self._seats[seat_id]

    @property
    def seats(self) -> list[Seat]:
        return list(self._seats.values())

    def gate(
        self, phase: str, prompt: Prompt, *, returns: type[A], waiting: Waiting, round: int = 0, shows: str = ""
    ) -> Ask[A]:
        """Ask the person in charge. The debate waits without costing anything until they answer."""
        return self._person.request(
            "gate", phase, prompt, returns=returns, round=round, shows=shows, closing=True, waiting=waiting
        )

    def recall(
        self, phase: str, query: str, *, corpus: Corpus, k: int, round: int = 0, shows: str = ""
    ) -> Ask[Recollection]:
        """Ask memory for the best `k` of a corpus. Their text is in the turn, so a replay needs no memory."""
        return self._memory(phase, query, Recollection, Lookup(corpus=corpus, k=k), round, shows)

    def compare(
        self, phase: str, pairs: Sequence[tuple[str, str]], *, round: int = 0, shows: str = ""
    ) -> Ask[Likeness]:
        """Ask how alike the two texts of each pair are."""
        words = json.dumps(pairs, ensure_ascii=False)
        return self._memory(phase, words, Likeness, Lookup(pairs=tuple(pairs)), round, shows)

    def _memory(self, phase: str, words: str, returns: type[A], lookup: Lookup, round: int, shows: str) -> Ask[A]:
        # A seat of its own each time: memory has no conversation, and may be asked several things at once.
        seat = Seat(self, SeatSpec(id="memory", name="Memory", role="memory", model="memory", max_tokens=1))
        prompt = Prompt(name="memory", text=words)
        return seat.request("recall", phase, prompt, returns=returns, round=round, shows=shows, lookup=lookup)

    def start(self, coro: Coroutine[Any, Any, T]) -> Running[T]:
        """Begin something that runs beside what follows. Its events are shown here, before what follows."""
        return self._director.spawn(coro)

    def show(self, type: str, **data: Any) -> None:
        self._director.show(Shown(type=type, data=data))

    def keep(self, *closing: tuple[Seat, int]) -> None:
        """From now on, leave enough for these seats to be asked so many times each, as closing steps."""
        self.kept = Closing(
            model=closing[0][0].spec.model,
            calls=sum(calls for _, calls in closing),
            tokens=sum(seat.spec.max_tokens * calls for seat, calls in closing),
        )

    def reached(self) -> LimitReached | None:
        return self.spent.reached(self.limits)


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:  # each for itself: from 2 KiB on, hashing would give other threads the turn
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


@lru_cache(maxsize=512)
def _shape(returns: type[Answer] | None) -> str:
    return "" if returns is None else _digest(json.dumps(returns.model_json_schema(), sort_keys=True))
