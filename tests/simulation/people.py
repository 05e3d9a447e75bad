"""People: they want debates to end, answer what they are asked, watch and interfere, and try again when it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from moot.core.errors import InputError, NoSuchDebate, StoreError, UnknownName, WrongStatus
from moot.core.lifecycle import RULES
from moot.core.types import HUMAN, TERMINAL, Debate, Event
from moot.corpus import tasks
from moot.formats import overridden
from moot.store.rows import debate_of, gate_of
from moot.store.sqlite import sql
from tests.simulation.audit import DELETED, Known
from tests.simulation.plan import Play, settings_of
from tests.simulation.process import Gone, Process
from tests.simulation.voices import answer, spec_of

if TYPE_CHECKING:
    from tests.simulation.world import World

T = TypeVar("T")

GONE = (DELETED,)
OVER = (*TERMINAL, DELETED)
TOPIC = "Redis or PostgreSQL?"


class People:
    def __init__(self, world: World) -> None:
        self._world, self._rng, self._ways = world, world.rng, world.plan.ways
        self._tasks: list[asyncio.Task[Any]] = []
        self._names = 0

    def join(self, coro: Coroutine[Any, Any, Any]) -> None:
        self._tasks.append(self._world.loop.create_task(coro, context=self._world.context.copy()))

    async def are_done(self) -> None:
        while busy := [task for task in self._tasks if not task.done()]:
            await asyncio.wait(busy)
        for task in self._tasks:
            task.result()

    async def want(self, play: Play) -> None:
        """A debate that ends, whatever it takes."""
        known = None
        while known is None:
            process = await self._world.any_process()
            with suppress(StoreError, Gone):
                known = await self._create(process, play)
        await self._see_through(known)

    async def interfere(self, verb: str) -> None:
        all_ = self._world.audit.debates.values()
        # What is over can be deleted, too.
        live = [known for known in all_ if known.status not in (GONE if verb == "delete" else OVER)]
        if not live:
            return
        known = self._rng.choice(live)
        process = await self._world.any_process()
        runtime = process.runtime
        if verb == "guide":
            known.comparable = False
        calls: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
            "stop": lambda: runtime.stop(known.id),
            "stop now": lambda: runtime.stop(known.id, now=True),
            "cancel": lambda: runtime.cancel(known.id),
            "delete": lambda: runtime.delete(known.id, by="ann"),
            "guide": lambda: runtime.guide(known.id, f"Consider {self._rng.randrange(100)}.", by="ann"),
        }
        await self._attempt(process, verb, known, calls[verb]())

    async def fork(self) -> None:
        world = self._world
        some = [each for each in world.audit.debates.values() if each.loaded and each.status not in ("pending", *GONE)]
        if not some:
            return
        known, process = self._rng.choice(some), await world.any_process()
        row = world.database.execute(sql("get_session"), {"id": known.id}).fetchone()
        if row is None:
            return  # deleted just now
        parent = debate_of(row)
        at = self._rng.choice([None, *(turn.key for turn in known.turns)])
        # Words that were given to its parent are in its turns.
        comparable = known.comparable and all(turn.kind != "guidance" for turn in known.turns)
        name = self._next_name()
        spec = spec_of(known.play, name)
        cast = [replace(seat, model=HUMAN if seat.model == HUMAN else spec) for seat in parent.cast]
        forking = process.runtime.fork(
            parent, at=at, format=known.format, config=parent.config, cast=cast, debate_id=self._id(name)
        )
        try:
            forked = await process.call(forking)
        except (StoreError, Gone, InputError) as error:
            world.note(process, "can't", "fork", known.name, type(error).__name__)
            return
        world.note(process, "did", "fork", known.name, at or "")
        await self._see_through(self._known(forked, known.play, name, comparable))

    async def _create(self, process: Process, play: Play) -> Known:
        format_, settings = settings_of(play)
        comparable = "tight" not in self._ways or format_.name == "asking"  # which knows no limits
        if not comparable:
            settings = {**settings, **self._tight()}
        read = format_.settings.model_validate(settings)
        name = self._next_name()
        parts = overridden(format_.parts(read), read.seats)
        cast = [part.seated(part.model or spec_of(play, name), read) for part in parts]
        config = read.model_dump(mode="json")
        topic = tasks()[0].spec if format_.needs else TOPIC
        made = await process.call(
            process.runtime.create(topic=topic, format=format_, config=config, cast=cast, debate_id=self._id(name))
        )
        return self._known(made, play, name, comparable)

    def _tight(self) -> dict[str, Any]:
        """A limit that the debate will reach, or nearly."""
        match self._rng.randrange(3):
            case 0:
                few = self._rng.choice((20, 60))
                tokens = self._rng.randint(60, 700)
                return {"max_total_output_tokens": tokens, "debater_max_tokens": few, "judge_max_tokens": few}
            case 1:
                return {"max_runtime_seconds": self._rng.randint(1, 20)}
            case _:
                return {"max_cost_usd": self._rng.uniform(0.001, 0.05)}

    def _known(self, debate: Debate, play: Play, name: str, comparable: bool) -> Known:
        known = self._world.audit.add(debate, play, name, comparable=comparable)
        if "watch" in self._ways:
            self.join(self._watch(known))
        return known

    async def _see_through(self, known: Known) -> None:
        while known.status not in OVER:
            await asyncio.sleep(self._rng.uniform(0.3, 4))
            match known.status:
                case "pending":
                    self._deliver("start", known)
                case "stopped":
                    self._deliver("resume", known)
                case "failed":
                    self._deliver("retry", known)
                case "waiting" if {"trusting", "workers"} & self._ways:
                    answered = await self._answer(known)
                    if answered and "workers" not in self._ways:
                        await self._tell_once(known)
                case "waiting":
                    await self._answer(known)
                    self._deliver("resume", known)
                case _:
                    pass

    async def _answer(self, known: Known) -> bool:
        world = self._world
        rows = world.database.execute(sql("gates"), {"id": known.id}).fetchall()
        gates = [gate for gate in map(gate_of, rows) if gate.status == "open"]
        if not gates:
            return False
        if gates[0].expires_at is not None and self._rng.random() < 0.3:
            await asyncio.sleep(self._rng.uniform(5, 15))  # the time may be over by then
        gate = self._rng.choice(gates)
        given = answer(known.play, gate)
        people = ["ann", "bob"] if world.trouble.may("race", chance=0.5) else ["ann"]
        processes = [await world.any_process() for _ in people]
        answers = [
            self._attempt(process, "answer", known, process.runtime.gates.answer(known.id, given, by=who, key=gate.key))
            for process, who in zip(processes, people, strict=True)
        ]
        won = [decided for decided in await asyncio.gather(*answers) if decided is not None]
        world.audit.check(len(won) <= 1, known, f"{gate.key} is answered by {len(won)} people")
        return bool(won)

    async def _tell_once(self, known: Known) -> None:
        """To go on: until it does, or says that it is doing so."""
        while True:
            process = await self._world.any_process()
            with suppress(StoreError, UnknownName, Gone):
                with suppress(WrongStatus, NoSuchDebate):
                    await process.call(process.runtime.resume(known.id))
                return
            await asyncio.sleep(1)

    def _deliver(self, verb: str, known: Known) -> None:
        """'Go on with this debate': to some process, now or later, perhaps never, perhaps to two."""
        copies, trouble = 1, self._world.trouble
        if "workers" in self._ways:
            pass  # their queue sees to it
        elif trouble.may("lose", chance=0.3):
            copies = 0
        elif trouble.may("double", chance=0.3):
            copies = 2
        for _ in range(copies):
            self.join(self._delivered(verb, known, self._rng.random()))

    async def _delivered(self, verb: str, known: Known, delay: float) -> None:
        await asyncio.sleep(delay)
        process = await self._world.any_process()
        if "workers" in self._ways:
            await self._attempt(process, verb, known, process.queue.put(known.id, expect=RULES[verb].sources))
        else:
            await self._attempt(process, verb, known, getattr(process.runtime, verb)(known.id))

    async def _watch(self, known: Known) -> None:
        """From one process after the other, until everything was seen."""
        seen: list[Event] = []
        while known.status not in GONE and (known.status not in TERMINAL or len(seen) < len(known.events)):
            process = await self._world.any_process()
            with suppress(Gone, StoreError, NoSuchDebate):
                await process.call(self._follow(process, known, seen))
            await asyncio.sleep(self._rng.uniform(0.1, 3))
        self._world.audit.seen(known, seen)

    async def _follow(self, process: Process, known: Known, seen: list[Event]) -> None:
        audit = self._world.audit
        async with aclosing(process.runtime.watch(known.id, after=len(seen))) as updates:
            async for update in updates:
                seen += update.events
                audit.seen(known, seen, after=len(seen) - len(update.events))
                if update.debate is None:
                    audit.overheard(process, known, update.flights)
                else:  # it rested when it was read; it may have been resumed since
                    missed = len(seen) < update.debate.last_seq
                    audit.check(not missed, known, "a watcher was sent home before it had seen everything")
                    return

    async def _attempt(self, process: Process, verb: str, known: Known, coro: Coroutine[Any, Any, T]) -> T | None:
        """What people do can be refused, and fail."""
        try:
            done = await process.call(coro)
        except (WrongStatus, UnknownName, NoSuchDebate, StoreError, Gone) as error:
            self._world.note(process, "can't", verb, known.name, type(error).__name__)
            return None
        self._world.note(process, "did", verb, known.name)
        return done

    def _next_name(self) -> str:
        self._names += 1
        return f"d{self._names}"

    def _id(self, name: str) -> str:
        return f"{int(name[1:]):08x}-0000-4000-8000-{self._world.plan.seed % 2**48:012x}"
