"""Who can be heard: the seats of a topology, without those whose models can't be had."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from pydantic import Field

from moot.core.script import AGAIN, Failed, Seat, Stage, together
from moot.core.settings import DebateSettings
from moot.core.stage import Pending
from moot.core.types import Answer, Check, Json, Prompt, SeatSpec, record
from moot.formats.format import EventType, Hears
from moot.formats.shared.roles import agent
from moot.reasoning.topology import Kind, Topology, Waves, build, fresh

A = TypeVar("A", bound=Answer)

MISSING, LEFT = "MISSING", "LEFT"
TRIES = 2  # rounds in a row in which a seat can't be had before it has left for good

Asking = Callable[[str, bool], Awaitable[Failed | None]]
Proceed = Callable[[], bool]


def _always() -> bool:
    return True


class TopologySettings(DebateSettings):
    topology: Kind = Field(
        "mesh",
        description="who hears whom: everyone everyone (mesh), everyone by way of one (star), each the one before "
        "(chain), or by way of parents (tree)",
    )


@record
class Absence:
    """A seat that could not be heard in a round."""

    seat: str
    name: str
    round: int
    reason: str
    for_good: bool

    @property
    def words(self) -> str:
        return _words(self.name, self.round, for_good=self.for_good)

    @property
    def as_json(self) -> Json:
        return {each.name: getattr(self, each.name) for each in fields(self)}


class Attendance:
    """The seats of a topology that can be heard now.

    A seat whose model can't be had, even by its fallbacks, is left out of the topology until the next round, and asked
    again then. If it can't be had then, either, it has left for good.
    """

    def __init__(self, stage: Stage, kind: Kind, seats: Sequence[Seat], names: Mapping[str, str]) -> None:
        self._stage, self._names = stage, names
        self._full = topology_of(kind, [seat.spec for seat in seats])
        self._missing: list[str] = []  # in this round
        self._left: list[str] = []  # for good, or because the rules let it no longer speak
        self._tries: dict[str, int] = {}  # rounds in a row in which a seat could not be had
        self.absences: list[Absence] = []
        self.mesh = kind == "mesh"

    def __contains__(self, seat: str) -> bool:
        return seat not in (*self._missing, *self._left)

    def has_left(self, seat: str) -> bool:
        return seat in self._left

    @property
    def topology(self) -> Topology | None:
        """What is left of the topology; None if no one is."""
        gone = dict.fromkeys((*self._left, *self._missing))
        topology = self._full
        if len(gone) == len(topology.agents):
            return None
        for seat in gone:
            topology = topology.without(seat)
        return topology

    def reads(self, seat: str, phase: str) -> tuple[str, ...]:
        """The seats whose words it gets."""
        topology = self.topology
        return () if topology is None else topology.reads(phase).get(seat, ())

    def fresh(self, seat: str, phase: str) -> tuple[str, ...]:
        """Those of them whose words of this phase it gets."""
        topology = self.topology
        return () if topology is None else fresh(topology, phase).get(seat, ())

    def next_round(self) -> None:
        """Let those who were missing be asked again."""
        self._missing = []

    def exclude(self, seat: str) -> None:
        """Leave a seat out from now on, whatever its model does."""
        if seat not in self._left:
            self._left.append(seat)

    async def at_once(self, seats: Sequence[str], round: int, ask: Asking) -> None:
        """Ask those of the seats that can be heard, at the same time; see `in_waves`."""
        await self._ask_all(lambda: [tuple(seats)], round, ask)

    async def one_by_one(self, seats: Sequence[str], round: int, ask: Asking, proceed: Proceed = _always) -> None:
        """Ask those of the seats that can be heard one after the other; see `in_waves`."""
        await self._ask_all(lambda: [(seat,) for seat in seats], round, ask, proceed)

    async def in_waves(
        self, phase: str, seats: Sequence[str], round: int, ask: Asking, proceed: Proceed = _always
    ) -> None:
        """Ask those of the seats that can be heard wave by wave, as long as `proceed` says so before each. Who can't be
        had is left out of the waves after. `ask(seat, again)` gives a `Failed` where there is no answer.

        When no model at all can be had, all are asked once more, with `again`. A failure then must fail the debate, so
        that it can be retried."""

        def waves() -> Waves:
            found = () if self.topology is None else self.topology.waves(phase)
            return tuple(tuple(seat for seat in wave if seat in seats) for wave in found)

        await self._ask_all(waves, round, ask, proceed)

    async def _ask_all(
        self, waves: Callable[[], Sequence[tuple[str, ...]]], round: int, ask: Asking, proceed: Proceed = _always
    ) -> None:
        asked: list[str] = []
        absent: dict[str, Failed] = {}
        try:
            while (wave := self._next(waves(), asked)) and proceed():
                asked += wave
                found = await together(*(ask(seat, False) for seat in wave))
                missed = {seat: each for seat, each in zip(wave, found, strict=True) if each and each.absent}
                absent |= missed
                self._missing += missed
        finally:
            anyone = len(absent) < len(asked)
            if anyone:
                heard = [seat for seat in asked if seat not in absent]
                self._tries = {seat: tries for seat, tries in self._tries.items() if seat not in heard}
                for seat, failed in absent.items():
                    self._miss(seat, round, failed)
        if asked and not anyone:
            self._missing = [seat for seat in self._missing if seat not in absent]
            await together(*(ask(seat, True) for seat in asked))

    def _next(self, waves: Iterable[tuple[str, ...]], asked: Sequence[str]) -> tuple[str, ...]:
        """Those of the first wave that has someone to ask."""
        left = (tuple(seat for seat in wave if seat in self and seat not in asked) for wave in waves)
        return next(filter(None, left), ())

    def _miss(self, seat: str, round: int, failed: Failed) -> None:
        self._tries[seat] = self._tries.get(seat, 0) + 1
        absence = Absence(
            seat=seat,
            name=self._names[seat],
            round=round,
            reason=failed.failure.message,
            for_good=self._tries[seat] >= TRIES,
        )
        if absence.for_good:
            self.exclude(seat)
        self.absences.append(absence)
        self._stage.show(LEFT if absence.for_good else MISSING, **absence.as_json)


def phase_of(phase: str, again: bool) -> str:
    return f"{phase}{AGAIN}" if again else phase


def put(
    seat: Seat,
    phase: str,
    prompt: Prompt,
    again: bool,
    *,
    returns: type[A],
    record: Callable[[A | Failed], Json] | None = None,
    **options: Any,
) -> Pending[A | Failed]:
    """Ask for a typed answer as `Attendance` needs it: spared, unless it is asked again."""
    if again:
        return seat.ask(phase_of(phase, again), prompt, returns=returns, tolerant=True, record=record, **options)
    return seat.ask(phase, prompt, spared=True, returns=returns, record=record, **options)


def topology_of(kind: Kind, seats: Sequence[SeatSpec]) -> Topology:
    return build(kind, [agent(seat) for seat in seats])


def hears_among(kind: Kind, role: str, seats: Sequence[SeatSpec]) -> tuple[Hears, ...]:
    """Who hears whom among the seats of a role: by role where all hear all, else by seat."""
    if kind == "mesh" or not seats:
        return (Hears(listener=role, speaker=role),)
    reads = topology_of(kind, seats).reads("")
    return tuple(Hears(listener=seat, speaker=other) for seat, others in reads.items() for other in others)


def notes_on(absences: Sequence[Absence]) -> list[str]:
    return [f"{each.words} {each.reason}".strip() for each in absences]


def checks_on(absences: Sequence[Absence]) -> tuple[Check, ...]:
    """A check that failed if someone could not be heard; none if everyone could."""
    if not absences:
        return ()
    missed = {each.name: [str(other.round) for other in absences if other.name == each.name] for each in absences}
    words = "; ".join(f"{name} could not be heard in round {', '.join(rounds)}" for name, rounds in missed.items())
    return (Check(name="everyone heard", passed=False, words=words),)


def _missing(data: Json) -> str:
    return f"{_words(str(data['name']), int(data['round']), for_good=bool(data['for_good']))} {data['reason']}".strip()


def _words(name: str, round: int, *, for_good: bool) -> str:
    if for_good:
        return f"{name} has left for good: its model could not be had again, in round {round}."
    return f"{name} is not heard in round {round}: its model could not be had."


EVENTS: Mapping[str, EventType] = {
    MISSING: EventType(heading=_missing),
    LEFT: EventType(heading=_missing, badge="left"),
}
