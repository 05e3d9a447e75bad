"""The loop that drives a debate: replay its turns, execute the open steps, commit each that ends, repeat."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, Literal, get_args

from moot.core.artifacts import Artifact, Episode, placed
from moot.core.ceilings import Reserved, daily, within
from moot.core.errors import LimitReached, ModelError, OverBudget, StoreError, Superseded
from moot.core.script import Script
from moot.core.settings import Ceilings
from moot.core.steps import ABSENT, Ask, AskPerson, Step
from moot.core.types import Cursor, Debate, Failure, Json, Reply, Shown, Turn, Usage, record
from moot.core.values import storable
from moot.formats.format import Format
from moot.reasoning.fence import clean
from moot.runtime.budget import Allowance, Used
from moot.runtime.executors import Executor, Executors
from moot.runtime.executors.gate import gate_for, turn_of_decision
from moot.runtime.hub import Flight, Hub
from moot.runtime.threads import replayed
from moot.runtime.turns import failure_of, turn_of_failure, turn_of_guidance, turn_of_reply
from moot.store import Commit, Store
from moot.store.patience import BUSY_SECONDS, Patience, patience
from moot.telemetry import Observer, OnResult, TaskContext, task_context

_UNOBSERVED: AbstractContextManager[OnResult] = nullcontext(lambda _: None)

# From weak to strong: go on; stop when the steps in flight have ended; cut them off; the debate is another process's.
Signal = Literal["go", "finish", "now", "lost"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)


@record
class Ended:
    """How the execution of a step ended."""

    step: Step
    allowance: Allowance | None
    result: Reply | Exception
    started_at: float
    seconds: float


class Drive:
    """One debate that this process drives. It must have been claimed: commits carry the epoch of that claim."""

    def __init__(
        self,
        debate: Debate,
        format_: Format,
        *,
        store: Store,
        executors: Executors,
        hub: Hub,
        observer: Observer | None = None,
        now: Callable[[], float] = time.time,
        leased_until: float = math.inf,
        ceilings: Ceilings | None = None,
        demonstration: bool = False,
        episodes_kept: int | None = None,
        one_step: bool = False,
    ) -> None:
        """`leased_until` is a time of the event loop's clock; see `renewed`. `demonstration`: what is learnt here is
        only recalled in demonstrations. `one_step`: hand the debate back as soon as a step is stored."""
        self._one_step = one_step
        self._demonstration, self._episodes_kept = demonstration, episodes_kept
        self._ceilings = ceilings or Ceilings()
        self._daily = daily(self._ceilings)  # calls are reserved in the store
        self._over_budget: OverBudget | None = None  # the drive ends because a ceiling of the day is reached
        self.debate, self.format, self._now, self.observer = debate, format_, now, observer
        self.store, self.executors, self.hub = store, executors.of_debate(debate.id), hub
        self.waits = False  # it ended because only people can go on
        self._signal: Signal = "go"
        self._patience = Patience(
            math.inf
        )  # what models have answered is not lost to a process that holds the database
        self._script: Script | None = None
        self._flying: dict[str, asyncio.Task[None] | None] = {}
        self._reserved: dict[str, Allowance] = {}
        self._ended: list[Ended] = []
        self._wake = asyncio.Event()
        self._failure: Exception | None = None
        self._lost = debate.lost
        self._partial: dict[str, str] = {}  # the text of failed steps, by key
        self._guided = debate.guided
        self._hand_back = False
        self._leased_until = leased_until

    def signal(self, signal: Signal, *, hand_back: bool = False) -> None:
        """End the drive. A weaker signal than an earlier one is ignored.

        With `hand_back` the debate is released without being stopped, so that another process can go on with it;
        a stop takes precedence.
        """
        self._hand_back = hand_back and (self._signal == "go" or self._hand_back)
        self._patience.seconds = BUSY_SECONDS
        if SIGNALS.index(signal) > SIGNALS.index(self._signal):
            self._signal = signal
            self._wake.set()

    def guided(self, count: int) -> None:
        """Guidance has been given `count` times by now; what is new reaches the next steps."""
        if count > self._guided:
            self._guided = count
            self._wake.set()

    def renewed(self, until: float) -> None:
        """The lease holds until then. Past it no step is started until it is renewed: a process that was suspended
        could pay for a step that its successor has already executed."""
        self._leased_until = until
        self._wake.set()

    @property
    def _goes(self) -> bool:
        return self._signal == "go" and self._failure is None

    @property
    def _leased(self) -> bool:
        return asyncio.get_running_loop().time() < self._leased_until

    async def run(self) -> None:
        """Drive the debate until it completes, fails, waits for people, is stopped, or is another process's."""
        patience.set(self._patience)
        try:
            script = self._script = await self._load()
            while script.open and self._signal in ("go", "finish"):
                if self._goes and self._leased:
                    if self._guided > len(script.guided):
                        await self._apply_guidance(script)
                    await self._start_open_steps(script)
                if self._flying:
                    await self._settle(script, await self._next())
                elif self._goes and not self._leased:
                    await self._next()
                elif not self._goes or not await self._apply_answer(script):
                    break
            if self._signal == "now":
                await self._settle(script, self._take_ended())  # or these steps would be paid for again
            await self._conclude(script)
            if self._signal == "lost":
                await self._book_lost()
        except Superseded:
            self._signal = "lost"
            await self._book_lost()
        except StoreError:
            raise  # not even the failure can be stored; what is stored is consistent
        except Exception as error:
            await self._fail(error)
        finally:
            await self._clear()

    async def _load(self) -> Script:
        debate = self.debate
        turns = await self.store.turns(debate.id) if debate.turn_count else ()
        script = self.format.script(debate)
        shown = await replayed(lambda: script.replay(turns), turns)
        notes = [Shown(type="status", data={"status": "running", "turns": len(turns)})]
        driven_before = debate.epoch > 1  # a fork has turns, but no cursor yet
        if turns and driven_before and debate.cursor != script.cursor:
            text = (
                f"The cursor was {list(debate.cursor.open)}; by the turns it is {list(script.cursor.open)}: repaired."
            )
            notes.append(Shown(type="notice", data={"text": text}))
        # The turns that a fork copied have no events yet.
        missing = shown[debate.shown_count :]
        ended = script.outcome is not None  # a fork that copied every turn
        artifacts = self._placed(script.artifacts[debate.artifact_count :])
        await self._commit(
            self._changes(
                cursor=script.cursor,
                total_rounds=script.total_rounds,
                events=[*notes, *missing],
                shown=len(missing),
                artifacts=artifacts,
                status="completed" if ended else None,
                outcome=script.outcome,
                release=ended,
            )
        )
        return script

    async def _start_open_steps(self, script: Script) -> None:
        limits = within(self._ceilings, script.stage.limits)
        for key, step in list(script.open.items()):
            executor = self.executors.of(step)
            if key in self._flying or executor.waits:
                continue
            allowance = executor.allow(step, limits, self._used(script))
            if isinstance(allowance, LimitReached):
                if self._reserved:
                    continue  # the steps in flight may use less than they reserve
                self._flying[key] = None
                self._end(Ended(step=step, allowance=None, result=allowance, started_at=self._now(), seconds=0.0))
                continue
            if self._daily and allowance.tokens and not await self._reserve(key, allowance):
                return
            self._reserved[key] = allowance
            if executor.live:
                self.hub.begin(
                    self.debate.id,
                    Flight(key=key, seat=step.seat.id, round=step.round, phase=step.phase, shows=step.shows),
                )
            self._flying[key] = asyncio.create_task(
                self._execute(executor, step, allowance), name=f"{self.debate.short}/{key}"
            )

    async def _reserve(self, key: str, allowance: Allowance) -> bool:
        """Reserve a call in the store. Returns False when the day's ceilings leave no room for it; then the drive ends,
        unless calls in flight may use less than they reserve."""
        self._reserved[key] = allowance
        refused = await self.store.reserve(
            self.debate.id, self.debate.token_id, self.debate.epoch, self._in_flight(), self._ceilings
        )
        if refused is None and self._goes:
            return True
        del self._reserved[key]
        if refused is not None and not self._reserved:
            self._over_budget = refused
            self.signal("finish")
        return False

    def _in_flight(self) -> Reserved:
        """The most that the calls in flight may use."""
        calls = [each for each in self._reserved.values() if each.tokens]  # memory reserves what its embedder costs
        return Reserved(cost_usd=sum(each.cost_usd for each in calls), tokens=sum(each.tokens for each in calls))

    def _used(self, script: Script) -> Used:
        """Everything spent, lost and reserved so far: what the limits apply to."""
        spent, reserved = script.stage.spent, self._reserved.values()
        return Used(
            tokens_out=spent.tokens_out + self._lost.tokens_out + sum(each.tokens for each in reserved),
            cost_usd=spent.cost_usd + (self._lost.cost_usd or 0.0) + sum(each.cost_usd for each in reserved),
            calls=spent.calls + sum(each.tries for each in reserved),
        )

    async def _execute(self, executor: Executor[Any], step: Step, allowance: Allowance) -> None:
        started_at, clock = self._now(), asyncio.get_running_loop().time
        began = clock()
        debate_id, key = self.debate.id, step.key
        result: Reply | Exception
        with self._observed(step) as answered:
            try:
                result = await executor.execute(step, allowance, lambda text: self.hub.hear(debate_id, key, text))
            except Exception as error:
                result = error
            answered(result)
        seconds = clock() - began
        self._end(Ended(step=step, allowance=allowance, result=result, started_at=started_at, seconds=seconds))

    def _observed(self, step: Step) -> AbstractContextManager[OnResult]:
        """The context in which a step is executed. Must be called in the step's own task."""
        task_context.set(TaskContext(self.debate.id, self.debate.epoch, step.key))
        return _UNOBSERVED if self.observer is None else self.observer.step(self.debate, step)

    def _end(self, ended: Ended) -> None:
        self._ended.append(ended)
        self._wake.set()

    async def _next(self) -> list[Ended]:
        """Wait for something to happen; return the steps that have ended, if any."""
        if not self._ended:
            self._wake.clear()
            await self._wake.wait()
        return [] if self._signal == "lost" else self._take_ended()

    def _take_ended(self) -> list[Ended]:
        ended, self._ended = self._ended, []
        return ended

    async def _settle(self, script: Script, ended: list[Ended]) -> None:
        """Feed the steps that have ended to the script, in that order, and commit their turns together."""
        turns: list[Turn] = []
        shown: list[Shown] = []
        notes: list[Shown] = []
        cursor, before = script.cursor, len(script.artifacts)
        produced = before
        try:
            for each in ended:
                turn = self._turn(script, each)
                if turn is None:
                    continue
                try:
                    shown += script.resolve(turn)
                except Exception:
                    self._lost += turn.usage
                    raise
                turns.append(turn)
                notes += _notices(turn, each.step.seat.name)
                cursor, produced = script.cursor, len(script.artifacts)
        finally:
            try:
                # Turns before one that the script rejects are kept: they were paid for.
                if turns:
                    artifacts = script.artifacts[before:produced]
                    await self._keep(script, turns, shown, notes=notes, cursor=cursor, artifacts=artifacts)
            finally:
                stored = {turn.key for turn in turns}
                for each in ended:
                    self.hub.end(self.debate.id, each.step.key, stored=each.step.key in stored)

    async def _keep(
        self,
        script: Script,
        turns: list[Turn],
        shown: list[Shown],
        *,
        notes: Sequence[Shown] = (),
        cursor: Cursor | None = None,
        artifacts: Sequence[Artifact] = (),
    ) -> None:
        done = script.outcome is not None
        changes = self._changes(
            turns=turns,
            cursor=cursor or script.cursor,
            total_rounds=script.total_rounds,
            events=[*notes, *shown],
            shown=len(shown),
            artifacts=self._placed(artifacts),
            status="completed" if done else None,
            outcome=script.outcome,
            release=done,
        )
        try:
            await self._commit(changes)
        except Superseded:
            self._lost = sum((turn.usage for turn in turns), self._lost)
            raise
        if self.observer is not None:
            self.observer.kept(self.debate, turns)

    async def _apply_guidance(self, script: Script) -> None:
        """Feed new guidance to the script. It reaches the open steps that are not in flight."""
        for gate in await self.store.gates(self.debate.id):
            if gate.kind == "guidance" and gate.key not in script.guided:
                reached = [
                    key
                    for key, step in script.open.items()
                    if isinstance(step, Ask) and not step.off_record and key not in self._flying
                ]
                turn = turn_of_guidance(gate, script.turn_count + 1, reached)
                await self._keep(script, [turn], script.resolve(turn))
        self._guided = len(script.guided)

    async def _apply_answer(self, script: Script) -> bool:
        """Feed one answered gate to the script; False when there is none."""
        decided = {gate.key: gate for gate in await self.store.gates(self.debate.id) if gate.status == "decided"}
        for key, step in list(script.open.items()):
            if key in decided and isinstance(step, AskPerson):
                turn, before = turn_of_decision(step, decided[key], script.turn_count + 1), len(script.artifacts)
                shown = script.resolve(turn)
                await self._keep(script, [turn], shown, artifacts=script.artifacts[before:])
                return True
        return False

    def _turn(self, script: Script, ended: Ended) -> Turn | None:
        """The turn of a step that has ended; None when it failed for good, which fails the debate."""
        key, result = ended.step.key, ended.result
        del self._flying[key]
        self._reserved.pop(key, None)
        at = {
            "seq": script.turn_count + 1,
            "started_at": ended.started_at,
            "created_at": ended.started_at + ended.seconds,
            "duration_ms": round(ended.seconds * 1000),
        }
        if isinstance(result, Reply):
            assert ended.allowance is not None
            return turn_of_reply(ended.step, result, ended.allowance, **at)
        turn = turn_of_failure(ended.step, result, **at)
        if turn is None:
            flight = self.hub.flights(self.debate.id).get(key)
            if flight is not None and flight.partial.strip():
                self._partial[key] = clean(storable(flight.partial))
            self._failure = self._failure or result
            if self.observer is not None:
                self.observer.failed(self.debate, ended.step, result)
            self._lost += (result.usage if isinstance(result, ModelError) else None) or Usage()
        return turn

    async def _conclude(self, script: Script) -> None:
        """Store why no further step will be started: completed, failed, waiting, stopped or handed back."""
        if script.outcome is not None or self._signal == "lost":
            return
        if self._failure is not None:
            await self._fail(self._failure)
            return
        if self._signal == "go":
            await self._wait(script)
            return
        lost = self._newly_lost()
        if self._hand_back:
            await self._commit(self._changes(release=True, lost=lost))
            if self._hand_back:
                return
            # It was told to stop while it was being released, and no process is left to do it.
            stopped = Shown(type="status", data={"status": "stopped"})
            await self.store.move(self.debate.id, "stopped", expect=("stopping",), events=[stopped])
        else:
            over = self._over_budget
            why = {} if over is None else {"error": Failure(kind="limit", message=str(over))}
            notices = [] if over is None else [Shown(type="notice", data={"text": str(over)})]
            await self._commit(self._changes(status="stopped", release=True, lost=lost, events=notices, **why))

    async def _wait(self, script: Script) -> None:
        """Store the questions to people and release the debate: waiting for an answer costs nothing."""
        now = self._now()
        asking = [step for step in script.open.values() if isinstance(step, AskPerson)]
        gates = [gate_for(step, self.debate.id, now) for step in asking]
        asked = [
            Shown(
                type="gate",
                key=gate.key,
                data={"kind": gate.kind, "question": gate.question, "choices": list(gate.choices), **gate.artifacts},
            )
            for gate in gates
        ]
        waiting = self._changes(
            cursor=script.cursor,
            total_rounds=script.total_rounds,
            events=asked,
            status="waiting",
            gates=gates,
            release=True,
        )
        await self._commit(waiting)
        self.waits = True

    async def _fail(self, error: Exception) -> None:
        try:
            failed = self._changes(status="failed", error=failure_of(error), release=True, lost=self._newly_lost())
            await self._commit(failed)
        except Superseded:
            self._signal = "lost"

    def _placed(self, artifacts: Sequence[Artifact]) -> list[Artifact]:
        return [placed(each, self.debate, demonstration=self._demonstration) for each in artifacts]

    def _changes(self, **changes: Any) -> Commit:
        if self._daily:
            changes["reserved"] = Reserved() if changes.get("release") else self._in_flight()
        return Commit(debate_id=self.debate.id, epoch=self.debate.epoch, **changes)

    async def _commit(self, commit: Commit) -> None:
        """Store everything in one transaction, then publish its events. Raises Superseded when the debate has been
        claimed by another process, canceled or deleted."""
        status, error = commit.status, commit.error
        if status is not None:
            why: Json = {} if error is None else {"error": error.message, "kind": error.kind}
            if error is not None and self._partial:
                why["partial"] = self._partial
            shown = Shown(type="status", data={"status": status, **why})
            commit = replace(commit, events=[*commit.events, shown])
        committed = await self.store.commit(commit)
        if committed is None:
            if self.observer is not None:
                self.observer.refused(self.debate)
            raise Superseded(f"Debate {self.debate.short} was taken over, canceled or deleted meanwhile.")
        if commit.turns and self._one_step:
            self.signal("finish", hand_back=True)
        if commit.artifacts:
            await self._make_room(commit.artifacts)
        for event in committed.events:
            self.hub.publish(self.debate.id, event)
        if status is not None and self.observer is not None:
            self.observer.rested(self.debate, status, error)
        if committed.status == "stopping":
            self.signal("finish")

    async def _make_room(self, artifacts: Sequence[Artifact]) -> None:
        """Delete the oldest episodes after new ones were stored. What is missed now is deleted the next time."""
        if self._episodes_kept is not None and any(isinstance(each, Episode) for each in artifacts):
            with suppress(StoreError):
                await self.store.evict_episodes(self.debate.token_id, self._episodes_kept)

    def _newly_lost(self) -> Usage | None:
        """What this drive has paid for without a turn, with an estimate for calls that are being cut off."""
        lost = self._lost - self.debate.lost
        steps = {} if self._script is None else self._script.open
        for flight in self.hub.flights(self.debate.id).values():
            step = steps.get(flight.key)
            if step is not None:
                lost += self.executors.of(step).cut_off(step, len(flight.text))
        return None if lost == Usage() else lost

    async def _book_lost(self) -> None:
        """Book what was paid for calls that are cut off because the debate was canceled: no commit can."""
        lost = self._newly_lost()
        if lost is not None or (self._daily and self._reserved):
            with suppress(StoreError):  # what is reserved stays reserved
                await self.store.book(self.debate.id, self.debate.token_id, self.debate.epoch, lost or Usage())

    async def _clear(self) -> None:
        tasks = [task for task in self._flying.values() if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for key in self._flying:
            self.hub.end(self.debate.id, key)
        self.hub.release(self.debate.id)
        if self._script is not None:
            self._script.close()


def _notices(turn: Turn, name: str) -> list[Shown]:
    """Notices about a turn of the seat of that name: a limit reached, a shortened call, failed attempts."""
    if not turn.metadata and turn.failure is None:
        return []
    texts: list[str] = []
    if turn.failure is not None and turn.failure.kind == "limit":
        texts.append(turn.failure.message)
    elif turn.failure is not None and turn.failure.kind in ABSENT:
        texts.append(f"{name} got no answer, and the debate goes on without it ({turn.key}): {turn.failure.message}")
    if "shrunk_to" in turn.metadata:
        texts.append(f"{turn.key} was cut to {turn.metadata['shrunk_to']} tokens to stay within the budget.")
    texts += [f"{turn.key}: {attempt}" for attempt in turn.metadata.get("attempts", [])]
    return [Shown(type="notice", data={"text": text}) for text in texts]
