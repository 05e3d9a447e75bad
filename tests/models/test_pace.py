"""Calls that wait for their share of a rate limit: in one process, in several, and against a provider that refuses."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.errors import InputError, ModelOverloaded, StoreError
from moot.models.pace import by_spec, limits_of
from moot.models.shelf import Shelf
from moot.models.spec import parse
from moot.pace import OwnPace, Rates, Share
from moot.settings import RateLimit, Settings
from moot.store.postgres import PostgresStore
from moot.store.postgres.pace import SharedPace
from tests.models.asking import Ear, call
from tests.models.wire import Request, Say, Wire
from tests.running import until
from tests.workers.crew import Crew, new, on, status

PER_MINUTE, AT_ONCE = 1800, 8
RULING = json.dumps({"summary": "Even.", "score_a": 5, "score_b": 5, "no_new_substantive_arguments": False})


class Notebook(OwnPace):
    """Remembers what it was asked for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.taken: list[tuple[str, int]] = []
        self.back: list[tuple[str, int, int]] = []
        self.paused: list[float] = []

    async def take(self, name: str, rates: Rates, tokens: int) -> Share:
        self.taken.append((name, tokens))
        return await super().take(name, rates, tokens)

    async def give_back(self, name: str, rates: Rates, requests: int, tokens: int) -> None:
        self.back.append((name, requests, tokens))
        await super().give_back(name, rates, requests, tokens)

    async def pause(self, name: str, rates: Rates, seconds: float) -> None:
        self.paused.append(seconds)
        await super().pause(name, rates, seconds)


def shelf(pace: Any, limits: dict[str, Any], **settings: Any) -> Shelf:
    given = {"backoff_base_seconds": 0, "rate_limits": limits, **settings}
    return Shelf(Settings(**given), environ={}, pace=lambda: pace)


class Strict(Wire):
    """Refuses what exceeds a bucket: so many at once, and so many a second."""

    def __init__(self, at_once: int, per_second: float, answer: str = "Yes.") -> None:
        super().__init__(Say(answer))
        self._room, self._most, self._per_second, self._at = float(at_once), at_once, per_second, time.monotonic()
        self.answered = self.refused = 0

    def take(self, request: Request) -> Say:
        say = super().take(request)
        with self._lock:
            now = time.monotonic()
            self._room = min(self._most, self._room + (now - self._at) * self._per_second)
            self._at = now
            if self._room < 1:
                self.refused += 1
                return Say(status=429, headers={"Retry-After": "1"})
            self._room -= 1
            self.answered += 1
            return say


def test_a_model_is_under_its_own_limit_and_its_providers():
    limits = by_spec({name: RateLimit(requests_per_minute=1) for name in ("OpenAI", "openai:gpt-5", "local:smollm2")})
    assert limits_of(parse("openai:gpt-5")[0], limits) == ["openai:gpt-5", "openai"]
    assert limits_of(parse("openai:gpt-5@http://127.0.0.1/v1")[0], limits) == ["openai:gpt-5", "openai"]
    assert limits_of(parse("openai:gpt-5-mini")[0], limits) == ["openai"]
    assert limits_of(parse("local")[0], limits) == ["local"]
    assert limits_of(parse("anthropic:claude")[0], limits) == []


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
        by_spec(limits)


def test_every_attempt_takes_a_share_and_what_was_not_used_is_given_back():
    pace = Notebook()

    async def main(wire: Wire) -> None:
        models = shelf(pace, {"openai": {"tokens_per_minute": 60_000}})
        await models.open(f"openai:m@{wire.openai}")(call("four" * 10), Ear())
        await models.close()

    with Wire(Say(status=503), Say("Yes.", tokens=(12, 3, 0))) as wire:
        asyncio.run(main(wire))
    assert pace.taken == [("openai", 110)] * 2  # 10 that it reads, as far as one can tell, and 100 that it may write
    assert sorted(pace.back) == [("openai", 0, 95), ("openai", 0, 110)]
    assert pace.paused == []


def test_a_refusal_makes_everyone_wait():
    clock = [0.0]
    pace = Notebook(lambda: clock[0])

    async def main(wire: Wire) -> float:
        models = shelf(pace, {"openai:m": {"requests_per_minute": 600}}, backoff_tries=0)
        with pytest.raises(ModelOverloaded):
            await models.open(f"openai:m@{wire.openai}")(call(), Ear())
        await models.close()
        return (await pace.take("openai:m", Rates.of(RateLimit(requests_per_minute=600)), 0)).wait

    with Wire(Say(status=429, headers={"Retry-After": "7"})) as wire:
        assert asyncio.run(main(wire)) > 7
    assert pace.paused == [7.0]


@pytest.mark.parametrize(
    ("answer", "seconds"), [(Say(status=429), 1.0), (Say(status=429, headers={"Retry-After": "900"}), 30.0)]
)
def test_how_long_everyone_waits_is_bounded_and_never_nothing(answer, seconds):
    pace = Notebook()

    async def main(wire: Wire) -> None:
        models = shelf(pace, {"openai": {"requests_per_minute": 600}}, backoff_tries=0)
        with pytest.raises(ModelOverloaded):
            await models.open(f"openai:m@{wire.openai}")(call(), Ear())
        await models.close()

    with Wire(answer) as wire:
        asyncio.run(main(wire))
    assert pace.paused == [seconds]


def test_the_time_for_a_call_does_not_run_while_it_waits():
    waited: list[float] = []

    class Timer:
        def around(self, spec: Any, model: Any, meter: Any) -> Any:
            return model

        def waited(self, limit: str, seconds: float) -> None:
            waited.append(seconds)

    async def main() -> tuple[str, ...]:
        settings = Settings(rate_limits={"sim": RateLimit(requests_per_minute=60)}, call_timeout_seconds=0.3)
        pace = OwnPace(time.monotonic)
        models = Shelf(settings, environ={}, pace=lambda: pace, watch=Timer())
        await pace.pause("sim", Rates.of(settings.rate_limits["sim"]), 0.4)
        reply = await models.open("sim:?latency_ms=1")(call(), Ear())
        await models.close()
        return reply.attempts

    assert asyncio.run(main()) == ()  # no time-out, no second try
    assert len(waited) == 1
    assert waited[0] > 0.3


def test_waiting_can_be_cancelled_and_leaves_nothing_behind():
    pace = Notebook()

    async def main() -> None:
        models = shelf(pace, {"sim": {"requests_per_minute": 1, "tokens_per_minute": 1_000_000}})
        model = models.open("sim:")
        await model(call(), Ear())
        waiting = [asyncio.create_task(model(call(), Ear())) for _ in range(3)]
        await until(lambda: len(pace.taken) == 2)  # one waits for its share, the others for their turn
        for task in waiting:
            task.cancel()
        assert [type(each) for each in await asyncio.gather(*waiting, return_exceptions=True)] == [
            asyncio.CancelledError
        ] * 3
        await models.close()

    asyncio.run(main())
    assert [taken for taken in pace.back if taken[1]] == [("sim", 1, pace.taken[1][1])]


def test_whoever_waits_does_not_hold_up_other_models_of_the_provider():
    pace = Notebook()

    async def main(wire: Wire) -> None:
        models = shelf(pace, {"openai:slow": {"requests_per_minute": 1}}, concurrency=1)
        slow, free = (models.open(f"openai:{name}@{wire.openai}") for name in ("slow", "free"))
        await slow(call(), Ear())
        waiting = asyncio.create_task(slow(call(), Ear()))
        await until(lambda: len(pace.taken) == 2)
        assert (await free(call(), Ear())).text == "Yes."
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await models.close()

    with Wire() as wire:
        asyncio.run(main(wire))


def test_without_a_limit_nothing_is_asked():
    async def main() -> None:
        def nobody() -> Any:
            raise AssertionError

        models = Shelf(Settings(rate_limits={"openai": RateLimit(requests_per_minute=1)}), environ={}, pace=nobody)
        await models.open("sim:")(call(), Ear())
        await models.close()

    asyncio.run(main())


def test_a_database_that_is_gone_leaves_each_process_to_itself(caplog):
    class Gone:
        async def linked(self, work: Any) -> Any:
            raise StoreError("The server is gone.")

    async def main() -> list[float]:
        pace, rates = SharedPace(Gone()), Rates.of(RateLimit(requests_per_minute=10))  # type: ignore[arg-type]
        shares = [await pace.take("m", rates, 1) for _ in range(3)]
        await pace.give_back("m", rates, 0, 1)
        await pace.pause("m", rates, 9)
        return [*(share.wait for share in shares), await pace.left("m", rates, shares[-1])]

    first, second, third, left = asyncio.run(main())
    assert (first, left) == (0, 0)
    assert 0 < second < third
    assert "kept by this process alone" in caplog.text


def test_several_processes_share_one_line(database_url):
    """Three stores on one database, one clock: what one takes, the others wait for."""
    clock = [1000.0]

    async def main() -> list[float]:
        rates = Rates.of(RateLimit(requests_per_minute=60))
        stores = [PostgresStore(database_url) for _ in range(3)]
        paces = [SharedPace(store, clock=lambda: clock[0]) for store in stores]
        shares = [await paces[number % 3].take("m", rates, 10) for number in range(12)]
        await paces[1].pause("m", rates, 5)
        later = [await paces[0].left("m", rates, share) for share in shares]
        for store in stores:
            await store.close()
        return [share.wait for share in shares] + later

    waits = asyncio.run(main())
    each = 60 / (0.97 * 55)
    assert waits[:12] == pytest.approx([0.0] * 6 + [each * (n + 1) for n in range(6)])
    assert waits[12:] == pytest.approx([5.0] * 6 + [5 + each * (n + 1) for n in range(6)])


def flood(url: str, folder: Path, wire: Wire, calls: int, **settings: Any) -> list[Any]:
    """Four runtimes on one database, each with as many calls at once."""

    async def one(name: str) -> list[Any]:
        async with on(url, folder, name, backoff_tries=0, concurrency=AT_ONCE, **settings) as app:
            model = app.models.open(f"openai:m@{wire.openai}")
            return await asyncio.gather(*(model(call(), Ear()) for _ in range(calls)), return_exceptions=True)

    async def main() -> list[Any]:
        return [each for found in await asyncio.gather(*map(one, "abcd")) for each in found]

    return asyncio.run(main())


@pytest.mark.slow
def test_four_runtimes_together_keep_a_limit(database_url, tmp_path):
    limits = {"openai": RateLimit(requests_per_minute=PER_MINUTE)}
    slack = 4 * (AT_ONCE + 1)  # however late they arrive: no more can be on their way at the same time
    with Strict(int(PER_MINUTE * 0.1) + slack, PER_MINUTE / 60) as wire:
        replies = flood(database_url, tmp_path, wire, 65, rate_limits=limits)
    assert [reply for reply in replies if isinstance(reply, Exception)] == []
    assert (wire.answered, wire.refused) == (260, 0)


def test_without_it_they_would_be_refused(database_url, tmp_path):
    with Strict(20, 0) as wire:
        replies = flood(database_url, tmp_path, wire, 10)
    assert sum(isinstance(reply, ModelOverloaded) for reply in replies) == wire.refused == 20


@pytest.mark.slow
def test_four_worker_processes_get_no_refusal(database_url, tmp_path):
    per_minute, debates = 300, 16
    limits = json.dumps({"openai": {"requests_per_minute": per_minute}})
    with (
        Strict(30 + debates, per_minute / 60, RULING) as wire,
        Crew(database_url, tmp_path, MOOT_RATE_LIMITS=limits, MOOT_BACKOFF_TRIES="0") as crew,
    ):
        for worker in [crew.worker() for _ in range(4)]:
            worker.ready()

        async def main() -> list[str]:
            async with on(database_url, tmp_path) as app:
                made = [await new(app, f"openai:m@{wire.openai}", max_rounds=1) for _ in range(debates)]
                for debate in made:
                    await app.hand_over(debate)
                return [(await status(app, each.id, "completed", "failed", seconds=60)).status for each in made]

        assert asyncio.run(main()) == ["completed"] * debates
    assert (wire.answered, wire.refused) == (3 * debates, 0)
