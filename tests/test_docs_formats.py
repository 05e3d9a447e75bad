"""docs/formats.md, followed to the letter: the package that it describes is built, installed and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import moot.formats.format as description
from tests.forking import run_moot

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parent.parent / "docs" / "formats.md").read_text()
FILE = re.compile(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("second-opinion")
    for name, text in FILE.findall(TEXT):
        path = folder / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder / "site"), str(folder / "package")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run(folder: Path, *arguments: str) -> str:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(folder / "site"),
        "MOOT_CONFIG": os.devnull,
        "MOOT_DATABASE_URL": str(folder / "moot.db"),
    }
    done = run_moot(arguments, environ, folder, timeout=120)
    assert done.code == 0, done.out + done.err
    return done.out.decode()


def test_it_is_listed(installed: Path):
    listed = run(installed, "formats")
    assert re.search(r"^second-opinion +An answer that someone else would sign", listed, re.MULTILINE)
    assert "can't be used" not in listed


def test_it_is_debated_shown_recorded_and_replayed(installed: Path):
    done = run(installed, "Which licence?", "--format", "second-opinion", "--model", "sim:", "--plain")
    assert "Author answers, round 1" in done
    assert re.search(r"Reviewer reviews the answer, round 1: (signs|does not sign)", done)
    assert re.search(r"Ended because (the reviewer signed|all rounds were played)\.", done)
    short = re.search(r"debate ([0-9a-f]{8})", done)
    assert short is not None
    assert "Decided by: the reviewer's signature" in run(installed, "record", short[1], "--print")
    assert "The same transcript, byte for byte" in run(installed, "replay", short[1])


def test_every_field_of_a_format_is_explained():
    table = TEXT[TEXT.index("| field | says |") :]
    for name in description.Format.__dataclass_fields__:
        assert f"`{name}`" in table, name
