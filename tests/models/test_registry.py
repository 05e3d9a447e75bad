from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from random import Random
from typing import Any

import pytest

from moot.core.errors import BadOutput, InputError, ModelOverloaded, ModelTimeout, ModelUnavailable, UnknownModel
from moot.core.settings import Settings
from moot.core.types import Model, Reply, Usage
from moot.models.check import probe
from moot.models.registry import ModelRegistry
from tests.models.calls import GOOD, Listener, Score, call
from tests.models.wire import Say, Wire
from tests.simulation.loop import VirtualLoop


def with_model(spec: str, use: Callable[[Model], Awaitable[Any]], **settings: Any) -> Any:
    async def main() -> Any:
        registry = ModelRegistry(Settings(**settings), environ={"ANTHROPIC_API_KEY": "k"})
        try:
            return await use(registry.open(spec))
        finally:
            await registry.close()

    return asyncio.run(main())


def ask(spec: str, listener: Listener | None = None, *, settings: dict[str, Any] | None = None, **more: Any) -> Reply:
    return with_model(spec, lambda model: model(call(**more), listener or Listener()), **(settings or {}))


def test_a_model_is_opened_once() -> None:
    registry = ModelRegistry(Settings(), environ={})
    assert registry.open("openai:gpt-5") is registry.open("openai:gpt-5")


def test_overload_is_retried_and_a_broken_stream_is_counted() -> None:
    listener = Listener()
    broken = Say("One two three", cut=2)
    with Wire(Say(status=503), Say(status=429, headers={"Retry-After": "0"}), broken, Say("Yes.")) as wire:
        reply = ask(f"openai:m@{wire.openai}", listener, text="four" * 5)
    assert (reply.text, listener.text) == ("Yes.", "Yes.")
    assert reply.usage == Usage(tokens_in=15, tokens_out=7, cost_usd=0.0, estimated=True)
    assert len(reply.attempts) == 3
    assert "status 503" in reply.attempts[0]
    assert "broke off" in reply.attempts[2]


def test_backoff_tries_limits_the_retries() -> None:
    with Wire(Say(status=503)) as wire, pytest.raises(ModelOverloaded):
        ask(f"openai:m@{wire.openai}", settings={"backoff_tries": 2})
    assert len(wire.requests) == 3


def test_a_silent_model_times_out_after_two_calls() -> None:
    model = ModelRegistry(Settings(call_timeout_seconds=20), environ={}).open("sim:?latency_ms=21000")
    with closing(VirtualLoop(Random(1))) as loop:
        with pytest.raises(ModelTimeout, match="within 20 s"):
            loop.run_until_complete(model(call(), Listener()))
        assert 40 <= loop.time() < 41


def test_a_cascade_falls_back_and_reports_why() -> None:
    with Wire(Say(status=401)) as refusing, Wire(Say("Yes.")) as answering:
        reply = ask(f"openai:gone@{refusing.openai} | anthropic:claude-haiku-4-5@{answering.anthropic}")
    assert (reply.text, reply.model, reply.provider) == ("Yes.", "claude-haiku-4-5", "anthropic")
    assert len(reply.attempts) == 1
    assert reply.attempts[0].startswith(f"openai:gone@{refusing.openai}: ")


def test_a_cascade_falls_back_after_invalid_typed_answers() -> None:
    with Wire(Say("No.")) as vague, Wire(Say(GOOD)) as exact:
        reply = ask(f"openai:a@{vague.openai} | openai:b@{exact.openai}", returns=Score, tries=3)
    assert reply.answer == Score(reasoning="Fair.", score=7, winner="a")
    assert (len(vague.requests), len(exact.requests)) == (2, 1)
    assert reply.usage.tokens_out == 15


def test_calls_at_once_are_limited_by_server() -> None:
    async def many(model: Model) -> None:
        await asyncio.gather(*(model(call(), Listener()) for _ in range(12)))

    with Wire() as wire:
        with_model(f"openai:m@{wire.openai}", many, concurrency=3)
    assert len(wire.requests) == 12
    assert wire.most_at_once <= 3


def test_a_missing_key_fails_when_called_not_when_opened() -> None:
    with pytest.raises(ModelUnavailable, match="Set OPENAI_API_KEY"):
        ask("openai:gpt-5")


def test_the_simulated_model_has_all_wrappers() -> None:
    reply = ask("sim:?fail=0.5&garbage=0.5&price_out=10", returns=Score, tries=20, settings={"backoff_tries": 20})
    assert isinstance(reply.answer, Score)
    assert reply.usage.cost_usd == pytest.approx(reply.usage.tokens_out * 10 / 1_000_000)
    with pytest.raises(BadOutput):
        ask("sim:?garbage=1", returns=Score)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [("nope:x", UnknownModel), ("sim:?sped=1", InputError), ("scripted:/none.yaml", InputError), ("", UnknownModel)],
)
def test_check_refuses_specs_that_can_not_work(spec: str, kind: type[Exception]) -> None:
    registry = ModelRegistry(Settings(), environ={})
    with pytest.raises(kind):
        registry.check(spec)
    with pytest.raises(kind):
        registry.check(f"local | {spec}")


def test_probe_says_what_to_do() -> None:
    with Wire(Say(status=401)) as wire:
        (found,) = with_model(f"openai:m@{wire.openai}", lambda model: probe(model, "m"))
    assert (found.ok, found.what) == (False, "m does not answer")
    assert "MOOT_API_KEY" in found.fix
    with Wire(Say("Yes")) as wire:
        found = with_model(f"openai:m@{wire.openai}", lambda model: probe(model, "m"))
    assert [f.ok for f in found] == [True, False]
    assert "stronger model" in found[1].fix
    assert wire.requests[0].body["max_tokens"] == 16


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "imported"),
    [("sim:", False), ("sim: | openai:x@http://127.0.0.1:9", True)],
)
def test_warm_up_imports_what_the_model_needs(model: str, imported: bool) -> None:
    program = f"""
import sys, threading
from moot.app import App
from moot.core.settings import Settings

App(Settings(model={model!r}), {{}}).warm_up()
for thread in threading.enumerate():
    if thread.name == "moot-warm-up":
        thread.join()
print("pydantic_ai.models.openai" in sys.modules, "openai.resources.chat" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(imported)] * 2
