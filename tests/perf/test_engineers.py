"""A sample of the runs that docs/bench.md reports: simulated engineers whose code is run in this process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from moot.corpus import tasks
from moot.formats.forge import report
from moot.models.coding.mistakes import cheats
from perf.engineers import Ended, many, ran, right, shares

pytestmark = pytest.mark.slow

QUICK = {"preset": "quick", "convergence": False}


def runs(folder: Path, options: str, count: int = 10, given: int = 0) -> list[Ended]:
    return asyncio.run(many(folder, options, count, QUICK, given=given))


def test_the_solution_of_a_task_is_right_and_nothing_else_is():
    for task in tasks()[:20]:
        assert right(task.solution, task)
        assert not any(right(code, task) for code in (*(mutant.code for mutant in task.mutants), *cheats(task)))
        assert {ran(code, task.probes[0].call).outcome for code in cheats(task)} == {"died"}


def test_perfect_engineers_solve_everything_and_helpless_ones_nothing(tmp_path: Path):
    perfect = shares(runs(tmp_path, "skill=1&cases=1&repair=1&red=1", 4))
    assert (perfect.forge, perfect.best_single, perfect.majority, perfect.plurality) == (4, 4, 4, 4)
    helpless = shares(runs(tmp_path, "skill=0&cases=.9&repair=0&red=0", 4))
    assert (helpless.forge, helpless.best_single, helpless.majority) == (0, 0, 0)


def test_a_forge_solves_more_than_the_best_of_its_engineers(tmp_path: Path):
    ended = runs(tmp_path, "skill=.6&cases=.95&repair=.7&red=.5", 12)
    found = shares(ended)
    assert found.forge > found.best_single
    assert all(each.calls <= 12 for each in ended)
    assert any("beyond best single" in line for line in found.lines())


def test_no_cheat_wins_and_high_confidence_is_right(tmp_path: Path):
    """With tests that were given: without any, High is ruled out."""
    ended = runs(tmp_path, "skill=.3&cases=.9&repair=.3&red=.5&cheat=.5", 20, given=2)
    assert not any(each.cheated for each in ended)
    sure = [each.solved for each in ended if each.confidence == "High"]
    assert sure
    assert all(sure)
    assert shares([replace(ended[0], cheated=True)]).cheats == 1


def test_useless_tests_are_no_ground_for_confidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Not even beside tests that were given. How far blind seats agree is what tells: without a look at that, some of
    the same runs would be High."""
    options = "skill=.6&cases=.5&repair=.5&red=.5"
    assert not [each for each in runs(tmp_path, options, 20, given=2) if each.confidence == "High"]
    monkeypatch.setattr(report, "DISPUTED_MOST", 1)
    monkeypatch.setattr(report, "mostly", lambda some, of: True)
    assert [each for each in runs(tmp_path, options, 20, given=2) if each.confidence == "High"]
