"""MCP clients of others, in their own versions, debate a question with `moot serve` and `moot mcp`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.environment import Clients
from tests.server.test_serve import MOOT, Process, environ, serving

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 240


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("mcp-clients")) as process:
        yield process


# tests/mcp has the official client over stdio; the toolset of pydantic-ai is built on fastmcp's client.
@pytest.mark.parametrize(
    ("program", "way"),
    [
        ("mcp_official.py", "http"),
        ("mcp_fastmcp.py", "http"),
        ("mcp_fastmcp.py", "stdio"),
        ("mcp_pydantic_ai.py", "http"),
    ],
)
def test_a_client_debates(clients: Clients, server: Process, tmp_path: Path, program: str, way: str):
    command = [f"{server.url}/mcp"] if way == "http" else [MOOT, "mcp", "--scope", "read,run,decide"]
    done = subprocess.run(
        [str(clients.python), str(PROGRAMS / program), *command],
        env=environ(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {"start_debate", "wait_for_debate", "answer_gate", "read_record"} <= set(told["tools"])
    assert told["answered"] > 0
    assert told["state"]["status"] == "completed"
    assert told["state"]["headline"]
    assert told["record"].startswith("---\nstatus: proposed")
    assert told["state"]["headline"] in told["record"]
    assert "`format` must be auto, " in told["wrong"]
    if "prompt" in told:  # an agent has no use for prompts and resources
        assert "Redis or PostgreSQL?" in told["prompt"]
        assert told["resource"] == told["record"]
        assert told["progress"]
        assert all(0 < done <= total for done, total in told["progress"])
