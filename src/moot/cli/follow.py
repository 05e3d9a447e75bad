"""Following a debate until it rests, whichever process drives it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from moot.cli.views import View
from moot.core.types import Debate
from moot.runtime.owner import is_dead
from moot.runtime.runtime import Runtime, Update

TICK = 0.1  # seconds between two updates of text in flight
DEBATE_AGE = 0.5  # seconds for which the footer's numbers are kept
DEAD_CHECK = 2.0  # seconds between two checks that the driving process lives


@dataclass(frozen=True, kw_only=True)
class FollowResult:
    """The debate as it was when following ended."""

    debate: Debate
    interrupted: bool = False  # its process is gone, though it should be running


class Follower:
    def __init__(self, runtime: Runtime, debate_id: str, view: View) -> None:
        self.runtime, self.debate_id, self.view = runtime, debate_id, view
        self._debate: Debate | None = None
        self._fetched = self._looked = 0.0

    async def follow(self, after: int = 0) -> FollowResult:
        """Show every event after the sequence number `after`."""
        with self.view.shown():
            async with aclosing(self.runtime.watch(self.debate_id, after)) as updates:
                async for update in updates:
                    left = await self._take(update)
                    if left is not None:
                        return left
        raise AssertionError("watching ends with the debate")

    async def _take(self, update: Update) -> FollowResult | None:
        for event in update.events:
            self.view.event(event)
        if update.debate is not None:
            return FollowResult(debate=update.debate)
        if self.view.live:
            self.view.update(update.flights, await self._current(renew=bool(update.events)))
        if not update.events:
            await asyncio.sleep(TICK)
        return await self._abandoned()

    async def _current(self, *, renew: bool) -> Debate:
        now = asyncio.get_running_loop().time()
        if self._debate is None or renew or now - self._fetched > DEBATE_AGE:
            self._debate, self._fetched = await self.runtime.store.get(self.debate_id), now
        return self._debate

    async def _abandoned(self) -> FollowResult | None:
        now = asyncio.get_running_loop().time()
        if self.runtime.drives(self.debate_id) or self.runtime.store.shared:
            return None  # on a shared store a worker takes it over
        if self._looked and now - self._looked < DEAD_CHECK:
            return None
        self._looked = now
        found = [each for each in await self.runtime.store.abandoned(is_dead) if each.id == self.debate_id]
        return FollowResult(debate=found[0], interrupted=True) if found else None
