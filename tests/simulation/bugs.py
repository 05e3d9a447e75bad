"""Bugs that a change could bring in, planted one at a time: the simulation has to find each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from moot.core.errors import Superseded
from moot.core.limits import Spent
from moot.core.types import Debate, Event, Shown
from moot.runtime import runtime
from moot.runtime.drive import Drive
from moot.runtime.runtime import Runtime
from moot.runtime.suspects import crashes_of
from moot.runtime.worker import Worker
from moot.store import Commit, HeartbeatReply
from moot.store.sqlite import SqliteStore, debates, deletion, people


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    real = getattr(owner, name)
    setattr(owner, name, make(real))
    try:
        yield
    finally:
        setattr(owner, name, real)


@contextmanager
def _statement(module: Any, name: str, old: str, new: str) -> Iterator[None]:
    """A statement of the store with a condition less."""

    def make(real: Callable[[str], str]) -> Callable[[str], str]:
        def sql(asked: str) -> str:
            text = real(asked)
            if asked != name:
                return text
            assert old in text, f"{name}.sql has changed: plant this bug anew"
            return text.replace(old, new)

        return sql

    with _replaced(module, "sql", make):
        yield


@contextmanager
def _old_epochs_commit() -> Iterator[None]:
    def unguarded(text: str) -> str:
        assert " and epoch = :epoch" in text, "the guard has changed: plant this bug anew"
        return text.replace(" and epoch = :epoch", " and epoch >= :epoch")

    with _replaced(debates, "STEP", unguarded), _replaced(debates, "COMMIT", unguarded):
        yield


def _goes_on_after_a_lost_commit(real: Any) -> Any:
    async def _commit(self: Drive, *args: Any, **more: Any) -> None:
        try:
            await real(self, *args, **more)
        except Superseded:
            pass

    return _commit


def _cursor_apart(real: Any) -> Any:
    async def commit(self: SqliteStore, commit: Commit) -> Any:
        committed = await real(self, replace(commit, cursor=None))
        if committed is not None and commit.cursor is not None:
            await real(self, Commit(debate_id=commit.debate_id, epoch=commit.epoch, cursor=commit.cursor))
        return committed

    return commit


def _events_apart(real: Any) -> Any:
    async def commit(self: SqliteStore, commit: Commit) -> Any:
        if not commit.turns:
            return await real(self, commit)
        first = await real(self, replace(commit, events=(), shown=0, status=None, outcome=None, release=False))
        return None if first is None else await real(self, replace(commit, turns=()))

    return commit


def _never_renews(real: Any) -> Any:
    async def heartbeat(self: SqliteStore, owner: str, epochs: Mapping[str, int], seconds: Any) -> HeartbeatReply:
        return await real(self, owner, epochs, None)

    return heartbeat


def _forgets_what_was_handed_back(real: Any) -> Any:
    async def abandoned(self: SqliteStore, is_dead: Any) -> Any:
        return [debate for debate in await real(self, is_dead) if debate.owner is not None]

    return abandoned


def _forgets_a_turn(real: Any) -> Any:
    async def turns(self: SqliteStore, debate_id: str, after: int = 0) -> Any:
        found = await real(self, debate_id, after)
        return found[:-1] if len(found) > 3 else found

    return turns


def _shows_everything_again(real: Any) -> Any:
    def __init__(self: Drive, debate: Any, *args: Any, **more: Any) -> None:
        real(self, replace(debate, shown_count=0), *args, **more)

    return __init__


def _tells_before_it_stores(real: Any) -> Any:
    async def _commit(self: Drive, *args: Any, events: Any = (), **more: Any) -> None:
        first = self.debate.last_seq + 1 + getattr(self, "_told", 0)
        self._told = first - self.debate.last_seq - 1 + len(events)  # type: ignore[attr-defined]
        for seq, shown in enumerate(events, first):
            self.hub.publish(self.debate.id, _event(seq, shown))
        await real(self, *args, events=events, **more)

    return _commit


def _event(seq: int, shown: Shown) -> Event:
    return Event(seq=seq, type=shown.type, key=shown.key, data=shown.data, created_at=0.0, turn=shown.turn)


def _books_twice(real: Any) -> Any:
    def _newly_lost(self: Drive) -> Any:
        lost = real(self)
        return None if lost is None else lost + lost + lost

    return _newly_lost


def _counts_time_that_nothing_ran(_: Any) -> Any:
    def add(self: Spent, turn: Any) -> None:
        self.tokens_in += turn.tokens_in
        self.tokens_out += turn.tokens_out
        self.cost_usd += turn.cost_usd or 0.0
        start, end = turn.started_at, max(turn.started_at, turn.created_at)
        while self._busy and self._busy[-1][1] >= start:
            earlier = self._busy.pop()
            self.seconds -= earlier[1] - earlier[0]
            start, end = min(start, earlier[0]), max(end, earlier[1])
        self._busy.append((start, end))
        self.seconds += end - start

    return add


def _never_looks_for_answers(real: Any) -> Any:
    async def expire(self: Runtime) -> Any:
        found = await real(self)
        return [each for each in found if not any(g.status == "decided" for g in await self.store.gates(each.id))]

    return expire


def _fails_for_ever(real: Any) -> Any:
    def _raise_if_broken(self: Runtime, debate: Any) -> None:
        if debate.id in self._broken:
            raise self._broken[debate.id][1]

    return _raise_if_broken


def _two_drives(real: Any) -> Any:
    async def _take(self: Runtime, debate: Debate, *args: Any, **more: Any) -> Any:
        old = self._drives.pop(debate.id, None)  # so that it is not told
        try:
            return await real(self, debate, *args, **more)
        except Exception:
            if old is not None and debate.id in self._tasks:
                self._drives[debate.id] = old
            raise

    return _take


def _deaf_to_stops(real: Any) -> Any:
    def signal(self: Drive, given: Any, **more: Any) -> None:
        if given != "finish":
            real(self, given, **more)

    return signal


def _deaf_to_guidance(_: Any) -> Any:
    def guided(self: Drive, times: int) -> None:
        pass

    return guided


def _always_leased(_: Any) -> Any:
    return property(lambda self: True)


def _no_sweep(_: Any) -> Any:
    async def _sweeps(self: Worker) -> None:
        await self._stop.wait()

    return _sweeps


def _any_death_convicts(_: Any) -> Any:
    def is_guilty(debate: Debate, owner: str, limit: int) -> bool:
        return crashes_of(debate, owner) >= limit - 1

    return is_guilty


def _forgives_nothing(real: str) -> str:
    assert "crashes = case when :turns > 0 then 0 else crashes end," in real, "the count has changed: plant this anew"
    return real.replace("crashes = case when :turns > 0 then 0 else crashes end,", "")


@contextmanager
def _answers_twice() -> Iterator[None]:
    """It is asked for twice: before the debate is touched, and when the answer is written."""
    first = _statement(people, "touch_asking", " and status = 'open'", "")
    with first, _statement(people, "decide_gate", " and status = 'open'", ""):
        yield


@contextmanager
def _never_knows_that_it_lost() -> Iterator[None]:
    """Either would be enough: a lost commit ends the drive, and past its lease nothing is begun."""
    with _replaced(Drive, "_commit", _goes_on_after_a_lost_commit), _replaced(Drive, "_leased", _always_leased):
        yield


def _plant(owner: Any, name: str, make: Callable[[Any], Any]) -> Callable[[], AbstractContextManager[None]]:
    return partial(_replaced, owner, name, make)


BUGS: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "a commit of an old epoch lands": _old_epochs_commit,
    "a driver goes on after losing a commit": _never_knows_that_it_lost,
    "the cursor is stored apart from the turn": _plant(SqliteStore, "commit", _cursor_apart),
    "events are stored apart from the turn": _plant(SqliteStore, "commit", _events_apart),
    "a live lease is no obstacle": partial(_statement, debates, "claim", "lease_until <= :now", "true"),
    "a claim does not raise the epoch": partial(_statement, debates, "claim", "epoch = epoch + 1,", ""),
    "a question is answered twice": _answers_twice,
    "leases are not renewed": _plant(SqliteStore, "heartbeat", _never_renews),
    "what was handed back is forgotten": _plant(SqliteStore, "abandoned", _forgets_what_was_handed_back),
    "the last turn is not read": _plant(SqliteStore, "turns", _forgets_a_turn),
    "whoever takes over shows everything again": _plant(Drive, "__init__", _shows_everything_again),
    "events are told before they are stored": _plant(Drive, "_commit", _tells_before_it_stores),
    "what was lost is booked more than once": _plant(Drive, "_newly_lost", _books_twice),
    "time is counted in which nothing ran": _plant(Spent, "add", _counts_time_that_nothing_ran),
    "an answer is not followed up": _plant(Runtime, "expire", _never_looks_for_answers),
    "an error outlives what it was about": _plant(Runtime, "_raise_if_broken", _fails_for_ever),
    "a process drives a debate twice": _plant(Runtime, "_take", _two_drives),
    "a stop from elsewhere is not heard": _plant(Drive, "signal", _deaf_to_stops),
    "guidance from elsewhere is not heard": _plant(Drive, "guided", _deaf_to_guidance),
    "steps are begun past the lease": _plant(Drive, "_leased", _always_leased),
    "a death too few is a reason to set a debate aside": _plant(runtime, "is_guilty", _any_death_convicts),
    "a step does not clear a debate": _plant(debates, "STEP", _forgives_nothing),
    "workers don't sweep": _plant(Worker, "_sweeps", _no_sweep),
    "a deletion leaves no tombstone": partial(
        _statement, deletion, "bury", "values (:id, :now, :by)", "select :id, :now, :by where false"
    ),
}
