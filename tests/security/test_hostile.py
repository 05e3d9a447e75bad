"""A real `moot serve` under attack: half-open connections beyond its file descriptors, and a short hostile soak."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.forking import constants
from tests.security.hostile import Plan, run_debates, serving, soak

pytestmark = pytest.mark.slow

FILES = 256  # 64 of them for connections
HALF = (b"", b"GET /healthz HTTP/1.1\r\nX-Half:", b"POST /v1/debates HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")


def test_half_open_connections_leave_room_for_debates_and_requests(tmp_path: Path):
    """More than it has descriptors for, and all from the address of those who ask properly."""
    # Caps alone must do.
    never = constants({"moot.server.connections.HEADER_SECONDS": 3600, "moot.server.connections.BODY_SECONDS": 3600})
    with serving(tmp_path, FILES, MOOT_SERVE_RATE="100000", **never) as target, ExitStack() as stack:
        for n in range(2 * FILES):
            client = stack.enter_context(socket.create_connection((target.host, target.port), timeout=60))
            client.sendall(HALF[n % len(HALF)])
        asyncio.run(run_debates(target, Plan(debates=3, latency_ms=20)))
        with httpx2.Client(base_url=target.url, timeout=60) as client:
            for path in ("/healthz", "/readyz", "/", "/openapi.json"):
                assert client.get(path).status_code in (200, 503 if path == "/" else 200)
        assert "Too many open files" not in (tmp_path / "serve.err").read_text()


def test_a_short_soak(tmp_path: Path):
    plan = Plan(rounds=1, debates=10, clients=14, files=512, latency_ms=100)
    report = soak(tmp_path, plan)
    print(f"\n{report}")
    assert report.failed == []
    assert set(report.done) == set(plan.kinds)
    assert "Too many open files" not in (tmp_path / "serve.err").read_text()
