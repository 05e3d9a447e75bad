from __future__ import annotations

from pathlib import Path

import pytest

from moot.models import machine
from moot.models.machine import available_memory, free_disk


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine.sys, "platform", "linux")
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    return tmp_path


def test_memory_that_is_available_is_known(kernel: Path) -> None:
    (kernel / "meminfo").write_text("MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 5000 kB\n")
    assert available_memory() == 5000 * 1024


def test_a_container_has_what_is_left_of_its_limit(kernel: Path) -> None:
    (kernel / "meminfo").write_text("MemAvailable: 5000 kB\n")
    (kernel / "memory.current").write_text("3000\n")
    (kernel / "memory.stat").write_text("anon 1\ninactive_file 500\n")
    (kernel / "memory.max").write_text("4000\n")
    assert available_memory() == 1500
    (kernel / "memory.max").write_text("max\n")
    assert available_memory() == 5000 * 1024


def test_memory_that_is_not_known_is_none(kernel: Path) -> None:
    assert available_memory() is None
    (kernel / "meminfo").write_text("nonsense")
    assert available_memory() is None


def test_this_machine_has_some_memory() -> None:
    assert (available_memory() or 0) > 1_000_000


def test_the_disk_of_a_folder_that_is_still_to_be_made(tmp_path: Path) -> None:
    free = free_disk(tmp_path / "not" / "yet")
    assert free is not None
    assert free > 0
