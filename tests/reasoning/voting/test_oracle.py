"""Thousands of random votes have the same winners as by the package pref_voting.

Its answers are recorded in winners.txt, so that every run of the tests compares with them. `python -m
tests.reasoning.voting.test_oracle PYTHON` records them again, with a Python that has the package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from moot.core.poll import Ballot, Candidate
from moot.reasoning.voting import count

PROFILES = 2000
HERE = Path(__file__).parent
RECORDED = HERE / "winners.txt"
METHODS = ("plurality", "borda", "condorcet", "schulze", "majority")

Winners = dict[str, list[int]]


def profile(seed: int) -> dict[str, Any]:
    """Whole rankings in two of three, and the rest cut short. Few ballots give many ties, many give few."""
    rng = Random(seed)  # whose `random` is the same in every version of Python

    def upto(most: int) -> int:
        return 1 + int(rng.random() * most)

    size, whole, different = upto(6), rng.random() < 2 / 3, (1, 2, 3, 5, 9, 20)[upto(6) - 1]
    rankings = [
        tuple(sorted(range(size), key=lambda _: rng.random())[: size if whole else upto(size)])
        for _ in range(different)
    ]
    return {"candidates": size, "ballots": [(ranking, upto(3)) for ranking in sorted(set(rankings))]}


def winners(method: str, given: dict[str, Any]) -> list[int]:
    candidates = [Candidate(id=str(n)) for n in range(given["candidates"])]
    ballots = [
        Ballot(voter=f"{n}", ranking=tuple(map(str, ranking)), weight=Fraction(copies))
        for n, (ranking, copies) in enumerate(given["ballots"])
    ]
    if method in ("plurality", "majority"):  # which count heads
        ballots = [ballot for ballot in ballots for _ in range(int(ballot.weight))]
    result = count(method, candidates, ballots)
    if not result.reached or result.fallback:
        return []
    return sorted(int(name) for name in result.places[0])


def differences(given: list[dict[str, Any]], expected: list[Winners]) -> list[object]:
    return [
        (seed, method, each, ours, theirs)
        for seed, (each, answer) in enumerate(zip(given, expected, strict=True))
        for method, theirs in answer.items()
        if (ours := winners(method, each)) != theirs
    ]


@pytest.mark.slow
def test_the_same_winners_as_the_oracle():
    lines = [line for line in RECORDED.read_text().splitlines() if not line.startswith("#")]
    expected: list[Winners] = []
    for line in lines:
        sets = [[int(n) for n in part] for part in line.split(" ")]  # a digit for each winner
        expected.append(dict(zip(METHODS, sets, strict=False)))  # cut-short rankings have no majority there
    assert len(expected) == PROFILES
    assert differences([profile(seed) for seed in range(PROFILES)], expected) == []
    ties = sum(len(answer["schulze"]) > 1 for answer in expected)
    cycles = sum(not answer["condorcet"] for answer in expected)
    assert min(ties, cycles) > PROFILES // 20  # or this would prove little


def ask(python: str, given: list[dict[str, Any]]) -> list[Winners]:
    done = subprocess.run(
        [python, str(HERE / "oracle.py")], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    found = ask(sys.argv[1], [profile(seed) for seed in range(PROFILES)])
    rows = [" ".join("".join(map(str, each[name])) for name in METHODS if name in each) for each in found]
    head = f"# Winners by pref_voting of the votes in test_oracle.py: {', '.join(METHODS)}. Recorded by that module."
    RECORDED.write_text("\n".join([head, *rows]) + "\n")
