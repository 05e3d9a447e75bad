"""The folder for moot's own files."""

from __future__ import annotations

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
