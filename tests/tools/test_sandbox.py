"""The sandbox: what a run reports, that it ends with everything inside, and that its own failures are told apart."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import re
import signal
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from moot.tools.sandbox import Job, Limits, Sandbox, SandboxDied, SandboxUnavailable, diagnosis, recipe, seccomp
from moot.tools.sandbox.limits import MEGABYTE
from moot.tools.sandbox.recipe import bubblewrap, specification
from moot.tools.sandbox.sandbox import run_specification
from moot.tools.sandbox.supervisor import tree

HELLO = "import os; os.write(3, b'hello'); print('said')"


def run(program: str, **more):
    return asyncio.run(run_specification(specification(Job(program=program, **more), bubblewrap() or "")))


class TestRuns:
    def test_results_output_and_exit_code(self):
        done = run(HELLO + "; raise SystemExit(7)")
        assert (done.ended_by, done.code, done.results, done.output) == ("ended", 7, b"hello", "said\n")
        assert not done.truncated
        assert done.peak_bytes > MEGABYTE
        assert done.cpu_ms > 0

    def test_a_job_brings_its_input_files_and_environment(self):
        program = """
import os, sys
given = sys.stdin.buffer.read()
with open("/moot/more.txt") as file: more = file.read()
os.write(3, given + more.encode() + os.environ["NAME"].encode())
try: os.write(0, b"x")
except OSError: os.write(3, b", and no more")
"""
        done = run(program, input=b"one, ", files={"more.txt": b"two, "}, environment={"NAME": "three"})
        assert done.results == b"one, two, three, and no more"

    def test_output_has_no_controls(self):
        assert run(r"print('\x1b[31mred\x07\tand\nplain')").output == "[31mred\tand\nplain\n"

    def test_results_have_a_limit(self):
        done = run("import os\nwhile True: os.write(3, b'x' * 4096)", limits=Limits(results_bytes=10_000))
        assert (done.ended_by, len(done.results)) == ("results", 9_999)  # one byte said that it began

    def test_one_process_has_a_limit_of_memory(self):
        done = run("x = bytearray(10**9)", limits=Limits(memory_bytes=100 * MEGABYTE))
        assert (done.ended_by, done.code) == ("ended", 1)
        assert "MemoryError" in done.output


class TestFailures:
    def test_a_program_cannot_pretend_that_the_sandbox_failed(self):
        done = run("import os; os.write(2, b'bwrap: no permissions'); os._exit(1)")
        assert (done.ended_by, done.code, done.output) == ("ended", 1, "bwrap: no permissions")

    def test_a_sandbox_that_does_not_start_is_no_failure_of_the_program(self):
        spec = specification(Job(program=HELLO), bubblewrap() or "")
        for broken, said in (
            (replace(spec, bubblewrap="/bin/false"), "could not be started, and it does not say why"),
            (replace(spec, bubblewrap="/nowhere/bwrap"), "No such file"),
            (replace(spec, options=(("raw", "--ro-bind", "/nowhere", "/x"), *spec.options)), "find source path"),
            (replace(spec, command=("--", "/nowhere/python")), "execvp /nowhere/python"),
        ):
            with pytest.raises(SandboxDied, match=said):
                asyncio.run(run_specification(broken))

    async def test_a_supervisor_that_is_killed_is_told_and_leaves_nothing(self):
        task = asyncio.ensure_future(run_specification(specification(_endless(), bubblewrap() or "")))
        below = await _started(task)
        os.kill(below[1], signal.SIGKILL)  # the first below us
        with pytest.raises(SandboxDied, match="ended without a report"):
            await task
        await _gone(below[1:])

    async def test_a_sandbox_that_is_killed_is_no_failure_of_the_program(self):
        task = asyncio.ensure_future(Sandbox()._run(_endless()))
        below = await _started(task)
        os.kill(_bubblewraps(below)[0], signal.SIGKILL)
        with pytest.raises(SandboxDied, match="killed by signal 9"):
            await task
        await _gone(below[1:])

    async def test_a_program_that_is_killed_from_outside_is_run_again(self):
        found = bubblewrap() or ""
        ends = "import os\nos.write(3, b'hello')\n"
        made = iter([specification(_endless(), found), specification(Job(program=ends), found)])
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("moot.tools.sandbox.sandbox.specification", lambda job, _: next(made))
            task = asyncio.ensure_future(Sandbox()._run(_endless()))
            below = await _started(task)
            os.kill(_bubblewraps(below)[1], signal.SIGKILL)  # the first process inside
            assert (await task).results == b"hello"

    def test_a_program_that_always_kills_itself_is_killed(self):
        done = asyncio.run(Sandbox()._run(Job(program="import os\nos.kill(os.getpid(), 9)")))
        assert (done.ended_by, done.code) == ("ended", 137)

    async def test_no_bubblewrap_says_what_to_install(self, monkeypatch):
        monkeypatch.setattr(diagnosis, "bubblewrap", lambda: None)
        with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed") as refused:
            await Sandbox().run(Job(program=HELLO))
        assert "apt-get" not in str(refused.value)  # a browser shows it
        assert "apt-get install bubblewrap" in refused.value.fix

    @pytest.mark.parametrize(
        ("there", "what", "fix"),
        [
            ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "AppArmor", "profile bwrap /usr/bin/bwrap"),
            ({"kernel/unprivileged_userns_clone": "0"}, "to root alone", "kernel.unprivileged_userns_clone=1"),
            ({"user/max_user_namespaces": "0"}, "no user namespaces", "user.max_user_namespaces"),
            ({"container": "yes"}, "container", "--security-opt seccomp=unconfined"),
            ({}, "bwrap: No permissions", "bwrap --unshare-all"),
        ],
        ids=["ubuntu", "debian", "none", "docker", "unknown"],
    )
    def test_a_refusal_has_the_fix_for_the_machine(self, monkeypatch, there, what, fix):
        monkeypatch.setattr(diagnosis, "_setting", lambda name: there.get(name, ""))
        monkeypatch.setattr(diagnosis, "in_container", lambda: "container" in there)
        found = diagnosis.after("The sandbox could not be started: bwrap: No permissions")
        assert what in found.what
        assert fix in found.fix

    def test_an_architecture_without_a_filter_is_refused(self, monkeypatch):
        monkeypatch.setattr(diagnosis.seccomp, "supported", lambda: False)
        found = diagnosis.before()
        assert found is not None
        assert "no system-call filter" in found.what


def _endless() -> Job:
    return Job(program="import os, time\nos.fork()\nwhile True: time.sleep(1)", limits=Limits(wall_seconds=600))


_others: set[int] = set()  # processes of other tests that are below this one


@pytest.fixture(autouse=True)
def _those_of_others() -> None:
    _others.clear()
    _others.update(tree(os.getpid())[3][1:])


def _ours() -> list[int]:
    """This process, and those below it that the test has started."""
    return [pid for pid in tree(os.getpid())[3] if pid not in _others]


async def _started(task: asyncio.Task) -> list[int]:
    """The processes of this one and below, once the program has begun."""
    while True:
        below = _ours()
        if sum(_name(pid).startswith("/opt/python") for pid in below) >= 2:
            return below
        assert not task.done(), task
        await asyncio.sleep(0.002)


def _bubblewraps(pids: list[int]) -> list[int]:
    """Those among these that are bubblewrap: the one outside, and its first process inside."""
    return [pid for pid in pids if "bwrap" in _name(pid)]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


async def _gone(pids: list[int]) -> None:
    async with asyncio.timeout(60):
        while any(_name(pid) for pid in pids):
            await asyncio.sleep(0.002)


class TestEnds:
    async def test_cancelled_at_any_moment_it_has_ended_when_it_returns(self):
        chance, sandbox = random.Random(3), Sandbox(slots=2)
        await sandbox._run(Job(program=HELLO))
        descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(3):
            tasks = [asyncio.ensure_future(sandbox._run(_endless())) for _ in range(4)]
            await asyncio.sleep(chance.uniform(0, 0.1))
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(each, asyncio.CancelledError) for each in ended)
            assert _ours() == [os.getpid()]
        task = asyncio.ensure_future(sandbox._run(_endless()))
        below = await _started(task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not any(_name(pid) for pid in below[1:])
        assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == (descriptors, threads)
        assert (await sandbox._run(Job(program=HELLO))).results == b"hello"  # no slot is lost

    def test_a_loop_that_is_closed_waits_for_its_runs(self):
        async def main():
            task = asyncio.ensure_future(Sandbox()._run(_endless()))
            below.extend((await _started(task))[1:])

        below: list[int] = []
        asyncio.run(main())
        assert below
        assert not any(_name(pid) for pid in below)


class TestSlots:
    async def test_first_come_first_served(self):
        sandbox, order = Sandbox(slots=1), []

        async def one(number: int) -> None:
            await sandbox._run(Job(program=f"print({number})"))
            order.append(number)
            assert len(_ours()) <= 2

        await asyncio.gather(*(one(number) for number in range(4)))
        assert order == [0, 1, 2, 3]
        assert Sandbox().slots.count == len(os.sched_getaffinity(0))


class TestProbe:
    def test_a_sandbox_that_does_not_hold_runs_nothing(self, monkeypatch):
        kept = seccomp.program

        async def main():
            with pytest.raises(SandboxUnavailable, match="does not hold.*inet: a socket"):
                await Sandbox().run(Job(program=HELLO))

        allow_all = struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000)
        monkeypatch.setattr(recipe.seccomp, "program", lambda: allow_all)
        asyncio.run(main())
        assert kept() != allow_all


class TestFilter:
    def test_numbers_are_those_of_the_kernel(self):
        headers = {
            0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
            1: Path("/usr/include/asm-generic/unistd.h"),
        }
        compared = 0
        for column, header in headers.items():
            if not header.exists():
                continue
            text = header.read_text()
            known = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+)\s+(\d+)", text)}
            named = {"clone": seccomp.CLONE, "clone3": seccomp.CLONE3, "socket": seccomp.SOCKET}
            named |= {"socketpair": seccomp.SOCKETPAIR, "ioctl": seccomp.IOCTL}
            for name, numbers in (seccomp.DENIED_CALLS | named).items():
                assert known.get(name, numbers[column]) == numbers[column], name
                compared += name in known
        if not compared:
            pytest.skip("the headers of the kernel are not installed")
        assert compared > 80

    @pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
    def test_what_it_decides(self, machine):
        audit, column = seccomp.ARCHITECTURES[machine]
        program = seccomp.program(machine)
        allow, denied, kill = "allow", seccomp.DENIED, "kill"

        def decides(number: int, *arguments: int, arch: int = audit) -> object:
            return _decision(program, number, arch, arguments)

        for name, numbers in seccomp.DENIED_CALLS.items():
            if numbers[column] is not None:
                assert decides(numbers[column], 1, 1, 1) == denied, name
        assert decides(1, 1, arch=0x40000003) == kill  # 32-bit calls on x86
        assert decides(seccomp.NEWEST) == allow
        assert decides(seccomp.NEWEST + 1) == errno.ENOSYS
        assert decides(seccomp.CLONE3[column]) == errno.ENOSYS
        assert decides(seccomp.CLONE[column], 17) == allow
        assert decides(seccomp.CLONE[column], 17 | 0x10000000) == denied
        assert decides(seccomp.SOCKET[column], 1) == allow
        assert decides(seccomp.SOCKET[column], 2) == errno.EAFNOSUPPORT
        assert decides(seccomp.SOCKETPAIR[column], 1 | 2 << 32) == allow
        assert decides(seccomp.IOCTL[column], 0, 0x5401) == allow
        assert decides(seccomp.IOCTL[column], 0, 0x5412 | 1 << 32) == denied  # the kernel reads the lower half
        assert decides(seccomp.IOCTL[column], 0, 0x541C) == denied
        if machine == "x86_64":
            assert decides(0x40000000 + 39) == denied


def _decision(program: bytes, number: int, arch: int, arguments: tuple[int, ...]) -> object:
    """Interpret a filter."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, arch, 0, *padded)
    value = at = 0
    instructions = list(struct.iter_unpack("<HBBI", program))
    while True:
        code, yes, no, k = instructions[at]
        at += 1
        if code == 0x06:
            return {0x7FFF0000: "allow", 0x80000000: "kill"}.get(k, k & 0xFFFF)
        if code == 0x20:
            (value,) = struct.unpack_from("<I", data, k)
            continue
        taken = {0x15: value == k, 0x25: value > k, 0x35: value >= k, 0x45: bool(value & k)}[code]
        at += yes if taken else no
