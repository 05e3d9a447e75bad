"""A built package contains every source file and the dashboard, and works without the embedded models' engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
STATIC = "moot/server/static/"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (made,) = folder.glob("moot-*.whl")
    return made


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_it_has_every_file_of_the_sources_and_no_other(wheel: Path):
    files = (path for path in (ROOT / "src" / "moot").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in files}
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == wanted


def test_it_has_the_dashboard(wheel: Path):
    static = [name.removeprefix(STATIC) for name in zipfile.ZipFile(wheel).namelist() if name.startswith(STATIC)]
    assert "index.html" in static, "run `make web` before the package is built"
    assert {Path(name).suffix for name in static} >= {".html", ".js", ".css", ".svg"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    pip("install", "--no-deps", "--target", str(folder), str(wheel))
    return folder


def moot(installed: Path, folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command of the installed package, after the statements `before`."""
    return subprocess.run(
        [sys.executable, "-c", f"{before}\nimport sys; from moot.cli.main import main; sys.exit(main())", *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(installed),
            "OLLAMA_HOST": "127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_debate_runs_from_it(installed: Path, tmp_path: Path):
    arguments = ["debate", "Tabs or spaces?", "--model", "sim:?tokens=20", "--set", "max_rounds=1"]
    database = ["--db", str(tmp_path / "moot.db")]
    done = moot(installed, tmp_path, *arguments, *database, before="import moot; print(moot.__file__)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(installed / "moot" / "__init__.py")
    assert "moot record" in done.stdout + done.stderr


def test_the_engine_and_pip_come_with_the_extra_alone(wheel: Path):
    name = next(each for each in zipfile.ZipFile(wheel).namelist() if each.endswith(".dist-info/METADATA"))
    needs = Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode()).get_all("Requires-Dist") or []
    for package in ("xllamacpp", "pip"):
        (line,) = [each for each in needs if re.match(rf"{package}\b", each)]
        assert line.endswith("extra == 'local'")


LEAN = "import sys; sys.modules['xllamacpp'] = None"  # as if it were not installed


def test_a_lean_installation_says_what_to_install(installed: Path, tmp_path: Path):
    """Before anything is created or fetched, and wherever an embedded model is named."""
    database = ["--db", str(tmp_path / "moot.db")]
    for arguments in (["debate", "Tabs or spaces?"], ["debate", "Tabs or spaces?", "--model", "local:small"]):
        done = moot(installed, tmp_path, *arguments, *database, before=LEAN)
        assert done.returncode == 2, done.stderr
        assert 'Run `pip install "moot[local]"`' in done.stderr
        assert "Traceback" not in done.stderr
    doctor = moot(installed, tmp_path, "doctor", *database, before=LEAN)
    assert doctor.returncode == 1
    assert 'pip install "moot[local]"' in doctor.stdout
    models = moot(installed, tmp_path, "models", before=LEAN)
    assert models.returncode == 0, models.stderr
    assert 'pip install "moot[local]"' in models.stdout
    assert "engine not installed" in models.stdout
    listed = json.loads(moot(installed, tmp_path, "models", "--json", before=LEAN).stdout)
    assert {each["name"]: each["usable"] for each in listed["providers"]}["local"] is False
    assert not list(tmp_path.rglob("*.gguf*"))
    done = moot(installed, tmp_path, "debate", "Tabs or spaces?", "--model", "sim:?tokens=20", *database, before=LEAN)
    assert done.returncode == 0, done.stderr
