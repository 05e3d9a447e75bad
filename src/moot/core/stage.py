"""What a format sees: a stage with seats. Awaiting a step is the only thing a format can wait for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeVar, cast, get_args, overload

from pydantic import ValidationError

from moot.core.artifacts import Artifact
from moot.core.errors import LimitReached, ScriptChanged, ScriptError
from moot.core.explaining import Details, found_in
from moot.core.limits import Limits, Spent
from moot.core.marks import guidance
from moot.core.steps import ABSENT, Ask, AskPerson, Cap, Closing, Failed, Recall, Step, Use
from moot.core.types import (
    HUMAN,
    Answer,
    Corpus,
    GateKind,
    Json,
    Learned,
    Likeness,
    Message,
    Objection,
    Prompt,
    Recollection,
    Sampling,
    SeatSpec,
    Shown,
    StepKind,
    Turn,
)
from moot.core.values import sha256_of

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A", bound=Answer)
M = TypeVar("M", bound=Artifact)

# Events that the stage itself shows, for every format.
HEADER, CAST, PERSON, VERDICT = "HEADER", "CAST", "PERSON", "VERDICT"


class Pending(Generic[T]):
    """A step that is made when it is awaited; awaiting it gives the typed answer."""

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
        self._heard = 0  # how much of the stage's guidance it has received
        self._heard_before = 0  # and how much before its latest step
        self._off_record = False
        self._capped_by = ""  # the setting behind the cap of its spec, where it is not the seat's own
        self.finish_reason = ""  # of its latest turn
        self.spec = spec
        self.id, self.name = spec.id, spec.name

    def brief(self, prompt: Prompt) -> None:
        """Set the system prompt, before anything is asked."""
        if self._history:
            raise ScriptError(f"Seat {self.id!r} is briefed twice; brief it once, before it is asked anything.")
        precedent = self._stage.precedent if self.spec.voice else ""
        text = "\n\n".join(filter(None, [prompt.text, *(hat.prompt for hat in self.spec.hats), precedent]))
        self._history.append(Message(role="system", text=text))
        self._chain = _digest(text)

    def branch(self, cap: Cap) -> Seat:
        """A copy of this participant for a question off the record. It knows what the seat has read and written until
        now; the seat won't remember the question, and can be asked something else at the same time."""
        branch = Seat(self._stage, replace(self.spec, max_tokens=cap.tokens))
        branch._history, branch._chain, branch._off_record = [*self._history], self._chain, True
        branch._capped_by = cap.setting
        return branch

    def fresh(self, stop: tuple[str, ...] = ()) -> Seat:
        """This participant with nothing in mind but its briefing and all guidance. What the copy is asked is on the
        record; the seat itself won't remember it. Its answers end where a text of `stop` would begin."""
        sampling = self.spec.sampling
        spec = replace(self.spec, sampling=Sampling(stop=stop).over(sampling)) if stop else self.spec
        fresh = Seat(self._stage, spec)
        fresh._history = self._history[:1]
        fresh._chain = _digest(self._history[0].text) if self._history else ""
        return fresh

    @overload
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
        share: Cap | None = ...,
        most_tokens: int | None = ...,
        objection: Objection | None = ...,
    ) -> Pending[str]: ...
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
        share: Cap | None = ...,
        most_tokens: int | None = ...,
        record: Callable[[A], Json] | None = ...,
        tolerant: Literal[False] = ...,
    ) -> Pending[A]: ...
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
        share: Cap | None = ...,
        most_tokens: int | None = ...,
        record: Callable[[A | Failed], Json] | None = ...,
    ) -> Pending[A | Failed]: ...
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
        share: Cap | None = None,
        most_tokens: int | None = None,
        record: Callable[[Any], Json] | None = None,
        objection: Objection | None = None,
    ) -> Pending[Any]:
        """Ask this seat's model, or the person who speaks for it. `share` caps the tokens below the seat's own cap,
        `most_tokens` those of all tries together. A text to which there is an `objection` is asked for once more, as
        far as the budget allows; what is said then counts."""
        return self._ask(
            phase,
            prompt,
            returns=returns,
            tolerant=tolerant,
            round=round,
            shows=shows,
            closing=closing,
            share=share,
            most_tokens=most_tokens,
            record=record,
            objection=objection,
        )

    def _ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[Answer] | None,
        tolerant: bool,
        round: int,
        shows: str,
        spared: bool = False,
        closing: bool = False,
        share: Cap | None = None,
        most_tokens: int | None = None,
        record: Callable[[Any], Json] | None = None,
        objection: Objection | None = None,
    ) -> Pending[Any]:
        capped = share is not None and share.tokens < self.spec.max_tokens
        if self.spec.small and self._stage.reminder:
            prompt = replace(prompt, text=f"{prompt.text}\n\n{self._stage.reminder}")

        def make(common: Json) -> Step:
            if self.spec.model == HUMAN:
                return AskPerson(**common, gate="statement")
            return self.hear(
                Ask(
                    **common,
                    history=self._history,
                    seen=len(self._history),
                    max_tokens=share.tokens if share and capped else self.spec.max_tokens,
                    capped_by=share.setting if share and capped else self._capped_by,
                    most_tokens=most_tokens,
                    leave=None if closing else self._stage.kept,
                    off_record=self._off_record,
                    objection=objection,
                )
            )

        kind: StepKind = "gate" if self.spec.model == HUMAN else "ask"
        return self.pending(
            make,
            kind,
            phase,
            prompt,
            round=round,
            shows=shows,
            returns=returns,
            closing=closing,
            tolerant=tolerant,
            spared=spared,
            record=record,
        )

    @overload
    def ask_spared(
        self,
        phase: str,
        prompt: Prompt,
        *,
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
        share: Cap | None = ...,
        most_tokens: int | None = ...,
    ) -> Pending[str | Failed]: ...
    @overload
    def ask_spared(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
        share: Cap | None = ...,
        most_tokens: int | None = ...,
        record: Callable[[A | Failed], Json] | None = ...,
    ) -> Pending[A | Failed]: ...
    def ask_spared(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[Answer] | None = None,
        round: int = 0,
        shows: str = "",
        closing: bool = False,
        share: Cap | None = None,
        most_tokens: int | None = None,
        record: Callable[[Any], Json] | None = None,
    ) -> Pending[Any]:
        """Ask like `ask`, and get a `Failed` where the model can't be had, even by its fallbacks, or gives no valid
        answer. The debate goes on; see `ask_each`."""
        return self._ask(
            phase,
            prompt,
            returns=returns,
            tolerant=True,
            spared=True,
            round=round,
            shows=shows,
            closing=closing,
            share=share,
            most_tokens=most_tokens,
            record=record,
        )

    def pending(
        self,
        make: Callable[[Json], Step],
        kind: StepKind,
        phase: str,
        prompt: Prompt,
        *,
        round: int,
        shows: str,
        returns: type[Answer] | None,
        closing: bool = False,
        determines: str = "",
        **options: Any,
    ) -> Pending[Any]:
        """A step of this seat. `make` gets what all steps have in common; `determines` is what else the answer depends
        on, for the hash."""

        def step() -> Step:
            key = f"{round}/{phase}/{self.id}"
            if self._busy is not None:
                raise ScriptError(f"Seat {self.id!r} is asked {key!r} before it has answered {self._busy!r}.")
            limit = None if closing else self._stage.reached()
            if limit is not None:
                raise limit
            self._busy, self._heard_before = key, self._heard
            common: Json = {
                "key": key,
                "round": round,
                "phase": phase,
                "seat": self.spec,
                "prompt": prompt,
                "prompt_hash": self._hash(kind, returns, prompt, determines),
                "returns": returns,
                "closing": closing,
                "shows": shows,
                **options,
            }
            return make(common)

        return Pending[Any](self, step)

    def hear(self, step: Ask) -> Ask:
        """The step with the guidance given since this seat was last asked."""
        said = self._stage.guidance[self._heard :]
        if step.off_record or not said:
            return step
        self._heard += len(said)
        words = "\n\n".join(f"The person who asked the question adds: {text}" for text in said)
        if not self.spec.small:  # small models repeat marks as if they were words
            words = guidance(words, at=step.key, among=[step.prompt.text, *(each.text for each in self._history)])
        prompt = Prompt(name=step.prompt.name, text=f"{step.prompt.text}\n\n{words}")
        return replace(step, prompt=prompt, prompt_hash=self._hash("ask", step.returns, prompt))

    def _hash(self, kind: StepKind, returns: type[Answer] | None, prompt: Prompt, determines: str = "") -> str:
        more = (determines,) if determines else ()
        return _digest(kind, _shape(returns), self._chain, prompt.text, *more)[:16]

    def take(self, step: Step, turn: Turn) -> Any:
        self._busy = None
        self.finish_reason = turn.finish_reason
        failure = turn.failure
        if failure is not None and failure.kind == "limit":
            raise LimitReached(str(turn.metadata.get("limit", "budget")), failure.message)
        if failure is not None and step.spared and failure.kind in ABSENT:
            self._heard = self._heard_before
            return Failed(failure=failure, raw=turn.written)  # it has neither read nor written anything
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
            problem = found_in(step.returns, cast("list[Details]", invalid.errors()), values=False)[0].text
            raise ScriptChanged(step.key, f"an answer that no longer fits ({problem})", step.returns.__name__) from None


class Running(Awaitable[T_co], Protocol[T_co]):
    """A part of the script that runs beside the rest. Await it for its result."""

    @property
    def done(self) -> bool: ...


class Director(Protocol):
    """What the stage needs of the script that drives it."""

    def spawn(self, coro: Coroutine[Any, Any, T]) -> Running[T]: ...

    def show(self, shown: Shown) -> None: ...

    def produce(self, artifact: M) -> M: ...


class Stage:
    """What a format sees of the world: its seats, what is spent, and a place to show events."""

    def __init__(
        self,
        director: Director,
        cast_: Sequence[SeatSpec],
        limits: Limits,
        topic: str,
        precedent: str = "",
        reminder: str = "",
    ) -> None:
        self._director = director
        self.reminder = reminder  # with what every question to a small model ends; most often empty
        self.precedent = precedent  # an earlier decision that the speakers are shown; most often empty
        self._seats = {spec.id: Seat(self, spec) for spec in cast_}
        self._person = Seat(self, SeatSpec(id="you", name="You", role="person", model=HUMAN, max_tokens=1))
        self.topic = topic
        self.limits = limits
        self.spent = Spent()
        self.kept: Closing | None = None
        self._after: tuple[tuple[Seat, int], ...] = ()  # what follows the rules themselves
        self.guidance: list[str] = []  # what the person in charge has said between steps
        self.notebook: dict[str, Callable[[], object]] = {}  # what the rules keep off the record, as it stands

    def seat(self, seat_id: str) -> Seat:
        return self._seats[seat_id]

    @property
    def seats(self) -> list[Seat]:
        return list(self._seats.values())

    def gate(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        kind: GateKind,
        timeout_seconds: float | None = None,
        otherwise: Json | None = None,
        artifacts: Json | None = None,
        round: int = 0,
        shows: str = PERSON,
    ) -> Pending[A]:
        """Ask the person in charge. The debate waits, at no cost, until they answer; after `timeout_seconds` the
        answer is `otherwise`, or the debate pauses."""

        def make(common: Json) -> Step:
            return AskPerson(
                **common, gate=kind, timeout_seconds=timeout_seconds, otherwise=otherwise, artifacts=artifacts or {}
            )

        return self._person.pending(
            make, "gate", phase, prompt, returns=returns, round=round, shows=shows, closing=True
        )

    def recall(
        self, phase: str, query: str, *, corpus: Corpus, k: int, agent: str = "", round: int = 0, shows: str = ""
    ) -> Pending[Recollection]:
        """Ask memory for the best `k` of a corpus. Their text is in the turn, so a replay needs no memory. `agent`: of
        episodes, only those of this seat or role."""
        return self._helper("memory", corpus if corpus in get_args(Learned) else "").pending(
            lambda common: Recall(**common, corpus=corpus, k=k, agent=agent),
            "recall",
            phase,
            Prompt(name="memory", text=query),
            returns=Recollection,
            round=round,
            shows=shows,
            determines=f"{corpus} {k} 0{f' {agent}' if agent else ''}",
        )

    def compare(
        self, phase: str, pairs: Sequence[tuple[str, str]], *, round: int = 0, shows: str = ""
    ) -> Pending[Likeness]:
        """Ask how alike the two texts of each pair are."""
        return self._helper("memory").pending(
            lambda common: Recall(**common, pairs=tuple(pairs)),
            "recall",
            phase,
            Prompt(name="memory", text=json.dumps(pairs, ensure_ascii=False)),
            returns=Likeness,
            round=round,
            shows=shows,
            determines=f"None 0 {len(pairs)}",
        )

    @overload
    def use(
        self,
        tool: str,
        phase: str,
        arguments: Json,
        *,
        returns: type[A],
        texts: Iterable[str] = ...,
        subject: str = ...,
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
        tolerant: Literal[False] = ...,
    ) -> Pending[A]: ...
    @overload
    def use(
        self,
        tool: str,
        phase: str,
        arguments: Json,
        *,
        returns: type[A],
        tolerant: Literal[True],
        texts: Iterable[str] = ...,
        subject: str = ...,
        round: int = ...,
        shows: str = ...,
        closing: bool = ...,
    ) -> Pending[A | Failed]: ...
    def use(
        self,
        tool: str,
        phase: str,
        arguments: Json,
        *,
        returns: type[Answer],
        tolerant: bool = False,
        texts: Iterable[str] = (),
        subject: str = "",
        round: int = 0,
        shows: str = "",
        closing: bool = False,
    ) -> Pending[Any]:
        """Use a tool of the toolbox. Its typed result is in the turn, so a replay runs no tool. `texts` are handed over
        beside the arguments, which name them by their sha256; `subject` tells uses of one tool in one phase apart."""
        given = {sha256_of(text): text for text in texts}
        return self._helper(tool, subject).pending(
            lambda common: Use(**common, tool=tool, arguments=arguments, texts=given),
            "use",
            phase,
            Prompt(name=f"tool/{tool}", text=json.dumps(arguments, ensure_ascii=False, sort_keys=True)),
            returns=returns,
            round=round,
            shows=shows,
            closing=closing,
            tolerant=tolerant,
            determines=tool,
        )

    def _helper(self, name: str, subject: str = "") -> Seat:
        # A seat of its own each time: memory and tools have no conversation, and may be asked several things at once.
        seat = f"{name}:{subject}" if subject else name
        return Seat(self, SeatSpec(id=seat, name=name.capitalize(), role=name, model=name, max_tokens=1))

    def start(self, coro: Coroutine[Any, Any, T]) -> Running[T]:
        """Begin something that runs beside what follows. Its events are shown here, before what follows."""
        return self._director.spawn(coro)

    def show(self, type: str, **data: Any) -> None:
        """Show an event of the format's vocabulary."""
        self._director.show(Shown(type=type, data=data))

    def produce(self, artifact: M) -> M:
        """Have an artifact stored together with the turn that led to it. Returns it with its id, for others to refer
        to, and with what code fills in. The id means something in this debate only."""
        return self._director.produce(artifact)

    def open(self, **facts: Any) -> None:
        """Show the header, first of all: the question, and what is settled before anyone speaks."""
        self.show(HEADER, topic=self.topic, **facts)

    def name_seats(self, names: Mapping[str, str]) -> None:
        """Say what seats are called that were not named when the debate was made; the others stay empty."""
        self.show(CAST, names=dict(names))

    def keep(self, *closing: tuple[Seat, int]) -> None:
        """From now on, leave enough for these seats to be asked so many times each, as closing steps."""
        closing = (*closing, *self._after)
        self.kept = Closing(
            model=closing[0][0].spec.model,
            calls=sum(calls for _, calls in closing),
            tokens=sum(seat.spec.max_tokens * calls for seat, calls in closing),
        )

    def keep_for_end(self, seat: Seat) -> None:
        """Leave enough for a step that follows the rules, whatever these keep for their own end."""
        self._after = ((seat, 1),)
        self.keep()

    def scribe(self, max_tokens: int) -> Seat | None:
        """A participant with the judge's model and nothing in mind, for what is written after the verdict. None if only
        people take part."""
        seats = [seat.spec for seat in self._seats.values() if seat.spec.model != HUMAN]
        if not seats:
            return None
        spec = next((each for each in reversed(seats) if each.tier == "judge"), seats[-1])
        named = {"id": "scribe", "name": "Scribe", "role": "scribe", "stance": "", "brief": "", "hats": ()}
        return Seat(self, replace(spec, **named, tier="judge", voice=False, optional=False, max_tokens=max_tokens))

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
