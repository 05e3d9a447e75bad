"""Runs untrusted programs. See docs/sandbox.md for what is promised."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import subprocess
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from moot.tools.sandbox.errors import SandboxDied, SandboxUnavailable
from moot.tools.sandbox.mounts import interpreter
from moot.tools.sandbox.probe import Standing, probe
from moot.tools.sandbox.recipe import READY, Job, Specification, bubblewrap, clean_output, specification
from moot.tools.sandbox.slots import Slots

SUPERVISOR = Path(__file__).with_name("supervisor.py")
ENOUGH_SECONDS = 30.0  # beyond the limit of a run, for the supervisor to report
LETTING_GO_SECONDS = 10.0  # for a supervisor to end everything once its run is not wanted any more
CHUNK = 1 << 20
KILLED = 128 + signal.SIGKILL
SHOWN = 400  # characters of what a failed sandbox said

Ending = Literal["ended", "wall", "cpu", "memory", "processes", "files", "results"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a run went."""

    ended_by: Ending  # "ended": by itself; otherwise the limit that ended it
    code: int  # the exit code, as shells have it: 128 and more for signals
    results: bytes
    output: str
    truncated: bool  # the output was longer
    wall_ms: int
    cpu_ms: int
    peak_bytes: int


class Sandbox:
    """Runs jobs, as many at once as there are slots; the others wait in line. May be used from several event loops."""

    def __init__(self, slots: int | None = None) -> None:
        self.slots = Slots(slots or _cores())
        self._probing = threading.Lock()
        self.standing: Standing | None = None  # what the probe found, if it was made

    async def run(self, job: Job) -> Run:
        """Run a job to its end. Raises SandboxUnavailable where the probe has not passed, and SandboxDied when the
        sandbox failed, so that nothing is known of the program. When it is cancelled, everything inside has ended
        before it returns."""
        standing = await self.probe()
        if standing.problem is not None:
            raise SandboxUnavailable(f"Code can't be run here. {standing.problem.what}", fix=standing.problem.fix)
        return await self._run(job)

    async def probe(self) -> Standing:
        """Try to get out of the sandbox; once, and from then on tell what came of it. It takes half a second, in a
        thread."""
        return self.standing or await asyncio.to_thread(self.probed)

    def probed(self) -> Standing:
        """As `probe`, for code without an event loop: it waits."""
        with self._probing:
            if self.standing is None:
                self.standing = asyncio.run(probe(self._results))
            return self.standing

    async def _run(self, job: Job) -> Run:
        program = bubblewrap()
        assert program is not None
        async with self.slots.one():
            run = await run_specification(specification(job, program))
            if run.ended_by == "ended" and run.code == KILLED:
                # By the program, or from outside, as the kernel does when memory runs out: code kills itself again.
                run = await run_specification(specification(job, program))
            return run

    async def _results(self, job: Job) -> bytes:
        return (await self._run(job)).results


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


PROCESS = Sandbox()  # the one of this process: its slots are shared by all that run code here


async def run_specification(spec: Specification) -> Run:
    conversation = _Conversation(spec.frame(), asyncio.get_running_loop())
    cancelled = overdue = False
    while not conversation.ended.done():
        try:
            async with asyncio.timeout(spec.limits.wall_seconds + ENOUGH_SECONDS if not overdue else None):
                await asyncio.shield(conversation.ended)
        except (asyncio.CancelledError, TimeoutError) as stopped:
            overdue = overdue or isinstance(stopped, TimeoutError)
            cancelled = cancelled or not overdue
            conversation.let_go()
    if cancelled:
        raise asyncio.CancelledError
    if overdue:
        raise SandboxDied("The sandbox did not report in time.")
    return read_report(*conversation.ended.result())


class _Conversation:
    """A supervisor and what it says. It ends with everything below it when it is let go, or when this process dies.
    asyncio's own subprocesses hang when they are cancelled as they start."""

    def __init__(self, request: bytes, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._parts = loop, list[bytes]()
        self.ended: asyncio.Future[tuple[bytes, bytes]] = loop.create_future()
        with ExitStack() as ours:
            given, self._errors = _file(request), _file(b"")
            ours.callback(os.close, given)
            watched, self._held = os.pipe()  # whose end tells the supervisor that we are gone
            ours.callback(os.close, watched)
            self._report, told = os.pipe()
            ours.callback(os.close, told)
            self._process = subprocess.Popen(
                [interpreter().outside, "-I", "-S", "-B", str(SUPERVISOR), str(os.getpid()), str(watched)],
                stdin=given,
                stdout=told,
                stderr=self._errors,
                pass_fds=(watched,),
                env={},
                cwd="/",
                start_new_session=True,  # the terminal's Ctrl-C is for moot, which lets the run end
            )
        self._timer: asyncio.TimerHandle | None = None
        loop.add_reader(self._report, self._read)

    def _read(self) -> None:
        part = os.read(self._report, CHUNK)
        if part:
            self._parts.append(part)
            return
        self._loop.remove_reader(self._report)
        self.let_go()
        if self._timer is not None:
            self._timer.cancel()
        self._process.wait()  # it has closed its end last of all
        said = os.pread(self._errors, CHUNK, 0)
        os.close(self._report)
        os.close(self._errors)
        self.ended.set_result((b"".join(self._parts), said))

    def let_go(self) -> None:
        if self._held >= 0:
            os.close(self._held)
            self._held = -1
            self._timer = self._loop.call_later(LETTING_GO_SECONDS, self._process.kill)


def _file(content: bytes) -> int:
    fd = os.memfd_create("moot")
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def read_report(report: bytes, errors: bytes = b"") -> Run:
    """Raises SandboxDied if the program was never started, or the sandbox was killed."""
    size = struct.calcsize("<I")
    if len(report) < size:
        raise SandboxDied(_in_words("The sandbox's supervisor ended without a report", errors))
    (length,) = struct.unpack("<I", report[:size])
    head = json.loads(report[size : size + length])
    if "broken" in head:
        raise SandboxDied(f"The sandbox failed: {head['broken']}.")
    rest = report[size + length :]
    results, output = rest[: head["results"]], rest[head["results"] :]
    if not results.startswith(READY):
        raise SandboxDied(_in_words("The sandbox could not be started", output))
    return Run(
        ended_by=head["ended_by"] or "ended",
        code=head["code"],
        results=results[len(READY) :],
        output=clean_output(output),
        truncated=head["truncated"],
        wall_ms=head["wall_ms"],
        cpu_ms=head["cpu_ms"],
        peak_bytes=head["peak_bytes"],
    )


def _in_words(what: str, said: bytes) -> str:
    words = " ".join(clean_output(said).split())[-SHOWN:]
    return f"{what}: {words}" if words else f"{what}, and it does not say why."
