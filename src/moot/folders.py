"""The folder for moot's own files, and making such folders and files for their owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from moot.core.settings import Settings


def data_dir(settings: Settings) -> Path:
    """The folder for the database and the weights. It may not exist yet."""
    if settings.data_dir:
        return Path(settings.data_dir).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("moot", appauthor=False))


def weights_dir(settings: Settings) -> Path:
    """The folder for the weights of embedded models. It may not exist yet."""
    return data_dir(settings) / "models"


def make_private(folder: Path) -> None:
    """Create a folder and those above it that are missing, for their owner alone. Existing ones are not changed."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def touch_private(file: Path) -> None:
    """Create an empty file that only its owner can read, in a folder made likewise. An existing file is not changed."""
    make_private(file.parent)
    if not file.exists():
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
