"""Runs the tests in several processes, and writes down how long each took.

One process collects the tests and forks workers, so that everything is imported once. Tests that compute run two at a
time, tests that mostly wait (for processes, leases, a database) many at a time, and those of the browser one after the
other beside them. Tests of a module that share a fixture stay together in one worker.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import selectors
import signal
import socket
import time
import traceback
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn

import pytest
from _pytest.fixtures import Scope

from tests import forking

DURATIONS = Path(".artifacts/durations.json")
SHOWN = 20
# What moot imports when it is needed, and most workers would: once is enough for all of them.
EARLY = (
    *(
        "pydantic_ai.direct",
        "pydantic_ai.models.anthropic",
        "pydantic_ai.models.openai",
        "pydantic_ai.models.openrouter",
    ),
    *("genai_prices.data", "openai.resources.chat", "openai.resources.responses", "pgqueuer", "jsonschema"),
)
MANY = 1000  # tests, from which on that pays
TOGETHER = 25  # tests that compute are given out so many at a time

Queue = Literal["computes", "waits", "browser"]
AT_ONCE: dict[Queue, int] = {"computes": 2, "waits": 5, "browser": 1}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("parallel", "tests in several processes")
    group.addoption("--workers", action="store_true", help=f"run in several processes: {AT_ONCE}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations(config), "durations")


# How long each test takes


def _cpu() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + forking.used


class Durations:
    """Wall and CPU time of each test, with the processes that it waited for, in seconds."""

    def __init__(self, config: pytest.Config) -> None:
        self._path = config.rootpath / DURATIONS
        self.measured: dict[str, tuple[float, float]] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        wall, cpu = time.perf_counter(), _cpu()
        try:
            return (yield)
        finally:
            self.measured[item.nodeid] = round(time.perf_counter() - wall, 3), round(_cpu() - cpu, 3)

    def of_last_run(self) -> dict[str, float]:
        """The wall time of each test as of the last run that wrote it down."""
        try:
            return {test: float(took["wall"]) for test, took in json.loads(self._path.read_text()).items()}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def _sorted(self) -> list[tuple[str, tuple[float, float]]]:
        return sorted(self.measured.items(), key=lambda each: each[1], reverse=True)

    def pytest_sessionfinish(self) -> None:
        self._path.parent.mkdir(exist_ok=True)
        rows = {test: {"wall": wall, "cpu": cpu} for test, (wall, cpu) in self._sorted()}
        self._path.write_text(json.dumps(rows, indent=0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not terminalreporter.config.option.workers or not self.measured:
            return
        wall, cpu = (sum(column) for column in zip(*self.measured.values(), strict=True))
        terminalreporter.section(f"the {SHOWN} slowest, in seconds", "-")
        terminalreporter.write_line("  wall    cpu")
        for test, took in self._sorted()[:SHOWN]:
            terminalreporter.write_line("{:6.1f} {:6.1f}  {}".format(*took, test))
        terminalreporter.write_line(f"All {len(self.measured):,}: {wall:.0f} s, {cpu:.0f} s of CPU; see {DURATIONS}.")


# What runs where


@dataclass
class Block:
    """Tests that are run by one worker, one after the other."""

    queue: Queue
    tests: list[int]  # their places in the session
    seconds: float = 0.0  # as of the last run


def queue_of(item: pytest.Item) -> Queue:
    if "browser" in getattr(item, "fixturenames", ()):
        return "browser"
    return "waits" if item.get_closest_marker("slow") else "computes"


def shares(item: pytest.Item) -> bool:
    """Whether a test uses a fixture that others of its module use, too."""
    used = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
    return any(each._scope in (Scope.Module, Scope.Class, Scope.Package) for found in used for each in found)


def blocks(items: Sequence[pytest.Item], took: dict[str, float]) -> list[Block]:
    """What is given out at a time, in the order in which it is: what takes longest comes first."""
    made: list[Block] = []
    last: tuple[object, ...] = ()
    for number, item in enumerate(items):
        queue, together = queue_of(item), shares(item)
        kind = (item.path, queue, together)
        single = not together and (queue == "waits" or len(made[-1].tests) >= TOGETHER if made else True)
        if kind != last or single:
            made.append(Block(queue, []))
        last = kind
        made[-1].tests.append(number)
        timeout = item.get_closest_marker("timeout")
        long = (
            float(timeout.args[0]) if timeout and timeout.args else 0.0
        )  # a test with a limit of its own is a long one
        made[-1].seconds += took.get(item.nodeid, long)
    return sorted(made, key=lambda block: -block.seconds)


# Workers


@dataclass
class Worker:
    pid: int
    link: socket.socket
    queue: Queue
    under_way: deque[int] = field(default_factory=deque[int])  # given out and not done
    unread: bytes = b""

    def say(self, tests: Sequence[int]) -> None:
        self.under_way.extend(tests)
        self.link.sendall(json.dumps(list(tests)).encode() + b"\n")


class Parallel:
    """The process that gives tests out and collects what came of them."""

    def __init__(self, session: pytest.Session) -> None:
        self._session, self._config = session, session.config
        durations: Durations = session.config.pluginmanager.get_plugin("durations")
        self._durations = durations
        self._left = deque(blocks(session.items, durations.of_last_run()))
        self._workers, self._made = dict[socket.socket, Worker](), 0
        self._ready = selectors.DefaultSelector()

    def run(self) -> None:
        if len(self._session.items) > MANY:
            for name in EARLY:
                importlib.import_module(name)
        gc.collect()
        gc.set_threshold(50_000, 20, 20)  # with so much memory in use, looking for garbage as often as usual takes long
        gc.freeze()  # what was collected lives as long as the workers: no garbage collection needs to look at it
        try:
            for queue, size in AT_ONCE.items():
                for _ in range(min(size, sum(block.queue == queue for block in self._left))):
                    self._fork(queue)
            while self._workers:
                for key, _ in self._ready.select():
                    self._hear(self._workers[key.fileobj])  # type: ignore[index]
                if self._session.shouldfail or self._session.shouldstop:
                    self._left.clear()
        finally:
            for worker in self._workers.values():
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)
            self._ready.close()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _fork(self, queue: Queue) -> None:
        ours, theirs = socket.socketpair()
        self._made += 1
        folder = self._config._tmp_path_factory.getbasetemp() / f"worker-{self._made}"  # type: ignore[attr-defined]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # some library's threads, which no test needs
            pid = os.fork()
        if not pid:
            for other in (ours, *self._workers):
                other.close()
            _work(self._session, theirs, folder)
        theirs.close()
        worker = Worker(pid, ours, queue)
        self._workers[ours] = worker
        self._ready.register(ours, selectors.EVENT_READ)

    def _hear(self, worker: Worker) -> None:
        more = worker.link.recv(1 << 16)
        worker.unread += more
        *lines, worker.unread = worker.unread.split(b"\n")
        for line in lines:
            kind, said = json.loads(line)
            if kind == "next":
                worker.say(self._next(worker.queue))
            elif kind == "report":
                report = self._config.hook.pytest_report_from_serializable(config=self._config, data=said)
                self._config.hook.pytest_runtest_logreport(report=report)
            else:
                item = self._session.items[worker.under_way.popleft()]
                self._durations.measured[item.nodeid] = tuple(said)
        if not more:
            self._ended(worker)

    def _next(self, queue: Queue) -> Sequence[int]:
        """Tests of a worker's own queue; once there are none, of another, but none of the browser: while Playwright is
        there, a process can run no event loop of its own."""
        own = [block for block in self._left if block.queue == queue]
        others = [block for block in self._left if "browser" not in (block.queue, queue)]
        block = next(iter(own or others), None)
        if block is None:
            return ()
        self._left.remove(block)
        return block.tests

    def _ended(self, worker: Worker) -> None:
        self._ready.unregister(worker.link)
        worker.link.close()
        del self._workers[worker.link]
        _, status = os.waitpid(worker.pid, 0)
        if not worker.under_way and not status:
            return
        code = os.waitstatus_to_exitcode(status)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"
        if worker.under_way:
            item = self._session.items[worker.under_way.popleft()]
            said = f"The process that ran this test ended {how}."
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", said, "call")
            self._config.hook.pytest_runtest_logreport(report=report)
            self._left.appendleft(Block(worker.queue, list(worker.under_way)))
            self._fork(worker.queue)
        else:
            raise RuntimeError(f"A worker of the tests ended {how} after its last test.")


class _Teller:
    """In a worker: passes reports on."""

    def __init__(self, session: pytest.Session, link: socket.socket) -> None:
        self._config, self._link = session.config, link

    def say(self, kind: str, said: object) -> None:
        self._link.sendall(json.dumps([kind, said]).encode() + b"\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.say("report", self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _work(session: pytest.Session, link: socket.socket, folder: Path) -> NoReturn:
    """In a worker: run what is given out until there is no more."""
    code = 1
    try:
        config = session.config
        capture = config.pluginmanager.get_plugin("capturemanager")
        capture.suspend_global_capture(in_=True)
        inherited, capture._global_capturing = capture._global_capturing, None
        nothing = open(os.devnull, "w")  # noqa: SIM115
        for stream in filter(None, (inherited.out, inherited.err)):  # they stay open: what was imported may hold them
            os.dup2(nothing.fileno(), stream.tmpfile.fileno())
        capture.start_global_capturing()
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        reporter._tw._file = nothing
        config._tmp_path_factory._basetemp, config._tmp_path_factory._given_basetemp = None, folder  # type: ignore[attr-defined]
        teller = _Teller(session, link)
        config.pluginmanager.register(teller, "teller")
        durations: Durations = config.pluginmanager.get_plugin("durations")
        given = _given(link, teller)
        number = next(given, None)
        while number is not None:
            item, number = session.items[number], next(given, None)
            following = None if number is None else session.items[number]
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            teller.say("done", durations.measured[item.nodeid])
        code = 0
    except BaseException:
        session.config.pluginmanager.get_plugin("capturemanager").stop_global_capturing()
        traceback.print_exc()
    finally:
        os._exit(code)


def _given(link: socket.socket, teller: _Teller) -> Iterator[int]:
    with link.makefile("rb") as lines:
        while True:
            teller.say("next", None)
            tests = json.loads(lines.readline())
            if not tests:
                return
            yield from tests


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    if not option.workers or option.collectonly or session.testsfailed:
        return None
    Parallel(session).run()
    return True
