"""What a forge knows at any moment: versions of the code, calls, what blind seats say they lead to, and every run.

Nothing here is decided by what an author says of its code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

from moot.core.types import Json
from moot.core.values import sha256_of
from moot.reasoning.code.cases import Case, CaseRun
from moot.reasoning.code.evidence import (
    COUNTS,
    Calls,
    Runs,
    Settled,
    Standing,
    Statement,
    alike,
    by_call,
    quality_score,
    settle,
    weight,
)
from moot.reasoning.code.requests import CheckRun, ScriptRun, TestRun
from moot.reasoning.code.selection import Measured, measured, ordered
from moot.reasoning.code.written import written_case

MOST_CALLS = 40  # in the pool, given ones apart
MOST_WITH_ATTACKS = 60  # room that no one else can fill
MARKS = {True: "✓", False: "✗", None: "·"}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A version of the code."""

    number: int
    author: str
    code: str
    phase: str
    key: str  # of the step that wrote it
    round: int = 0
    parent: int | None = None  # the version that it changes
    heard: int = 0  # how many rejections its author knew

    @property
    def name(self) -> str:
        return sha256_of(self.code)

    @property
    def label(self) -> str:
        return f"V{self.number}"


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What tools found in a version. None: not measured."""

    high: int | None = None
    security: float | None = None
    types: float | None = None
    maintainability: float | None = None
    complexity: float | None = None
    findings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, run: CheckRun) -> Checked:
        done = set(run.done)
        high = sum(each.tool == "bandit" and each.severity == "high" for each in run.findings)
        unsafe = sum(each.tool == "bandit" for each in run.findings)
        untyped = sum(each.tool == "mypy" for each in run.findings)
        kept = run.metrics.maintainability
        return cls(
            high=high if "bandit" in done else None,
            security=1 / (1 + unsafe) if "bandit" in done else None,
            types=1 / (1 + untyped) if "mypy" in done else None,
            maintainability=None if kept is None else max(0.0, min(1.0, kept / 100)),
            complexity=run.metrics.complexity,
            findings=tuple(
                f"{'' if each.line is None else f'line {each.line}, '}{each.tool} {each.rule}: {each.message}"
                for each in run.findings
                if each.severity != "low"
            ),
            missing=tuple(sorted({*run.missing, *(each.partition(":")[0] for each in run.failed)})),
        )


NOT_CHECKED = Checked()
SKIPPED = "The change makes it skip, which is no pass."
GIVEN = "test_given.py"  # where a test file of the user's lies in a repository


def expected(base: ScriptRun, *, given: bool) -> tuple[str, ...]:
    """The tests that a change must pass: those of the repository that passed without it, and those of the user's file,
    as one."""
    own = [test.name for test in base.tests if test.outcome == "passed" and not test.name.startswith(GIVEN)]
    return (*own, *([GIVEN] if given else []))


def counted(run: ScriptRun, names: tuple[str, ...]) -> ScriptRun:
    """A run with the tests that count alone. Those of the user's file are one test, and what did not run has died. One
    that is skipped has failed: it ran before the change."""
    found = {
        test.name: test.model_copy(update={"outcome": "failed", "message": f"{SKIPPED} {test.message}".strip()})
        if test.outcome == "skipped"
        else test
        for test in run.tests
    }
    theirs = [test for test in run.tests if test.name.startswith(GIVEN)]
    bad = next((test for test in theirs if test.outcome not in ("passed", "skipped")), None)
    if bad is not None:
        found[GIVEN] = bad.model_copy(update={"name": GIVEN, "message": f"{bad.name}: {bad.message}"})
    elif any(test.outcome == "passed" for test in theirs):
        found[GIVEN] = TestRun(name=GIVEN, outcome="passed")
    missing = "It did not run."
    tests = (found.get(name) or TestRun(name=name, outcome="died", message=missing) for name in names)
    return run.model_copy(update={"tests": tuple(tests)})


@dataclass(kw_only=True)
class Board:
    given: Mapping[Calls, Case]
    script: str = ""  # a test file that was given
    expected: tuple[str, ...] = ()  # tests of a repository that must pass
    drafts: list[Draft] = field(default_factory=list[Draft])
    numbered: int = 0  # so many of them keep their numbers; the others are being written at once
    held: dict[str, int] = field(default_factory=dict[str, int])  # by author, the number of its current version
    pool: dict[Calls, str] = field(default_factory=dict[Calls, str])  # calls, and who thought of them first
    tester: list[Case] = field(default_factory=list[Case])  # the tester's own tests
    said: dict[Calls, dict[str, Statement]] = field(default_factory=dict[Calls, dict[str, Statement]])
    asked: dict[Calls, set[str]] = field(default_factory=dict[Calls, set[str]])  # blind seats asked about a call
    claims: dict[str, list[Case]] = field(default_factory=dict[str, list[Case]])  # what those who see code expect
    runs: Runs = field(default_factory=Runs)
    scripts: dict[str, ScriptRun] = field(default_factory=dict[str, ScriptRun])  # by the name of the code
    checks: dict[str, Checked] = field(default_factory=dict[str, Checked])
    refuted: Counter[str] = field(default_factory=Counter[str])  # issues and attacks that did not hold, by seat
    upheld: Counter[str] = field(default_factory=Counter[str])
    rejections: int = 0  # with words, by a person
    _changes: int = 0  # to what decides how calls stand, but for runs
    _all_settled: tuple[tuple[int, int], list[Settled]] = ((-1, -1), [])  # as of so many changes and runs

    def add(self, author: str, code: str, *, phase: str, key: str, round: int = 0, parent: int | None = None) -> Draft:
        """A new version. The same code of the same author is the version that it has."""
        known = next((each for each in self.drafts if (each.code, each.author) == (code, author)), None)
        if known is not None:
            known = replace(known, heard=self.rejections)
            self.drafts[known.number - 1] = known
            return known
        draft = Draft(
            number=len(self.drafts) + 1,
            author=author,
            code=code,
            phase=phase,
            key=key,
            round=round,
            parent=parent,
            heard=self.rejections,
        )
        self.drafts.append(draft)
        self._changes += 1
        self.held.setdefault(author, draft.number)
        return draft

    def number(self, seats: Sequence[str]) -> None:
        """Number the versions that were written at once, by attempt and then in the order of `seats`: whose code was
        ready first makes no difference."""
        new = sorted(self.drafts[self.numbered :], key=lambda each: (each.round, seats.index(each.author)))
        numbers = {each.number: n for n, each in enumerate(new, self.numbered + 1)}
        self.drafts[self.numbered :] = [
            replace(
                each,
                number=numbers[each.number],
                parent=None if each.parent is None else numbers.get(each.parent, each.parent),
            )
            for each in new
        ]
        held = {author: numbers.get(number, number) for author, number in self.held.items()}
        self.held = {author: held[author] for author in seats if author in held}
        self.numbered = len(self.drafts)
        self._changes += 1

    def draft(self, number: int) -> Draft:
        return self.drafts[number - 1]

    def renewed(self, draft: Draft) -> Draft:
        """A version as it is now, with the number that it keeps."""
        return next(each for each in self.drafts if (each.code, each.author) == (draft.code, draft.author))

    def descends(self, draft: Draft, number: int) -> bool:
        """Whether a version is the one with this number, or comes from it."""
        while draft.number != number and draft.parent is not None:
            draft = self.draft(draft.parent)
        return draft.number == number

    def forget_statements(self) -> list[Calls]:
        """A person has changed what is asked for: what blind seats have said no longer counts. The calls on which
        something was agreed, or that the tester made."""
        known = [call for call in self.pool if self.settled(call).counts or call in self.said]
        self.said.clear()
        self.asked.clear()
        self.tester.clear()
        self.rejections += 1
        self._changes += 1
        return known

    def origin(self, draft: Draft) -> str:
        """The author of the first version from which one comes: a copy of another's code is no second opinion."""
        while draft.parent is not None:
            draft = self.draft(draft.parent)
        return draft.author

    def current(self, author: str) -> Draft | None:
        return self.draft(self.held[author]) if author in self.held else None

    def hold(self, draft: Draft) -> None:
        self.held[draft.author] = draft.number

    def pooled(self, cases: Iterable[Case], by: str, *, most: int = MOST_CALLS) -> tuple[Calls, ...]:
        """Take calls into the pool, as far as there is room; the new ones."""
        new: list[Calls] = []
        for case in cases:
            if case.call not in self.pool and case.call not in self.given and len(self.pool) < most:
                self.pool[case.call] = by
                self._changes += 1
                new.append(case.call)
        return tuple(new)

    def ask(self, seat: str, call: Calls) -> None:
        """A blind seat is asked about a call; however often, it is one of those asked."""
        self.asked.setdefault(call, set()).add(seat)
        self._changes += 1

    def state(self, seat: str, call: Calls, statement: Statement) -> None:
        """A blind seat's expectation; its first one stays."""
        self.said.setdefault(call, {}).setdefault(seat, statement)
        self._changes += 1

    @property
    def calls(self) -> tuple[Calls, ...]:
        """Every call there is, given ones first."""
        return (*self.given, *self.pool)

    def settled(self, call: Calls) -> Settled:
        return self._settled([call])[0]

    def _settled(self, calls: Iterable[Calls]) -> list[Settled]:
        authors: dict[str, set[str]] = {}  # from whom the versions come
        for draft in self.drafts:
            authors.setdefault(self.origin(draft), set()).add(draft.name)
        return [
            settle(
                call,
                given=self.given.get(call),
                said=tuple(self.said.get(call, {}).values()),
                asked=len(self.asked.get(call, ())),
                stable=self.runs.stable(call, authors.values()),
            )
            for call in calls
        ]

    def unanswered(self) -> int:
        """How many calls some blind seat was asked about and said nothing of, so that they are unconfirmed."""
        return sum(
            self.settled(call).standing == "unconfirmed" and not seats <= self.said.get(call, {}).keys()
            for call, seats in self.asked.items()
            if call in self.pool
        )

    def agreement(self) -> tuple[int, int]:
        """Of the pairs of blind seats that stated something about the same call, how many stated the same, and how many
        there are. Two of three who agree make a test count; that they seldom do says that they guess."""
        pairs = [
            alike(one, two)
            for call, said in self.said.items()
            if call in self.pool
            for one, two in combinations([each for each in said.values() if not each.unspecified], 2)
        ]
        return sum(pairs), len(pairs)

    @property
    def all_settled(self) -> list[Settled]:
        now = self._changes, self.runs.added
        if self._all_settled[0] != now:
            self._all_settled = now, self._settled(self.calls)
        return self._all_settled[1]

    @property
    def counting(self) -> list[Settled]:
        return [each for each in self.all_settled if each.counts]

    def standings(self) -> Counter[Standing]:
        return Counter(each.standing for each in self.all_settled)

    def measured(self, draft: Draft) -> Measured:
        script = self.scripts.get(draft.name)
        checked = self.checks.get(draft.name, NOT_CHECKED)
        scripts = (None if script is None else script.passed,) if self.script else ()
        if self.expected:
            passed = {test.name for test in script.tests if test.outcome == "passed"} if script else None
            scripts = tuple(None if passed is None else name in passed for name in self.expected)
        found = measured(
            self.runs, draft.name, self.all_settled, author=self.origin(draft), number=draft.number, scripts=scripts
        )
        if self.expected:  # that two patches pass the same tests does not mean that they do the same
            found = replace(found, shows=(draft.name,))
        return replace(found, high_findings=checked.high, complexity=checked.complexity, heard=draft.heard)

    @property
    def is_tested(self) -> bool:
        """Whether a person gave some test."""
        return bool(self.given or self.script)

    @property
    def decides(self) -> bool:
        """Whether there are tests that a version must pass: given ones, or a repository's own."""
        return self.is_tested or bool(self.expected)

    def passes_given(self, draft: Draft) -> bool:
        return all(passed is True for passed in self.measured(draft).given)

    @property
    def passing(self) -> frozenset[str]:
        """The authors of a version that passes every given test and knew all that a person said."""
        current = [each for each in self.drafts if each.heard == self.rejections]
        return frozenset(each.author for each in current if self.passes_given(each))

    def all_measured(self) -> list[Measured]:
        return [self.measured(draft) for draft in self.drafts]

    def best(self) -> list[Draft]:
        """Every version, best first."""
        return [self.draft(each.number) for each in ordered(self.all_measured())]

    def leader(self) -> Draft | None:
        return next(iter(self.best()), None)

    def found(self, draft: Draft) -> tuple[str, ...]:
        """What checkers found in a version, what matters least left out."""
        return self.checks.get(draft.name, NOT_CHECKED).findings

    def quality(self, draft: Draft) -> float | None:
        checked = self.checks.get(draft.name, NOT_CHECKED)
        return quality_score(
            self.measured(draft).pass_rate,
            types=checked.types,
            security=checked.security,
            maintainability=checked.maintainability,
        )

    def metrics(self, draft: Draft) -> Json:
        """What checkers measured in a version; null where they did not run, and security from 0 to 1."""
        checked = self.checks.get(draft.name, NOT_CHECKED)
        return {
            "complexity": checked.complexity,
            "maintainability": checked.maintainability,
            "security": checked.security,
            "types": checked.types,
            "high_findings": checked.high,
        }

    def loses(self, before: Draft, after: Draft) -> bool:
        """Whether a test that counts is passed by one version and not by the one after it."""
        one, two = self.measured(before), self.measured(after)
        pairs = zip((*one.given, *one.agreed), (*two.given, *two.agreed), strict=True)
        return any(was is True and now is not True for was, now in pairs)

    def failures(self, draft: Draft, cases: Iterable[Case]) -> list[tuple[Case, CaseRun]]:
        """The cases that a version fails, with what it did instead."""
        return [
            (case, self.runs.of(draft.name, case.call)[-1])
            for case in cases
            if self.runs.passes(draft.name, case) is False
        ]

    def weight(self, seat: str) -> Fraction:
        """A voter's weight: the share of what it claimed that was confirmed."""
        confirmed, settled = self.upheld[seat], self.upheld[seat] + self.refuted[seat]
        for case in by_call(self.claims.get(seat, ())).values():
            known = self.settled(case.call)
            if known.standing in COUNTS and known.case is not None:
                settled += 1
                confirmed += alike(known.case, case)
        return weight(confirmed, settled)

    def matrix(self) -> Json:
        """Versions by cases: who passes what, and how each case stands."""
        shown = self.drafts
        rows: list[Json] = []
        for settled in self.all_settled:
            case = settled.case
            passed = {each.label: None if case is None else self.runs.passes(each.name, case) for each in shown}
            row = {"call": list(settled.call), "standing": settled.standing, "by": self.pool.get(settled.call, "")}
            expected = "" if case is None else written_case(case)
            rows.append({**row, "case": expected or "; ".join(settled.call), "passed": passed})
        return {"versions": [each.label for each in shown], "authors": [each.author for each in shown], "rows": rows}
