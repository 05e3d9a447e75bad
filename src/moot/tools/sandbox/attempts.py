"""Attempts to get out of a sandbox. Runs inside, with the standard library alone.

Its input is JSON: the names of attempts, and what they need to know of the outside. Its results have a line of JSON for
each: the name, and what it got hold of; nothing, where the sandbox holds.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import hashlib
import json
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

RESULTS = 3

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
known: dict[str, Any] = {}  # of the outside
attempts: dict[str, Callable[[], str]] = {}


def attempt(function: Callable[[], str]) -> Callable[[], str]:
    attempts[function.__name__] = function
    return function


def call(number: int, *arguments: int) -> tuple[int, int]:
    """Make a system call; gives its result and the error number."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(each) for each in arguments))
    return result, ctypes.get_errno()


def reached(number: int, *arguments: int, held: int | None = None) -> str:
    """Whether a system call got as far as the kernel, rather than to the filter alone."""
    result, error = call(number, *arguments)
    if result == -1 and error == (known["denied"] if held is None else held):
        return ""
    return f"it returned {result}" if result != -1 else f"the kernel answered {errno.errorcode.get(error, error)}"


def socket_of(family: int, kind: int = socket.SOCK_DGRAM) -> str:
    try:
        socket.socket(family, kind).close()
    except OSError as error:
        return "" if error.errno == errno.EAFNOSUPPORT else f"the kernel answered {error}"
    return "a socket"


@attempt
def system_calls() -> str:
    """Every call that the filter denies, with arguments that change nothing where it does not."""
    found: list[str] = []
    for name, number in known["calls"].items():
        first = 0 if name == "keyctl" else -1  # an unknown operation has the filter's own error
        got = reached(number, first, -1, -1, -1, -1, -1)
        if got:
            found.append(f"{name}: {got}")
    return "; ".join(found)


@attempt
def inet() -> str:
    return socket_of(socket.AF_INET)


@attempt
def abstract_socket() -> str:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as outside:
            outside.connect("\0" + known["abstract"])
            return "a connection"
    except OSError:
        return ""


@attempt
def homes() -> str:
    for place in known["homes"]:
        try:
            if os.listdir(place):
                return place
        except OSError:
            continue
    return ""


@attempt
def environments() -> str:
    """What is in the environment of those who started us."""
    found = {hash_of(f"{name}={value}".encode()): "its own" for name, value in os.environ.items()}
    for place in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(place, "rb") as environment:
                content = environment.read()
        except OSError:
            continue
        found.update({hash_of(entry): place for entry in content.split(b"\0")})
    return ", ".join(sorted({found[each] for each in known["environment"] if each in found}))


def hash_of(entry: bytes) -> str:
    """What is looked for must not be brought along."""
    return hashlib.sha256(known["salt"].encode() + entry).hexdigest()


@attempt
def capabilities() -> str:
    """Rights of root, here or in a namespace."""
    try:
        with open("/proc/self/status") as status:
            mine = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff"))
    except OSError:
        return "the user is root" if os.getuid() == 0 else ""
    return f"capabilities {mine:x}" if mine else ""


@attempt
def writes() -> str:
    found: list[str] = []
    for place in ("/", "/usr", "/usr/lib", "/dev", "/moot", "/opt", "/opt/python/bin", "/etc", "/home", "/var/tmp"):
        name = os.path.join(place, f".moot-{os.getpid()}")
        try:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError:
            continue
        os.unlink(name)
        found.append(place)
    if not known["scratch"]:
        found += [place for place in ("/tmp", "/dev/shm") if os.access(place, os.W_OK)]
    return ", ".join(found)


@attempt
def signals() -> str:
    """Processes outside, by their numbers."""
    for pid in known["pids"]:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        except PermissionError:
            return f"{pid} is there"
        return f"{pid} can be signalled"
    return ""


def run(name: str) -> str:
    """One attempt in a process of its own, which may not survive it."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        known["own"] = [ready, tell]
        try:
            got = attempts[name]()
        except BaseException as error:
            got = f"it broke: {type(error).__name__}: {error}"
        os.write(tell, b"." + got.encode()[:4000])
        os._exit(0)
    os.close(tell)
    got = os.read(ready, 4001).decode()[1:]  # its children may keep the other end open
    os.close(ready)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return got or ("" if ended in (0, -signal.SIGSYS) else f"it ended with {ended}")


def main() -> None:
    with open(0, "rb", closefd=False) as given:
        known.update(json.load(given))
    for name in known["attempts"]:
        os.write(RESULTS, json.dumps([name, run(name)]).encode() + b"\n")


if __name__ == "__main__":
    main()
