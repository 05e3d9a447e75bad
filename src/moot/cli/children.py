"""The child processes in which `moot serve`, `moot mcp` and `moot worker` have debates under suspicion driven.

They are forked from a template, which is this module, run as a program when the first child is needed: imports take
longer than what a child does. Each child has a socket to its parent. It reads what to drive; an end of file says that
the parent has ended or wants its debates back. It writes a line for each debate that it is done with."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from moot.app import App
from moot.cli.session import configure_logging
from moot.core.settings import Ceilings, Settings
from moot.formats.prompts import load_all
from moot.runtime.isolation import drive_suspects
from moot.runtime.outage import until_there
from moot.tools import abilities

if TYPE_CHECKING:
    from moot.tools.sandbox.probe import Standing

log = logging.getLogger("moot.worker")

COMMAND = (sys.executable, "-P", "-m", "moot.cli.children")  # -P: no module is looked for in the working folder
CLOSE_SECONDS = 30.0  # that a child has to close its connections


class ChildProcesses:
    """Children that open an app like this process's."""

    def __init__(self, app: App) -> None:
        self._app, self._over = app, False
        self._template: socket.socket | None = None  # asks it for a child
        self._starting = asyncio.Lock()
        self._ended: set[asyncio.Task[int]] = set()  # wait for the end of templates
        self._children: set[asyncio.StreamWriter] = set()

    async def run(self, gather: Callable[[], Sequence[str]], done: Callable[[str], None]) -> None:
        try:
            reader, writer = await self._begin()
        except OSError as error:
            log.error("No process can be begun for debates under suspicion, which is tried again: %s", error)
            return
        self._children.add(writer)
        writer.write(pickle.dumps((gather(), self._app.settings, self._app.ceilings, abilities.found())))
        if self._over:
            writer.write_eof()
        with suppress(ConnectionError):  # it died
            while line := await reader.readline():
                done(line.decode().strip())
        self._children.discard(writer)
        writer.close()

    def recall(self) -> None:
        self._over = True
        for each in self._children:
            each.write_eof()
        if self._template is not None:
            self._template.close()

    async def _begin(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with self._starting:
            if self._template is None:
                self._template = await self._start()
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._template, [b"fork"], [theirs.fileno()])
        except OSError:  # it has died
            self._template = None
            ours.close()
            raise
        finally:
            theirs.close()
        return await asyncio.open_unix_connection(sock=ours)

    async def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            template = await asyncio.create_subprocess_exec(*COMMAND, stdin=theirs.fileno(), stdout=2)
        task = asyncio.create_task(template.wait())
        self._ended.add(task)
        task.add_done_callback(self._ended.discard)
        if not await asyncio.get_running_loop().sock_recv(ours, 1):  # it is ready
            ours.close()
            raise OSError("the process to fork them from ended before it was ready")
        return ours


def children_of(app: App) -> ChildProcesses | None:
    """What drives debates under suspicion; None on Windows, where nothing would end a child that stands still."""
    return ChildProcesses(app) if hasattr(signal, "setitimer") else None


def _serve() -> None:
    """In the template: fork a child for each request, until the parent has ended."""
    requests = socket.socket(fileno=0)
    load_all()
    with suppress(ImportError):  # which is explained where it is used
        import asyncpg  # noqa: F401 # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]
    # Meant for the parent; ignored, programs begun here would inherit it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _pass)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for them
    requests.send(b"r")
    while True:
        _, fds, _, _ = socket.recv_fds(requests, 4, 1)
        if not fds:
            return
        try:
            if not os.fork():
                requests.close()
                _child(fds[0])
        except OSError as error:
            log.error("No process can be begun for debates under suspicion, which is tried again: %s", error)
        os.close(fds[0])


def _child(link: int) -> NoReturn:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with suppress(OSError):  # where memory runs out, this one ends rather than the parent
            Path("/proc/self/oom_score_adj").write_text("1000")
        with open(os.dup(link), "rb") as parent:
            task = pickle.load(parent)  # from the parent itself
        asyncio.run(_drive(link, *task))
        status = 0
    except Exception:  # its debates are delivered again
        traceback.print_exc()
    finally:
        os._exit(status)


async def _drive(
    link: int, debates: Sequence[str], settings: Settings, ceilings: Ceilings, standing: Standing | None
) -> None:
    over, loop = asyncio.Event(), asyncio.get_running_loop()

    def end() -> None:
        loop.remove_reader(link)
        over.set()

    def done(debate_id: str) -> None:
        with suppress(OSError):  # the parent has ended
            os.write(link, f"{debate_id}\n".encode())

    abilities.take_over(standing)
    app = App(settings, dict(os.environ), measured=True)
    app.ceilings = ceilings
    configure_logging(app)
    try:
        async with _killed_if_stuck(settings.lease_seconds):
            loop.add_reader(link, end)
            if await until_there(app.runtime.store.open, log, over):
                await drive_suspects(app.runtime, debates, done, over.wait())
    finally:
        await app.close()


@asynccontextmanager
async def _killed_if_stuck(seconds: float) -> AsyncGenerator[None]:
    """Have the kernel end this process if its event loop stands still for so long: nothing else would, and what it
    drives could not be taken over."""

    async def prove_alive() -> None:
        while True:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            await asyncio.sleep(seconds / 3)

    proving = asyncio.create_task(prove_alive())
    try:
        yield
    finally:
        proving.cancel()
        signal.setitimer(signal.ITIMER_REAL, max(seconds, CLOSE_SECONDS))


def _pass(number: int, frame: FrameType | None) -> None:
    pass


if __name__ == "__main__":
    _serve()
