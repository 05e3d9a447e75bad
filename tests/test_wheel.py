"""A built package contains every source file and the dashboard, and works without the embedded models' engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import defaultdict
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
STATIC = "moot/server/static/"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source distribution, as `python -m build` does: what that lacks, the package lacks."""
    folder = tmp_path_factory.mktemp("wheel")
    build(ROOT, "build_sdist", folder)
    (archive,) = folder.glob("moot-*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    build(folder / archive.name.removesuffix(".tar.gz"), "build_wheel", folder)
    (made,) = folder.glob("moot-*.whl")
    return made


def build(sources: Path, what: str, folder: Path) -> None:
    program = f"from hatchling import build; build.{what}({str(folder)!r})"
    subprocess.run([sys.executable, "-c", program], cwd=sources, capture_output=True, timeout=300, check=True)


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_it_has_every_file_of_the_sources_and_no_other(wheel: Path):
    files = (path for path in (ROOT / "src" / "moot").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in files}
    found = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("moot/")}
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


RUN = "import sys; from moot.cli.main import main; sys.exit(main())"


def environ(installed: Path, folder: Path) -> dict[str, str]:
    own = {"HOME": str(folder), "PYTHONPATH": str(installed), "OLLAMA_HOST": "127.0.0.1:9"}
    return {"PATH": os.environ["PATH"], **own}


def test_a_debate_runs_from_it(installed: Path, tmp_path: Path):
    arguments = ["debate", "Tabs or spaces?", "--model", "sim:?tokens=20", "--set", "max_rounds=1"]
    command = [sys.executable, "-c", f"import moot; print(moot.__file__)\n{RUN}", *arguments]
    env = {**environ(installed, tmp_path), "MOOT_DATABASE_URL": str(tmp_path / "moot.db")}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(installed / "moot" / "__init__.py")
    assert "moot record" in done.stdout + done.stderr


def test_without_the_dashboard_serve_says_so(installed: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(installed / "moot", copy / "moot", ignore=shutil.ignore_patterns("static"))
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "serve", "--port", "0", "--db", str(tmp_path / "moot.db")],
        cwd=tmp_path, env=environ(copy, tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            assert "moot listens on" in server.stdout.readline()
            assert "has no dashboard, so only the API is served" in server.stderr.readline()
        finally:
            server.kill()


def test_its_extras(wheel: Path):
    name = next(each for each in zipfile.ZipFile(wheel).namelist() if each.endswith(".dist-info/METADATA"))
    needs = Parser().parsestr(zipfile.ZipFile(wheel).read(name).decode()).get_all("Requires-Dist") or []
    extras: dict[str, set[str]] = defaultdict(set)
    for need in needs:
        package, _, condition = need.partition(";")
        extras[condition.partition("==")[2].strip(" '")].add(re.split(r"[^\w-]", package)[0])
    assert extras["local"] == {"pip", "xllamacpp"}
    assert not extras[""] & extras["all"], "a lean installation has none of them"
    assert extras.keys() == {"", "all", "embeddings", "forge", "local", "postgres", "telemetry"}
    assert extras["all"] == set().union(*(extras[each] for each in extras.keys() - {"", "all"}))


# Commands in one process that has no engine for embedded models: their codes, and what they printed.
LEAN = """
import contextlib, io, json, sys
sys.modules["xllamacpp"] = None
from moot.cli.main import main
done = []
for arguments in json.loads(sys.argv[1]):
    sys.argv, out, err = ["moot", *arguments], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        done.append([main(), out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""


def test_a_lean_installation_says_what_to_install(installed: Path, tmp_path: Path):
    """Before anything is created or fetched, and wherever an embedded model is named."""
    commands = [
        ["debate", "Tabs or spaces?"],
        ["debate", "Tabs or spaces?", "--model", "local:small"],
        ["doctor"],
        ["models"],
        ["models", "--json"],
        ["debate", "Tabs or spaces?", "--model", "sim:?tokens=20", "--rounds", "1"],
    ]
    run = [sys.executable, "-c", LEAN, json.dumps(commands)]
    env = {**environ(installed, tmp_path), "MOOT_DATABASE_URL": str(tmp_path / "moot.db")}
    ran = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=True)
    *refused, doctor, models, listed, debate = json.loads(ran.stdout)
    for code, _, err in refused:
        assert code == 2, err
        assert 'Run `pip install "moot[local]"`' in err
        assert "Traceback" not in err
    assert doctor[0] == 1
    assert 'pip install "moot[local]"' in doctor[1]
    assert models[0] == 0, models
    assert 'pip install "moot[local]"' in models[1]
    assert "engine not installed" in models[1]
    assert {each["name"]: each["usable"] for each in json.loads(listed[1])["providers"]}["local"] is False
    assert not list(tmp_path.rglob("*.gguf*"))
    assert debate[0] == 0, debate
