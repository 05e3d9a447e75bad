"""The typed answers of a forge. What has code or tests in it is written as text; the rest is JSON.

As text, code stands in a fenced block, and tests are lines of a block `cases`: `add(1, 2) == 3`, or
`s = Stack(); s.pop() raises IndexError`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, create_model

from moot.core.types import Answer, Json, NonEmpty, TextAnswer
from moot.reasoning.code.cases import Case
from moot.reasoning.code.changes import change_in, written_change
from moot.reasoning.code.requests import MAX_CODE_CHARS
from moot.reasoning.code.written import CASES, blocks, cases_in, closed, code_in, expectation, fenced, written_case

PREDICTIONS = "predictions"  # the tag of a block with predictions
MOST_CASES = 12  # of one answer
MOST_ISSUES = 5  # of one critic
MOST_LESSONS = 3
NO_ATTACK = "No call that breaks it."

Code = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_CODE_CHARS), Field(examples=["def f(x):\n    return x + 1"])
]
Unit = Annotated[float, Field(ge=0, le=1)]
Category = Literal["requirements", "constraints", "edge_cases", "performance", "integration"]
Priority = Literal["high", "medium", "low"]

_NUMBERED = re.compile(r"^\W*+(?:case|call|input|issue)?\s*+#?(\d++)\s*+(?:[:.)]|->|=>|=|–|-\s)\s*(.*)$", re.IGNORECASE)
_FIELD = re.compile(r"^\W*(cause|wrong|change|confidence)\W*:[\s*_]*(.*)$", re.IGNORECASE)
_UNIT = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(?:(%)|/\s*(\d+))?(?:\s*\(.*\)|[,;]\s.*)?")
_OPEN = re.compile(r"unspecified|not (?:specified|stated|defined)|undefined behaviou?r|unknown|ambiguous|\?", re.I)


class Question(Answer):
    question: NonEmpty
    category: Category
    priority: Priority


class Questions(Answer):
    """The implementer reads the task: how sure it is, and what it would have to know."""

    confidence: Unit  # that it knows what is wanted
    complexity: Literal["simple", "moderate", "complex"]
    ambiguity: Unit
    questions: list[Question] = Field(max_length=5)

    def prose(self) -> str:
        asked = "\n".join(f"- {each.question} ({each.category}, {each.priority})" for each in self.questions)
        sure = f"Confidence {self.confidence:.0%}, ambiguity {self.ambiguity:.0%}, {self.complexity}."
        return f"{sure}\n{asked}".strip()


class Reading(Answer):
    number: int = Field(ge=1, le=5)  # of the question
    answer: NonEmpty
    stated: bool  # the task says so; False: an assumption


class Readings(Answer):
    """The judge answers questions from the task alone."""

    answers: list[Reading] = Field(max_length=5)

    def prose(self) -> str:
        return "\n".join(
            f"{each.number}. {each.answer}" + ("" if each.stated else " (assumed)") for each in self.answers
        )


class Approaches(Answer):
    """A leader's plan for one piece of code: its interface, and a different approach for each engineer."""

    interface: NonEmpty  # names and parameters that everyone keeps to
    approaches: list[NonEmpty] = Field(min_length=1, max_length=9)

    def prose(self) -> str:
        return "\n".join([f"Interface: {self.interface}", *(f"- {each}" for each in self.approaches)])


class OwnPlan(Answer):
    """An engineer's own plan, where everyone plans."""

    interface: NonEmpty
    approach: NonEmpty

    def prose(self) -> str:
        return f"Interface: {self.interface}\n{self.approach}"


class Solution(TextAnswer):
    """An engineer's code, and tests of its own for it."""

    code: Code
    cases: tuple[Case, ...] = Field((), max_length=MOST_CASES)

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(code=code_in(text), cases=_cases(text, marked=True))

    @classmethod
    def ended(cls, text: str) -> str:
        return closed(text)

    def as_text(self) -> str:
        return "\n\n".join([fenced("", self.code), *_block(self.cases)])

    def prose(self) -> str:
        return self.as_text()


class Improvement(TextAnswer):
    """Code that does the same, in a better way."""

    code: Code

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(code=code_in(text))

    def as_text(self) -> str:
        return fenced("", self.code)

    def prose(self) -> str:
        return self.as_text()


class Tests(TextAnswer):
    """Tests, by the tester or an attacker, who has not seen any code or wants to break it."""

    __test__ = False  # for pytest: it is none

    cases: tuple[Case, ...] = Field((), max_length=MOST_CASES, examples=[[{"call": ["f(1)"], "expected": "2"}]])

    @classmethod
    def from_text(cls, text: str) -> Self:
        cases = _cases(text)
        if not cases:
            raise ValueError("there is no test in it; write each on a line of its own, such as f(1, 2) == 3")
        return cls(cases=cases)

    def as_text(self) -> str:
        return fenced(CASES, "\n".join(map(written_case, self.cases)))

    def prose(self) -> str:
        return self.as_text()


class Attack(Tests):
    """What an attacker says breaks the code. It may find nothing."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(cases=_cases(text))

    def prose(self) -> str:
        return self.as_text() if self.cases else NO_ATTACK


class Prediction(Answer):
    """What one call should lead to, by the specification: exactly one of the three."""

    number: int = Field(ge=1)  # of the call
    expected: Annotated[str, Field(examples=["2", "3"])] = ""  # a literal
    raises: Annotated[str, Field(examples=[""])] = ""  # the name of an exception
    unspecified: Annotated[bool, Field(examples=[False])] = False


class Predictions(TextAnswer):
    """What an oracle, who sees the specification and the calls only, says that they lead to."""

    predictions: tuple[Prediction, ...] = Field(examples=[[{"number": 1, "expected": "2"}]])

    @classmethod
    def from_text(cls, text: str) -> Self:
        marked = [block.text for block in blocks(text) if block.tag == PREDICTIONS]
        lines = (marked[-1] if marked else text).splitlines()
        found = {each.number: each for each in map(_prediction, lines) if each is not None}
        if not found:
            raise ValueError("there is no prediction in it; write a line for each call, such as 1: [2, 3]")
        return cls(predictions=tuple(found.values()))

    def as_text(self) -> str:
        lines = [
            f"{each.number}: "
            + ("unspecified" if each.unspecified else f"raises {each.raises}" if each.raises else each.expected)
            for each in self.predictions
        ]
        return fenced(PREDICTIONS, "\n".join(lines))

    def prose(self) -> str:
        return self.as_text()


class Repair(TextAnswer):
    """A reflection on what failed, and the code that follows from it, in one answer."""

    root_cause: NonEmpty
    went_wrong: str = ""
    change_next: NonEmpty
    confidence: Unit | None = None  # in the fix; None: not said, or not as a number
    code: Code

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(**_told(text), code=code_in(text))

    def as_text(self) -> str:
        return "\n".join([*self._lines(), fenced("", self.code)])

    def _lines(self) -> list[str]:
        lines = [f"Cause: {_line(self.root_cause)}", f"Wrong: {_line(self.went_wrong)}"]
        lines += [f"Change: {_line(self.change_next)}"]
        return lines + ([] if self.confidence is None else [f"Confidence: {self.confidence}"])

    def prose(self) -> str:
        return self.as_text()

    def reflected(self) -> list[Json]:
        return [self.model_dump(mode="json", exclude={"code"})]


class Change(Solution):
    """An engineer's change to a repository: whole files, or a diff."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(code=written_change(change_in(text)), cases=())

    def as_text(self) -> str:
        return self.code


class ChangedRepair(Repair):
    """A reflection on what failed, and the change that follows from it."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(**_told(text), code=written_change(change_in(text)))

    def as_text(self) -> str:
        return "\n".join([*self._lines(), self.code])


class Issue(Answer):
    version: str  # the label of the version that has it
    severity: Literal["high", "medium", "low"]
    claim: NonEmpty
    case: str = ""  # a test that would show it, as a line


class Critique(Answer):
    """What a critic holds against the versions."""

    issues: list[Issue] = Field(max_length=MOST_ISSUES)

    def prose(self) -> str:
        return "\n".join(f"{each.version} ({each.severity}): {each.claim}" for each in self.issues) or "No issue."


class IssueAnswer(Answer):
    number: int = Field(ge=1)
    accepted: bool
    reason: str = ""


class Review(TextAnswer):
    """An author's answer to each issue, and the code if it changes."""

    answers: tuple[IssueAnswer, ...] = ()
    code: Code | None = None  # None: it stays as it is

    @classmethod
    def from_text(cls, text: str) -> Self:
        prose = text.split("```", 1)[0]
        found = {each.number: each for each in map(_issue_answer, prose.splitlines()) if each is not None}
        code = code_in(text) if "```" in text else None
        if code is None and not found:
            raise ValueError("it neither answers an issue, such as 1: accept, nor has it code")
        return cls(answers=tuple(found.values()), code=code)

    def as_text(self) -> str:
        return "\n".join([*self._lines(), *([fenced("", self.code)] if self.code else [])])

    def _lines(self) -> list[str]:
        return [
            f"{each.number}: {'accept' if each.accepted else 'reject'} {_line(each.reason)}".rstrip()
            for each in self.answers
        ]

    def prose(self) -> str:
        return self.as_text()


class ChangedReview(Review):
    """An author's answer to each issue, and its change if that differs."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        found = {each.number: each for each in map(_issue_answer, text.splitlines()) if each is not None}
        try:
            code = written_change(change_in(text))
        except ValueError:
            if not found:
                raise
            code = None
        return cls(answers=tuple(found.values()), code=code)

    def as_text(self) -> str:
        return "\n".join([*self._lines(), *([self.code] if self.code else [])])


class Ballot(Answer):
    """A ranking of versions by their labels."""

    reasoning: NonEmpty
    ranking: list[str]

    def prose(self) -> str:
        return self.reasoning


class TaughtLesson(Answer):
    lesson: NonEmpty  # in general words, for other tasks
    cites: list[int] = Field(max_length=9)  # numbers of the attempts from which it follows


class RecalledLesson(Answer):
    number: int  # of a lesson that the engineers were given
    verdict: Literal["confirmed", "contradicted", "unrelated"]
    cites: list[int] = Field(max_length=9)  # numbers of the attempts that show it


class Teaching(Answer):
    """The teacher's explanation of the code that won, and what is to be learned."""

    explanation: NonEmpty
    lessons: list[TaughtLesson] = Field(max_length=MOST_LESSONS)

    def prose(self) -> str:
        return "\n".join([self.explanation, *(f"- {each.lesson}" for each in self.lessons)])


class TeachingWithLessons(Teaching):
    """Where engineers were given lessons of earlier debates: also how these have fared."""

    recalled: list[RecalledLesson] = Field(default_factory=list[RecalledLesson], max_length=9)


@lru_cache(maxsize=256)
def critique_of(labels: tuple[str, ...]) -> type[Critique]:
    """A critique of the versions with these labels."""
    label: Any = Literal[labels]  # pyright: ignore[reportInvalidTypeForm]
    issue = create_model("Issue", __base__=Issue, version=(label, ...))
    listed: Any = list[issue]
    return create_model("Critique", __base__=Critique, issues=(listed, Field(max_length=MOST_ISSUES)))


@lru_cache(maxsize=256)
def ballot_over(labels: tuple[str, ...]) -> type[Ballot]:
    """A ballot that ranks some of these labels."""
    some: Any = list[Literal[labels]]  # pyright: ignore[reportInvalidTypeForm]
    once: Any = {"uniqueItems": True}
    field = Field(min_length=1, max_length=len(labels), json_schema_extra=once)
    return create_model("Ballot", __base__=Ballot, ranking=(some, field))


def _cases(text: str, *, marked: bool = False) -> tuple[Case, ...]:
    """The tests of an answer; `marked`: only those in a block of their own, where lines of code stand beside them."""
    if marked and f"```{CASES}" not in text:
        return ()
    return cases_in(text)[:MOST_CASES]


def _block(cases: tuple[Case, ...]) -> list[str]:
    return [fenced(CASES, "\n".join(map(written_case, cases)))] if cases else []


def _prediction(line: str) -> Prediction | None:
    found = _NUMBERED.match(line)
    if found is None or not 1 <= int(found[1]) <= 10_000:
        return None
    number = int(found[1])
    expected, raises = expectation(found[2])
    if expected or raises:
        return Prediction(number=number, expected=expected, raises=raises)
    return Prediction(number=number, unspecified=True) if _OPEN.search(found[2]) else None


def _issue_answer(line: str) -> IssueAnswer | None:
    found = _NUMBERED.match(line)
    word = "" if found is None else found[2].lstrip("*_ ").lower()
    if found is None or not int(found[1]) or not word.startswith(("accept", "reject")):
        return None
    reason = re.sub(r"^\W*(?:accept|reject)\w*[\W_]*(?:because\s+)?", "", found[2], flags=re.IGNORECASE)
    return IssueAnswer(number=int(found[1]), accepted=word.startswith("accept"), reason=reason.strip())


def _told(text: str) -> dict[str, Any]:
    """The lines of a reflection."""
    told = {found[1].lower(): found[2].strip() for line in text.splitlines() if (found := _FIELD.match(line))}
    return {
        "root_cause": told.get("cause") or "(not said)",
        "went_wrong": told.get("wrong", ""),
        "change_next": told.get("change") or "(not said)",
        "confidence": _unit(told.get("confidence", "")),
    }


def _unit(text: str) -> float | None:
    """A number from 0 to 1, written so, in percent, or as `8/10`; None for anything else: no number is made up."""
    found = _UNIT.fullmatch(re.sub(r"[*_`]", "", text).strip().rstrip("."))
    if found is None:
        return None
    number, most = float(found[1]), 100.0 if found[2] else float(found[3] or 1)
    return number / most if number <= most and most else None


def _line(text: str) -> str:
    return " ".join(text.split())
