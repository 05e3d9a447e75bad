"""What can be done with debates: create, start, stop, resume, cancel, retry, fork, recover, watch."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress

from moot.errors import AmbiguousId, InputError, NoSuchDebate, ScriptChanged, StoreError, UnknownName, WrongStatus
from moot.formats import Format
from moot.runtime.drive import Drive, Signal
from moot.runtime.hub import Flight
from moot.runtime.neighbours import Neighbours
from moot.runtime.owner import is_dead, this_process
from moot.runtime.steps import read_decision, read_guidance
from moot.script import Step
from moot.store import Store
from moot.telemetry import Where, Witness, where
from moot.types import Debate, Event, Gate, Json, Memory, Models, SeatSpec, Shown, Status, Turn, record

log = logging.getLogger("moot.runtime")

LIVE: tuple[Status, ...] = ("running", "stopping")
RATINGS = range(1, 6)


@record
class Update:
    """What a watcher is told: new durable events, and the text in flight by step."""

    events: Sequence[Event]
    flights: Mapping[str, Flight]
    debate: Debate | None = None  # set in the last update: the debate as it was left


class Runtime:
    """Where a change takes `seen`, it is refused when the debate is no longer what it was then."""

    def __init__(
        self,
        store: Store,
        models: Models,
        formats: Mapping[str, Format],
        *,
        lease_seconds: float,
        pulse_seconds: float,
        memory: Memory | None = None,
        owner: str | None = None,
        witness: Witness | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.models, self.formats, self.memory = store, models, formats, memory
        self.witness = witness
        self._drives: dict[str, Drive] = {}
        self._look = asyncio.Event()  # set when a debate of ours may have been changed elsewhere
        self.neighbours = Neighbours(store, self._drives, self._look.set)
        self.hub = self.neighbours.hub
        self.owner = owner or this_process()
        self.now = now
        self._lease_seconds, self._pulse_seconds = lease_seconds, pulse_seconds
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._keeper: asyncio.Task[None] | None = None
        self._leaving: Signal | None = None  # we hand back what we drive, and how
        self._broken: dict[str, tuple[int, Exception]] = {}  # in which epoch, and why a debate could not be driven on

    async def create(
        self,
        *,
        topic: str,
        format: Format,
        config: Mapping[str, object],
        cast: Sequence[SeatSpec],
        initiated_by: str = "",
        metadata: Json | None = None,
        debate_id: str | None = None,
        notes: Sequence[str] = (),
    ) -> Debate:
        """A pending debate. Everything given must have been validated; `notes` are shown before it begins."""
        return await self.store.create(
            Debate(
                id=debate_id or str(uuid.uuid4()),
                topic=topic,
                format=format.name,
                format_version=format.version,
                status="pending",
                config=dict(config),
                cast=tuple(cast),
                initiated_by=initiated_by,
                metadata=metadata or {},
            ),
            events=[
                Shown(type="status", data={"status": "pending"}),
                *(Shown(type="notice", data={"text": text}) for text in notes),
            ],
        )

    async def find(self, prefix: str) -> str:
        """The full id for an unambiguous beginning of it."""
        prefix = prefix.strip().lower()
        matches: Sequence[str] = await self.store.find(prefix) if prefix else ()
        if prefix in matches:
            return prefix
        if not matches:
            raise NoSuchDebate(prefix)
        if len(matches) > 1:
            raise AmbiguousId(prefix, matches)
        return matches[0]

    async def start(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """Begin a pending debate in the background of this process."""
        return await self._take(debate_id, "start", expect=("pending",), seen=seen)

    async def resume(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """Go on with a debate that was stopped, or whose process died."""
        return await self._take(debate_id, "resume", expect=("stopped", "waiting", *LIVE), seen=seen)

    async def advance(self, debate_id: str) -> Debate:
        """Go on with a debate that is meant to run and that nobody drives."""
        return await self._take(debate_id, "go on", expect=("running",))

    async def retry(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """Run the open steps of a failed debate again; nothing that is persisted is run again."""
        return await self._take(debate_id, "retry", expect=("failed",), seen=seen)

    async def stop(self, debate_id: str, *, now: bool = False, seen: Debate | None = None) -> Debate:
        """Let the steps in flight finish (or not, with `now`), start nothing more."""
        drive = self._drives.get(debate_id)
        debate = await self.store.get(debate_id)
        if debate.status not in ("running", "stopping", "waiting"):
            raise self.refusal(debate, "stop")
        if debate.status == "stopping" and drive is not None and (seen is None or seen.updated_at == debate.updated_at):
            drive.tell("now" if now else "finish")
            return debate
        driven = debate.status != "waiting" and debate not in await self.store.abandoned(is_dead)
        to: Status = "stopping" if driven else "stopped"
        moved = await self.store.move(
            debate_id, to, expect=("running", "stopping", "waiting"), events=[_status(to, by="stop")], seen=seen
        )
        if moved is None:
            raise self.refusal(await self.store.get(debate_id), "stop")
        if drive is not None:
            drive.tell("now" if now else "finish")
        return moved

    async def cancel(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """End it for good, without a verdict."""
        expect: Collection[Status] = ("pending", "running", "waiting", "stopping", "stopped", "failed")
        events = [_status("canceled", by="cancel")]
        moved = await self.store.move(debate_id, "canceled", expect=expect, events=events, seen=seen)
        if moved is None:
            raise self.refusal(await self.store.get(debate_id), "cancel")
        drive = self._drives.get(debate_id)
        if drive is not None:
            drive.tell("lost")
        return moved

    async def fork(
        self,
        parent: Debate,
        *,
        at: str | None,
        format: Format,
        config: Mapping[str, object],
        cast: Sequence[SeatSpec],
        initiated_by: str = "",
        metadata: Json | None = None,
        debate_id: str | None = None,
    ) -> Debate:
        """A new pending debate with the parent's turns before `at`; the step `at` will be asked anew."""
        turns = await self.store.turns(parent.id)
        copied = _before(turns, at, parent)
        fork = Debate(
            id=debate_id or str(uuid.uuid4()),
            topic=parent.topic,
            format=format.name,
            format_version=format.version,
            status="pending",
            config=dict(config),
            cast=tuple(cast),
            parent_id=parent.id,
            forked_at=at,
            guided=sum(turn.kind == "guidance" for turn in copied),
            total_rounds=max((turn.round for turn in copied), default=0),
            initiated_by=initiated_by,
            metadata=metadata or {},
        )
        script = format.script(fork)
        try:
            script.replay(copied)
        except ScriptChanged as changed:
            raise InputError(
                f"These settings change what was asked at {changed.key!r}, before the fork at {at!r}. "
                f"Fork at {changed.key!r} or earlier, or leave those settings as they were."
            ) from None
        finally:
            script.close()
        note = Shown(type="status", data={"status": "pending", "parent": parent.id, "at": at})
        return await self.store.create(fork, turns=copied, events=[note])

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate:
        """Say something between steps. Whoever is asked next hears it; a debate that waits or rests hears it when it
        goes on."""
        gate = await self.store.guide(debate_id, read_guidance(text), by=by, seen=seen)
        if gate is None:
            raise self.refusal(await self.store.get(debate_id), "be guided")
        drive = self._drives.get(debate_id)
        if drive is not None:
            drive.guided((await self.store.get(debate_id)).guided)
        return gate

    async def open_gate(self, debate_id: str, key: str | None = None) -> Gate:
        """What the debate asks; `key` says which when it asks several things."""
        debate = await self.store.get(debate_id)
        gates = [gate for gate in await self.store.gates(debate_id) if key in (None, gate.key)]
        gates = [gate for gate in gates if gate.kind != "guidance"]
        still = [gate for gate in gates if gate.status == "open"]
        if debate.terminal or not still:
            raise self._nothing_to_answer(debate, gates)
        if len(still) > 1:
            keys = ", ".join(gate.key for gate in still)
            raise InputError(f"Several questions are open: {keys}. Say which with --key.")
        return still[0]

    async def answer(
        self, debate_id: str, given: Json, *, by: str, key: str | None = None, seen: Debate | None = None
    ) -> Gate:
        """Answer an open gate, at most once; the debate does not go on by itself, see `resume`."""
        gate = await self.open_gate(debate_id, key)
        debate = await self.store.get(debate_id)
        step = (await self._open_steps(debate)).get(gate.key)
        decided = None
        if step is not None:
            decided = await self.store.decide(debate_id, step.key, read_decision(step, given), by=by, seen=seen)
        if decided is None:
            raise self._nothing_to_answer(debate, await self.store.gates(debate_id))
        return decided

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate:
        """Keep what people think of a completed debate. They may change their mind."""
        if rating not in RATINGS:
            raise InputError(f"A rating is a whole number from 1 (poor) to 5 (very good), not {rating}.")
        rated = await self.store.rate(debate_id, rating, seen=seen)
        if rated is None:
            debate = await self.store.get(debate_id)
            why = f"Debate {debate.short} is {debate.status}; only a completed debate can be rated."
            raise WrongStatus(f"{why} {_advice(debate)}")
        return rated

    async def expire(self) -> Sequence[Debate]:
        """Do what gates say about questions that nobody answered in time: decide, or pause the debate. Gives the
        debates that can go on."""
        ready: list[Debate] = []
        for gate in await self.store.gates(expired=True):
            debate = await self.store.get(gate.debate_id)
            if gate.status == "decided":
                if debate.format in self.formats:
                    ready.append(debate)  # whoever answered it did not get to let the debate go on
                continue
            try:
                step = (await self._open_steps(debate)).get(gate.key)
            except StoreError:
                raise
            except Exception as error:  # rules that are not installed here, or have changed: the others go on
                log.warning("The time of %s of debate %s is over, but: %s", gate.key, debate.short, error)
                continue
            if step is None or step.waiting is None:
                continue
            if step.waiting.otherwise is None:
                paused = [_status("stopped", by="nobody answered in time")]
                await self.store.move(debate.id, "stopped", expect=("waiting",), events=paused)
            elif await self.store.decide(debate.id, gate.key, step.waiting.otherwise, by="nobody: the time was over"):
                ready.append(debate)
        return ready

    async def recover(self) -> Sequence[Debate]:
        """Take over every debate whose driver is silent. Those that were told to stop are stopped."""
        taken: list[Debate] = []
        for debate in await self.store.abandoned(is_dead):
            if debate.status == "stopping":
                await self.store.move(
                    debate.id, "stopped", expect=("stopping",), events=[_status("stopped", by="recovery")]
                )
            else:
                with suppress(WrongStatus, UnknownName):  # a format that is not installed here must not stop the others
                    taken.append(await self.resume(debate.id))
        return taken

    @property
    def driven(self) -> int:
        """How many debates this process drives now."""
        return len(self._drives)

    def drives(self, debate_id: str) -> bool:
        """Whether this very process drives it."""
        return debate_id in self._drives

    async def wait(self, debate_id: str) -> Debate:
        """Until this process no longer drives it."""
        while (task := self._tasks.get(debate_id)) is not None:
            await asyncio.shield(task)
        debate = await self.store.get(debate_id)
        self._raise_if_broken(debate)
        return debate

    async def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Update, None]:
        """Everything that happens from event `after` on, until the debate comes to rest. Works across processes:
        durable events are seen everywhere, text in flight in the process that drives it, and wherever the store can
        tell."""
        listener = self.hub.listen(debate_id)
        self.neighbours.follow(debate_id)
        listener.missed = True  # whatever was before us is in the store
        try:
            while True:
                local = debate_id in self._drives
                events = [event for event in listener.events if event.seq > after]
                listener.events.clear()
                if not local or listener.missed or (events and events[0].seq != after + 1):
                    listener.missed = False
                    debate = await self.store.get(debate_id)
                    self._raise_if_broken(debate)
                    events = list(await self.store.events(debate_id, after))
                    if not events and not local and debate.status not in ("pending", *LIVE):
                        yield Update(events=(), flights={}, debate=debate)
                        return
                after = events[-1].seq if events else after
                yield Update(events=events, flights=self.hub.flights(debate_id))
                if not events or local:
                    await listener.wait(self._pace)
        finally:
            self.hub.leave(debate_id, listener)
            self.neighbours.unfollow(debate_id)

    async def hand_back(self, seconds: float) -> Sequence[str]:
        """Let go of every debate without stopping it: steps in flight have so long to finish. Gives the ids of those
        that another process must go on with."""
        driven = list(self._drives)
        signals: Sequence[tuple[Signal, float | None]] = (("finish", seconds), ("now", None))
        for signal, patience in signals:
            self._leaving = signal  # what is being claimed at this moment is let go of as well
            for drive in self._drives.values():
                drive.tell(signal, hand_back=True)
            if self._tasks:
                await asyncio.wait(self._tasks.values(), timeout=patience)
        return [debate.id for debate in [await self.store.get(each) for each in driven] if debate.status == "running"]

    async def close(self, *, signal: Signal = "now", before_store: Callable[[], Awaitable[None]] | None = None) -> None:
        """Stop driving: debates in flight are left `stopped`, to be resumed by whoever comes next. `before_store` is
        for what still needs the store when nothing is driven any more."""
        for drive in self._drives.values():
            drive.tell(signal, hand_back=self._leaving is not None)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self.neighbours.close()
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        if before_store is not None:
            await before_store()
        await self.store.close()

    def _format(self, debate: Debate) -> Format:
        format_ = self.formats.get(debate.format)
        if format_ is None:
            raise UnknownName("format", debate.format, self.formats)
        return format_

    async def _open_steps(self, debate: Debate) -> Mapping[str, Step]:
        script = self._format(debate).script(debate)
        try:
            script.replay(await self.store.turns(debate.id))
            return dict(script.open)
        finally:
            script.close()

    def _nothing_to_answer(self, debate: Debate, gates: Sequence[Gate]) -> WrongStatus:
        decided = [gate for gate in gates if gate.status == "decided" and gate.kind != "guidance"]
        if decided:
            last = decided[-1]
            return WrongStatus(
                f"{last.key} of debate {debate.short} has been answered by {last.reviewer}. {_advice(debate)}"
            )
        return WrongStatus(f"Debate {debate.short} is {debate.status} and asks nothing. {_advice(debate)}")

    async def _take(
        self, debate_id: str, verb: str, *, expect: Collection[Status], seen: Debate | None = None
    ) -> Debate:
        debate = await self.store.get(debate_id)
        format_ = self._format(debate)
        dead = debate.owner if debate.owner and is_dead(debate.owner) else None
        asked = asyncio.get_running_loop().time()
        claimed = await self.store.claim(
            debate_id, self.owner, self._lease_seconds, expect=expect, dead=dead, seen=seen
        )
        if claimed is None:
            raise self.refusal(await self.store.get(debate_id), verb)
        if debate.owner is not None and self.witness is not None:
            self.witness.took_over(claimed, debate.owner)
        if debate_id in self._drives:
            self._drives[debate_id].tell("lost")  # our own lease had run out
        self._broken.pop(debate_id, None)
        self.hub.forget(debate_id)  # what was in flight elsewhere
        drive = Drive(
            claimed,
            format_,
            store=self.store,
            models=self.models,
            hub=self.hub,
            memory=self.memory,
            witness=self.witness,
            now=self.now,
            leased_until=asked + self._lease_seconds,
        )
        if self._leaving is not None:
            drive.tell(self._leaving, hand_back=True)
        self._drives[debate_id] = drive
        self._tasks[debate_id] = asyncio.create_task(self._drive(drive), name=f"drive-{claimed.short}")
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep(), name="moot-keeper")
        return claimed

    async def _drive(self, drive: Drive) -> None:
        debate_id = drive.debate.id
        where.set(Where(debate_id, drive.debate.epoch))
        try:
            with nullcontext() if self.witness is None else self.witness.drive(drive.debate):
                await drive.run()
            if drive.waits:
                await self._answered_meanwhile(debate_id)
        except Exception as error:  # for whoever waits or watches: nothing more will come
            self._broken[debate_id] = drive.debate.epoch, error
        finally:
            if self._drives.get(debate_id) is drive:
                del self._drives[debate_id], self._tasks[debate_id]
            self.hub.wake(debate_id)

    def _raise_if_broken(self, debate: Debate) -> None:
        """What went wrong here counts as long as nobody has gone on with the debate; it may even have ended."""
        epoch, error = self._broken.get(debate.id, (0, None))
        if error is not None and debate.epoch == epoch and debate.status in LIVE:
            raise error
        self._broken.pop(debate.id, None)

    async def _answered_meanwhile(self, debate_id: str) -> None:
        """An answer that came between our last look and our going to wait would otherwise wait for nobody."""
        open_keys = (await self.store.get(debate_id)).cursor.open
        gates = await self.store.gates(debate_id)
        if any(gate.status == "decided" and gate.key in open_keys for gate in gates):
            with suppress(WrongStatus):
                await self.resume(debate_id)

    async def _keep(self) -> None:
        """Keep our leases alive, and hear of stops, cancels and take-overs that came from elsewhere."""
        clocks = (
            asyncio.get_running_loop().time,
            self.now,
        )  # the first stands still while a laptop sleeps, the second can be set
        renewed = [clock() for clock in clocks]
        self.neighbours.attend()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace):
                    await self._look.wait()
            self._look.clear()
            if not self._drives:
                continue
            due = self._lease_seconds / 3
            renew = any(abs(clock() - then) > due for clock, then in zip(clocks, renewed, strict=True))
            epochs = {debate_id: drive.debate.epoch for debate_id, drive in self._drives.items()}
            asked = asyncio.get_running_loop().time()
            try:
                pulse = await self.store.pulse(self.owner, epochs, self._lease_seconds if renew else None)
            except StoreError:
                continue  # the next pulse may get through; until then the lease runs on
            renewed = [clock() for clock in clocks] if renew else renewed
            for debate_id, drive in list(self._drives.items()):
                if epochs.get(debate_id) != drive.debate.epoch:
                    continue
                if debate_id in pulse.lost:
                    drive.tell("lost")
                    continue
                if renew:
                    drive.renewed(asked + self._lease_seconds)
                drive.guided(pulse.guided.get(debate_id, 0))
                if pulse.statuses.get(debate_id) == "stopping":
                    drive.tell("finish")

    @property
    def _pace(self) -> float:
        """How often to look for what others have done: seldom where the store tells."""
        return max(self._pulse_seconds, self._lease_seconds / 6) if self.neighbours.tell else self._pulse_seconds

    def refusal(self, debate: Debate, verb: str) -> WrongStatus:
        return WrongStatus(f"Debate {debate.short} is {debate.status}; it can't {verb}. {_advice(debate)}")


def _advice(debate: Debate) -> str:
    short = debate.short
    if debate.terminal:
        return f"See it with `moot show {short}`, or branch off with `moot fork {short}`."
    advice: Mapping[Status, str] = {
        "pending": f"Start it with `moot resume {short}`.",
        "running": f"Another process is driving it: `moot watch {short}` follows it, `moot stop {short}` stops it.",
        "stopping": f"It will stop when its step is done: `moot watch {short}`.",
        "stopped": f"Go on with `moot resume {short}`.",
        "waiting": f"It waits for a person: `moot answer {short}`.",
        "failed": f"Try its open steps again with `moot retry {short}`.",
    }
    return advice[debate.status]


def _before(turns: Sequence[Turn], at: str | None, parent: Debate) -> list[Turn]:
    if at is None or at in parent.cursor.open:
        return list(turns)
    for position, turn in enumerate(turns):
        if turn.key == at:
            return list(turns[:position])
    raise UnknownName("step", at, [turn.key for turn in turns])


def _status(status: Status, *, by: str) -> Shown:
    return Shown(type="status", data={"status": status, "by": by})
