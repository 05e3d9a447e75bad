"""docs/formats.md, followed to the letter: the package that it describes is built, installed and used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import moot.formats.format as description

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


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(folder / "site"),
        "MOOT_CONFIG": os.devnull,
        "MOOT_DATABASE_URL": str(folder / "moot.db"),
    }
    program = "from moot.cli.main import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)


def test_it_is_listed(installed: Path):
    listed = run(installed, "formats")
    assert listed.returncode == 0, listed.stderr
    assert re.search(r"^second-opinion +An answer that someone else would sign", listed.stdout, re.MULTILINE)
    assert "can't be used" not in listed.stdout


def test_it_is_debated_shown_recorded_and_replayed(installed: Path):
    done = run(installed, "Which licence?", "--format", "second-opinion", "--model", "sim:", "--plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Author answers, round 1" in done.stdout
    assert re.search(r"Reviewer reviews the answer, round 1: (signs|does not sign)", done.stdout)
    assert re.search(r"Ended because (the reviewer signed|all rounds were played)\.", done.stdout)
    short = re.search(r"debate ([0-9a-f]{8})", done.stdout)
    assert short is not None
    record = run(installed, "record", short[1], "--print")
    assert "Decided by: the reviewer's signature" in record.stdout
    replay = run(installed, "replay", short[1])
    assert "The same transcript, byte for byte" in replay.stdout


def test_every_field_of_a_format_is_explained():
    table = TEXT[TEXT.index("| field | says |") :]
    for name in description.Format.__dataclass_fields__:
        assert f"`{name}`" in table, name
