"""Asking remote models in tests: the real clients, against a loopback server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from moot.core.types import Model, Reply
from moot.models.providers import Endpoint
from moot.models.remote import RemoteModel, connect
from tests.models.calls import Listener, call
from tests.models.wire import Wire

KEY = "sk-proj-0123456789abcdef"


def endpoint(wire: Wire, protocol: str, **more: Any) -> Endpoint:
    provider = {"openai": "openai-compatible"}.get(protocol, protocol)
    url = wire.anthropic if protocol == "anthropic" else wire.openai
    model = "claude-haiku-4-5" if protocol == "anthropic" else "gpt-test"
    return Endpoint(**{"provider": provider, "model": model, "url": url, "key": KEY, **more})


def ask(
    to: Endpoint, listener: Listener | None = None, wrap: Callable[[Model], Model] = lambda model: model, **more: Any
) -> Reply:
    async def main() -> Reply:
        remote = RemoteModel(to)
        try:
            return await wrap(remote)(call(**more), listener or Listener())
        finally:
            await remote.close()

    return asyncio.run(main())


both = pytest.mark.parametrize("protocol", ["openai", "anthropic"])


def ask_redirected(wire: Wire, provider: str, model: str, **more: Any) -> tuple[Reply, Any]:
    """Call a provider whose address is fixed in pydantic-ai, redirected to the loopback server."""

    async def main() -> Reply:
        remote = RemoteModel(Endpoint(provider=provider, model=model, key=KEY))
        opened = connect(remote.endpoint)
        opened[0].client.base_url = wire.openai  # type: ignore[attr-defined]
        remote._open[asyncio.get_running_loop()] = opened
        try:
            return await remote(call(**more), Listener())
        finally:
            await remote.close()

    return asyncio.run(main()), wire.requests[-1].body
