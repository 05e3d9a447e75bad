"""Tests that are coroutines: each runs in an event loop of its own, in which what it has opened is closed."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from moot.app import App
from tests.running import an_app

Opened = Callable[[AbstractAsyncContextManager[Any]], Any]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    test, given = pyfuncitem.obj, pyfuncitem.funcargs
    if not inspect.iscoroutinefunction(test):
        return None
    loop = given.get("loop")
    run = loop.run if isinstance(loop, asyncio.Runner) else asyncio.run
    run(test(**{name: given[name] for name in inspect.signature(test).parameters}))
    return True


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


@pytest.fixture
def opened(loop: asyncio.Runner) -> Iterator[Opened]:
    """Opens a context for as long as its test runs."""
    stack = AsyncExitStack()
    yield lambda context: loop.run(stack.enter_async_context(context))
    loop.run(stack.aclose())


@pytest.fixture
def app(opened: Opened, tmp_path: Path) -> App:
    return opened(an_app(tmp_path))


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "moot.db") if request.param == "sqlite" else request.getfixturevalue("database_url")
