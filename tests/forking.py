"""Commands of moot in processes that are forked from one that has imported moot already: most of what a short command
takes is its imports.

Each command still is a process of its own, with its own arguments, variables, folder and output. For what depends on
how the interpreter starts (its encoding, its path), there is a process to fork from for each such environment.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TextIO

import moot

# Of others, what moot imports when it is needed.
MODULES = ("asyncpg", "pgqueuer.qm", "pgqueuer.adapters.drivers.asyncpg", "pgqueuer.adapters.persistence.qb", "pwd")
# Read by the interpreter when it starts.
AT_START = ("PYTHONPATH", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "LANG", "LC_ALL", "LC_CTYPE")
CONSTANTS = "TESTS_CONSTANTS"  # other values of constants of moot, by dotted name, as JSON
PATCH = "TESTS_PATCH"  # statements that are run before a command, to change what it runs
_LENGTH = struct.Struct("!I")
_END = struct.Struct("!Id")  # the status of a command that has ended, and its processor time

used = 0.0  # seconds of processor time of all commands that have ended


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
        global used
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            status, seconds = _END.unpack(_read(self._told, _END.size))
            self.returncode = os.waitstatus_to_exitcode(status)
            used += seconds
            os.close(self._told)
        return self.returncode


class Piped(Started):
    """A command whose output can be read while it runs."""

    def __init__(
        self,
        args: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        *,
        unread: bool = False,
        errors: IO[bytes] | None = None,
    ) -> None:
        """`errors`: a file for its standard error."""
        (out, tells_out), (err, tells_err) = os.pipe(), os.pipe()
        self.stdout: TextIO = open(out)  # noqa: SIM115
        self.stderr: TextIO = open(err)  # noqa: SIM115
        if unread:
            self.stdout.close()
        with open(tells_out, "wb") as told_out, open(tells_err, "wb") as told_err:
            super().__init__(args, _server(env).start(args, env, cwd, told_out, errors or told_err))

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end; returns what it has written and nobody has read."""
        written = ["" if stream.closed else stream.read() for stream in (self.stdout, self.stderr)]
        self.wait(timeout)
        return written[0], written[1]

    def close(self) -> None:
        self.stdout.close()
        self.stderr.close()


class ForkServer:
    """A process that forks for each command. All processes of a test run share it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        kind = sha256(repr(_kind(env)).encode()).hexdigest()[:16]
        address = Path(os.environ.get("TESTS_OF_MOOT") or tempfile.mkdtemp()) / f"fork-{kind}"
        self._ours = socket.socket(socket.AF_UNIX)
        with address.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not address.exists():
                _begin(address, env)
        self._ours.connect(str(address))

    def start(
        self,
        args: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        out: IO[bytes],
        err: IO[bytes] | None = None,
        given: IO[bytes] | None = None,
        terminal: bool = False,
    ) -> int:
        """Start a command that reads `given`, and whose output goes to `out` and `err`; if `given` is a `terminal`, it
        becomes that of the command. Returns the descriptor of a pipe that has its pid, and its status when it ends."""
        told, tells = os.pipe()
        with open(os.devnull) as nothing:
            asked = {"args": [*args], "env": dict(env), "cwd": str(cwd or Path.cwd()), "terminal": terminal}
            request = json.dumps(asked).encode()
            fds = [(given or nothing).fileno(), out.fileno(), (err or out).fileno(), tells]
            socket.send_fds(self._ours, [_LENGTH.pack(len(request))], fds)
            self._ours.sendall(request)
        os.close(tells)
        return told


def _begin(address: Path, env: Mapping[str, str]) -> None:
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([*filter(None, [env.get("PYTHONPATH")]), root])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        fds = (listener.fileno(), _ended)
        subprocess.run(
            [sys.executable, "-m", "tests.forking", *map(str, fds)],
            env={**env, "PYTHONPATH": path},
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
        )


def _kind(env: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(env.get(name) for name in AT_START)


_ended, _goes_on = os.pipe()  # reads its end when this process and those that it has forked have ended
_SERVERS: dict[tuple[str | None, ...], ForkServer] = {}


def _server(env: Mapping[str, str]) -> ForkServer:
    if _kind(env) not in _SERVERS:
        _SERVERS[_kind(env)] = ForkServer(env)
    return _SERVERS[_kind(env)]


def start_moot(args: Sequence[str], env: Mapping[str, str], cwd: Path | None = None, out: Any = None) -> Started:
    """Start a command of moot. Its output goes to the file `out`; without one, `communicate` returns it."""
    own = tempfile.TemporaryFile() if out is None else None  # noqa: SIM115
    return Started(args, _server(env).start(args, env, cwd, own or out), own)


def start_in_terminal(args: Sequence[str], env: Mapping[str, str], cwd: Path, terminal: IO[bytes]) -> Started:
    return Started(args, _server(env).start(args, env, cwd, terminal, given=terminal, terminal=True))


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


def constants(values: Mapping[str, float]) -> dict[str, str]:
    """The variables with which a command runs with other values of constants of moot, by dotted name."""
    return {CONSTANTS: json.dumps(values)}


def set_constants() -> None:
    """Set the constants that the environment names, in this process."""
    for name, value in json.loads(os.environ.get(CONSTANTS, "{}")).items():
        module, _, constant = name.rpartition(".")
        found = importlib.import_module(module)
        assert hasattr(found, constant), name
        setattr(found, constant, value)


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


def _serve(listener: socket.socket, ended: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for those between
    for name in (*MODULES, *_of_moot()):
        with suppress(ImportError):  # of a package that is not here
            importlib.import_module(name)
    gc.freeze()
    links: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([ended, listener, *links], [], [])
        if ended in ready:
            return
        if listener in ready:
            link, _ = listener.accept()
            links[link.fileno()] = link
        for fd in links.keys() & set(ready):
            link = links[fd]
            head, fds, _, _ = socket.recv_fds(link, _LENGTH.size, 4)
            if not head:
                links.pop(fd).close()
                continue
            request = json.loads(_exactly(link, _LENGTH.unpack(head)[0]))
            if not os.fork():
                os.close(ended)
                for each in (listener, *links.values()):
                    each.close()
                _between(request, fds)
            for each in fds:
                os.close(each)


def _of_moot() -> Iterator[str]:
    """Its modules but for programs and what runs in a sandbox."""
    for module in pkgutil.walk_packages(moot.__path__, "moot."):
        if "__main__" not in module.name and ".inside" not in module.name:
            yield module.name


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
    _, status, taken = os.wait4(pid, 0)
    os.write(tells, _END.pack(status, taken.ru_utime + taken.ru_stime))
    os._exit(0)


def _command(request: Any, fds: Sequence[int]) -> None:
    """Run a command as its executable would, and end this process."""
    code: Any = 1
    try:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
            os.close(fd)
        if request["terminal"]:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdin, sys.stdout = _stream(sys.stdin, "r"), _stream(sys.stdout, "w")
        sys.stderr = _stream(sys.stderr, "w", buffering=1)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts in the background
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.argv = ["moot", *request["args"]]
        set_constants()
        exec(os.environ.get(PATCH, ""), {})
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


def _stream(old: TextIO, mode: str, buffering: int = -1) -> Any:
    """What an interpreter opens when it starts: how depends on what is behind the descriptor."""
    return open(old.fileno(), mode, buffering, encoding=old.encoding, errors=old.errors, closefd=False)


if __name__ == "__main__":
    if not os.fork():  # below no process of the tests, some of which look at all that are below them
        _serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
