"""Time to count a large vote by each method."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from random import Random

from moot.core.types import Ballot, Candidate
from moot.reasoning.voting import count, methods
from perf.rig import median
from perf.table import Goal, Row

_GOAL = Goal(sign="<=", bound=1)


def measure(folder: Path, *, repeats: int = 5, ballots: int = 100_000, candidates: int = 10) -> list[Row]:
    rng = Random(0)
    names = [f"c{n}" for n in range(candidates)]
    given = [Candidate(id=name) for name in names]
    cast = [  # nearly all different, so that counting equal ones together helps little
        Ballot(voter=f"v{n}", ranking=tuple(rng.sample(names, candidates)), weight=Fraction(rng.randint(1, 9), 4))
        for n in range(ballots)
    ]
    rows: list[Row] = []
    for method in methods():
        seconds: list[float] = []
        for _ in range(repeats):
            clock = time.perf_counter()
            result = count(method, given, cast, ("pairwise", "support"))
            seconds.append(time.perf_counter() - clock)
            if result.voters != ballots or sum(map(len, result.places)) != candidates:
                raise RuntimeError(f"{method} did not count every ballot")
        rows.append(
            Row(
                name=f"a vote of {ballots:,} ballots, {method}",
                value=median(seconds) * 1000,
                unit="ms",
                reference=1000,
                against="1 s",
                goal=_GOAL,
                details={"seconds": seconds},
            )
        )
    return rows
