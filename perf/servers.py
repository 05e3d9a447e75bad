"""Servers in separate processes on loopback: `moot serve`, and the programs it is fed by or compared with."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from moot.core.types import Json
from perf.process import environment, last_line

_START_SECONDS = 60
_STOP_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    url: str
    pid: int

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def get(self, path: str) -> Any:
        return httpx2.get(self.url + path, timeout=60).raise_for_status().json()

    def post(self, path: str, body: Json) -> Any:
        return httpx2.post(self.url + path, json=body, timeout=60).raise_for_status().json()

    def resident_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def moot_serve(folder: Path, database: str | Path, *, lags: Path | None = None) -> Generator[RunningServer]:
    """Run `moot serve`. With `lags`, the lag of its event loop is written to that file when it stops."""
    command = ["-m", "perf.lag", str(lags)] if lags else [str(Path(sys.executable).with_name("moot"))]
    environ = {
        "HOME": str(folder),
        "MOOT_CONFIG": str(folder / "none.yaml"),
        "MOOT_DATABASE_URL": str(database),
        "MOOT_EMBEDDER": "none",
        "MOOT_LOG_LEVEL": "warning",
        "MOOT_SERVE_RATE": "1000000",  # one client makes all requests here
        "MOOT_CALL_TIMEOUT_SECONDS": "3600",  # some of the answers take as long as the measurement
    }
    (folder / "none.yaml").touch()
    with running(folder, *command, "serve", "--port", "0", environ=environ) as server:
        yield server


@contextmanager
def running(folder: Path, *command: str, environ: Mapping[str, str] | None = None) -> Generator[RunningServer]:
    """Run a Python program whose first line of output ends with its URL; stop it with SIGTERM on exit.

    Raises RuntimeError with the last line of its stderr if it does not start.
    """
    log = folder / f"{command[1].rpartition('.')[2] if command[0] == '-m' else 'moot'}.txt"
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=folder,
            env=environment({"PATH": os.environ.get("PATH", ""), **(environ or {})}),
        )
    assert process.stdout is not None
    limit = threading.Timer(_START_SECONDS, process.kill)
    limit.start()
    try:
        line = process.stdout.readline()
        limit.cancel()
        if "http://" not in line:
            process.wait(_STOP_SECONDS)
            raise RuntimeError(f"{' '.join(command[:3])} did not start: {last_line(log.read_text())}")
        yield RunningServer(url=line.split()[-1], pid=process.pid)
    finally:
        limit.cancel()
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
