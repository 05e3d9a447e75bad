"""The outcome of a solo, counted from its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from moot.core.answers import same_as
from moot.core.types import (
    ABSTAINS,
    UNDECIDED,
    Confidence,
    FinalAnswer,
    GivenAnswer,
    Level,
    Outcome,
    Poll,
    RecordParts,
    VoteCast,
)
from moot.formats.shared.answer import final_answer, headline_of, poll_of, same_form
from moot.formats.solo.settings import SoloSettings
from moot.formats.solo.shapes import CODE
from moot.reasoning.fence import clean, one_line
from moot.reasoning.sentences import first_sentence

HIGH, MEDIUM = 0.8, 0.5  # shares of the samples that agree


@dataclass(frozen=True, kw_only=True)
class SoloResult:
    settings: SoloSettings
    answers: Sequence[tuple[str, str | None, str]]  # seat, last answer, step
    first: Sequence[tuple[str, str | None, float | None]]  # seat, first answer, stated confidence
    reasoning: Mapping[str, str]
    names: Mapping[str, str]
    failed: Mapping[str, str]
    ended_by: str
    pick: str | None = None  # the seat whose answer was picked, where a judge or tests did
    picked_by: Literal["", "judge", "tests"] = ""
    passed: float | None = None  # share of the tests that it passes
    no_pick: str = ""  # why neither did
    notes: Sequence[str] = field(default_factory=list[str])

    def with_pick(self, seat: str, *, by: Literal["judge", "tests"], passed: float | None = None) -> SoloResult:
        return replace(self, pick=seat, picked_by=by, passed=passed)

    def without_pick(self, why: str) -> SoloResult:
        return replace(self, no_pick=why)


def report(result: SoloResult) -> Outcome:
    spec = result.settings.wanted
    poll = poll_of(result.answers, spec)
    given = {seat: value for seat, value, _ in result.answers if value is not None}
    seat = result.pick or _most_frequent(poll, given)
    value = given.get(seat)
    alike = 0 if value is None else sum(same_as(each, spec) == same_as(value, spec) for each in given.values())
    support = alike / len(result.answers) if value is not None else None
    return Outcome(
        winner=seat or UNDECIDED,
        headline=_headline(value, result),
        how=_how(result, alike) if value is not None else "",
        ended_by=result.ended_by,
        verdict_source="judge" if result.picked_by == "judge" else "rules" if value is not None else "fallback",
        decided_by=_decided_by(result),
        answer=final_answer(value, spec),
        reason="" if value is not None else f"No sample gave a valid answer. {_first(result.failed)}".strip(),
        statement=clean(result.reasoning.get(seat, "")),
        names=dict(result.names),
        votes=tuple(
            VoteCast(
                seat=voter,
                choice=ABSTAINS if own is None else _first_with(own, result, given),
                key=key,
                reason=result.failed.get(voter, "") if own is None else "",
            )
            for voter, own, key in result.answers
        ),
        polls=(poll.model_copy(update={"decides": not result.picked_by}),) if given else (),
        support=support,
        confidence=None if support is None else Confidence(level=_level(support), source="how many samples agree"),
        first_answers=tuple(
            GivenAnswer(seat=seat, value=None if own is None else same_form(own, spec), confidence=stated)
            for seat, own, stated in result.first
        ),
        notes=tuple(_notes(result, poll)),
        facts={} if result.passed is None else {"Tests passed": f"{result.passed:.0%}"},
        record=RecordParts(recommendation=_recommendation(value, result, seat)),
        details={"samples": len(result.answers), "valid": len(given), "picked_by": result.picked_by or "plurality"},
    )


def _most_frequent(poll: Poll, given: Mapping[str, str]) -> str:
    """The first seat that gave the most frequent answer; of answers that are equally frequent, the earliest. Empty
    without an answer. Samples are exchangeable, so the earliest is as good as one drawn by lot."""
    if not given:
        return ""
    leading = set(poll.result.places[0])
    ballots = {ballot.voter: ballot.ranking[0] for ballot in poll.ballots if ballot.ranking}
    return next(seat for seat in given if ballots[seat] in leading)


def _first_with(value: str, result: SoloResult, given: Mapping[str, str]) -> str:
    spec = result.settings.wanted
    form = same_as(value, spec)
    return next(seat for seat, each in given.items() if same_as(each, spec) == form)


def _headline(value: str | None, result: SoloResult) -> str:
    if value is None:
        return "Undecided: no sample gave a valid answer."
    spec = result.settings.wanted
    if spec.kind in CODE:
        return headline_of(FinalAnswer(kind=spec.kind, value=value))
    text = (first_sentence(value) if spec.kind == "text" else "") or one_line(same_form(value, spec))
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _how(result: SoloResult, alike: int) -> str:
    total = len(result.answers)
    said = f"{alike} of {total} independent answers {'say' if alike != 1 else 'says'} so"
    if result.picked_by == "judge":
        return f"A judge picked it; {said}."
    if result.picked_by == "tests":
        return f"It passes {result.passed or 0:.0%} of the tests, the most of all; {said}."
    return f"{said[:1].upper()}{said[1:]}."


def _decided_by(result: SoloResult) -> str:
    if result.picked_by == "judge":
        return "a judge, among independent answers"
    if result.picked_by == "tests":
        return "the tests that were run"
    return "the most frequent of independent answers, counted by code"


def _level(support: float) -> Level:
    return "High" if support >= HIGH else "Medium" if support >= MEDIUM else "Low"


def _notes(result: SoloResult, poll: Poll) -> list[str]:
    notes: list[str] = []
    if result.no_pick:
        notes.append(f"Nothing was picked, so the most frequent answer counts: {result.no_pick}")
    if not result.picked_by and len(poll.result.places[0]) > 1 and poll.result.reached:
        notes.append("Several answers are equally frequent; the earliest of them counts.")
    if result.failed:
        missing = sum(value is None for _, value, _ in result.answers)
        if missing:
            notes.append(f"{missing} of {len(result.answers)} samples gave no valid answer. {_first(result.failed)}")
    return notes


def _recommendation(value: str | None, result: SoloResult, seat: str) -> str | None:
    if value is None:
        return None
    fenced = f"```\n{value}\n```" if result.settings.wanted.kind in CODE else clean(value)
    return f"{fenced}\n\n{clean(result.reasoning.get(seat, ''))}".strip()


def _first(failed: Mapping[str, str]) -> str:
    return next(iter(failed.values()), "")
