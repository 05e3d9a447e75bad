"""Processes that are forked from a small one that was forked before.

A new interpreter would take seconds of processor time for its imports, and a process with threads and open connections
can't be forked safely. So a server or worker forks one process before it opens anything, and has that one fork the
others.
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
from typing import Any

from moot.runtime.isolation import Report

log = logging.getLogger("moot.worker")

MOST_BYTES = 65_536  # of one request; ids are short

Program = Callable[[Sequence[str], Any, int, Report], None]


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
