"""Thousands of runs, each from its seed. MOOT_SIM_SEEDS says how many, MOOT_SIM_START which is the first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.simulation import __main__ as command
from tests.simulation.plan import FAULTS, PLAYS, WAYS, Plan, Play, draw, formats, on_demand, plays
from tests.simulation.world import Result, reference, run

pytestmark = pytest.mark.slow

START = int(os.environ.get("MOOT_SIM_START", "0"))
SEEDS = int(os.environ.get("MOOT_SIM_SEEDS", "650"))
FAST, FAST_CHUNK, CHUNK = min(50, SEEDS), 50, 200


def chunks(first: int, last: int, size: int) -> list[range]:
    return [range(start, min(start + size, last)) for start in range(first, last, size)]


def all_hold(seeds: Sequence[int], format: str | None = None) -> list[Result]:
    results = [replace(run(draw(seed, format)), trace=()) for seed in seeds]  # traces are large
    again = f" --format {format}" if format else ""
    failed = [each for each in results if each.violation is not None]
    assert not failed, "\n".join(
        f"{each.violation}\n    python -m tests.simulation {each.plan.seed}{again} -v" for each in failed
    )
    return results


def spared(results: Sequence[Result]) -> set[str]:
    """Faults that never struck."""
    return FAULTS.keys() - {fault for result in results for fault in result.counts}


@pytest.mark.parametrize("seeds", chunks(START, START + FAST, FAST_CHUNK), ids=str)
def test_whatever_goes_wrong_debates_end_as_if_nothing_had(seeds):
    assert len(spared(all_hold(seeds))) <= 3, "hardly anything went wrong"


@pytest.mark.soak
@pytest.mark.parametrize("seeds", chunks(START + FAST, START + SEEDS, CHUNK), ids=str)
def test_whatever_goes_wrong_many_times(seeds):
    missed = spared(all_hold(seeds))
    assert not missed or len(seeds) < CHUNK


def test_what_the_rules_produce_is_stored_once_whatever_goes_wrong():
    all_hold(range(START, START + 25), "workshop")


def test_code_is_run_and_delivered_whatever_goes_wrong():
    results = all_hold(range(START, START + 25), "forge")
    assert any(b'"kind": "code"' in (transcript or b"") for each in results for transcript in each.transcripts)


def test_every_fault_and_way_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text()
    assert set(re.findall(r"^\| `([a-z ]+)` \|", text, re.MULTILINE)) == {*FAULTS, *WAYS}


def test_every_installed_format_is_played():
    played = {PLAYS.get(name, (name, {}))[0] for name in plays()}
    assert played == {*formats()} - on_demand()
    assert {name for name in on_demand() if not plays(name)} == set()
    assert {draw(seed, "duel").plays[0].name for seed in range(20)} <= set(plays("duel"))


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_is_one_run(seed):
    one, two = run(draw(seed)), run(draw(seed))
    assert one.trace == two.trace
    assert one.hash == two.hash
    assert one.hash != run(draw(seed + 1)).hash


@pytest.mark.parametrize("name", plays())
def test_speed_and_order_change_nothing_that_is_said(name):
    for seed in range(3):
        result = run(Plan(seed=seed, plays=(Play(name=name),), processes=2, ways=frozenset({"shuffle", "watch"})))
        assert result.violation is None
        assert result.transcripts == [reference(Play(name=name))]


def test_a_run_can_be_told(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["simulation", "3", "--format", "classic", "-v"])
    assert command.main() == 0
    told = capsys.readouterr().out
    assert "writes 1 create done" in told
    assert "Everything holds." in told
    assert run(draw(3, "classic")).hash in told


def test_a_seed_is_the_same_run_in_every_process():
    def told(hash_seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.simulation", "11", "-v"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert told("1") == told("2")
