"""A built package contains every source file and the dashboard."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
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


def test_a_debate_runs_from_it(wheel: Path, tmp_path: Path):
    installed = tmp_path / "installed"
    pip("install", "--no-deps", "--target", str(installed), str(wheel))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(installed)}
    program = "import moot; print(moot.__file__); from moot.cli.main import main; main()"
    arguments = ["debate", "Tabs or spaces?", "--model", "sim:?tokens=20", "--set", "max_rounds=1"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--db", str(tmp_path / "moot.db")],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(installed / "moot" / "__init__.py")
    assert "moot record" in done.stdout + done.stderr
