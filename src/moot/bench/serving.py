"""Servers in processes of their own, on loopback: `moot serve`, and programs to compare it with or to feed it."""

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

from moot.types import Json

_START_SECONDS = 60
_END_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class Served:
    url: str
    pid: int

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def get(self, path: str) -> Any:
        return httpx2.get(self.url + path, timeout=60).raise_for_status().json()

    def post(self, path: str, body: Json) -> Any:
        return httpx2.post(self.url + path, json=body, timeout=60).raise_for_status().json()

    def resident(self) -> int:
        """Bytes of memory that the process holds now."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def worked(self) -> float:
        """Seconds that the process has had of a processor."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def moot(folder: Path, database: str | Path, *, lags: Path | None = None) -> Generator[Served]:
    """`moot serve`. With `lags` the same command writes there, in the end, how late its event loop ran."""
    start = ["-m", "moot.bench.lag", str(lags)] if lags else [str(Path(sys.executable).with_name("moot"))]
    environ = {
        "HOME": str(folder),
        "MOOT_CONFIG": str(folder / "none.yaml"),
        "MOOT_DATABASE_URL": str(database),
        "MOOT_EMBEDDER": "none",
        "MOOT_LOG_LEVEL": "warning",
        "MOOT_SERVE_RATE": "1000000",  # one client makes all requests here
    }
    (folder / "none.yaml").touch()
    with program(folder, *start, "serve", "--port", "0", environ=environ) as served:
        yield served


@contextmanager
def program(folder: Path, *command: str, environ: Mapping[str, str] | None = None) -> Generator[Served]:
    """One that prints its address, after a blank, as its first line. It is ended by SIGTERM."""
    complaints = folder / f"{command[1].rpartition('.')[2] if command[0] == '-m' else 'moot'}.txt"
    with complaints.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", ""), **(environ or {})},
        )
    assert process.stdout is not None
    limit = threading.Timer(_START_SECONDS, process.kill)
    limit.start()
    try:
        line = process.stdout.readline()
        limit.cancel()
        if "http://" not in line:
            process.wait(_END_SECONDS)
            said = complaints.read_text().strip().splitlines() or ["no message"]
            raise RuntimeError(f"{' '.join(command[:3])} did not start: {said[-1][:200]}")
        yield Served(url=line.split()[-1], pid=process.pid)
    finally:
        limit.cancel()
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
