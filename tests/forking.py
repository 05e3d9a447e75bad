"""Commands of moot in processes that are forked from one that has imported moot already: most of what a short command
takes is its imports.

Each command still is a process of its own, with its own arguments, variables, folder and output. For what depends on
how the interpreter starts (its encoding, its path), there is a process to fork from for each such environment.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

MODULES = (
    "moot.cli.main",
    "moot.cli.browse",
    "moot.cli.run",
    "moot.cli.blocks",
    "moot.estimate",
    "moot.store.sqlite",
    *(f"moot.formats.{name}" for name in ("classic", "council", "crucible", "duel", "panel")),
)
# Read by the interpreter when it starts.
AT_START = ("PYTHONPATH", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "LANG", "LC_ALL", "LC_CTYPE")
INSTALL = "TESTS_INSTALL"  # names modules whose `install` is called in the process before its command runs
_LENGTH = struct.Struct("!I")


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: bytes


class Started:
    """A command that runs. As `subprocess.Popen`, as far as tests need it."""

    def __init__(self, args: Sequence[str], told: int, out: IO[bytes] | None = None) -> None:
        self.args, self._told, self._out = [*args], told, out
        self.pid = _LENGTH.unpack(_read(told, _LENGTH.size))[0]
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end; returns what it has written."""
        self.wait(timeout)
        assert self._out is not None
        return _all(self._out).decode(), None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __del__(self) -> None:
        if self._out is not None:
            self._out.close()
        if self.returncode is None:
            os.close(self._told)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            self.returncode = os.waitstatus_to_exitcode(_LENGTH.unpack(_read(self._told, _LENGTH.size))[0])
            os.close(self._told)
        return self.returncode


class ForkServer:
    """A process that forks for each command."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "tests.forking", str(theirs.fileno())]
        root = str(Path(__file__).parents[1])
        path = os.pathsep.join([*filter(None, [env.get("PYTHONPATH")]), root])
        self._process = subprocess.Popen(
            command, env={**env, "PYTHONPATH": path}, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
        )
        theirs.close()

    def start(
        self,
        args: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        out: IO[bytes],
        err: IO[bytes] | None = None,
        given: IO[bytes] | None = None,
    ) -> int:
        """Start a command that reads `given`, and whose output goes to `out` and `err`. Returns the descriptor of a
        pipe that has its pid, and its status when it ends."""
        told, tells = os.pipe()
        with open(os.devnull) as nothing:
            request = json.dumps({"args": [*args], "env": dict(env), "cwd": str(cwd or Path.cwd())}).encode()
            fds = [(given or nothing).fileno(), out.fileno(), (err or out).fileno(), tells]
            socket.send_fds(self._ours, [_LENGTH.pack(len(request))], fds)
            self._ours.sendall(request)
        os.close(tells)
        return told

    def close(self) -> None:
        self._ours.close()
        self._process.wait()


_SERVERS: dict[tuple[str | None, ...], ForkServer] = {}


def _server(env: Mapping[str, str]) -> ForkServer:
    kind = tuple(env.get(name) for name in AT_START)
    if kind not in _SERVERS:
        _SERVERS[kind] = ForkServer(env)
        if len(_SERVERS) == 1:
            atexit.register(_close)
    return _SERVERS[kind]


def _close() -> None:
    while _SERVERS:
        _SERVERS.popitem()[1].close()


def start_moot(args: Sequence[str], env: Mapping[str, str], cwd: Path | None = None, out: Any = None) -> Started:
    """Start a command of moot. Its output goes to the file `out`; without one, `communicate` returns it."""
    own = tempfile.TemporaryFile() if out is None else None  # noqa: SIM115
    return Started(args, _server(env).start(args, env, cwd, own or out), own)


def run_moot(
    args: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | None = None,
    timeout: float = 60,
    input: bytes | None = None,
) -> Done:
    """Run a command of moot to its end, with `input` in a file as its standard input. Raises
    subprocess.TimeoutExpired."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(input or b"")
        given.seek(0)
        started = Started(args, _server(env).start(args, env, cwd, out, err, None if input is None else given))
        try:
            return Done(code=started.wait(timeout), out=_all(out), err=_all(err))
        finally:
            started.kill()


def _all(file: Any) -> bytes:
    file.seek(0)
    return file.read()


def _exactly(link: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = link.recv(size - len(read))
        if not more:
            raise EOFError("the other side is gone")
        read += more
    return read


def _read(fd: int, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = os.read(fd, size - len(read))
        if not more:
            raise EOFError("the process to fork from is gone")
        read += more
    return read


def _serve(link: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for those between
    for name in MODULES:
        importlib.import_module(name)
    while True:
        head, fds, _, _ = socket.recv_fds(link, _LENGTH.size, 4)
        if not head:
            return
        request = json.loads(_exactly(link, _LENGTH.unpack(head)[0]))
        if not os.fork():
            link.close()
            _between(request, fds)
        for fd in fds:
            os.close(fd)


def _between(request: Any, fds: Sequence[int]) -> None:
    """Start a command, wait for its end, and tell both to the one who asked for it."""
    *streams, tells = fds
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if not pid:
        os.close(tells)
        _command(request, streams)
    for fd in streams:
        os.close(fd)
    os.write(tells, _LENGTH.pack(pid))
    _, status = os.waitpid(pid, 0)
    os.write(tells, _LENGTH.pack(status))
    os._exit(0)


def _command(request: Any, fds: Sequence[int]) -> None:
    """Run a command as its executable would, and end this process."""
    code: Any = 1
    try:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.argv = ["moot", *request["args"]]
        for name in request["env"].get(INSTALL, "").split():
            importlib.import_module(name).install()
        from moot.cli.main import main

        code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()  # waits for threads, as at the end of an interpreter
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0 if code is None else code if isinstance(code, int) else 1)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
