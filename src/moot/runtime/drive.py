"""The loop that drives a debate: replay, start every open step, take the first that ends, commit, go on."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Literal

from moot.errors import LimitReached, ModelError, ScriptError, StoreError, Superseded
from moot.formats import Format
from moot.reasoning.fence import clean
from moot.runtime.budget import Allowance, allow
from moot.runtime.hub import Flight, Hub
from moot.runtime.steps import (
    failure_of,
    gate_for,
    storable,
    turn_of_decision,
    turn_of_failure,
    turn_of_guidance,
    turn_of_reply,
)
from moot.script import Script, Step
from moot.store import Commit, Store
from moot.telemetry import Answered, Where, Witness, where
from moot.types import (
    CHARS_PER_TOKEN,
    Call,
    Cursor,
    Debate,
    Failure,
    Gate,
    Json,
    Likeness,
    Memory,
    Models,
    Recollection,
    Reply,
    Shown,
    Status,
    Turn,
    Usage,
    record,
)

_NOBODY: AbstractContextManager[Answered] = nullcontext(lambda _: None)

Signal = Literal["go", "finish", "now", "lost"]  # "finish" the steps in flight, or stop "now"


@record
class Ended:
    """How the execution of a step ended."""

    step: Step
    allowance: Allowance | None
    result: Reply | Exception
    started_at: float
    seconds: float


class Drive:
    """One debate being driven by this process. The debate was claimed: its epoch is ours."""

    def __init__(
        self,
        debate: Debate,
        format_: Format,
        *,
        store: Store,
        models: Models,
        hub: Hub,
        memory: Memory | None = None,
        witness: Witness | None = None,
        now: Callable[[], float] = time.time,
        leased_until: float = math.inf,
    ) -> None:
        """`leased_until`: by the loop's clock, see `renewed`."""
        self.debate, self.format, self._now, self.witness = debate, format_, now, witness
        self.store, self.models, self.hub, self.memory = store, models, hub, memory
        self.signal: Signal = "go"
        self.waits = False  # for people: nothing is held any more
        self._script: Script | None = None
        self._flying: dict[str, asyncio.Task[None] | None] = {}
        self._reserved: dict[str, Allowance] = {}
        self._ended: list[Ended] = []
        self._wake = asyncio.Event()
        self._failure: Exception | None = None
        self._lost = debate.lost
        self._partial: dict[str, str] = {}  # what failed steps had written, by key
        self._guided = debate.guided
        self._hand_back = False
        self._leased_until = leased_until

    def tell(self, signal: Signal, *, hand_back: bool = False) -> None:
        """Ask it to stop; with `hand_back` it lets go of the debate without stopping it, for another process to go on.
        A signal can only get stronger, and a stop wins over handing back."""
        order = ("go", "finish", "now", "lost")
        self._hand_back = hand_back and (self.signal == "go" or self._hand_back)
        if order.index(signal) > order.index(self.signal):
            self.signal = signal
            self._wake.set()

    def guided(self, times: int) -> None:
        """Someone has said something between steps: so often by now."""
        if times > self._guided:
            self._guided = times
            self._wake.set()

    def renewed(self, until: float) -> None:
        """Until then nobody else can have taken the debate. Past that nothing is begun before this is said again: who
        stood still, and does not know it, would pay for what another has done meanwhile."""
        self._leased_until = until
        self._wake.set()

    @property
    def _goes(self) -> bool:
        return self.signal == "go" and self._failure is None

    @property
    def _leased(self) -> bool:
        return asyncio.get_running_loop().time() < self._leased_until

    async def run(self) -> None:
        """Until the debate is terminal, stopped, failed, or someone else's."""
        try:
            script = self._script = await self._load()
            while script.open and self.signal in ("go", "finish"):
                if self._goes and self._leased:
                    if self._guided > len(script.guided):
                        await self._hear(script)
                    self._start_open_steps(script)
                if self._flying:
                    await self._settle(script, await self._next())
                elif self._goes and not self._leased:
                    await self._next()
                elif not self._goes or not await self._answered(script):
                    break
            if self.signal == "now":
                await self._settle(script, self._take_ended())  # what is finished is not asked again
            await self._conclude(script)
        except Superseded:
            self.signal = "lost"
        except StoreError:
            raise  # nothing can be recorded now; what is stored is whole
        except Exception as error:
            await self._fail(error)
        finally:
            await self._clear()

    async def _load(self) -> Script:
        debate = self.debate
        turns = await self.store.turns(debate.id) if debate.turn_count else ()
        script = self.format.script(debate)
        shown = script.replay(turns)
        notes = [Shown(type="status", data={"status": "running", "turns": len(turns)})]
        driven_before = debate.epoch > 1  # a fork has turns, but no cursor of its own yet
        if turns and driven_before and debate.cursor != script.cursor:
            text = (
                f"The cursor was {list(debate.cursor.open)}; by the turns it is {list(script.cursor.open)}: repaired."
            )
            notes.append(Shown(type="notice", data={"text": text}))
        # A fork, or a debate that was never begun, has turns whose events are not stored yet.
        missing = shown[debate.shown_count :]
        ended = script.outcome is not None  # a fork of everything has nothing left to do
        await self._commit(
            script,
            cursor=script.cursor,
            events=[*notes, *missing],
            shown=len(missing),
            status="completed" if ended else None,
            release=ended,
        )
        return script

    def _start_open_steps(self, script: Script) -> None:
        for key, step in list(script.open.items()):
            if key in self._flying:
                continue
            if step.kind == "gate":
                continue  # a person answers it
            if step.kind == "recall":
                self._flying[key] = asyncio.create_task(self._look_up(step), name=f"{self.debate.short}/{key}")
                continue
            if step.kind != "ask":
                raise ScriptError(f"Step {key!r} is a {step.kind}; this version of moot can't execute those.")
            allowance = self._allow(script, step)
            if isinstance(allowance, LimitReached):
                if self._reserved:
                    continue  # what is reserved by the steps in flight may come free
                self._flying[key] = None
                self._end(Ended(step=step, allowance=None, result=allowance, started_at=self._now(), seconds=0.0))
                continue
            self._reserved[key] = allowance
            self.hub.begin(
                self.debate.id,
                Flight(key=key, seat=step.seat.id, round=step.round, phase=step.phase, shows=step.shows),
            )
            self._flying[key] = asyncio.create_task(self._execute(step, allowance), name=f"{self.debate.short}/{key}")

    def _allow(self, script: Script, step: Step) -> Allowance | LimitReached:
        spent, reserved = script.stage.spent, self._reserved.values()
        used = Usage(
            tokens_out=spent.tokens_out + self._lost.tokens_out + sum(each.tokens for each in reserved),
            cost_usd=spent.cost_usd + (self._lost.cost_usd or 0.0) + sum(each.cost_usd for each in reserved),
        )
        limits, closing = script.stage.limits, step.leave.model if step.leave else step.seat.model
        price = closing_price = None
        if limits.max_cost_usd is not None:
            price, closing_price = self.models.price(step.seat.model), self.models.price(closing)
        return allow(step, limits, used, price=price, closing_price=closing_price)

    async def _execute(self, step: Step, allowance: Allowance) -> None:
        started_at, clock = self._now(), asyncio.get_running_loop().time
        began = clock()
        debate_id, key = self.debate.id, step.key
        call = Call(
            key=key,
            seat=step.seat.id,
            messages=step.messages,
            max_tokens=allowance.max_tokens,
            tries=allowance.tries,
            most_tokens=allowance.tokens,
            temperature=step.seat.temperature,
            returns=step.returns,
        )
        result: Reply | Exception
        with self._witnessed(step) as answered:
            try:
                model = self.models.open(step.seat.model)
                result = await model(call, lambda text: self.hub.hear(debate_id, key, text))
            except Exception as error:
                result = error
            answered(result)
        seconds = clock() - began
        self._end(Ended(step=step, allowance=allowance, result=result, started_at=started_at, seconds=seconds))

    async def _look_up(self, step: Step) -> None:
        """Ask memory. It holds nothing of the budget: what an embedder costs is on the turn."""
        started_at, clock = self._now(), asyncio.get_running_loop().time
        began = clock()
        result: Reply | Exception
        with self._witnessed(step) as answered:
            try:
                answer, usage = await self._recall(step)
                result = Reply(text=answer.prose(), model=answer.by, provider="memory", usage=usage, answer=answer)
            except Exception as error:
                result = error
            answered(result)
        nothing = Allowance(max_tokens=step.max_tokens, tries=1, tokens=0, cost_usd=0.0)
        seconds = clock() - began
        self._end(Ended(step=step, allowance=nothing, result=result, started_at=started_at, seconds=seconds))

    async def _recall(self, step: Step) -> tuple[Recollection | Likeness, Usage]:
        lookup, nobody = step.lookup, "This process has no memory."
        assert lookup is not None
        if lookup.corpus is None:
            return await self.memory.compare(lookup.pairs) if self.memory else (Likeness(note=nobody), Usage())
        if self.memory is None:
            return Recollection(by="nothing", note=nobody), Usage()
        return await self.memory.recall(step.prompt.text, lookup.corpus, lookup.k)

    def _witnessed(self, step: Step) -> AbstractContextManager[Answered]:
        """In the step's own task."""
        where.set(Where(self.debate.id, self.debate.epoch, step.key))
        return _NOBODY if self.witness is None else self.witness.step(self.debate, step)

    def _end(self, ended: Ended) -> None:
        self._ended.append(ended)
        self._wake.set()

    async def _next(self) -> list[Ended]:
        """The steps that have ended; none when a signal came first."""
        if not self._ended:
            self._wake.clear()
            await self._wake.wait()
        return [] if self.signal == "lost" else self._take_ended()

    def _take_ended(self) -> list[Ended]:
        ended, self._ended = self._ended, []
        return ended

    async def _settle(self, script: Script, ended: list[Ended]) -> None:
        """Feed the script what has ended, in that order, and commit it together."""
        turns: list[Turn] = []
        shown: list[Shown] = []
        notes: list[Shown] = []
        cursor = script.cursor
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
                notes += _notices(turn)
                cursor = script.cursor
        finally:
            try:
                # What was resolved before one that the rules can't take is kept: it was paid for.
                if turns:
                    await self._keep(script, turns, shown, notes=notes, cursor=cursor)
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
    ) -> None:
        done = script.outcome is not None
        await self._commit(
            script,
            turns=turns,
            cursor=cursor or script.cursor,
            events=[*notes, *shown],
            shown=len(shown),
            status="completed" if done else None,
            release=done,
        )
        if self.witness is not None:
            self.witness.kept(self.debate, turns)

    async def _hear(self, script: Script) -> None:
        """Let the script hear what was said between steps; steps in flight don't."""
        for gate in await self.store.gates(self.debate.id):
            if gate.kind == "guidance" and gate.key not in script.guided:
                reached = [
                    key
                    for key, step in script.open.items()
                    if step.kind == "ask" and not step.beside and key not in self._flying
                ]
                turn = turn_of_guidance(gate, script.turn_count + 1, reached)
                await self._keep(script, [turn], script.resolve(turn))
        self._guided = len(script.guided)

    async def _answered(self, script: Script) -> bool:
        """Feed the script what people have answered; False when there is nothing to do but wait for them."""
        decided = {gate.key: gate for gate in await self.store.gates(self.debate.id) if gate.status == "decided"}
        for key, step in list(script.open.items()):
            if key in decided:
                turn = turn_of_decision(step, decided[key], script.turn_count + 1)
                await self._keep(script, [turn], [*script.resolve(turn)])
                return True
        return False

    def _turn(self, script: Script, ended: Ended) -> Turn | None:
        """The turn of a step that ended. None when it failed for good: then the debate will."""
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
            if self.witness is not None:
                self.witness.failed(self.debate, ended.step, result)
            self._lost += (result.usage if isinstance(result, ModelError) else None) or Usage()
        return turn

    async def _conclude(self, script: Script) -> None:
        """Nothing more will be started: say why."""
        if script.outcome is not None or self.signal == "lost":
            return
        if self._failure is not None:
            await self._fail(self._failure)
            return
        if self.signal == "go":
            await self._wait(script)
            return
        lost = self._newly_lost()
        if self._hand_back:
            await self._commit(release=True, lost=lost)
            if self._hand_back:
                return
            # Someone stopped it at that very moment, and nobody drives it any more.
            stopped = Shown(type="status", data={"status": "stopped"})
            await self.store.move(self.debate.id, "stopped", expect=("stopping",), events=[stopped])
        else:
            await self._commit(status="stopped", release=True, lost=lost)

    def _cut_off(self, step: Step, chars: int) -> Usage:
        """About what a call has used that will never say so."""
        if not chars:
            return Usage()
        tokens_in = sum(len(message.text) for message in step.messages) // CHARS_PER_TOKEN
        tokens_out = chars // CHARS_PER_TOKEN + 1
        price = self.models.price(step.seat.model)
        cost = None if price is None else price.of(tokens_in, tokens_out)
        return Usage(tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost)

    async def _wait(self, script: Script) -> None:
        """Only people can go on from here: ask them, and hold nothing while they think."""
        now = self._now()
        gates = [gate_for(step, self.debate.id, now) for step in script.open.values()]
        asked = [
            Shown(
                type="gate",
                key=gate.key,
                data={"kind": gate.kind, "question": gate.question, "choices": list(gate.choices), **gate.artifacts},
            )
            for gate in gates
        ]
        await self._commit(script, cursor=script.cursor, events=asked, status="waiting", gates=gates, release=True)
        self.waits = True

    async def _fail(self, error: Exception) -> None:
        try:
            await self._commit(status="failed", error=failure_of(error), release=True, lost=self._newly_lost())
        except Superseded:
            self.signal = "lost"

    async def _commit(
        self,
        script: Script | None = None,
        *,
        turns: Sequence[Turn] = (),
        cursor: Cursor | None = None,
        events: Sequence[Shown] = (),
        shown: int = 0,
        status: Status | None = None,
        error: Failure | None = None,
        lost: Usage | None = None,
        gates: Sequence[Gate] = (),
        release: bool = False,
    ) -> None:
        """All of it in one transaction, then tell those who listen."""
        if status is not None:
            why: Json = {} if error is None else {"error": error.message, "kind": error.kind}
            if error is not None and self._partial:
                why["partial"] = self._partial
            events = [*events, Shown(type="status", data={"status": status, **why})]
        outcome = None if script is None else script.outcome
        committed = await self.store.commit(
            Commit(
                debate_id=self.debate.id,
                epoch=self.debate.epoch,
                turns=turns,
                cursor=cursor,
                total_rounds=0 if script is None else script.total_rounds,
                events=events,
                shown=shown,
                status=status,
                outcome=None if outcome is None else asdict(outcome),
                error=error,
                lost=lost,
                gates=gates,
                release=release,
            )
        )
        if committed is None:
            if self.witness is not None:
                self.witness.refused(self.debate)
            raise Superseded(f"Debate {self.debate.short} was taken over, canceled or deleted by someone else.")
        for event in committed.events:
            self.hub.publish(self.debate.id, event)
        if status is not None and self.witness is not None:
            self.witness.rested(self.debate, status, error)
        if committed.status == "stopping":
            self.tell("finish")

    def _newly_lost(self) -> Usage | None:
        """What was paid for here and left no turn, calls that are cut off now included."""
        lost = self._lost - self.debate.lost
        steps = {} if self._script is None else self._script.open
        for flight in self.hub.flights(self.debate.id).values():
            if flight.key in steps:
                lost += self._cut_off(steps[flight.key], len(flight.text))
        return None if lost == Usage() else lost

    async def _clear(self) -> None:
        tasks = [task for task in self._flying.values() if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for key in self._flying:
            self.hub.end(self.debate.id, key)
        self.hub.leave_stage(self.debate.id)
        if self._script is not None:
            self._script.close()


def _notices(turn: Turn) -> list[Shown]:
    """What people should know about how a turn came to be."""
    if not turn.metadata:
        return []
    texts: list[str] = []
    if turn.failure is not None and turn.failure.kind == "limit":
        texts.append(turn.failure.message)
    if "shrunk_to" in turn.metadata:
        texts.append(f"{turn.key} was cut to {turn.metadata['shrunk_to']} tokens to stay within the budget.")
    texts += [f"{turn.key}: {attempt}" for attempt in turn.metadata.get("attempts", [])]
    return [Shown(type="notice", data={"text": text}) for text in texts]
