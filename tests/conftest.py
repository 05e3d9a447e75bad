import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import moot.plugins
from tests import plugins

pytest_plugins = ("tests.clients.environment", "tests.postgres")

plugins.install()  # before anything looks for formats

# A busy machine is no failure: no deadlines. `make test` tries the same examples each time, so that a change fails for
# what it changes; `make fuzz` looks for new ones.
settings.register_profile("moot", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, derandomize=False)
settings.load_profile("moot")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules with slow tests come first, so that no worker is left alone with one of them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


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
