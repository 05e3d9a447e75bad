"""Wrappers for models: time-outs, retries, fallbacks, cost, concurrency. Each adds up the usage of failed attempts."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from moot.core.errors import BadOutput, ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable, StreamBrokeOff
from moot.core.types import Call, Hear, Model, Reply, Usage
from moot.models.usage import NO_USAGE, charge_error, charge_reply, next_attempt, partial_usage

BROKEN_TRIES = 2  # for a stream without a finish reason: some servers never send one, and each attempt is paid for


def with_timeout(
    model: Model, seconds: float, admit: Callable[[Model], Model] | None = None, *, silence: bool = False
) -> Model:
    """Limit a call to `seconds` and retry it once; then raise ModelTimeout. A model's own ModelTimeout counts, too.

    `admit` wraps each of the two attempts. Time that it spends waiting does not count. With `silence`, each piece of
    text starts the time anew: a slow model may take as long as it needs, one that has stopped may not.
    """
    timed = _timed(model, seconds, silence=silence)
    return _retry_timeout(timed if admit is None else admit(timed))


def _timed(model: Model, seconds: float, *, silence: bool) -> Model:
    async def timed(call: Call, hear: Hear) -> Reply:
        chars, clock = 0, asyncio.get_running_loop().time

        def listen(text: str | None) -> None:
            nonlocal chars
            # Text that an inner retry discarded was paid for, too.
            chars += len(text or "")
            if silence and not limit.expired():
                limit.reschedule(clock() + seconds)
            hear(text)

        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await model(call, listen)
        except TimeoutError:
            if not limit.expired():
                raise
            what = "No further word" if silence else "No complete answer"
            raise ModelTimeout(
                f"{what} within {seconds:g} s. Allow more time with MOOT_CALL_TIMEOUT_SECONDS, "
                "ask for fewer tokens, or choose a faster model.",
                usage=partial_usage(call.messages, chars),
            ) from None

    return timed


def _retry_timeout(model: Model) -> Model:
    async def retried(call: Call, hear: Hear) -> Reply:
        earlier, attempts = NO_USAGE, ()
        while True:
            try:
                return charge_reply(await model(call, hear), earlier, attempts)
            except ModelTimeout as error:
                retry = next_attempt(call, earlier + (error.usage or NO_USAGE))
                if attempts or retry is None:
                    raise charge_error(error, earlier) from None
                call = retry
                earlier += error.usage or NO_USAGE
                attempts = (f"{error} Trying again at once.",)
            except ModelError as error:
                raise charge_error(error, earlier) from None
            hear(None)

    return retried


def with_backoff(
    model: Model,
    tries: int,
    base: float,
    max: float,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    rng: Callable[[], float] = random.random,
) -> Model:
    """Retry up to `tries` times after ModelOverloaded, with exponential back-off and jitter.

    Retry-After is honoured. No wait is longer than `max` seconds. A stream that broke off is retried at most
    BROKEN_TRIES times; then what came is returned, marked as incomplete.
    """

    async def backed_off(call: Call, hear: Hear) -> Reply:
        earlier, attempts = NO_USAGE, ()
        while True:
            try:
                return charge_reply(await model(call, hear), earlier, attempts)
            except ModelOverloaded as error:
                retry = next_attempt(call, error.usage or NO_USAGE)
                broken = isinstance(error, StreamBrokeOff)
                if len(attempts) >= (min(tries, BROKEN_TRIES) if broken else tries) or retry is None:
                    if isinstance(error, StreamBrokeOff):
                        # The error's usage has been priced, and includes earlier attempts that timed out.
                        reply = replace(error.reply, usage=error.usage or error.reply.usage)
                        return charge_reply(reply, earlier, (*attempts, str(error)))
                    raise charge_error(error, earlier) from None
                call = retry
                wait = min(max, base * 2 ** len(attempts)) * (0.5 + rng() / 2)
                wait = min(max, error.retry_after) if error.retry_after is not None else wait
                earlier += error.usage or NO_USAGE
                attempts = (*attempts, f"{error} Trying again in {_seconds(wait)}.")
            except ModelError as error:
                raise charge_error(error, earlier) from None
            hear(None)
            await sleep(wait)

    return backed_off


def _seconds(wait: float) -> str:
    return f"{wait:.0f} s" if wait >= 9.5 else f"{wait:.1f} s"


def with_fallback(models: Sequence[tuple[str, Model]]) -> Model:
    """Try models in order until one gives a usable answer. They share `call.tries`."""
    if len(models) == 1:
        return models[0][1]

    async def cascade(call: Call, hear: Hear) -> Reply:
        earlier = NO_USAGE
        errors: list[ModelError] = []
        left = call.tries
        for place, (spec, model) in enumerate(models):
            retry = next_attempt(call, earlier)
            if left < 1 or retry is None:
                break
            tries = max(1, left - (len(models) - 1 - place))
            try:
                reply = await model(replace(retry, tries=tries), hear)
                return charge_reply(reply, earlier, _reasons(models, errors))
            except ModelError as error:
                error.model = error.model or spec
                errors.append(error)
                earlier += error.usage or NO_USAGE
                left -= tries if isinstance(error, BadOutput) else 0
                if place + 1 < len(models):
                    hear(None)
        raise _all_failed(_reasons(models, errors), errors, earlier)

    return cascade


def with_model_errors(model: Model, spec: str, package: str) -> Model:
    """Turn any exception of a plug-in's model into ModelUnavailable, which names the package."""

    async def guarded(call: Call, hear: Hear) -> Reply:
        try:
            return await model(call, hear)
        except ModelError:
            raise
        except Exception as error:
            said = f"{spec} failed in {package}: {type(error).__name__}: {error}"
            raise ModelUnavailable(f"{said[:400].rstrip('.')}. Choose another model.", model=spec) from error

    return guarded


def with_cost(model: Model, cost: Callable[[Usage], float | None]) -> Model:
    """Set `usage.cost_usd` of replies and errors; None if the price is not known."""

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
    """Hold one of `slots`, a semaphore, during each call."""

    async def admitted(call: Call, hear: Hear) -> Reply:
        async with slots:
            return await model(call, hear)

    return admitted


def _reasons(models: Sequence[tuple[str, Model]], errors: Sequence[ModelError]) -> tuple[str, ...]:
    return tuple(f"{spec}: {error}" for (spec, _), error in zip(models, errors, strict=False))


def _all_failed(reasons: tuple[str, ...], errors: Sequence[ModelError], usage: Usage) -> ModelError:
    """Return one error for all. Its kind is the least permanent: what may pass must not be recorded as final."""
    message = "No model of the cascade answered. " + " ".join(f"[{reason}]" for reason in reasons)
    used = None if usage == NO_USAGE else usage
    for error in errors:
        if isinstance(error, ModelOverloaded):
            return ModelOverloaded(message, retry_after=error.retry_after, model=error.model, usage=used)
    for kind in (ModelTimeout, BadOutput, ModelUnavailable):
        for error in reversed(errors):
            if isinstance(error, kind):
                return kind(message, model=error.model, usage=used, raw=error.raw)
    return ModelError(message, usage=used)
