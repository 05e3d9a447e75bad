import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import moot.plugins
from moot.models import registry
from moot.runtime import runtime
from tests import plugins

pytest_plugins = ("tests.parallel", "tests.coroutines", "tests.clients.environment", "tests.postgres")

plugins.install()  # before anything looks for formats

# What tests would only wait for: other processes' changes are looked for every 20 ms, and back-off takes no time.
runtime.PULSES, registry.FIRST_WAIT = 750, 0.0

# A busy machine is no failure: no deadlines. `make test` tries the same examples each time, so that a change fails for
# what it changes; `make fuzz` looks for new ones.
settings.register_profile("moot", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("fuzz", deadline=None, derandomize=False, max_examples=200)
settings.load_profile("moot")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that search for the unknown run where they are asked for: `-m soak`. Those that need a database server are
    slow."""
    for item in items:
        if {"databases", "cluster"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.slow)
    if "soak" in config.option.markexpr:
        return
    left = [item for item in items if not item.get_closest_marker("soak")]
    if len(left) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("soak")])
        items[:] = left


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Make the packages in a folder available to this process, for one test."""

    folders: list[str] = []

    def add(folder: Path) -> None:
        folders.append(str(folder))
        monkeypatch.syspath_prepend(str(folder))
        moot.plugins.rescan()

    yield add
    monkeypatch.undo()
    for name, module in list(sys.modules.items()):
        if any(str(getattr(module, "__file__", None)).startswith(folder) for folder in folders):
            del sys.modules[name]
    moot.plugins.rescan()
