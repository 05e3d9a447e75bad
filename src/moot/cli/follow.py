"""Following a debate until it rests, whichever process drives it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from moot.cli.views import View
from moot.client import Client
from moot.core.lifecycle import LIVE
from moot.core.types import Debate
from moot.runtime.runtime import Update

TICK = 0.1  # seconds between two updates of text in flight
DEBATE_AGE = 0.5  # seconds for which the footer's numbers are kept


@dataclass(frozen=True, kw_only=True)
class FollowResult:
    """The debate as it was when following ended."""

    debate: Debate
    interrupted: bool = False  # its process is gone, though it should be running


class Follower:
    def __init__(self, client: Client, debate: Debate, view: View) -> None:
        self.client, self.debate, self.view = client, debate, view
        self._current: Debate | None = None
        self._fetched = 0.0

    async def follow(self, after: int = 0) -> FollowResult:
        """Show every event after the sequence number `after`."""
        with self.view.shown():
            async with aclosing(self.client.follow(self.debate, after)) as updates:
                async for update in updates:
                    left = await self._take(update)
                    if left is not None:
                        return left
        raise AssertionError("watching ends with the debate")

    async def _take(self, update: Update) -> FollowResult | None:
        for event in update.events:
            self.view.event(event)
        if update.debate is not None:
            return FollowResult(debate=update.debate, interrupted=update.debate.status in LIVE)
        if self.view.live:
            self.view.update(update.flights, await self._renewed(renew=bool(update.events)))
        if not update.events:
            await asyncio.sleep(TICK)
        return None

    async def _renewed(self, *, renew: bool) -> Debate:
        now = asyncio.get_running_loop().time()
        if self._current is None or renew or now - self._fetched > DEBATE_AGE:
            self._current, self._fetched = await self.client.store.get(self.debate.id), now
        return self._current
