"""Calls that wait for their share of a rate limit, one at a time in each process: who comes first goes first."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from moot.errors import InputError, ModelError, ModelOverloaded
from moot.models.books import chars_in, tokens_of
from moot.models.spec import PROVIDERS, ModelSpec, parse
from moot.pace import AFTER_REFUSAL, Pace, Rates
from moot.settings import RateLimit
from moot.types import Call, Hear, Model, Reply

log = logging.getLogger("moot.pace")

Waited = Callable[[str, float], None]  # is told the name of the limit, and for how many seconds

SHORTEST = 0.001  # seconds that are worth sleeping
JITTER = 0.05  # of a wait, at most `LONGEST_JITTER` seconds
LONGEST_JITTER = 0.25
WORTH_A_LINE = 5.0  # seconds


class Line:
    """Those in this process who want to use one limit."""

    def __init__(
        self, name: str, limit: RateLimit, pace: Pace, *, longest_pause: float, waited: Waited | None = None
    ) -> None:
        self.name, self.lock = name, asyncio.Lock()
        self._rates, self._pace = Rates.of(limit), pace
        self._longest_pause, self._waited = longest_pause, waited
        self._saying: set[asyncio.Task[None]] = set()

    async def wait(self, tokens: int) -> None:
        """Until one request with so many tokens may be made."""
        share = await self._pace.take(self.name, self._rates, tokens)
        left = share.wait
        if left < SHORTEST:
            return
        if left > WORTH_A_LINE:
            log.info("Waits %.1f s for its share of %s.", left, self.name)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            while left >= SHORTEST:
                await asyncio.sleep(left + random.uniform(0, min(left * JITTER, LONGEST_JITTER)))
                left = await self._pace.left(self.name, self._rates, share)
        except BaseException:
            self.give_back(tokens, requests=1)
            raise
        finally:
            if self._waited is not None:
                self._waited(self.name, clock() - began)

    def give_back(self, tokens: int, *, requests: int = 0) -> None:
        """What was not used after all; below 0: what was used beyond the estimate."""
        if tokens or requests:
            self._say(self._pace.give_back(self.name, self._rates, requests, tokens))

    def refused(self, retry_after: float | None) -> None:
        """A provider says that the limit is reached: nobody calls for a while."""
        seconds = AFTER_REFUSAL if retry_after is None else min(retry_after, self._longest_pause)
        log.warning("%s refuses more calls for now: everyone waits %.1f s.", self.name, seconds)
        self._say(self._pace.pause(self.name, self._rates, seconds))

    async def close(self) -> None:
        await asyncio.gather(*self._saying, return_exceptions=True)

    def _say(self, what: Coroutine[Any, Any, None]) -> None:
        """Nobody waits for it."""
        task = asyncio.create_task(what)
        self._saying.add(task)
        task.add_done_callback(self._saying.discard)


def with_pace(model: Model, lines: Sequence[Line], slots: asyncio.Semaphore | None) -> Model:
    """Waits for its share in each line, then for a slot. Whoever has a share and no slot yet holds up those behind it,
    so that shares are not saved up; whoever waits for a share holds no slot, so that other models get theirs."""

    async def paced(call: Call, hear: Hear) -> Reply:
        estimate = tokens_of(chars_in(call.messages)) + call.max_tokens
        taken: list[Line] = []
        try:
            async with AsyncExitStack() as stack:
                for line in lines:
                    await stack.enter_async_context(line.lock)
                    await line.wait(estimate)
                    taken.append(line)
                if slots is not None:
                    await slots.acquire()
        except BaseException:
            for line in taken:
                line.give_back(estimate, requests=1)
            raise
        try:
            reply = await model(call, hear)
        except ModelError as error:
            used = 0 if error.usage is None else error.usage.tokens_in + error.usage.tokens_out
            for line in lines:
                line.give_back(estimate - used)
                if isinstance(error, ModelOverloaded) and (error.refused or error.retry_after is not None):
                    line.refused(error.retry_after)
            raise
        finally:
            if slots is not None:
                slots.release()
        for line in lines:
            line.give_back(estimate - reply.usage.tokens_in - reply.usage.tokens_out)
        return reply

    return paced


def by_spec(limits: Mapping[str, RateLimit]) -> Mapping[str, RateLimit]:
    """With each name as a model's spec has it. Raises InputError when one is neither a provider nor one model."""
    found: dict[str, RateLimit] = {}
    for name, limit in limits.items():
        if limit.requests_per_minute is None and limit.tokens_per_minute is None:
            raise InputError(f"{name} limits nothing: set requests_per_minute, tokens_per_minute or both.")
        if name.strip().lower() in PROVIDERS:
            found[name.strip().lower()] = limit
            continue
        member, *more = parse(name)
        if more:
            raise InputError(f"{name!r} is a cascade: each of its models has a limit of its own.")
        found[str(member)] = limit
    return found


def limits_of(member: ModelSpec, limits: Mapping[str, RateLimit]) -> list[str]:
    """The names of those under which a model is called: its own, and its provider's for all models together."""
    own = dict.fromkeys([str(member), f"{member.provider}:{member.model}", member.provider])
    return [name for name in own if name in limits]
