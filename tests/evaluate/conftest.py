"""Tests may be coroutines, as those of the runtime, and have a client of an app on a database of its own."""

from __future__ import annotations

from typing import Any

import pytest

from moot.app import App
from moot.client.client import Client
from moot.core.types import Debate
from moot.request import Request


@pytest.fixture
def client(app: App) -> Client:
    return Client(app)


async def debated(
    client: Client, format: str, topic: str = "Redis or Postgres?", *, model: str = "sim:", **settings: Any
) -> Debate:
    """A debate that has ended."""
    models = {"model_debater": model, "model_judge": model}
    asked = Request(topic=topic, format=format, settings={**models, **settings})
    made = await client.create(await client.plan(asked))
    return await client.app.runtime.wait(made.id)
