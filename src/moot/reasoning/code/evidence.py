"""Which tests count, and what versions of some code show under them. Nothing here trusts what an author says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from moot.reasoning.code.cases import Case, CaseRun, passes
from moot.reasoning.code.literals import parsed
from moot.reasoning.code.values import NotAValue, same

Calls = tuple[str, ...]  # statements, of which the value of the last one counts

Standing = Literal[
    "given",  # the person's own test
    "agreed",  # two blind seats, and most of those asked, state the same
    "disputed",  # they state different things
    "unspecified",  # the task does not say
    "unconfirmed",  # no one, or one alone, has stated anything
    "quarantined",  # for most authors, and two at least, two runs of the same code differ
]
COUNTS: frozenset[Standing] = frozenset({"given", "agreed"})

FEWEST_UNSTABLE = 2  # authors whose code gives different results, before that is laid to the call
FEWEST_STATEMENTS = 2  # by blind seats, that make an expected value count


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a seat that has seen no code says a call leads to."""

    expected: str = ""
    raises: str = ""

    @property
    def unspecified(self) -> bool:
        return not self.expected and not self.raises


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A call, and how far what it should lead to is known."""

    call: Calls
    standing: Standing
    case: Case | None = None  # what is expected; None: it is not known

    @property
    def counts(self) -> bool:
        return self.standing in COUNTS


def alike(one: Statement | Case, two: Statement | Case) -> bool:
    """Whether two expect the same: each would accept what the other expects."""
    if one.raises or two.raises:
        return one.raises == two.raises
    if not one.expected or not two.expected:
        return False
    try:
        a, b = parsed(one.expected), parsed(two.expected)
        return same(a, b) and same(b, a)
    except NotAValue:
        return False


def settle(call: Calls, *, given: Case | None, said: Sequence[Statement], asked: int, stable: bool = True) -> Settled:
    """How a call stands after so many blind seats were `asked`, of whom some have `said` something.

    Of different expectations at most one can have the majority, so the order of statements makes no difference.
    """
    if given is not None:
        return Settled(call=call, standing="given", case=given)
    if not stable:
        return Settled(call=call, standing="quarantined")
    stated = [each for each in said if not each.unspecified]
    for each in stated:
        behind = sum(alike(each, other) for other in stated)
        if behind >= FEWEST_STATEMENTS and 2 * behind > max(asked, len(said)):
            return Settled(
                call=call, standing="agreed", case=Case(call=call, expected=each.expected, raises=each.raises)
            )
    open_ = len(said) - len(stated)
    if open_ and 2 * open_ >= len(said):
        return Settled(call=call, standing="unspecified")
    if len(said) < FEWEST_STATEMENTS:
        return Settled(call=call, standing="unconfirmed")
    return Settled(call=call, standing="disputed")


@dataclass(kw_only=True)
class Runs:
    """Every run of every version, by the name of the version and the call."""

    _runs: dict[str, dict[Calls, list[CaseRun]]] = field(default_factory=dict[str, dict[Calls, list[CaseRun]]])
    added: int = 0  # times that results came in

    def add(self, version: str, calls: Sequence[Calls], results: Sequence[CaseRun]) -> None:
        """Results that say nothing of the code (`not_run`, `invalid`) are left out: null is not a failure. A call
        without a result was not run."""
        self.added += 1
        mine = self._runs.setdefault(version, {})
        for call, run in zip(calls, results, strict=False):
            if run.outcome not in ("not_run", "invalid"):
                mine.setdefault(call, []).append(run)

    def of(self, version: str, call: Calls) -> Sequence[CaseRun]:
        return self._runs.get(version, {}).get(call, ())

    def has(self, version: str) -> bool:
        return bool(self._runs.get(version))

    def stable(self, call: Calls, by_author: Iterable[Iterable[str]]) -> bool:
        """Whether a call does the same each time: for at least half of the authors some version does, or only one
        author has none that does. Results that differ are then held against the version: it could otherwise take a test
        that it fails out of the count."""
        ran = [[runs for name in versions if (runs := self.of(name, call))] for versions in by_author]
        authors = [versions for versions in ran if versions]
        differing = sum(all(len({behaviour(run) for run in runs}) > 1 for runs in each) for each in authors)
        return differing < FEWEST_UNSTABLE or 2 * differing <= len(authors)

    def passes(self, version: str, case: Case) -> bool | None:
        """Whether every run of a version leads to what a case expects; None: it was not run."""
        runs = self.of(version, case.call)
        return all(passes(case, run) for run in runs) if runs else None

    def fails_twice(self, version: str, case: Case) -> bool:
        runs = self.of(version, case.call)
        return len(runs) >= 2 and not any(passes(case, run) for run in runs)

    def shows(self, version: str, calls: Iterable[Calls]) -> tuple[str, ...]:
        """What a version does for each of the calls: equal for versions that behave alike."""
        return tuple("|".join(sorted({behaviour(run) for run in self.of(version, call)})) for call in calls)


def behaviour(run: CaseRun) -> str:
    """What a run shows: the value or the exception, without times and messages."""
    return f"{run.outcome} {run.value or run.error}".strip()


def contested(runs: Runs, versions: Sequence[str], calls: Sequence[Calls]) -> tuple[Calls, ...]:
    """The calls on which versions differ, those first that part them most evenly."""

    def largest(call: Calls) -> int:
        shown = [runs.shows(version, [call]) for version in versions]
        return max((shown.count(each) for each in shown), default=0)

    differing = [call for call in calls if len({runs.shows(version, [call]) for version in versions}) > 1]
    return tuple(sorted(differing, key=largest))


def attack_holds(case: Case, settled: Settled, given: Sequence[Case], runs: Runs, target: str) -> bool:
    """Whether an attack counts: blind seats agree on what should happen, no given test says otherwise, and the target
    does something else, twice."""
    contradicted = any(each.call == case.call and not alike(each, case) for each in given)
    agreed = settled.standing == "agreed" and settled.case is not None and alike(settled.case, case)
    return agreed and not contradicted and runs.fails_twice(target, case)


def weight(confirmed: int, settled: int) -> Fraction:
    """A voter's weight: the share of its tests and issues that were confirmed, among those that were settled at all.
    One more of each, so that who has said nothing has half a vote and no one has none."""
    if not 0 <= confirmed <= settled:
        raise ValueError(f"{confirmed} of {settled} can't be confirmed")
    return Fraction(confirmed + 1, settled + 2)


def mostly(some: int, of: int) -> bool:
    """Whether it is more than half of them by more than chance would make it: by two standard errors. The fewer there
    are, the more of them that takes; of less than five, even all are not enough."""
    return 2 * some > of and (2 * some - of) ** 2 > 4 * of


PASSING, EACH = 0.7, 0.1  # weights of the pass rate, and of types, security and maintainability each


def quality_score(
    pass_rate: float | None, *, types: float | None, security: float | None, maintainability: float | None
) -> float | None:
    """From 0 to 1; None if nothing ran. What was not measured is left out, and the rest weighed alone."""
    if pass_rate is None:
        return None
    parts = [(PASSING, pass_rate)]
    parts += [(EACH, each) for each in (types, security, maintainability) if each is not None]
    return round(sum(share * value for share, value in parts) / sum(share for share, _ in parts), 4)


def by_call(cases: Iterable[Case]) -> Mapping[Calls, Case]:
    """Cases by their calls; of two for the same call, the first."""
    found: dict[Calls, Case] = {}
    for case in cases:
        found.setdefault(case.call, case)
    return found
