from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.chat.asking import Asking, client
from tests.server.serving import Served, served


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The model is configured, so that a chat client need not name it."""
    folder = tmp_path_factory.mktemp("chat")
    model = f"scripted:{folder / 'answers.yaml'}"
    presets = {
        "quick": {"format": "duel", "settings": {"turns": 2}},
        "editor": {"format": "classic", "chat_tools": "ignore"},
    }
    with served(folder, model=model, presets=presets) as running:
        yield running


@pytest.fixture(scope="package")
def asking(server: Served) -> Iterator[Asking]:
    with client(server) as made:
        yield made
