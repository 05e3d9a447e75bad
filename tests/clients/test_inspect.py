"""Inspect runs its own tasks on debates without a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environment import Clients
from tests.server.test_serve import environ, run

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "programs" / "inspect_provider.py"
SECONDS = 900


def site_packages(clients: Clients) -> Path:
    return next((clients.folder / "lib").glob("python*/site-packages"))


def test_inspect_runs_its_tasks_on_debates_without_a_server(clients: Clients, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(site_packages(clients)), str(tmp_path / "logs")],
        env={**environ(tmp_path), "MOOT_BACKOFF_TRIES": "0"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    got: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
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
