"""Attempts to get out of the sandbox: none gets through, as root or as an ordinary user, and each can."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot.tools.sandbox.probe import PROBED
from tests.tools.probing import CANARY, EXCESSES

pytestmark = pytest.mark.slow

ROOT = os.geteuid() == 0
ORDINARY = "65534"
ONLY_ROOT_COULD = {"shadow", "sysrq", "core_pattern", "cgroups", "capabilities"}  # without a sandbox


def probed(*command: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PROVIDER_KEY": CANARY},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=["root", "user"])
def found(request: pytest.FixtureRequest) -> Any:
    """What all attempts came to, made as root or as an ordinary user."""
    if request.param == "root" and not ROOT:
        pytest.skip("needs root")
    as_user = ("tests.tools.as_user", ORDINARY) if request.param == "user" and ROOT else ()
    return {**probed(*as_user, "tests.tools.probing"), "root": request.param == "root"}


def test_no_attempt_gets_through(found):
    assert {name: got for name, got in found["held"].items() if any(got.values())} == {}
    assert all(set(got) == {"cases", "scripts"} for got in found["held"].values())
    assert len(found["held"]) >= 30
    assert {*found["held"], *EXCESSES, "daemon"} == set(found["all"]) > set(PROBED)


def test_every_attempt_gets_through_a_weakened_sandbox(found):
    """So that each of them can tell a sandbox that holds from one that does not."""
    hopeless = set() if found["root"] else set(ONLY_ROOT_COULD)
    if not Path("/proc/sysrq-trigger").exists():
        hopeless.add("sysrq")
    assert set(found["weak"]) | set(EXCESSES) | {"daemon"} == set(found["all"])
    assert {name for name, got in found["weak"].items() if not all(got.values())} == hopeless


def test_each_denied_call_would_reach_the_kernel_without_the_filter(found):
    calls = found["weak"]["system_calls"]["no filter"].split("; ")
    named = {call.split(":")[0] for call in calls}
    assert {"ptrace", "process_vm_readv", "mount", "pivot_root", "unshare", "setns", "bpf", "io_uring_setup"} <= named
    assert {"keyctl", "userfaultfd", "perf_event_open", "kexec_load", "finit_module", "clock_settime"} <= named
    assert len(named) > 80


@pytest.mark.parametrize("name", EXCESSES)
def test_nothing_uses_more_than_its_limits(found, name):
    held, loose = found["excess"][name], found["weak_excess"][name]
    if name == "output":
        assert (held["output"], held["truncated"]) == (64 * 1024, True)
        assert (loose["output"], loose["truncated"]) == (200 * 1024, False)
        return
    if name == "sleep":
        assert (held["ended_by"], held["got"]) == ("wall", None)
    else:
        assert held["got"] in ("", None), held
        assert held["ended_by"] in ("ended", "processes", "memory", "cpu", "files")
        assert held["got"] == "" or held["ended_by"] != "ended"
    assert loose["got"], "the attempt can't tell"
    assert loose["ended_by"] == "ended"


def test_a_daemon_does_not_outlive_its_run(found):
    assert found["left"] == {"sandbox": [], "no sandbox": 1}


def test_a_killed_process_leaves_nothing_behind_and_its_run_is_repeated(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    killed = probed("tests.tools.killing")
    assert {"supervisor", "bubblewrap", "inside"} <= {came for came, _ in killed}
    expected = [["returned", "[1, 2.5, 'three']", ""], ["raised", "", "IndexError"], ["returned", "'threethree'", ""]]
    assert [results for _, results in killed] == [expected] * len(killed)
    assert list(tmp_path.iterdir()) == []
