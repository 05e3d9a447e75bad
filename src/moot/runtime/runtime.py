"""What can be done with debates: create, start, stop, resume, cancel, retry, fork, guide, answer, delete, recover,
watch.

`moot.core.lifecycle` says which of it is possible in which status; everything else raises WrongStatus.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress

from moot.core import lifecycle
from moot.core.errors import AbilityMissing, AmbiguousId, InputError, NoSuchDebate, UnknownName, WrongStatus
from moot.core.lifecycle import LIVE, RULES, Verb
from moot.core.outcome import MOST_NOTED
from moot.core.settings import Ceilings
from moot.core.types import Debate, Gate, Json, Memory, Models, SeatSpec, Shown, Status, Toolbox, TurnedOut
from moot.formats import Format
from moot.formats.prompts import load_all
from moot.reasoning.fence import clean
from moot.runtime.drive import Drive, Signal
from moot.runtime.executors import Executors
from moot.runtime.forking import check_fork, turns_before
from moot.runtime.gates import Gates
from moot.runtime.heartbeat import Heartbeat
from moot.runtime.isolation import SUSPECT_DEATHS, crashes_of, is_guilty, set_aside
from moot.runtime.owner import is_dead, this_process
from moot.runtime.peers import Peers
from moot.runtime.turns import read_guidance
from moot.runtime.watching import Update as Update
from moot.runtime.watching import watch
from moot.store import Commit, Labels, Store, Tombstone, Viewer
from moot.store.rows import missing
from moot.telemetry import Observer, TaskContext, task_context

RATINGS = range(1, 6)
PULSES = 75  # polls for changes by other processes in the time of a lease: every 0.2 s by default
PULSES_WITH_NOTICES = 6  # the same where the store pushes notices, of which one may be lost


class Runtime:
    """Drives debates in this process and changes debates wherever they are driven.

    A method that takes `seen` raises WrongStatus when the debate is no longer in that version.
    """

    def __init__(
        self,
        store: Store,
        models: Models,
        formats: Mapping[str, Format],
        *,
        lease_seconds: float,
        memory: Memory | None = None,
        tools: Toolbox | None = None,
        owner: str | None = None,
        observer: Observer | None = None,
        now: Callable[[], float] = time.time,
        ceilings: Ceilings | None = None,
        refusal: Callable[[Format], AbilityMissing | None] = lambda _: None,
        is_demonstration: Callable[[Debate], bool] = lambda _: False,
        episodes_kept: int | None = None,
    ) -> None:
        """`refusal`: why this machine can't drive debates of a format, if it can't; may take a second.
        `episodes_kept`: for each owner of debates; None: all."""
        self._ceilings, self._unable, self._is_demonstration = ceilings, refusal, is_demonstration
        self._episodes_kept = episodes_kept
        self.store, self.models, self.formats = store, models, formats
        self.executors = Executors(models, memory, tools)
        self.gates = Gates(store, formats)
        self.observer = observer
        self.owner = owner or this_process()
        self.now = now
        self.lease_seconds, self.pulse_seconds = lease_seconds, lease_seconds / PULSES
        self._drives: dict[str, Drive] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._heartbeat = Heartbeat(
            store, lambda: self.owner, self._drives, lease_seconds=lease_seconds, pause=self._pause, now=now
        )
        self._keeper: asyncio.Task[None] | None = None  # runs the heartbeat, from the first drive on
        self.peers = Peers(store, self._drives, self._heartbeat.hurry)
        self.hub = self.peers.hub
        self._leaving: Signal | None = None  # set by `hand_back`, for debates claimed meanwhile
        self._broken: dict[str, tuple[int, Exception]] = {}  # by debate: the epoch of a drive that raised, and what

    async def create(
        self,
        *,
        topic: str,
        format: Format,
        config: Mapping[str, object],
        cast: Sequence[SeatSpec],
        initiated_by: str = "",
        token_id: str = "",
        private: bool = False,
        follows: str | None = None,
        metadata: Json | None = None,
        debate_id: str | None = None,
        evaluation: str = "",
        notes: Sequence[str] = (),
    ) -> Debate:
        """Store a pending debate. The arguments must have been validated; `notes` become its first notices."""
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
                token_id=token_id,
                private=private,
                evaluation=evaluation,
                follows=follows,
                metadata=metadata or {},
            ),
            events=[
                Shown(type="status", data={"status": "pending"}),
                *(Shown(type="notice", data={"text": text}) for text in notes),
            ],
        )

    async def find(self, prefix: str, viewer: Viewer | None = None) -> str:
        """Return the id that begins with `prefix`; with `viewer`, among the debates that it sees. Raises NoSuchDebate
        or AmbiguousId."""
        prefix = prefix.strip().lower()
        matches: Sequence[str] = await self.store.find(prefix, viewer) if prefix else ()
        if prefix in matches:
            return prefix
        if not matches:
            gone = await self.store.tombstone(prefix) if prefix else None
            raise missing(prefix, gone)
        if len(matches) > 1:
            raise AmbiguousId(prefix, matches)
        return matches[0]

    async def start(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """Drive a pending debate in the background of this process."""
        return await self._take(await self.store.get(debate_id), "start", seen=seen)

    async def resume(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """Drive a debate on that was stopped or answered, or whose process died."""
        return await self._take(await self.store.get(debate_id), "resume", seen=seen)

    async def retry(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """Execute the open steps of a failed debate again. Steps that have a turn are not repeated."""
        return await self._take(await self.store.get(debate_id), "retry", seen=seen)

    async def advance(self, debate_id: str) -> Debate:
        """Drive a running debate on that no live process drives. For workers. Raises AbilityMissing when this machine
        can't do what its format needs."""
        return await self._take(await self.store.get(debate_id), "advance")

    async def advance_step(self, debate_id: str, *, alone: bool) -> Debate:
        """As `advance`, but only while the debate is under suspicion, and hand it back as soon as a step of it is
        stored. `alone`: this process drives nothing else meanwhile, so that if it dies, this debate is the reason."""
        debate = await self.store.get(debate_id)
        if crashes_of(debate, self.owner) < SUSPECT_DEATHS:  # another process was faster
            raise self.refusal(debate, "advance")
        return await self._take(debate, "advance", one_step=True, alone=alone, seen=debate)

    async def give_back(self, debate_id: str) -> None:
        """Release a debate whose drive here broke off."""
        debate = await self.store.get(debate_id)
        if debate.owner == self.owner and debate_id not in self._drives:
            await self.store.commit(Commit(debate_id=debate_id, epoch=debate.epoch, release=True))

    async def suspicion(self, debate_id: str) -> int:
        """How many drivers of a debate have died in a row, if that puts it under suspicion; 0 also if it is to be set
        aside. Raises WrongStatus if it rests or another process drives it, AbilityMissing as `advance` does."""
        debate = await self.store.get(debate_id)
        if debate.status != "running" or not self._is_orphaned(debate):
            raise self.refusal(debate, "advance")
        deaths = crashes_of(debate, self.owner)
        if deaths < SUSPECT_DEATHS or is_guilty(debate, self.owner):
            return 0
        await self._able(debate)
        return deaths

    async def stop(self, debate_id: str, *, now: bool = False, seen: Debate | None = None) -> Debate:
        """Start no further step. The steps in flight are finished first, or cut off with `now`."""
        drive = self._drives.get(debate_id)
        debate = await self.store.get(debate_id)
        rule = RULES["stop"]
        if debate.status not in rule.sources:
            raise self.refusal(debate, "stop")
        signal: Signal = "now" if now else "finish"
        if debate.status == "stopping" and drive is not None and (seen is None or seen.updated_at == debate.updated_at):
            drive.signal(signal)
            return debate
        orphaned = debate.status in rule.orphaned and debate in await self.store.abandoned(is_dead)
        to = (rule.orphaned if orphaned else rule.moves)[debate.status]
        events = [_status(to, by="recovery" if orphaned else "stop")]
        moved = await self._move(debate_id, "stop", to, events, seen)
        if drive is not None:
            drive.signal(signal)
        return moved

    async def cancel(self, debate_id: str, *, seen: Debate | None = None) -> Debate:
        """End a debate for good, without a verdict."""
        orphaned = self._is_orphaned(await self.store.get(debate_id))
        events = [*([_status("stopped", by="recovery")] if orphaned else []), _status("canceled", by="cancel")]
        moved = await self._move(debate_id, "cancel", "canceled", events, seen)
        if debate_id in self._drives:
            self._drives[debate_id].signal("lost")
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
        token_id: str = "",
        metadata: Json | None = None,
        debate_id: str | None = None,
        evaluation: str = "",
    ) -> Debate:
        """Store a new pending debate with the parent's turns before the step `at`, which will be executed anew.

        Raises InputError when the new settings would have changed one of those turns.
        """
        copied = turns_before(await self.store.turns(parent.id), at, parent)
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
            token_id=token_id,
            private=parent.private,
            evaluation=evaluation,
            metadata=metadata or {},
        )
        await check_fork(format, fork, copied)
        note = Shown(type="status", data={"status": "pending", "parent": parent.id, "at": at})
        return await self.store.create(fork, turns=copied, events=[note])

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate:
        """Give guidance. It reaches every seat with the next step that it is asked; a debate at rest gets it when it
        goes on."""
        gate = await self.store.guide(debate_id, read_guidance(text), by=by, seen=seen)
        if gate is None:
            raise self.refusal(await self.store.get(debate_id), "guide")
        drive = self._drives.get(debate_id)
        if drive is not None:
            drive.guided((await self.store.get(debate_id)).guided)
        return gate

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate:
        """Store a rating of a completed debate, 1 to 5. It can be changed."""
        if rating not in RATINGS:
            raise InputError(f"A rating is a whole number from 1 (poor) to 5 (very good), not {rating}.")
        rated = await self.store.rate(debate_id, rating, seen=seen)
        if rated is None:
            raise self.refusal(await self.store.get(debate_id), "rate")
        return rated

    async def turned_out(
        self, debate_id: str, right: float | None, note: str = "", *, by: str, seen: Debate | None = None
    ) -> Debate:
        """Store how the decision of a completed debate turned out: 1 right, 0 wrong, or between. It can be changed;
        None takes it back."""
        if right is not None and not 0 <= right <= 1:
            raise InputError(f"How a decision turned out is a number from 0 (wrong) to 1 (right), not {right:g}.")
        if len(note) > MOST_NOTED:
            raise InputError(f"The note has {len(note):,} characters; at most {MOST_NOTED:,} are kept.")
        debate = await self.store.get(debate_id)
        outcome = debate.outcome
        # Members whose texts tie can agree on the typed answer that was asked for.
        answered = outcome is not None and outcome.answer is not None and bool(debate.config.get("answer"))
        if right is not None and outcome is not None and not outcome.decided and not answered:
            raise InputError(
                f"Debate {debate.short} came to no decision, so there is none that could be right or wrong."
            )
        given = None if right is None else TurnedOut(right=right, note=clean(note).strip(), by=by, at=self.now())
        changed = await self.store.turned_out(debate_id, given, seen=seen)
        if changed is None:
            raise self.refusal(await self.store.get(debate_id), "turned_out")
        return changed

    async def quarantine(self, debate_id: str, *, by: str | None, seen: Debate | None = None) -> Debate:
        """Keep the decision of a completed debate from being recalled into new ones; with None for `by`, let it be
        recalled again."""
        changed = await self.store.quarantine(debate_id, by, seen=seen)
        if changed is None:
            raise self.refusal(await self.store.get(debate_id), "quarantine")
        return changed

    async def set_private(self, debate_id: str, private: bool, *, seen: Debate | None = None) -> Debate:
        """Make a debate private, or let every caller see it."""
        changed = await self.store.set_private(debate_id, private, seen=seen)
        if changed is None:
            raise self.refusal(await self.store.get(debate_id), "private")
        return changed

    async def label(self, debate_id: str, labels: Labels, *, seen: Debate | None = None) -> Debate:
        """Change what people put on a debate to find it again."""
        changed = await self.store.label(debate_id, labels, seen=seen)
        if changed is None:
            raise self.refusal(await self.store.get(debate_id), "label")
        return changed

    async def delete(self, debate_id: str, *, by: str, seen: Debate | None = None) -> Tombstone:
        """Delete a debate and everything of it, in any status. A process that drives it stops when it next looks, and
        can store nothing more."""
        gone = await self.store.delete(debate_id, by=by, expect=RULES["delete"].sources, seen=seen)
        if gone is None:
            raise self.refusal(await self.store.get(debate_id), "delete")
        self.forget(debate_id)
        await self.store.scrub()
        return gone

    def forget(self, debate_id: str) -> None:
        """Let go of a debate that was deleted."""
        if debate_id in self._drives:
            self._drives[debate_id].signal("lost")
        else:
            self.hub.drop_flights(debate_id)
        self._broken.pop(debate_id, None)
        self.hub.wake(debate_id)

    async def recover(self, *, resume: bool = True, suspected: Callable[[str], None] | None = None) -> Sequence[Debate]:
        """Take over every debate whose driver is dead or silent past its lease, and return those that go on here.
        Debates that were stopping are stopped. Those that took too many processes down are set aside. Without `resume`,
        nothing is taken over. `suspected` is called with each debate that should not be driven here."""
        taken: list[Debate] = []
        for debate in await self.store.abandoned(is_dead):
            if debate.status == "stopping":
                events = [_status("stopped", by="recovery")]
                await self.store.move(debate.id, "stopped", expect=("stopping",), events=events)
            elif resume:
                # Claimed by another process, deleted, or of a format that is not installed or needs what is not here.
                with suppress(WrongStatus, NoSuchDebate, UnknownName, AbilityMissing):
                    if suspected is not None and await self.suspicion(debate.id):
                        suspected(debate.id)
                        continue
                    claimed = await self.resume(debate.id)
                    taken += [claimed] if claimed.status == "running" else []
        return taken

    @property
    def driven(self) -> int:
        """The number of debates that this process drives."""
        return len(self._drives)

    def dead_among(self, owners: Iterable[str]) -> list[str]:
        """Those of the drivers that are certainly dead: processes of this machine that no longer exist."""
        return [owner for owner in owners if is_dead(owner)]

    def drives(self, debate_id: str) -> bool:
        """Whether this process drives the debate."""
        return debate_id in self._drives

    def is_interrupted(self, debate: Debate) -> bool:
        """Whether a debate should be running, but waits for someone to resume it. On a shared store a worker does."""
        return not self.store.shared and self._is_orphaned(debate)

    def refusal(self, debate: Debate, verb: Verb) -> WrongStatus:
        return lifecycle.refusal(debate, verb, interrupted=self.is_interrupted(debate))

    async def wait(self, debate_id: str) -> Debate:
        """Wait until this process no longer drives the debate. Raises what broke the drive, if anything did."""
        while (task := self._tasks.get(debate_id)) is not None:
            await asyncio.shield(task)
        debate = await self.store.get(debate_id)
        self._raise_if_broken(debate)
        return debate

    def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Update, None]:
        """Yield updates from event `after` on until the debate rests, wherever it is driven."""
        return watch(
            debate_id,
            after,
            store=self.store,
            peers=self.peers,
            driven=self._drives,
            check=self._raise_if_broken,
            pause=self._pause,
        )

    async def hand_back(self, seconds: float) -> Sequence[str]:
        """Release every debate without stopping it; steps in flight have `seconds` to finish. Returns the ids of the
        debates that another process must go on with."""
        driven = list(self._drives)
        signals: Sequence[tuple[Signal, float | None]] = (("finish", seconds), ("now", None))
        for signal, patience in signals:
            self._leaving = signal
            for drive in self._drives.values():
                drive.signal(signal, hand_back=True)
            if self._tasks:
                await asyncio.wait(self._tasks.values(), timeout=patience)
        left: list[str] = []
        for debate_id in driven:
            with suppress(NoSuchDebate):  # deleted meanwhile
                if (await self.store.get(debate_id)).status == "running":
                    left.append(debate_id)
        return left

    async def close(self, *, signal: Signal = "now", before_store: Callable[[], Awaitable[None]] | None = None) -> None:
        """Stop every drive and close the store. `before_store` runs when nothing is driven any more, but the store is
        still open."""
        for drive in self._drives.values():
            drive.signal(signal, hand_back=self._leaving is not None)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self.peers.close()
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        if before_store is not None:
            await before_store()
        await self.store.close()

    async def _move(
        self, debate_id: str, verb: Verb, to: Status, events: Sequence[Shown], seen: Debate | None
    ) -> Debate:
        moved = await self.store.move(debate_id, to, expect=RULES[verb].sources, events=events, seen=seen)
        if moved is None:
            raise self.refusal(await self.store.get(debate_id), verb)
        return moved

    async def _take(
        self, debate: Debate, verb: Verb, *, one_step: bool = False, alone: bool = False, seen: Debate | None = None
    ) -> Debate:
        """Claim a debate and drive it in a task, or set it aside when it has taken too many processes down."""
        debate_id = debate.id
        format_ = await self._able(debate)
        load_all()  # before it is claimed: a debate under way reads no file
        asked = asyncio.get_running_loop().time()
        guilty = is_guilty(debate, self.owner)
        claimed = await self.store.claim(
            debate_id,
            self.owner,
            self.lease_seconds,
            expect=RULES[verb].sources,
            dead=debate.owner if debate.owner and is_dead(debate.owner) else None,
            alone=guilty or alone,  # a verdict holds even if this process dies before it is stored
            seen=seen,
        )
        if claimed is None:
            raise self.refusal(await self.store.get(debate_id), verb)
        if guilty and claimed.epoch == debate.epoch + 1 and claimed.crashes == crashes_of(debate, self.owner):
            await set_aside(self.store, claimed, self.observer)
            self.hub.wake(debate_id)
            return await self.store.get(debate_id)
        return self._begin(claimed, format_, taken_from=debate.owner, asked=asked, one_step=one_step)

    async def _able(self, debate: Debate) -> Format:
        """The format of a debate. Raises UnknownName if it is not installed, and AbilityMissing if this machine can't
        do what it needs."""
        format_ = self.formats.get(debate.format)
        if format_ is None:
            raise UnknownName("format", debate.format, self.formats)
        # Not on one of the few threads for work: it may wait for a process that tries the sandbox.
        if format_.needs and (problem := await asyncio.to_thread(lambda: self._unable(format_))) is not None:
            raise problem
        return format_

    def _begin(
        self, claimed: Debate, format_: Format, *, taken_from: str | None, asked: float, one_step: bool
    ) -> Debate:
        """Drive a debate in a task that was claimed just now; `asked`: when, by the loop's clock."""
        debate_id = claimed.id
        if taken_from is not None and self.observer is not None:
            self.observer.took_over(claimed, taken_from)
        if debate_id in self._drives:
            self._drives[debate_id].signal("lost")  # our own lease had run out
        self._broken.pop(debate_id, None)
        self.hub.drop_flights(debate_id)
        drive = Drive(
            claimed,
            format_,
            store=self.store,
            executors=self.executors,
            hub=self.hub,
            observer=self.observer,
            now=self.now,
            leased_until=asked + self.lease_seconds,
            ceilings=self._ceilings,
            demonstration=self._is_demonstration(claimed),
            episodes_kept=self._episodes_kept,
            one_step=one_step,
        )
        if self._leaving is not None:
            drive.signal(self._leaving, hand_back=True)
        self._drives[debate_id] = drive
        self._tasks[debate_id] = asyncio.create_task(self._drive(drive), name=f"drive-{claimed.short}")
        if self._keeper is None:
            self.peers.listen()
            self._keeper = asyncio.create_task(self._heartbeat.run(), name="moot-keeper")
        return claimed

    async def _drive(self, drive: Drive) -> None:
        debate_id = drive.debate.id
        task_context.set(TaskContext(debate_id, drive.debate.epoch))
        try:
            with nullcontext() if self.observer is None else self.observer.drive(drive.debate):
                await drive.run()
            if drive.waits:
                await self._resume_if_answered(debate_id)
        except NoSuchDebate:
            pass  # deleted just when it came to rest
        except Exception as error:  # raised again in `wait` and `watch`
            self._broken[debate_id] = drive.debate.epoch, error
        finally:
            if self._drives.get(debate_id) is drive:
                del self._drives[debate_id], self._tasks[debate_id]
            self.hub.wake(debate_id)

    def _raise_if_broken(self, debate: Debate) -> None:
        """Raise what broke the drive here, unless the debate was claimed again or has come to rest since."""
        epoch, error = self._broken.get(debate.id, (0, None))
        if error is not None and debate.epoch == epoch and debate.status in LIVE:
            raise error
        self._broken.pop(debate.id, None)

    async def _resume_if_answered(self, debate_id: str) -> None:
        """Close the gap between the drive's last look at the gates and its release of the debate."""
        open_keys = (await self.store.get(debate_id)).cursor.open
        gates = await self.store.gates(debate_id)
        if any(gate.status == "decided" and gate.key in open_keys for gate in gates):
            with suppress(WrongStatus):
                await self.resume(debate_id)

    def _is_orphaned(self, debate: Debate) -> bool:
        """Whether a debate should be running, but no live process drives it."""
        if debate.status not in LIVE:
            return False
        return debate.owner is None or (debate.lease_until or 0.0) <= self.now() or is_dead(debate.owner)

    def _pause(self) -> float:
        """Seconds between two polls for changes by other processes: longer where the store pushes notices."""
        return self.lease_seconds / PULSES_WITH_NOTICES if self.peers.pushes else self.pulse_seconds


def _status(status: Status, *, by: str) -> Shown:
    return Shown(type="status", data={"status": status, "by": by})
