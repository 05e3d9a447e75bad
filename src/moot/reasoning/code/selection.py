"""Chooses among versions of some code: evidence first, votes where it ties, then the simpler one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from moot.reasoning.code.evidence import Runs, Settled

Reason = Literal["ran", "given", "agreed", "heard", "class", "security", "vote", "only", "improved", "tie"]
TieBreak = Literal["complexity", "alike"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A version and what is known of it. None: it was not measured."""

    name: str  # of its code: sha256
    author: str
    number: int
    given: tuple[bool | None, ...] = ()  # passed, for each given test
    agreed: tuple[bool | None, ...] = ()
    shows: tuple[str, ...] = ()  # what it does, call by call
    ran: bool = False
    high_findings: int | None = None
    complexity: float | None = None
    heard: int = 0  # how many rejections of a person its author knew

    @property
    def passes_given(self) -> bool:
        return all(each is True for each in self.given)

    @property
    def agreed_passed(self) -> int:
        return sum(each is True for each in self.agreed)

    @property
    def passed(self) -> int:
        return self.agreed_passed + sum(each is True for each in self.given)

    @property
    def not_run(self) -> int:
        return sum(each is None for each in (*self.given, *self.agreed))

    @property
    def counted(self) -> int:
        return len(self.given) + len(self.agreed)

    @property
    def pass_rate(self) -> float | None:
        """The share of the tests that count; None if none does, or nothing ran."""
        return self.passed / self.counted if self.counted and self.ran else None


def measured(
    runs: Runs, name: str, settled: Sequence[Settled], *, author: str, number: int, scripts: Sequence[bool | None] = ()
) -> Measured:
    """A version under the tests that count. `scripts`: whether it passes given test files."""
    counting = [each for each in settled if each.counts and each.case is not None]
    outcome = {each.call: runs.passes(name, each.case) for each in counting if each.case is not None}
    return Measured(
        name=name,
        author=author,
        number=number,
        given=(*(outcome[each.call] for each in counting if each.standing == "given"), *scripts),
        agreed=tuple(outcome[each.call] for each in counting if each.standing == "agreed"),
        shows=runs.shows(name, [each.call for each in settled if each.standing != "quarantined"]),
        ran=runs.has(name) or any(each is not None for each in scripts),
    )


@dataclass(frozen=True, kw_only=True)
class CodeClass:
    """Versions that do the same for every call."""

    members: tuple[Measured, ...]

    @property
    def authors(self) -> frozenset[str]:
        return frozenset(each.author for each in self.members)

    @property
    def score(self) -> tuple[int, int]:
        """Distinct authors times the tests passed; then the authors alone, where nothing counts."""
        return len(self.authors) * max(each.passed for each in self.members), len(self.authors)


def classes(versions: Sequence[Measured]) -> list[CodeClass]:
    """The versions by what they do, in the order of their first ones."""
    found: dict[tuple[str, ...], list[Measured]] = {}
    for each in versions:
        found.setdefault(each.shows, []).append(each)
    return [CodeClass(members=tuple(members)) for members in found.values()]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the evidence leaves: the leaders, and the rule that parted them from the rest."""

    leaders: tuple[Measured, ...]  # one: the winner
    by: Reason  # the rule that decided last; "tie": none did
    then: tuple[TieBreak, ...] = ()  # what parted those that the rules left
    places: tuple[Measured, ...] = ()  # everyone that is eligible, best first

    @property
    def winner(self) -> Measured | None:
        return self.leaders[0] if len(self.leaders) == 1 else None


def ordered(versions: Sequence[Measured]) -> tuple[Measured, ...]:
    """Best first by the evidence, of equals the earlier one."""
    size = {each.name: group.score for group in classes(versions) for each in group.members}

    def key(each: Measured) -> tuple[object, ...]:
        return (
            not each.passes_given,
            -each.agreed_passed,
            -each.heard,
            *(-part for part in size[each.name]),
            bool(each.high_findings),
            each.complexity is None,
            each.complexity or 0.0,
            each.number,
        )

    return tuple(sorted(versions, key=key))  # pyright: ignore[reportArgumentType]


def by_evidence(versions: Sequence[Measured]) -> Choice:
    """The versions that lead by all that was run: every given test passed, then agreed tests passed, then what a person
    said when rejecting was known, then the class of equal behaviour, then no serious finding. Those that fail a given
    test, or were not run, can't lead."""
    eligible = [each for each in versions if each.ran and each.passes_given]
    if not eligible:
        return Choice(leaders=(), by="given", places=ordered(versions))
    size = {each.name: group.score for group in classes(eligible) for each in group.members}
    rules: tuple[tuple[Reason, Callable[[Measured], object]], ...] = (
        ("agreed", lambda each: -each.agreed_passed),
        ("heard", lambda each: -each.heard),
        ("class", lambda each: tuple(-part for part in size[each.name])),
        ("security", lambda each: bool(each.high_findings)),
    )
    leaders, reason = eligible, _excluded(versions, eligible)
    for name, rule in rules:
        best = min(rule(each) for each in leaders)  # pyright: ignore[reportArgumentType,reportUnknownVariableType]
        left = [each for each in leaders if rule(each) == best]
        if len(left) < len(leaders):
            leaders, reason = left, name
    return Choice(leaders=tuple(leaders), by=reason, places=ordered(versions))


def _excluded(versions: Sequence[Measured], eligible: Sequence[Measured]) -> Reason:
    """Why versions that can't lead can't, or, where all can, whether there are several."""
    if len(eligible) < len(versions):
        return "ran" if len(eligible) == sum(each.ran for each in versions) else "given"
    return "only" if len(eligible) == 1 else "tie"


def simplest(choice: Choice) -> Choice:
    """The one leader that is simpler than the others. Of leaders that do the same for every call, which one is taken
    matters little: the earliest of the simplest. Others stay tied. The rule that left them stays the reason."""
    leaders, then = choice.leaders, choice.then
    if len(leaders) < 2:
        return choice
    if all(each.complexity is not None for each in leaders):
        least = min(each.complexity or 0.0 for each in leaders)
        simple = tuple(each for each in leaders if each.complexity == least)
        then = (*then, "complexity") if len(simple) < len(leaders) else then
        leaders = simple
    if len(leaders) > 1 and len(classes(leaders)) == 1:
        leaders, then = (min(leaders, key=lambda each: each.number),), (*then, "alike")
    if len(leaders) > 1:
        return replace(choice, leaders=leaders, by="tie", then=())
    return replace(choice, leaders=leaders, then=then)
