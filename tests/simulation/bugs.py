"""Bugs that a change could bring in, planted one at a time: the simulation has to find each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from moot.core.errors import Superseded
from moot.core.types import Event
from moot.runtime.drive import Drive
from moot.runtime.gates import Gates
from moot.runtime.runtime import Runtime
from moot.runtime.worker import Worker
from moot.store import Commit
from moot.store.sqlite import SqliteStore, debates, deletion, people


@contextmanager
def _replaced(owner: Any, name: str, wrong: Any) -> Iterator[None]:
    real = getattr(owner, name)
    setattr(owner, name, wrong)
    try:
        yield
    finally:
        setattr(owner, name, real)


@contextmanager
def _statement(module: Any, name: str, old: str, new: str) -> Iterator[None]:
    """A statement of the store with a condition less."""
    real = module.sql

    def sql(asked: str) -> str:
        return _without(real(asked), old, new) if asked == name else real(asked)

    with _replaced(module, "sql", sql):
        yield


def _without(text: str, old: str, new: str = "") -> str:
    assert old in text, f"{old!r} has changed: plant this bug anew"
    return text.replace(old, new)


@contextmanager
def _old_epochs_commit() -> Iterator[None]:
    guard, none = " and epoch = :epoch", " and epoch >= :epoch"
    step, commit = (_without(each, guard, none) for each in (debates.STEP, debates.COMMIT))
    with _replaced(debates, "STEP", step), _replaced(debates, "COMMIT", commit):
        yield


def _forgives_nothing() -> AbstractContextManager[None]:
    wrong = _without(debates.STEP, "crashes = case when :turns > 0 then 0 else crashes end,")
    return _replaced(debates, "STEP", wrong)


@contextmanager
def _answers_twice() -> Iterator[None]:
    """It is asked for twice: before the debate is touched, and when the answer is written."""
    first = _statement(people, "touch_asking", " and status = 'open'", "")
    with first, _statement(people, "decide_gate", " and status = 'open'", ""):
        yield


def _always_leased() -> AbstractContextManager[None]:
    return _replaced(Drive, "_leased", property(lambda self: True))


@contextmanager
def _never_knows_that_it_lost() -> Iterator[None]:
    """Either would be enough: a lost commit ends the drive, and past its lease nothing is begun."""
    real = Drive._commit

    async def goes_on(self: Drive, *args: Any, **more: Any) -> None:
        try:
            await real(self, *args, **more)
        except Superseded:
            pass

    with _replaced(Drive, "_commit", goes_on), _always_leased():
        yield


BUGS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "a commit of an old epoch lands": _old_epochs_commit,
    "a driver goes on after losing a commit": _never_knows_that_it_lost,
    "a live lease is no obstacle": partial(_statement, debates, "claim", "lease_until <= :now", "true"),
    "a claim does not raise the epoch": partial(_statement, debates, "claim", "epoch = epoch + 1,", ""),
    "a question is answered twice": _answers_twice,
    "steps are begun past the lease": _always_leased,
    "a step does not clear a debate": _forgives_nothing,
    "a deletion leaves no tombstone": partial(
        _statement, deletion, "bury", "values (:id, :now, :by)", "select :id, :now, :by where false"
    ),
}


def _bug(name: str, owner: type, method: str) -> Callable[[Any], Any]:
    """The function stands for the method, which it is given first."""

    def plant(wrong: Any) -> Any:
        real = getattr(owner, method)
        BUGS[name] = partial(_replaced, owner, method, lambda *args, **more: wrong(real, *args, **more))
        return wrong

    return plant


@_bug("the cursor is stored apart from the turn", SqliteStore, "commit")
async def _cursor_apart(real: Any, store: SqliteStore, commit: Commit) -> Any:
    committed = await real(store, replace(commit, cursor=None))
    if committed is not None and commit.cursor is not None:
        await real(store, Commit(debate_id=commit.debate_id, epoch=commit.epoch, cursor=commit.cursor))
    return committed


@_bug("leases are not renewed", SqliteStore, "heartbeat")
async def _never_renews(real: Any, store: SqliteStore, owner: str, epochs: Any, seconds: float | None) -> Any:
    return await real(store, owner, epochs, None)


@_bug("whoever takes over shows everything again", Drive, "__init__")
def _shows_everything_again(real: Any, drive: Drive, debate: Any, *args: Any, **more: Any) -> None:
    real(drive, replace(debate, shown_count=0), *args, **more)


@_bug("events are told before they are stored", Drive, "_commit")
async def _tells_before_it_stores(real: Any, drive: Any, *args: Any, events: Any = (), **more: Any) -> None:
    first = drive.debate.last_seq + 1 + getattr(drive, "_told", 0)
    drive._told = first - drive.debate.last_seq - 1 + len(events)
    for seq, shown in enumerate(events, first):
        told = Event(seq=seq, type=shown.type, key=shown.key, data=shown.data, created_at=0.0, turn=shown.turn)
        drive.hub.publish(drive.debate.id, told)
    await real(drive, *args, events=events, **more)


@_bug("what was lost is booked more than once", Drive, "_newly_lost")
def _books_twice(real: Any, drive: Drive) -> Any:
    lost = real(drive)
    return None if lost is None else lost + lost + lost


@_bug("an answer is not followed up", Gates, "expire")
async def _never_looks_for_answers(real: Any, gates: Gates) -> Any:
    found = await real(gates)
    return [each for each in found if not any(g.status == "decided" for g in await gates._store.gates(each.id))]


@_bug("an error outlives what it was about", Runtime, "_raise_if_broken")
def _fails_for_ever(real: Any, runtime: Runtime, debate: Any) -> None:
    if debate.id in runtime._broken:
        raise runtime._broken[debate.id][1]


@_bug("a process drives a debate twice", Runtime, "_take")
async def _two_drives(real: Any, runtime: Runtime, debate: Any, *args: Any, **more: Any) -> Any:
    old = runtime._drives.pop(debate.id, None)  # so that it is not told
    try:
        return await real(runtime, debate, *args, **more)
    except Exception:
        if old is not None and debate.id in runtime._tasks:
            runtime._drives[debate.id] = old
        raise


@_bug("a stop from elsewhere is not heard", Drive, "signal")
def _deaf_to_stops(real: Any, drive: Drive, given: Any, **more: Any) -> None:
    if given != "finish":
        real(drive, given, **more)


@_bug("guidance from elsewhere is not heard", Drive, "guided")
def _deaf_to_guidance(real: Any, drive: Drive, times: int) -> None:
    pass


@_bug("workers don't sweep", Worker, "_sweeps")
async def _no_sweep(real: Any, worker: Worker) -> None:
    await worker._stop.wait()
