"""A PostgreSQL server of our own, in a folder that goes with it; fsync is on, as where it counts."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_CONFIGURATION = "listen_addresses = ''\nmax_connections = 300\nshared_buffers = 256MB\njit = off\n"


class NoServer(Exception):
    pass


@contextmanager
def a_server(folder: Path) -> Generator[Server]:
    binaries = _binaries()
    with tempfile.TemporaryDirectory(prefix="moot-bench-") as name:  # a socket's path must be short
        home = Path(name)
        home.chmod(0o755)
        data, port = folder / "postgres", _free_port()
        data.mkdir()
        for path in (home, data):
            os.chown(path, *_owner())
        for parent in data.parents:
            if os.stat(parent).st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)  # the server's user has to get through
        _run(binaries / "initdb", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "-D", data)
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"{_CONFIGURATION}port = {port}\nunix_socket_directories = '{home}'\n")
        _run(binaries / "pg_ctl", "-D", data, "-w", "-l", data / "log", "start")
        try:
            yield Server(f"postgresql://postgres@/postgres?host={home}&port={port}")
        finally:
            _end(int((data / "postmaster.pid").read_text().split()[0]))


class Server:
    def __init__(self, url: str) -> None:
        self._url = url
        self._made = 0

    async def database(self) -> str:
        """A new one on the same server."""
        from moot.store.postgres.address import read_address
        from moot.store.postgres.link import connect

        self._made += 1
        name = f"moot_bench_{os.getpid()}_{self._made}"
        link = await connect(read_address(self._url))
        try:
            await link.execute(f"create database {name}")
        finally:
            await link.close()
        return self._url.replace("/postgres?", f"/{name}?", 1)


@contextmanager
def a_redis(folder: Path) -> Generator[str]:
    program = shutil.which("redis-server")
    if program is None:
        raise NoServer("redis-server is not installed (Debian: apt-get install redis-server)")
    port = _free_port()
    with (folder / "redis.log").open("w") as log:
        process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
            stdout=log,
            stderr=log,
        )
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def _binaries() -> Path:
    found = shutil.which("pg_ctl")
    if found and shutil.which("initdb"):
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[4]))
    if not installed:
        raise NoServer("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return installed[-1]


def _owner() -> tuple[int, int]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    user = pwd.getpwnam("postgres")
    return user.pw_uid, user.pw_gid


def _run(*command: str | Path) -> None:
    uid, gid = _owner()
    user: dict[str, Any] = {"user": uid, "group": gid, "extra_groups": []} if os.geteuid() == 0 else {}
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    code: int = subprocess.call(command, cwd="/", **quiet, **user)
    if code:
        raise NoServer(f"{Path(command[0]).name} failed; is PostgreSQL installed whole?")


def _end(pid: int) -> None:
    """At once: nothing on it is worth a checkpoint. By its pid, as its user may no longer get to its folder."""
    os.kill(pid, signal.SIGQUIT)
    until = time.monotonic() + 10  # a dead process may be kept by a parent that does not ask after it
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.kill(pid, 0)
            time.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
