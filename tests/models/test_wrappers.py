from __future__ import annotations

import asyncio
from typing import Any

import pytest

from moot.core.errors import BadOutput, ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable
from moot.core.types import Call, Hear, Reply, Usage
from moot.models.wrappers import with_backoff, with_cost, with_fallback, with_timeout
from tests.models.calls import Listener, call, fake

SPENT = Usage(tokens_in=100, tokens_out=20, cost_usd=0.5)


async def never(asked: Call, hear: Hear) -> Reply:
    hear("eight ch")
    await asyncio.Event().wait()
    raise AssertionError


def waits() -> tuple[list[float], Any]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return slept, sleep


def test_a_slow_call_is_tried_again_once() -> None:
    model, calls = fake(never, "Yes.")
    listener = Listener()
    reply = asyncio.run(with_timeout(model, 0.02)(call("four" * 10), listener))
    assert (reply.text, listener.heard, len(calls)) == ("Yes.", ["eight ch", None, "Yes."], 2)
    assert reply.usage.tokens_in == 10 + 10
    assert reply.usage.tokens_out == 2 + 5
    assert "within 0.02 s" in reply.attempts[0]


def test_two_slow_calls_time_out_and_count_their_usage() -> None:
    model, calls = fake(never)
    with pytest.raises(ModelTimeout, match="MOOT_CALL_TIMEOUT_SECONDS") as raised:
        asyncio.run(with_timeout(model, 0.02)(call("four" * 10), Listener()))
    assert raised.value.usage == Usage(tokens_in=20, tokens_out=4, cost_usd=None, estimated=True)
    assert len(calls) == 2


@pytest.mark.parametrize("silence", [True, False])
def test_text_starts_the_time_of_a_slow_model_anew(silence: bool) -> None:
    async def main() -> Reply:
        loop, ahead = asyncio.get_running_loop(), 0.0
        real = loop.time
        loop.time = lambda: real() + ahead

        async def slow(asked: Call, hear: Hear) -> Reply:
            nonlocal ahead
            for word in ("One ", "two ", "three."):
                ahead += 50
                await asyncio.sleep(0)
                hear(word)
            return Reply(text="One two three.", model="", provider="")

        return await with_timeout(slow, 60, silence=silence)(call(), Listener())

    if silence:
        assert asyncio.run(main()).text == "One two three."
    else:
        with pytest.raises(ModelTimeout, match="No complete answer"):
            asyncio.run(main())


def test_a_model_that_falls_silent_times_out() -> None:
    model, calls = fake(never)
    with pytest.raises(ModelTimeout, match="No further word within 0.02 s"):
        asyncio.run(with_timeout(model, 0.02, silence=True)(call(), Listener()))
    assert len(calls) == 2


def test_a_models_own_time_out_is_tried_again_too() -> None:
    model, calls = fake(ModelTimeout("slow", usage=SPENT), "Yes.")
    reply = asyncio.run(with_timeout(model, 5)(call(), Listener()))
    assert reply.usage == Usage(tokens_in=110, tokens_out=25, cost_usd=0.5)
    assert len(calls) == 2


def test_an_error_after_a_time_out_counts_the_usage_of_both() -> None:
    model, _ = fake(ModelTimeout("slow", usage=SPENT), ModelOverloaded("busy", usage=SPENT))
    with pytest.raises(ModelOverloaded) as raised:
        asyncio.run(with_timeout(model, 5)(call(), Listener()))
    assert raised.value.usage == SPENT + SPENT


def test_cancelling_is_not_a_time_out() -> None:
    async def main() -> None:
        model, calls = fake(never)
        task = asyncio.create_task(with_timeout(model, 60)(call(), Listener()))
        while not calls:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(calls) == 1

    asyncio.run(main())


def test_waits_double_with_jitter_up_to_the_longest() -> None:
    slept, sleep = waits()
    model, calls = fake(*[ModelOverloaded("busy", usage=SPENT)] * 4, "Yes.")
    listener = Listener()
    reply = asyncio.run(with_backoff(model, 5, 0.5, 3, sleep, lambda: 1.0)(call(), listener))
    assert slept == [0.5, 1.0, 2.0, 3.0]
    assert listener.heard == [None] * 4 + ["Yes."]
    assert reply.attempts == tuple(f"busy Trying again in {wait} s." for wait in ("0.5", "1.0", "2.0", "3.0"))
    assert reply.usage == Usage(tokens_in=410, tokens_out=85, cost_usd=2.0)
    assert len(calls) == 5


@pytest.mark.parametrize(("retry_after", "wait"), [(None, 0.25), (2.0, 2.0), (0.0, 0.0), (500.0, 3.0)])
def test_retry_after_decides_the_wait_which_jitter_halves_at_most(retry_after: float | None, wait: float) -> None:
    slept, sleep = waits()
    model, _ = fake(ModelOverloaded("busy", retry_after=retry_after), "Yes.")
    asyncio.run(with_backoff(model, 5, 0.5, 3, sleep, lambda: 0.0)(call(), Listener()))
    assert slept == [wait]


@pytest.mark.parametrize("tries", [0, 3])
def test_backoff_gives_up_and_counts_all_usage(tries: int) -> None:
    slept, sleep = waits()
    model, calls = fake(*[ModelOverloaded("busy", usage=SPENT) for _ in range(tries + 1)])
    with pytest.raises(ModelOverloaded, match="busy") as raised:
        asyncio.run(with_backoff(model, tries, 0.5, 3, sleep)(call(), Listener()))
    assert raised.value.usage is not None
    assert raised.value.usage.tokens_out == 20 * (tries + 1)
    assert (len(slept), len(calls)) == (tries, tries + 1)


@pytest.mark.parametrize("error", [ModelUnavailable("no"), ModelTimeout("slow"), BadOutput("odd")])
def test_only_overload_is_retried_with_backoff(error: ModelError) -> None:
    slept, sleep = waits()
    model, calls = fake(error)
    with pytest.raises(type(error)):
        asyncio.run(with_backoff(model, 5, 0.5, 3, sleep)(call(), Listener()))
    assert (slept, len(calls)) == ([], 1)


@pytest.mark.parametrize("kind", [ModelUnavailable, ModelTimeout, BadOutput, ModelOverloaded])
def test_a_fallback_takes_over(kind: type[ModelError]) -> None:
    first, _ = fake(kind("no", usage=SPENT))
    second, _ = fake("Yes.")
    listener = Listener()
    reply = asyncio.run(with_fallback([("openai:x", first), ("local", second)])(call(), listener))
    assert (reply.text, reply.model, reply.attempts) == ("Yes.", "fake", ("openai:x: no",))
    assert reply.usage == Usage(tokens_in=110, tokens_out=25, cost_usd=0.5)
    assert listener.heard == [None, "Yes."]


def test_when_all_fail_all_are_named_and_counted() -> None:
    first, _ = fake(ModelOverloaded("busy", usage=SPENT))
    second, _ = fake(ModelUnavailable("no key", usage=SPENT))
    with pytest.raises(ModelOverloaded) as raised:
        asyncio.run(with_fallback([("openai:x", first), ("local", second)])(call(), Listener()))
    assert "[openai:x: busy] [local: no key]" in str(raised.value)
    assert raised.value.usage == SPENT + SPENT


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        ([ModelUnavailable("u"), ModelTimeout("t")], ModelTimeout),
        ([ModelTimeout("t"), ModelOverloaded("o")], ModelOverloaded),
        ([BadOutput("b", raw="text"), ModelUnavailable("u")], BadOutput),
        ([ModelUnavailable("u"), ModelUnavailable("v")], ModelUnavailable),
    ],
)
def test_the_least_permanent_failure_decides_the_kind(errors: list[ModelError], kind: type[ModelError]) -> None:
    models = [(f"m{place}", fake(error)[0]) for place, error in enumerate(errors)]
    with pytest.raises(ModelError) as raised:
        asyncio.run(with_fallback(models)(call(), Listener()))
    assert type(raised.value) is kind
    assert raised.value.raw == ("text" if kind is BadOutput else "")


def test_a_cascade_shares_the_tries() -> None:
    first, asked_first = fake(BadOutput("odd"))
    second, asked_second = fake(BadOutput("odd"))
    third, asked_third = fake("Yes.")
    cascade = with_fallback([("a", first), ("b", second), ("c", third)])
    asyncio.run(cascade(call(tries=4), Listener()))
    assert [asked[0].tries for asked in (asked_first, asked_second, asked_third)] == [2, 1, 1]


def test_cost_is_filled_in_for_replies_and_errors() -> None:
    def cost(used: Usage) -> float:
        return used.tokens_in / 100

    reply = asyncio.run(with_cost(fake("Yes.")[0], cost)(call(), Listener()))
    assert reply.usage.cost_usd == 0.1
    broken, _ = fake(ModelOverloaded("cut", usage=Usage(tokens_in=50, tokens_out=1, cost_usd=None)))
    with pytest.raises(ModelOverloaded) as raised:
        asyncio.run(with_cost(broken, cost)(call(), Listener()))
    assert raised.value.usage == Usage(tokens_in=50, tokens_out=1, cost_usd=0.5)
