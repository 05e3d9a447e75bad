"""Makes calls wait for their rate limits. In each process the calls under one limit wait in a FIFO queue."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from moot.core.errors import InputError, ModelError, ModelOverloaded
from moot.core.pace import AFTER_REFUSAL, Pace, Rates
from moot.core.settings import RateLimit
from moot.core.types import Call, Hear, Model, Reply
from moot.models import providers
from moot.models.spec import ModelSpec, parse
from moot.models.usage import count_chars, estimate_tokens

log = logging.getLogger("moot.core.pace")

OnWait = Callable[[str, float], None]  # called with the name of a limit and the seconds a call has waited for it

MIN_WAIT = 0.001  # seconds; shorter waits are skipped
JITTER = 0.05  # as a fraction of a wait
MAX_JITTER = 0.25  # seconds
LOGGED_WAIT = 5.0  # seconds; longer waits are logged


class LimitQueue:
    """The calls of this process that wait for one rate limit. Hold `lock` while waiting: it keeps them in order."""

    def __init__(
        self, name: str, limit: RateLimit, pace: Pace, *, max_pause: float, on_wait: OnWait | None = None
    ) -> None:
        self.name, self.lock = name, asyncio.Lock()
        self._rates, self._pace = Rates.of(limit), pace
        self._max_pause, self._on_wait = max_pause, on_wait
        self._background: set[asyncio.Task[None]] = set()

    async def wait(self, tokens: int) -> None:
        """Wait until one request with this many tokens may be made."""
        reservation = await self._pace.take(self.name, self._rates, tokens)
        left = reservation.wait
        if left < MIN_WAIT:
            return
        if left > LOGGED_WAIT:
            log.info("Waiting %.1f s for the rate limit of %s.", left, self.name)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            while left >= MIN_WAIT:
                await asyncio.sleep(left + random.uniform(0, min(left * JITTER, MAX_JITTER)))
                left = await self._pace.left(self.name, self._rates, reservation)
        except BaseException:
            self.give_back(tokens, requests=1)
            raise
        finally:
            if self._on_wait is not None:
                self._on_wait(self.name, clock() - began)

    def give_back(self, tokens: int, *, requests: int = 0) -> None:
        """Return what was reserved and not used. Negative: what was used beyond the estimate. Does not block."""
        if tokens or requests:
            self._run(self._pace.give_back(self.name, self._rates, requests, tokens))

    def refused(self, retry_after: float | None) -> None:
        """Pause all calls under this limit, after a provider has refused one. Does not block."""
        seconds = AFTER_REFUSAL if retry_after is None else min(retry_after, self._max_pause)
        log.warning("%s refuses more calls for now: all calls wait %.1f s.", self.name, seconds)
        self._run(self._pace.pause(self.name, self._rates, seconds))

    async def close(self) -> None:
        await asyncio.gather(*self._background, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def with_pace(model: Model, queues: Sequence[LimitQueue], slots: asyncio.Semaphore | None) -> Model:
    """Wait for each rate limit, then for a slot, before each call.

    A call that waits for a limit holds no slot, so models without that limit can go on. A call that waits for a slot
    keeps its place in the queues, so that reservations don't pile up.
    """

    async def paced(call: Call, hear: Hear) -> Reply:
        estimate = estimate_tokens(count_chars(call.messages)) + call.max_tokens
        taken: list[LimitQueue] = []
        try:
            async with AsyncExitStack() as stack:
                for queue in queues:
                    await stack.enter_async_context(queue.lock)
                    await queue.wait(estimate)
                    taken.append(queue)
                if slots is not None:
                    await slots.acquire()
        except BaseException:
            for queue in taken:
                queue.give_back(estimate, requests=1)
            raise
        try:
            reply = await model(call, hear)
        except ModelError as error:
            used = 0 if error.usage is None else error.usage.tokens_in + error.usage.tokens_out
            for queue in queues:
                queue.give_back(estimate - used)
                if isinstance(error, ModelOverloaded) and (error.refused or error.retry_after is not None):
                    queue.refused(error.retry_after)
            raise
        finally:
            if slots is not None:
                slots.release()
        for queue in queues:
            queue.give_back(estimate - reply.usage.tokens_in - reply.usage.tokens_out)
        return reply

    return paced


def limits_by_spec(limits: Mapping[str, RateLimit]) -> Mapping[str, RateLimit]:
    """Normalize the names of limits. Raises InputError if one names neither a provider nor a single model."""
    found: dict[str, RateLimit] = {}
    for name, limit in limits.items():
        if limit.requests_per_minute is None and limit.tokens_per_minute is None:
            raise InputError(f"{name} limits nothing: set requests_per_minute, tokens_per_minute or both.")
        if name.strip().lower() in providers.DOOR:
            found[name.strip().lower()] = limit
            continue
        member, *more = parse(name)
        if more:
            raise InputError(f"{name!r} is a cascade: each of its models has a limit of its own.")
        found[str(member)] = limit
    return found


def limits_for(member: ModelSpec, limits: Mapping[str, RateLimit]) -> list[str]:
    """Return the names of a model's limits: its own, and the one for all models of its provider."""
    own = dict.fromkeys([str(member), f"{member.provider}:{member.model}", member.provider])
    return [name for name in own if name in limits]
