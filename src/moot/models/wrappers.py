"""Models around models: time, retries, fallbacks, cost, concurrency. Each counts what failed attempts used."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from moot.errors import BadOutput, ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable
from moot.models.books import NOTHING, again, charge, credit, started
from moot.types import Call, Hear, Model, Reply, Usage


def with_timeout(model: Model, seconds: float, admit: Callable[[Model], Model] | None = None) -> Model:
    """At most `seconds` for a call, twice; then ModelTimeout. A model's own ModelTimeout counts as one, too. `admit` is
    put around each of the two; what it waits for is not part of their time."""
    timed = _timed(model, seconds)
    return _tried_again(timed if admit is None else admit(timed))


def _timed(model: Model, seconds: float) -> Model:
    async def timed(call: Call, hear: Hear) -> Reply:
        chars = 0

        def listen(text: str | None) -> None:
            nonlocal chars
            # Text that a retry inside took back was paid for nevertheless.
            chars += len(text or "")
            hear(text)

        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await model(call, listen)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ModelTimeout(
                f"No complete answer within {seconds:g} s. Allow more time with MOOT_CALL_TIMEOUT_SECONDS, "
                "ask for fewer tokens, or choose a faster model.",
                usage=started(call.messages, chars),
            ) from None

    return timed


def _tried_again(model: Model) -> Model:
    """Once more after ModelTimeout."""

    async def insistent(call: Call, hear: Hear) -> Reply:
        earlier, attempts = NOTHING, ()
        while True:
            try:
                return credit(await model(call, hear), earlier, attempts)
            except ModelTimeout as error:
                retry = again(call, earlier + (error.usage or NOTHING))
                if attempts or retry is None:
                    raise charge(error, earlier) from None
                call = retry
                earlier += error.usage or NOTHING
                attempts = (str(error),)
            except ModelError as error:
                raise charge(error, earlier) from None
            hear(None)

    return insistent


def with_backoff(
    model: Model,
    tries: int,
    base: float,
    max: float,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    rng: Callable[[], float] = random.random,
) -> Model:
    """Up to `tries` more calls after ModelOverloaded. Waits double; Retry-After is kept, up to `max` seconds."""

    async def patient(call: Call, hear: Hear) -> Reply:
        earlier, attempts = NOTHING, ()
        while True:
            try:
                return credit(await model(call, hear), earlier, attempts)
            except ModelOverloaded as error:
                retry = again(call, error.usage or NOTHING)
                if len(attempts) >= tries or retry is None:
                    raise charge(error, earlier) from None
                call = retry
                wait = min(max, base * 2 ** len(attempts)) * (0.5 + rng() / 2)
                # A server that says when to come back knows better than our schedule.
                wait = min(max, error.retry_after) if error.retry_after is not None else wait
                earlier += error.usage or NOTHING
                attempts = (*attempts, str(error))
            except ModelError as error:
                raise charge(error, earlier) from None
            hear(None)
            await sleep(wait)

    return patient


def with_fallback(models: Sequence[tuple[str, Model]]) -> Model:
    """The first model that gives a usable answer. `call.tries` is shared, so a cascade costs no more tries than one."""
    if len(models) == 1:
        return models[0][1]

    async def cascade(call: Call, hear: Hear) -> Reply:
        earlier = NOTHING
        errors: list[ModelError] = []
        left = call.tries
        for place, (spec, model) in enumerate(models):
            retry = again(call, earlier)
            if left < 1 or retry is None:
                break  # what may be used is used up
            tries = max(1, left - (len(models) - 1 - place))
            try:
                reply = await model(replace(retry, tries=tries), hear)
                return credit(reply, earlier, _reasons(models, errors))
            except ModelError as error:
                error.model = error.model or spec
                errors.append(error)
                earlier += error.usage or NOTHING
                left -= tries if isinstance(error, BadOutput) else 0
                if place + 1 < len(models):
                    hear(None)
        raise _all_failed(_reasons(models, errors), errors, earlier)

    return cascade


def with_cost(model: Model, cost: Callable[[Usage], float | None]) -> Model:
    """Fills in `usage.cost_usd`, of errors too; None where the price is not known."""

    async def priced(call: Call, hear: Hear) -> Reply:
        try:
            reply = await model(call, hear)
        except ModelError as error:
            if error.usage is not None:
                error.usage = replace(error.usage, cost_usd=cost(error.usage))
            raise
        return replace(reply, usage=replace(reply.usage, cost_usd=cost(reply.usage)))

    return priced


def with_slots(model: Model, slots: AbstractAsyncContextManager[Any]) -> Model:
    """Waits for one of `slots` (a semaphore) before each call."""

    async def admitted(call: Call, hear: Hear) -> Reply:
        async with slots:
            return await model(call, hear)

    return admitted


def _reasons(models: Sequence[tuple[str, Model]], errors: Sequence[ModelError]) -> tuple[str, ...]:
    return tuple(f"{spec}: {error}" for (spec, _), error in zip(models, errors, strict=False))


def _all_failed(reasons: tuple[str, ...], errors: Sequence[ModelError], usage: Usage) -> ModelError:
    """The kind of the most hopeful failure: what may pass with time must not be recorded as final."""
    message = "No model of the cascade answered. " + " ".join(f"[{reason}]" for reason in reasons)
    used = None if usage == NOTHING else usage
    for error in errors:
        if isinstance(error, ModelOverloaded):
            return ModelOverloaded(message, retry_after=error.retry_after, model=error.model, usage=used)
    for kind in (ModelTimeout, BadOutput, ModelUnavailable):
        for error in reversed(errors):
            if isinstance(error, kind):
                return kind(message, model=error.model, usage=used, raw=error.raw)
    return ModelError(message, usage=used)
