"""Rate limits of model calls: in one process, in several, and with a provider that refuses calls."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import closing
from random import Random
from typing import Any

import pytest

from moot.core.errors import InputError, ModelOverloaded, StoreError
from moot.core.pace import InProcessPace, Rates, Reservation
from moot.core.settings import RateLimit, Settings
from moot.models.pace import limits_by_spec, limits_for
from moot.models.registry import ModelRegistry
from moot.models.spec import parse
from moot.store.postgres import PostgresStore
from moot.store.postgres.pace import SharedPace
from tests.models.calls import Listener, call
from tests.models.wire import Request, Say, Wire
from tests.running import until
from tests.simulation.loop import VirtualLoop
from tests.workers.crew import Crew, new, on, status

RULING = json.dumps({"summary": "Even.", "score_a": 5, "score_b": 5, "no_new_substantive_arguments": False})


class RecordingPace(InProcessPace):
    """Records every call of its methods."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.taken: list[tuple[str, int]] = []
        self.back: list[tuple[str, int, int]] = []
        self.paused: list[float] = []

    async def take(self, name: str, rates: Rates, tokens: int) -> Reservation:
        self.taken.append((name, tokens))
        return await super().take(name, rates, tokens)

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        self.back.append((name, requests, tokens))
        await super().give_back(name, rates, requests, tokens)

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        self.paused.append(seconds)
        await super().pause(name, rates, seconds)


def paced(pace: Any, limits: dict[str, Any], **settings: Any) -> ModelRegistry:
    given = {"rate_limits": limits, **settings}
    return ModelRegistry(Settings(**given), environ={}, pace=lambda: pace)


class LimitedWire(Wire):
    """A server that enforces a rate limit: refuses with 429 what exceeds a token bucket. Every answer in words differs
    from the others; where JSON is wanted it gives a ruling."""

    def __init__(self, at_once: int, per_second: float) -> None:
        super().__init__()
        self._room, self._most, self._per_second, self._at = float(at_once), at_once, per_second, time.monotonic()
        self.answered = self.refused = 0

    def take(self, request: Request) -> Say:
        super().take(request)
        with self._lock:
            now = time.monotonic()
            self._room = min(self._most, self._room + (now - self._at) * self._per_second)
            self._at = now
            if self._room < 1:
                self.refused += 1
                return Say(status=429, headers={"Retry-After": "1"})
            self._room -= 1
            self.answered += 1
            typed = "response_format" in request.body
            return Say(RULING if typed else " ".join(f"reason-{self.answered}-{word}" for word in range(8)))


def test_a_model_is_under_its_own_limit_and_its_providers():
    limits = limits_by_spec(
        {name: RateLimit(requests_per_minute=1) for name in ("OpenAI", "openai:gpt-5", "local:small")}
    )
    assert limits_for(parse("openai:gpt-5")[0], limits) == ["openai:gpt-5", "openai"]
    assert limits_for(parse("openai:gpt-5@http://127.0.0.1/v1")[0], limits) == ["openai:gpt-5", "openai"]
    assert limits_for(parse("openai:gpt-5-mini")[0], limits) == ["openai"]
    assert limits_for(parse("local:small")[0], limits) == ["local:small"]
    assert limits_for(parse("local")[0], limits) == []
    assert limits_for(parse("anthropic:claude")[0], limits) == []


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"opnai": RateLimit(requests_per_minute=1)}, "Did you mean openai"),
        ({"openai": RateLimit()}, "limits nothing"),
        ({"openai:a | local": RateLimit(requests_per_minute=1)}, "cascade"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, why):
    with pytest.raises(InputError, match=why):
        limits_by_spec(limits)


def test_every_attempt_reserves_tokens_and_gives_back_what_it_did_not_use():
    pace = RecordingPace()

    async def main(wire: Wire) -> None:
        registry = paced(pace, {"openai": {"tokens_per_minute": 60_000}})
        await registry.open(f"openai:m@{wire.openai}")(call("four" * 10), Listener())
        await registry.close()

    with Wire(Say(status=503), Say("Yes.", tokens=(12, 3, 0))) as wire:
        asyncio.run(main(wire))
    assert pace.taken == [("openai", 110)] * 2  # an estimated 10 of the prompt and max_tokens=100
    assert sorted(pace.back) == [("openai", 0, 95), ("openai", 0, 110)]
    assert pace.paused == []


@pytest.mark.parametrize(("asked", "pause"), [("7", 7.0), (None, 1.0), ("900", 30.0)])
def test_a_refusal_pauses_all_calls_within_bounds(asked, pause):
    pace = RecordingPace(lambda: 0.0)

    async def main(wire: Wire) -> float:
        registry = paced(pace, {"openai:m": {"requests_per_minute": 600}}, backoff_tries=0)
        with pytest.raises(ModelOverloaded):
            await registry.open(f"openai:m@{wire.openai}")(call(), Listener())
        await registry.close()
        return (await pace.take("openai:m", Rates.of(RateLimit(requests_per_minute=600)), 0)).wait

    with Wire(Say(status=429, headers={"Retry-After": asked} if asked else {})) as wire:
        assert asyncio.run(main(wire)) > pause
    assert pace.paused == [pause]


def test_waiting_does_not_count_against_the_time_limit():
    waited: list[float] = []

    class Timer:
        def wrap(self, spec: Any, model: Any, meter: Any) -> Any:
            return model

        def waited(self, limit: str, seconds: float) -> None:
            waited.append(seconds)

    async def main() -> tuple[str, ...]:
        settings = Settings(rate_limits={"sim": RateLimit(requests_per_minute=60)}, call_timeout_seconds=20)
        pace = InProcessPace(loop.time)
        registry = ModelRegistry(settings, environ={}, pace=lambda: pace, observer=Timer())
        await pace.pause("sim", Rates.of(settings.rate_limits["sim"]), 25)
        reply = await registry.open("sim:?latency_ms=19000")(call(), Listener())
        await registry.close()
        return reply.attempts

    with closing(VirtualLoop(Random(1))) as loop:
        assert loop.run_until_complete(main()) == ()  # no time-out, no second try
    assert len(waited) == 1
    assert waited[0] >= 25


def test_a_cancelled_wait_gives_its_reservation_back():
    pace = RecordingPace()

    async def main() -> None:
        registry = paced(pace, {"sim": {"requests_per_minute": 1, "tokens_per_minute": 1_000_000}})
        model = registry.open("sim:")
        await model(call(), Listener())
        waiting = [asyncio.create_task(model(call(), Listener())) for _ in range(3)]
        await until(lambda: len(pace.taken) == 2)  # one waits for its reservation, the others for the lock
        for task in waiting:
            task.cancel()
        assert [type(each) for each in await asyncio.gather(*waiting, return_exceptions=True)] == [
            asyncio.CancelledError
        ] * 3
        await registry.close()

    asyncio.run(main())
    assert [taken for taken in pace.back if taken[1]] == [("sim", 1, pace.taken[1][1])]


def test_a_waiting_call_does_not_block_other_models_of_the_provider():
    pace = RecordingPace()

    async def main(wire: Wire) -> None:
        registry = paced(pace, {"openai:slow": {"requests_per_minute": 1}}, concurrency=1)
        slow, free = (registry.open(f"openai:{name}@{wire.openai}") for name in ("slow", "free"))
        await slow(call(), Listener())
        waiting = asyncio.create_task(slow(call(), Listener()))
        await until(lambda: len(pace.taken) == 2)
        assert (await free(call(), Listener())).text == "Yes."
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await registry.close()

    with Wire() as wire:
        asyncio.run(main(wire))


def test_without_the_database_each_process_keeps_the_limit_alone(caplog):
    class Gone:
        async def with_connection(self, work: Any) -> Any:
            raise StoreError("The server is gone.")

    async def main() -> list[float]:
        pace, rates = SharedPace(Gone()), Rates.of(RateLimit(requests_per_minute=10))  # type: ignore[arg-type]
        reservations = [await pace.take("m", rates, 1) for _ in range(3)]
        await pace.give_back("m", rates, 0, 1)
        await pace.pause("m", rates, 9)
        return [*(reservation.wait for reservation in reservations), await pace.left("m", rates, reservations[-1])]

    first, second, third, left = asyncio.run(main())
    assert (first, left) == (0, 0)
    assert 0 < second < third
    assert "kept by this process alone" in caplog.text


def test_several_processes_share_one_bucket(database_url):
    """Three stores on one database and one clock: each waits for the reservations of the others."""
    clock = [1000.0]

    async def main() -> list[float]:
        rates = Rates.of(RateLimit(requests_per_minute=60))
        stores = [PostgresStore(database_url) for _ in range(3)]
        paces = [SharedPace(store, clock=lambda: clock[0]) for store in stores]
        reservations = [await paces[number % 3].take("m", rates, 10) for number in range(12)]
        await paces[1].pause("m", rates, 5)
        later = [await paces[0].left("m", rates, reservation) for reservation in reservations]
        for store in stores:
            await store.close()
        return [reservation.wait for reservation in reservations] + later

    waits = asyncio.run(main())
    each = 60 / (0.97 * 55)
    assert waits[:12] == pytest.approx([0.0] * 6 + [each * (n + 1) for n in range(6)])
    assert waits[12:] == pytest.approx([5.0] * 6 + [5 + each * (n + 1) for n in range(6)])


@pytest.mark.slow
def test_worker_processes_get_no_refusal(database_url, tmp_path):
    per_minute, debates, rounds = 300, 4, 6
    limits = json.dumps({"openai": {"requests_per_minute": per_minute}})
    with (
        LimitedWire(30 + debates, per_minute / 60) as wire,  # a call of each debate may be late
        Crew(database_url, tmp_path, MOOT_RATE_LIMITS=limits, MOOT_BACKOFF_TRIES="0") as crew,
    ):
        for worker in [crew.worker() for _ in range(2)]:
            worker.ready()

        async def main() -> list[str]:
            async with on(database_url, tmp_path) as app:
                made = [await new(app, f"openai:m@{wire.openai}", max_rounds=rounds) for _ in range(debates)]
                for debate in made:
                    await app.hand_over(debate)
                return [(await status(app, each.id, "completed", "failed", seconds=60)).status for each in made]

        assert asyncio.run(main()) == ["completed"] * debates
    assert (wire.answered, wire.refused) == ((2 * rounds + 1) * debates, 0)
