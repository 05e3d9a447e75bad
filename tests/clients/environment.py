"""The environment of third-party clients: OpenAI's libraries and what builds on them, MCP clients, generators, Jupyter.

It lives beside moot's own, in `.venv-clients`, named after what is pinned, so that it is made once and used again. All
processes of a test run share it. `make clients` makes it ahead of the tests; a test that needs it makes it otherwise.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from web.build import find_node, npm

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent.parent / ".venv-clients"
NODE_PINS = ("package.json", "package-lock.json")
PINS = ("constraints.txt", "newer.txt", *NODE_PINS)
OLDEST_NODE = 22  # of the npm package `openai`
INSTALL_SECONDS = 1800


@dataclass(frozen=True)
class Clients:
    python: Path
    node: Path | None  # None: there is no Node on this machine
    folder: Path  # with `node_modules`, where there is Node
    newer: Path  # goes before the others on the path of clients that need newer.txt


class NotInstalled(Exception):
    """The clients could not be installed: the message says why."""


def ready() -> Clients:
    """Make the environment, unless it is there. Raises NotInstalled."""
    node = find_node(OLDEST_NODE)
    folder = ENVIRONMENTS / _name(node)
    clients = Clients(python=folder / "bin/python", node=node, folder=folder, newer=folder / "newer")
    done = folder / ".ready"
    ENVIRONMENTS.mkdir(exist_ok=True)
    with (ENVIRONMENTS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(clients)
            done.touch()
    return clients


def _name(node: Path | None) -> str:
    pinned = hashlib.sha256(b"\0".join((HERE / name).read_bytes() for name in PINS)).hexdigest()[:12]
    return f"{sys.version_info.major}.{sys.version_info.minor}-{pinned}{'' if node else '-no-node'}"


def _install(clients: Clients) -> None:
    print("Setting up .venv-clients (860 MB, once) …", flush=True)
    _run(sys.executable, "-m", "venv", str(clients.folder))
    pip = [str(clients.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    _run(*pip, "--no-deps", "--require-hashes", "-r", str(HERE / "constraints.txt"))
    _run(*pip, "--no-deps", "--require-hashes", "--target", str(clients.newer), "-r", str(HERE / "newer.txt"))
    if clients.node is not None:
        for name in NODE_PINS:
            shutil.copy(HERE / name, clients.folder)
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        _run(*npm(clients.node), "ci", *options, "--prefix", str(clients.folder))


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"{_what(command)} did not end in {INSTALL_SECONDS} s.") from None
    if done.returncode:
        raise NotInstalled(f"{_what(command)} failed:\n{(done.stderr or done.stdout)[-2000:]}")


def _what(command: tuple[str, ...]) -> str:
    return (
        "The clients of the slow tests could not be installed. They come from your package index, as pinned in "
        f"tests/clients/: check that it can be reached, then run `make clients`. {' '.join(command[:5])} …"
    )


@pytest.fixture(scope="session")
def clients() -> Clients:
    """Third-party clients in an environment of their own. The first test that asks for it may wait for minutes."""
    return ready()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "clients" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(INSTALL_SECONDS + 300))


if __name__ == "__main__":
    try:
        ready()
    except NotInstalled as why:
        sys.exit(str(why))
