"""Debates under suspicion in processes of their own.

A process that dies takes all its debates along, and one of them may be the reason (`moot.runtime.suspects`). A worker
therefore drives debates whose processes died more than once in other processes, a few debates in each, the fewer the
more often: what dies there takes neither the worker nor its other debates down. A debate that has stored a step there
is handed back, and any worker goes on with it.

These processes are forked from one that the worker forks before it opens anything (`ForkedProcesses`): a new
interpreter would take seconds of processor time for its imports, and a process with threads and open connections can't
be forked safely.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from moot.runtime.suspects import together_at_most

log = logging.getLogger("moot.worker")

FROM_DEATHS = 2  # after one death a debate is driven on as any other: a process can die for many reasons
GATHER_SECONDS = 0.1  # within which others that come can share a process
AT_ONCE = 4  # processes beside a worker; each has connections of its own
AGAIN_SECONDS = 1.0  # after which a debate is delivered again whose process ended without a word of it
MOST_BYTES = 65_536  # of one request; ids are short

Report = Callable[[str, float | None], None]  # an id; None, or the seconds after which it may be delivered again
Program = Callable[[Sequence[str], Any, int, Report], None]


class Processes(Protocol):
    """Where debates under suspicion are driven."""

    async def run(self, debates: Sequence[str], report: Report) -> None:
        """Drive debates in one new process until each has stored a step or rests. What the process says of a debate is
        reported; of one that it died with, nothing is. Raises OSError if no process can be had."""
        ...

    def recall(self) -> None:
        """Have all processes hand their debates back now and end. No new one is begun after that."""
        ...


class Isolation:
    """Puts debates under suspicion into processes, at most `AT_ONCE` at a time."""

    def __init__(self, processes: Processes, crash_limit: int) -> None:
        self._processes, self._limit = processes, crash_limit
        self._outcomes: dict[str, asyncio.Future[float | None]] = {}  # of the debates that wait or are driven, by id
        self._waiting: dict[str, int] = {}  # for a process: id, and deaths of its drivers
        self._running: set[asyncio.Task[None]] = set()
        self._over = False  # no more processes are begun

    def takes(self, deaths: int) -> bool:
        """Whether a debate is to be driven in a process of its own, or of a few."""
        suspected = deaths >= FROM_DEATHS or (deaths > 0 and together_at_most(deaths, self._limit) == 1)
        return suspected and not self._over

    async def drive(self, debate_id: str, deaths: int) -> float | None:
        """Drive a debate in a process of its own, as soon as there is room for one. Returns None when it was handed
        back or rests, otherwise the seconds after which it may be delivered again, as when its process died."""
        if debate_id in self._outcomes:  # delivered twice
            return None
        loop = asyncio.get_running_loop()
        self._outcomes[debate_id], self._waiting[debate_id] = loop.create_future(), deaths
        loop.call_later(GATHER_SECONDS, self._fill)
        try:
            return await self._outcomes[debate_id]
        finally:
            del self._outcomes[debate_id]
            self._waiting.pop(debate_id, None)

    async def recall(self, seconds: float) -> None:
        """Have the processes end: those that have not after so many seconds hand their debates back at once."""
        self._over = True
        self._fill()
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        self._processes.recall()
        if self._running:
            await asyncio.wait(self._running)

    def _fill(self) -> None:
        if self._over:
            for debate_id in self._waiting:
                _settle(self._outcomes[debate_id], 0.0)
            self._waiting.clear()
        while self._waiting and len(self._running) < AT_ONCE:
            deaths = next(iter(self._waiting.values()))
            alike = [each for each, its in self._waiting.items() if its == deaths]
            chosen = alike[: together_at_most(deaths, self._limit)]
            for debate_id in chosen:
                del self._waiting[debate_id]
            task = asyncio.create_task(self._run(chosen), name="moot-isolated")
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._fill()

    async def _run(self, debates: Sequence[str]) -> None:
        # One may be delivered anew before all are done.
        outcomes = {each: self._outcomes[each] for each in debates if each in self._outcomes}

        def report(debate_id: str, again: float | None) -> None:
            if debate_id in outcomes:
                _settle(outcomes[debate_id], again)

        try:
            await self._processes.run(debates, report)
        except OSError as error:
            gone = isinstance(error, ConnectionError)  # the process to fork from
            if not self._over:
                then = "This process drives them from now on." if gone else "They are tried again."
                log.error("No process could be begun for debates under suspicion: %s. %s", error, then)
            self._over = self._over or gone
        finally:
            for debate_id in debates:
                report(debate_id, AGAIN_SECONDS)  # if nothing was said of it, its process died, or there was none


def _settle(outcome: asyncio.Future[float | None], again: float | None) -> None:
    if not outcome.done():  # or canceled
        outcome.set_result(again)


class ForkedProcesses:
    """Processes that are forked from one that was forked before."""

    def __init__(self, program: Program, known: Callable[[], Any] = lambda: None) -> None:
        """Fork the process to fork from. `program` runs in each new process: it drives debates, reports on each, and
        hands them back when a descriptor can be read, which is when this process has ended or recalls them. It is given
        what is `known` when it begins. To be called when this process has imported what they need, and before it has
        threads or connections."""
        self._known = known
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ended, self._alive = os.pipe()
        if not os.fork():
            _serve(program, theirs, ended, (self._requests.fileno(), self._alive))
        theirs.close()
        os.close(ended)
        self._requests.setblocking(False)

    async def run(self, debates: Sequence[str], report: Report) -> None:
        request = pickle.dumps((list(debates), self._known()))
        told, tells = os.pipe()
        try:
            socket.send_fds(self._requests, [request], [tells])
        except OSError:
            os.close(told)
            raise
        finally:
            os.close(tells)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(told, "rb", 0)
        )
        try:
            while line := await reader.readline():
                with suppress(ValueError):  # cut off by its end
                    debate_id, again = json.loads(line)
                    report(debate_id, again)
        finally:
            transport.close()

    def recall(self) -> None:
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1
            self._requests.close()


def _serve(program: Program, requests: socket.socket, ended: int, others: Sequence[int]) -> None:
    """Fork a process for each request, until there can be no more. Never returns."""
    status = 1
    try:
        for fd in others:
            os.close(fd)
        for number in (signal.SIGINT, signal.SIGTERM):  # meant for the worker, which ends this one
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for them
        signal.set_wakeup_fd(-1)
        while True:
            request, fds, _, _ = socket.recv_fds(requests, MOST_BYTES, 1)
            if not request:
                break
            try:
                if not os.fork():
                    requests.close()
                    _drive(program, request, ended, fds[0])
            except OSError as error:
                log.error("No process could be begun for debates under suspicion: %s", error)
            for fd in fds:
                os.close(fd)
        status = 0
    finally:
        os._exit(status)


def _drive(program: Program, request: bytes, ended: int, tells: int) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGINT, signal.SIGTERM):  # not ignored: programs that are begun here would inherit that
            signal.signal(number, _pass)
        os.set_inheritable(tells, False)
        with suppress(OSError):  # where memory runs out, this one ends rather than the worker
            Path("/proc/self/oom_score_adj").write_text("1000")

        def report(debate_id: str, again: float | None) -> None:
            with suppress(BrokenPipeError):  # the worker is gone
                os.write(tells, json.dumps([debate_id, again]).encode() + b"\n")

        debates, known = pickle.loads(request)  # from the worker itself
        program(debates, known, ended, report)
        status = 0
    except Exception:  # its debates are delivered again
        log.exception("A process for debates under suspicion came to an end.")
    finally:
        os._exit(status)


def _pass(number: int, frame: FrameType | None) -> None:
    pass
