"""Starts one sandbox, watches over its processes, and reports how it ended.

A program of its own, with the standard library alone: `moot` starts one for each run and talks to it over pipes. It
watches however busy its parent is, and when either dies everything inside dies with it.

Its arguments are the process that started it, and a descriptor whose other end is held as long as the run is wanted.
Its standard input has the specification (`Specification` in `recipe.py`, as JSON) and the data that it names. Its
standard output gets the report, the results and the output.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

LENGTH = struct.Struct("<I")
TICK_SECONDS = 0.02
END_SECONDS = 5.0  # for bubblewrap to end once its child was killed
CHUNK = 1 << 16
RESULTS = 3  # the descriptor on which the program inside writes its results
FIRST_FD = 10  # of those that only bubblewrap reads

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
F_ADD_SEALS, ALL_SEALS = 1033, 0x0F
PAGE = os.sysconf("SC_PAGE_SIZE")
CLOCK = os.sysconf("SC_CLK_TCK")

libc = ctypes.CDLL(None, use_errno=True)


class Broken(Exception):
    """The sandbox itself can't be had, or was killed; nothing is known of the program."""


def main() -> None:
    die_with(int(sys.argv[1]), signal.SIGTERM)
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        raise SystemExit("This kernel has no CONFIG_PROC_CHILDREN, without which processes can't be watched.")
    # Bubblewrap ends as soon as the program does; what is left inside then becomes ours, to be waited for.
    check(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")
    with open(0, "rb") as given:
        (size,) = LENGTH.unpack(given.read(LENGTH.size))
        specification = json.loads(given.read(size))
        data = [given.read(each) for each in specification["data"]]
    try:
        report, results, output = Run(specification, data, int(sys.argv[2])).go()
    except Broken as problem:
        report, results, output = {"broken": str(problem)}, b"", b""
    head = json.dumps({**report, "results": len(results), "output": len(output)}).encode()
    with open(1, "wb", closefd=False) as out:
        out.write(LENGTH.pack(len(head)) + head + results + output)
    os._exit(0)


def die_with(parent: int, number: int) -> None:
    """Get a signal when the parent dies; end if it has."""
    check(libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os._exit(1)


def check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise Broken(f"{what}: {os.strerror(number)}")


class Run:
    def __init__(self, specification: dict[str, Any], data: list[bytes], wanted: int) -> None:
        self.spec, self.limits = specification, specification["limits"]
        self.wanted = wanted  # a descriptor that ends when the run is not wanted any more
        self.data = [sealed(each) for each in data]
        self.ended_by = ""
        self.results, self.output = bytearray(), bytearray()
        self.truncated = False
        self.peak = self.ticks = 0
        self.pid = 0  # of bubblewrap
        self.bubblewrap: int | None = None  # its pidfd
        self.first_inside = 0  # the process id of the first process inside
        self.inside: int | None = None  # its pidfd
        self.scratch: int | None = None
        self.pipes: dict[int, Callable[[bytes], None]] = {}
        self.status = b""

    def go(self) -> tuple[dict[str, Any], bytes, bytes]:
        signal.signal(signal.SIGTERM, self.cancel)
        options = self.options()
        output, results, status = os.pipe(), os.pipe(), os.pipe()
        started = time.monotonic()
        supervisor = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self.become_bubblewrap(supervisor, options, output[1], results[1], status[1])
            except BaseException as problem:
                os.write(output[1], f"{type(problem).__name__}: {problem}".encode())
            finally:
                os._exit(127)
        for _, end in (output, results, status):
            os.close(end)
        self.pipes = {output[0]: self.hear_output, results[0]: self.hear_results, status[0]: self.hear_status}
        self.pid = pid
        self.bubblewrap = os.pidfd_open(pid)
        self.watch(started)
        code = os.waitpid(pid, 0)[1]
        wall = time.monotonic() - started
        end_all()
        self.drain()
        if os.WIFSIGNALED(code) and not self.ended_by:  # nothing inside can reach bubblewrap
            raise Broken(f"bubblewrap was killed by signal {os.WTERMSIG(code)}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        report = {
            "ended_by": self.ended_by,
            "code": os.waitstatus_to_exitcode(code),
            "wall_ms": round(wall * 1000),
            "cpu_ms": round(max(used.ru_utime + used.ru_stime, self.ticks / CLOCK) * 1000),
            "peak_bytes": max(self.peak, used.ru_maxrss * 1024),
            "truncated": self.truncated,
        }
        return report, bytes(self.results), bytes(self.output)

    def options(self) -> int:
        """What bubblewrap is told, with the numbers of the descriptors that it will have."""
        parts = self.spec["options"]
        sources: list[str] = [part[1] for part in parts if part[0] == "mount"]
        if os.geteuid() == 0:
            sources = made_public(sources)
        given = iter(sources)
        made: list[str] = []
        for kind, *rest in parts:
            if kind == "mount":
                made += ["--ro-bind", next(given), rest[1]]
            elif kind == "data":
                made += ["--ro-bind-data", str(FIRST_FD + 2 + rest[0]), rest[1]]
            elif kind == "filter":
                made += ["--seccomp", str(FIRST_FD + 2 + rest[0])]
            else:
                made += rest
        made += ["--json-status-fd", str(FIRST_FD + 1)]
        return sealed(b"".join(each.encode() + b"\0" for each in made))

    def become_bubblewrap(self, supervisor: int, options: int, output: int, results: int, status: int) -> None:
        for name, limit in self.spec["rlimits"].items():
            number = getattr(resource, name)
            most = resource.getrlimit(number)[1]
            limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
            resource.setrlimit(number, (limit, limit))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores
        user = self.spec["user"]
        if os.geteuid() == 0 and user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        die_with(supervisor, signal.SIGKILL)  # a change of user would have cleared it
        # All of them out of the way first: the numbers wanted may be taken by others of them.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (options, status, *self.data, output, output, results)]
        places = [*range(FIRST_FD, FIRST_FD + 2 + len(self.data)), 1, 2, RESULTS]
        places[2 + self.spec["input"]] = 0
        for fd, place in zip(high, places, strict=True):
            os.dup2(fd, place)
        keep = set(places)
        for fd in os.listdir("/proc/self/fd"):
            if int(fd) not in keep:
                try:
                    os.close(int(fd))
                except OSError:
                    pass  # the one that listed them
        os.chdir("/")
        command = [self.spec["bubblewrap"], "--args", str(FIRST_FD), *self.spec["command"]]
        try:
            os.execve(command[0], command, self.spec["environment"])
        except OSError as problem:
            os.write(1, f"{command[0]}: {problem.strerror}".encode())

    def watch(self, started: float) -> None:
        """Until bubblewrap has ended. Whatever is over a limit is killed, all of it at once."""
        assert self.bubblewrap is not None
        poll = select.poll()
        for fd in (self.wanted, self.bubblewrap, *self.pipes):
            poll.register(fd, select.POLLIN)
        next_look = started
        killed_at: float | None = None
        while True:
            now = time.monotonic()
            if now >= next_look:
                next_look = now + TICK_SECONDS
                if not self.ended_by:
                    self.ended_by = self.excess(now - started)
            if self.ended_by and killed_at is None:
                killed_at = now
                self.kill()
            elif killed_at is not None and now > killed_at + END_SECONDS:
                os.kill(self.pid, signal.SIGKILL)
            events = poll.poll(max(0.0, next_look - time.monotonic()) * 1000 + 1)
            for fd, _ in events:
                if fd == self.bubblewrap:
                    return
                if fd == self.wanted:
                    self.cancel()
                    poll.unregister(fd)
                elif not self.hear(fd):
                    poll.unregister(fd)

    def cancel(self, *_: object) -> None:
        self.ended_by = self.ended_by or "canceled"

    def hear(self, fd: int) -> bool:
        part = os.read(fd, CHUNK)
        self.pipes[fd](part)
        return bool(part)

    def drain(self) -> None:
        for fd in self.pipes:
            os.set_blocking(fd, False)
            try:
                while self.hear(fd):
                    pass
            except BlockingIOError:
                pass

    def hear_output(self, part: bytes) -> None:
        room = self.limits["output_bytes"] - len(self.output)
        self.output += part[:room]
        self.truncated = self.truncated or len(part) > room

    def hear_results(self, part: bytes) -> None:
        room = self.limits["results_bytes"] - len(self.results)
        self.results += part[:room]
        if len(part) > room:
            self.ended_by = self.ended_by or "results"

    def hear_status(self, part: bytes) -> None:
        self.status = (self.status + part)[:CHUNK]
        if self.inside is None and b"}" in self.status:
            self.first_inside = json.loads(self.status[: self.status.index(b"}") + 1])["child-pid"]
            try:
                self.inside = os.pidfd_open(self.first_inside)
                if parent_of(self.first_inside) != self.pid:  # it has ended, and its number is another's
                    self.inside = None
            except OSError:
                pass

    def kill(self) -> None:
        """The first process inside takes the whole namespace with it, before bubblewrap ends."""
        for process in (self.inside, self.bubblewrap):
            try:
                if process is not None:
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    return
            except ProcessLookupError:
                pass

    def excess(self, wall: float) -> str:
        """The limit that is exceeded, or nothing."""
        limits = self.limits
        if wall > limits["wall_seconds"]:
            return "wall"
        tasks, ticks, pages, pids = tree(self.pid)
        memory = pages * PAGE
        if memory > limits["memory_bytes"]:
            memory = proportional(pids, memory)  # what processes share was counted for each of them
        scratch, files = self.scratch_used()
        self.peak, self.ticks = max(self.peak, memory + scratch), max(self.ticks, ticks)
        if memory > limits["memory_bytes"]:
            return "memory"
        if ticks / CLOCK > limits["cpu_seconds"]:
            return "cpu"
        if tasks > limits["processes"] + 2:  # bubblewrap and its first process inside
            return "processes"
        if files > limits["scratch_files"]:
            return "files"
        return ""

    def scratch_used(self) -> tuple[int, int]:
        """Bytes and files in the writable folder, which belong to no process."""
        if not self.spec["scratch"] or not self.results:
            return 0, 0
        if self.scratch is None:
            try:
                place = f"/proc/{self.first_inside}/root{self.spec['scratch']}"
                self.scratch = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
            except FileNotFoundError:
                return 0, 0  # it has just ended
        found = os.fstatvfs(self.scratch)
        return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree


def end_all() -> None:
    """Kill and wait for whatever is below. A process whose parent has ended becomes our child, also one that bubblewrap
    had not yet bound to its own life."""
    try:
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children", "rb") as children:
                for child in children.read().split():
                    os.kill(int(child), signal.SIGKILL)
            os.wait()
    except ChildProcessError:
        pass


def sealed(data: bytes) -> int:
    """An anonymous file that no one can write, at its beginning."""
    fd = os.memfd_create("data", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, F_ADD_SEALS, ALL_SEALS)
    return fd


def made_public(sources: Sequence[str]) -> list[str]:
    """Bind each of them where an unprivileged user can reach it, in a mount namespace of our own."""
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    opened = [os.open(source, os.O_PATH) for source in sources]  # before something is mounted over them
    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m")
    places: list[str] = []
    for number, fd in enumerate(opened):
        place = f"/tmp/{number}"
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            os.mkdir(place)
        else:
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
        mount(f"/proc/self/fd/{fd}", place, None, MS_BIND | MS_REC)
        places.append(place)
        os.close(fd)
    return places


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    def c(text: str | None) -> bytes | None:
        return None if text is None else os.fsencode(text)

    check(libc.mount(c(source), c(target), c(kind), ctypes.c_ulong(flags), c(options)), f"mount {target}")


def tree(root: int) -> tuple[int, int, int, list[int]]:
    """Tasks, clock ticks and resident pages of a process and all its descendants, and their ids. A process whose parent
    has ended belongs to the first process inside, so that none is missed."""
    tasks = ticks = pages = 0
    pids: list[int] = []
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            stat = fields(pid)
            threads = os.listdir(f"/proc/{pid}/task")
            for thread in threads:
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                    waiting += map(int, children.read().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
        pids.append(pid)
        tasks += len(threads)
        ticks += sum(map(int, stat[11:15]))  # its own, and those of the children that it has waited for
        pages += int(stat[21])
    return tasks, ticks, pages, pids


def fields(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat behind the name, which can contain anything."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        return stat.read().rpartition(b")")[2].split()


def parent_of(pid: int) -> int:
    return int(fields(pid)[1])


def proportional(pids: Sequence[int], otherwise: int) -> int:
    """Memory of processes in bytes; what several of them share counts once."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as rollup:
                total += next(int(line.split()[1]) for line in rollup if line.startswith(b"Pss:")) * 1024
        except (FileNotFoundError, ProcessLookupError, StopIteration):
            continue
        except PermissionError:
            return otherwise
    return total


if __name__ == "__main__":
    main()
