"""A debate as it stood when it was last read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from moot import formats
from moot.client import Client
from moot.core.lifecycle import next_step, next_verb
from moot.core.types import Debate, Event, Gate, Turn, record
from moot.formats.wording import Wording
from moot.records.transcript import Passage, passage

# What each verb of moot.core.lifecycle is called in Python.
METHODS = {"watch": "wait()", "record": "record", "answer": 'answer("…")', "fork": 'fork(at="…")'}


@record
class Snapshot:
    debate: Debate
    turns: Sequence[Turn] = ()
    events: Sequence[Event] = ()
    gates: Sequence[Gate] = ()
    interrupted: bool = False  # it should be running, but its process is gone
    demonstration: bool = False  # a demonstration model has a part in it

    @classmethod
    async def taken(cls, client: Client, debate: Debate) -> Self:
        """Read everything of a debate."""
        return cls(
            debate=debate,
            turns=await client.store.turns(debate.id),
            events=await client.events(debate),
            gates=await client.gates(debate),
            interrupted=client.app.runtime.is_interrupted(debate),
            demonstration=client.is_demonstration(debate),
        )

    def heard(self, events: Sequence[Event], debate: Debate) -> Snapshot:
        """The snapshot after more events."""
        known = {turn.key for turn in self.turns}
        turns = [event.turn for event in events if event.turn is not None and event.turn.key not in known]
        return replace(self, debate=debate, events=(*self.events, *events), turns=(*self.turns, *turns))

    @property
    def wording(self) -> Wording:
        """The words for the debate, which know every name that was given so far."""
        wording = formats.wording_of(self.debate)
        for event in self.events:
            wording.hear(event)
        return wording

    @property
    def passages(self) -> list[Passage]:
        """What was said in public."""
        wording = formats.wording_of(self.debate)
        return [made for event in self.events if (made := passage(event, wording)) is not None]

    @property
    def next_step(self) -> str:
        """Where the debate stands, and the method to go on with."""
        debate = self.debate
        said = next_step(debate.status, interrupted=self.interrupted, failure=debate.error)
        verb = next_verb(debate.status, interrupted=self.interrupted)
        return f"{said} with .{METHODS.get(verb, f'{verb}()')}"
