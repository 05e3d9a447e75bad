"""Questions to people: finding the open one, answering it, and what happens when its time is over."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from moot.core.errors import InputError, NoSuchDebate, StoreError, UnknownName, WrongStatus
from moot.core.gates import TIMED_OUT
from moot.core.lifecycle import RULES, next_verb
from moot.core.steps import AskPerson
from moot.core.types import Debate, Gate, Json, Shown
from moot.formats import Format
from moot.runtime.executors.gate import read_decision
from moot.store import Store

log = logging.getLogger("moot.runtime")


class Gates:
    def __init__(self, store: Store, formats: Mapping[str, Format]) -> None:
        self._store, self._formats = store, formats

    async def open(self, debate_id: str, key: str | None = None) -> Gate:
        """Return the question that a debate asks; `key` says which when it asks several.

        Raises WrongStatus when it asks nothing, UnknownName when it asks other things than `key`, InputError when it
        asks several things and there is no `key`.
        """
        debate = await self._store.get(debate_id)
        everything = await self._asked(debate_id)
        asked = [gate for gate in everything if key in (None, gate.key)]
        still = [gate for gate in asked if gate.status == "open"]
        others = [gate.key for gate in everything if gate.status == "open"]
        waits = debate.status in RULES["answer"].sources
        if waits and others and not asked:
            raise UnknownName("question", key or "", others)
        if not waits or not still:
            raise _nothing_to_answer(debate, asked, others if waits else ())
        if len(still) > 1:
            keys = ", ".join(gate.key for gate in still)
            raise InputError(f"Several questions are open: {keys}. Say which one by its key.")
        return still[0]

    async def answer(
        self, debate_id: str, given: Json, *, by: str, key: str | None = None, seen: Debate | None = None
    ) -> Gate:
        """Store the answer to an open question. Of several answers the first counts; the others raise WrongStatus."""
        gate = await self.open(debate_id, key)
        debate = await self._store.get(debate_id)
        step = (await self._open_steps(debate)).get(gate.key)
        decided = None
        if step is not None:
            decided = await self._store.decide(debate_id, step.key, read_decision(step, given), by=by, seen=seen)
        if decided is None:
            raise _nothing_to_answer(debate, await self._asked(debate_id))
        return decided

    async def expire(self) -> Sequence[Debate]:
        """Apply the time-outs that are over: each question gets its default answer, or pauses its debate.

        Returns the debates that can go on, with those that were answered a while ago and still wait.
        """
        ready: list[Debate] = []
        for gate in await self._store.gates(expired=True):
            try:
                debate = await self._store.get(gate.debate_id)
            except NoSuchDebate:
                continue  # deleted meanwhile
            if gate.status == "decided":
                if debate.format in self._formats:
                    ready.append(debate)  # the process that took the answer did not resume it
                continue
            try:
                step = (await self._open_steps(debate)).get(gate.key)
            except StoreError:
                raise
            except Exception as error:  # a format that is not installed here, or has changed: the others go on
                log.warning("The time of %s of debate %s is over, but: %s", gate.key, debate.short, error)
                continue
            if step is None:
                continue
            if step.otherwise is None:
                paused = Shown(type="status", data={"status": "stopped", "by": "no one answered in time"})
                events = [Shown(type="notice", data={"text": _timed_out(gate)}), paused]
                await self._store.move(debate.id, "stopped", expect=("waiting",), events=events)
            elif await self._store.decide(debate.id, gate.key, step.otherwise, by=TIMED_OUT):
                ready.append(debate)
        return ready

    async def _asked(self, debate_id: str) -> Sequence[Gate]:
        return [gate for gate in await self._store.gates(debate_id) if gate.kind != "guidance"]

    async def _open_steps(self, debate: Debate) -> Mapping[str, AskPerson]:
        format_ = self._formats.get(debate.format)
        if format_ is None:
            raise UnknownName("format", debate.format, self._formats)
        script = format_.script(debate)
        try:
            script.replay(await self._store.turns(debate.id))
            return {key: step for key, step in script.open.items() if isinstance(step, AskPerson)}
        finally:
            script.close()


def _timed_out(gate: Gate) -> str:
    seconds = round((gate.expires_at or gate.requested_at) - gate.requested_at)
    time = f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} second{'s' * (seconds != 1)}"
    return (
        f"The {gate.kind} {gate.key} timed out: no one answered within {time}. The debate is paused; nothing is lost."
    )


def _nothing_to_answer(debate: Debate, asked: Sequence[Gate], others: Sequence[str] = ()) -> WrongStatus:
    """`others`: the questions that are open instead."""
    decided = [gate for gate in asked if gate.status == "decided"]
    remedy = next_verb(debate.status)
    if decided:
        last = decided[-1]
        text = f"{last.key} of debate {debate.short} has been answered by {last.reviewer}."
        if last.reviewer == TIMED_OUT:
            text = f"No one answered {last.key} of debate {debate.short} in time, and it was decided without an answer."
        if others:
            text += f" Now it asks: {', '.join(others)}."
            return WrongStatus(text, debate=debate.short, status=debate.status, verb="answer")
        remedy = "resume" if remedy == "answer" else remedy
    else:
        text = f"Debate {debate.short} is {debate.status} and asks nothing."
    text = f"{text} {RULES[remedy].advice}."
    return WrongStatus(text, debate=debate.short, status=debate.status, verb="answer", remedy=remedy)
