"""What a format sees: a stage with seats. Awaiting a step is the only thing a format can wait for."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, TypeVar, get_args, overload

from moot.core.artifacts import Artifact
from moot.core.errors import LimitReached
from moot.core.limits import Limits, Spent
from moot.core.seat import Pending as Pending
from moot.core.seat import Seat as Seat
from moot.core.steps import AskPerson, Closing, Failed, Recall, Step, Use
from moot.core.types import (
    HUMAN,
    Answer,
    Corpus,
    GateKind,
    Json,
    Learned,
    Likeness,
    Prompt,
    Recollection,
    SeatSpec,
    Shown,
)
from moot.core.values import sha256_of

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A", bound=Answer)
M = TypeVar("M", bound=Artifact)

# Events that the stage itself shows, for every format.
HEADER, CAST, PERSON, VERDICT = "HEADER", "CAST", "PERSON", "VERDICT"


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
