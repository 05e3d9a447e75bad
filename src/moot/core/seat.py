"""A seat: one participant during play, and the steps that it is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack, cast, overload

from pydantic import ValidationError

from moot.core.errors import LimitReached, ScriptChanged, ScriptError
from moot.core.explaining import Details, found_in
from moot.core.gates import Decision
from moot.core.marks import guidance
from moot.core.steps import ABSENT, Ask, AskPerson, Cap, Closing, Failed, Step
from moot.core.types import HUMAN, SEEDS, Answer, Json, Message, Objection, Prompt, Sampling, SeatSpec, StepKind, Turn

T = TypeVar("T")
A = TypeVar("A", bound=Answer)


class Around(Protocol):
    """What a seat needs to know of its stage."""

    @property
    def reminder(self) -> str: ...

    @property
    def precedent(self) -> str: ...

    @property
    def guidance(self) -> Sequence[str]: ...

    @property
    def kept(self) -> Closing | None: ...

    def reached(self) -> LimitReached | None: ...


class Asking(TypedDict, total=False):
    """How a seat is asked."""

    round: int
    shows: str  # the event that shows the answer
    closing: bool  # it may use what is kept for the end
    share: Cap | None  # caps the tokens below the seat's own cap
    most_tokens: int | None  # of all tries together


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

    def __init__(self, stage: Around, spec: SeatSpec) -> None:
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

    def brief(self, prompt: Prompt, *, hats: bool = True) -> None:
        """Set the system prompt, before anything is asked. `hats`: with the words of its hats; False: the rules have
        another place for them."""
        if self._history:
            raise ScriptError(f"Seat {self.id!r} is briefed twice; brief it once, before it is asked anything.")
        precedent = self._stage.precedent if self.spec.voice else ""
        text = "\n\n".join(filter(None, [prompt.text, *(hat.prompt for hat in self.spec.hats if hats), precedent]))
        self._history.append(Message(role="system", text=text))
        self._chain = _digest(text)

    def branch(self, cap: Cap) -> Seat:
        """A copy of this participant for a question off the record. It knows what the seat has read and written until
        now; the seat won't remember the question, and can be asked something else at the same time."""
        branch = Seat(self._stage, replace(self.spec, max_tokens=cap.tokens))
        branch._history, branch._chain, branch._off_record = [*self._history], self._chain, True
        branch._capped_by = cap.setting
        return branch

    def fresh(self, stop: tuple[str, ...] = (), again: int = 0, temperature: float | None = None) -> Seat:
        """This participant with nothing in mind but its briefing and all guidance. What the copy is asked is on the
        record; the seat itself won't remember it. Its answers end where a text of `stop` would begin. `again`: how
        often it was asked the like before; a seed that is set is another one each time, for other words.
        `temperature`: that of its answers, where the seat has none of its own."""
        sampling = self.spec.sampling
        seed = (sampling.seed + again) % SEEDS if sampling.seed is not None and again else None
        own = Sampling(stop=stop, seed=seed).over(sampling).over(Sampling(temperature=temperature))
        fresh = Seat(self._stage, replace(self.spec, sampling=own) if own != sampling else self.spec)
        fresh._history = self._history[:1]
        fresh._chain = _digest(self._history[0].text) if self._history else ""
        return fresh

    @overload
    def ask(
        self, phase: str, prompt: Prompt, *, objection: Objection | None = ..., **options: Unpack[Asking]
    ) -> Pending[str]: ...
    @overload
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        tolerant: Literal[False] = ...,
        record: Callable[[A], Json] | None = ...,
        **options: Unpack[Asking],
    ) -> Pending[A]: ...
    @overload
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        tolerant: Literal[True],
        record: Callable[[A | Failed], Json] | None = ...,
        **options: Unpack[Asking],
    ) -> Pending[A | Failed]: ...
    @overload
    def ask(
        self, phase: str, prompt: Prompt, *, spared: Literal[True], **options: Unpack[Asking]
    ) -> Pending[str | Failed]: ...
    @overload
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[A],
        spared: Literal[True],
        record: Callable[[A | Failed], Json] | None = ...,
        **options: Unpack[Asking],
    ) -> Pending[A | Failed]: ...
    def ask(
        self,
        phase: str,
        prompt: Prompt,
        *,
        returns: type[Answer] | None = None,
        tolerant: bool = False,
        spared: bool = False,
        record: Callable[[Any], Json] | None = None,
        objection: Objection | None = None,
        round: int = 0,
        shows: str = "",
        closing: bool = False,
        share: Cap | None = None,
        most_tokens: int | None = None,
    ) -> Pending[Any]:
        """Ask this seat's model, or the person who speaks for it. A `tolerant` step gives a `Failed` where there is no
        valid answer; a `spared` one also where the model can't be had, even by its fallbacks, so that the debate goes
        on (see `ask_each`). A text to which there is an `objection` is asked for once more, as far as the budget
        allows; what is said then counts."""
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
            tolerant=tolerant or spared,
            spared=spared,
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
            answer = step.returns.model_validate(turn.data)
        except ValidationError as invalid:
            problem = found_in(step.returns, cast("list[Details]", invalid.errors()), values=False)[0].text
            raise ScriptChanged(step.key, f"an answer that no longer fits ({problem})", step.returns.__name__) from None
        return answer.decided(str(turn.metadata.get("by") or "")) if isinstance(answer, Decision) else answer


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:  # each for itself: from 2 KiB on, hashing would give other threads the turn
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


@lru_cache(maxsize=512)
def _shape(returns: type[Answer] | None) -> str:
    return "" if returns is None else _digest(json.dumps(returns.model_json_schema(), sort_keys=True))
