"""MCP clients of others, in their own versions, debate a question with `moot serve` and `moot mcp`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.conftest import PROGRAMS, output
from tests.clients.environment import Clients
from tests.server.test_serve import MOOT, Process, environ

pytestmark = pytest.mark.slow


# tests/mcp has the official client over stdio.
@pytest.mark.parametrize(("program", "way"), [("mcp_official.py", "http"), ("mcp_fastmcp.py", "stdio")])
def test_a_client_debates(clients: Clients, server: Process, tmp_path: Path, program: str, way: str):
    command = [f"{server.url}/mcp"] if way == "http" else [MOOT, "mcp", "--scope", "read,run,decide"]
    told = json.loads(output(tmp_path, environ(tmp_path), clients.python, PROGRAMS / program, *command))
    assert {"start_debate", "wait_for_debate", "answer_gate", "read_record"} <= set(told["tools"])
    assert told["answered"] > 0
    assert told["state"]["status"] == "completed"
    assert told["state"]["headline"]
    assert told["record"].startswith("---\nstatus: proposed")
    assert told["state"]["headline"] in told["record"]
    assert "`format` must be auto, " in told["wrong"]
    assert "Redis or PostgreSQL?" in told["prompt"]
    assert told["resource"] == told["record"]
    assert told["progress"]
    assert all(0 < done <= total for done, total in told["progress"])
