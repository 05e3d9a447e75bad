"""A user's file and a project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.config import Config, Origin, load
from moot.core.errors import InputError


class Place:
    """A user's file and a project in folders of their own."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "own" / "config.yaml"
        self.folder = folder / "project"
        self.project = self.folder / "moot.yaml"
        self.user.parent.mkdir()
        (self.folder / ".git").mkdir(parents=True)

    def load(
        self, user: Any = None, project: Any = None, environ: dict[str, str] | None = None, **flags: Any
    ) -> Config:
        for path, content in ((self.user, user), (self.project, project)):
            if content is not None:
                path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        own = {"MOOT_CONFIG": str(self.user)} if self.user.exists() else {"MOOT_CONFIG": os.devnull}
        named = {name: (f"--{name}", value) for name, value in flags.items()}
        return load({**own, **(environ or {})}, flags=named, folder=self.folder)

    def refused(self, *args: Any, **kwargs: Any) -> str:
        with pytest.raises(InputError) as caught:
            self.load(*args, **kwargs)
        assert "\n" not in str(caught.value)
        return str(caught.value)


def value_of(config: Config, name: str) -> tuple[Any, Origin]:
    entry = next(each for each in config.entries() if each.name == name)
    return entry.value, entry.origin


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
