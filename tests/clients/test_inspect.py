"""Inspect runs its own tasks on debates without a server, and its viewer shows evaluations of moot's."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from moot.server.serving import listen
from tests.clients.conftest import PROGRAMS, output
from tests.clients.environment import Clients
from tests.server.serving import DEADLINE
from tests.server.test_serve import environ, run

pytestmark = pytest.mark.slow


def test_inspect_runs_its_tasks_on_debates_without_a_server(clients: Clients, tmp_path: Path):
    site_packages = next((clients.folder / "lib").glob("python*/site-packages"))
    command = (sys.executable, PROGRAMS / "inspect_provider.py", site_packages, tmp_path / "logs")
    said = output(tmp_path, {**environ(tmp_path), "MOOT_BACKOFF_TRIES": "0"}, *command)
    got: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert got["status"] == "success", got["error"]
    assert set(got["chosen"]) <= {"A", "B"}
    assert [each == "C" for each in got["right"]] == [
        chosen == target for chosen, target in zip(got["chosen"], "AB", strict=True)
    ]
    assert all(re.search(r"^ANSWER: [AB]$", each, re.MULTILINE) for each in got["answers"])
    assert got["tokens"]["moot/council/sim:"] > 0
    for debate in got["debates"]:
        shown = run(tmp_path, "show", debate)
        assert (shown.returncode, "ANSWER" in shown.stdout) == (0, True)
    assert "No debates here" in (listed := run(tmp_path, "list")).stdout + listed.stderr
    assert "Did you mean 'council'" in got["no_format"]
    assert "Did you mean 'depth'" in got["no_setting"]
    assert "nonsense" in got["no_model"]
    assert "leave the base URL and the key out" in got["address"]
    assert "calls no tools" in got["tools"]
    content, about = got["shaped"]
    assert (set(json.loads(content)), about["format"]) == ({"drink"}, "duel")
    assert got["unattended"]["format"] == "panel"
    assert "is failed" in got["failed"]


@contextmanager
def viewing(clients: Clients, folder: Path, logs: Path) -> Iterator[httpx2.Client]:
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [str(clients.python.with_name("inspect")), "view", "start", "--log-dir", str(logs), "--port", str(port)],
        env={**environ(folder), "PYTHONPATH": os.fspath(clients.newer), "PYTHONUNBUFFERED": "1"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            said: list[str] = []
            for line in process.stdout:  # until it listens, or ends
                said.append(line)
                if "Running on" in line:
                    break
            assert said, "it said nothing"
            assert "Running on" in said[-1], "".join(said)
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}/api", timeout=DEADLINE) as client:
                yield client
        finally:
            process.kill()


def test_the_viewer_shows_an_evaluation(clients: Clients, tmp_path: Path):
    logs = tmp_path / "logs"
    asked = ("sim_choice", "--limit", "2", "--pool", "3", "--arms", "single,council", "--set", "council.depth=vote")
    ran = run(tmp_path, "eval", "run", *asked, "--model", "sim:", "--json", "--inspect", str(logs))
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    written = {path.name: path.read_bytes() for path in logs.iterdir()}
    short = report["evaluation"][:8]
    assert set(written) == {f"sim-choice-{arm}-{short}.eval" for arm in ("samples", "council")}
    again = run(tmp_path, "eval", "report", short, "--inspect", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == written
    with viewing(clients, tmp_path, logs) as viewer:
        listed = viewer.get("/logs").json()["files"]
        assert {each["name"].rpartition("/")[2] for each in listed} == set(written)
        name = next(each["name"] for each in listed if "council" in each["name"])
        (header,) = viewer.get("/log-headers", params={"file": name}).json()
        assert (header["status"], header["eval"]["model"]) == ("success", "moot/council")
        accuracy = header["results"]["scores"][0]["metrics"]["accuracy"]["value"]
        assert accuracy == report["arms"]["council"]["accuracy"]
        log = viewer.get(f"/logs/{name}").json()
        cells = {each["item"]: each for each in report["cells"] if each["arm"] == "council"}
        assert {each["id"] for each in log["samples"]} == set(cells)
        for sample in log["samples"]:
            cell = cells[sample["id"]]
            assert sample["metadata"]["debate"] == cell["debate"]
            assert (sample["scores"]["moot"]["value"] == 1.0) == cell["right"]
            assert sample["output"]["completion"] == (cell["answer"] or "")
        # The viewer in the browser reads single samples from ranges of the file.
        size = viewer.get(f"/log-size/{name}").json()
        raw = viewer.get(f"/log-bytes/{name}", params={"start": 0, "end": size - 1}).content
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        first = next(iter(cells))
        assert json.loads(archive.read(f"samples/{first}_epoch_1.json"))["id"] == first
