"""Cases: a test of code as data. A call enters the sandbox; what it should give stays outside and is compared there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from moot.core.types import Answer
from moot.reasoning.code.literals import parsed
from moot.reasoning.code.values import NotAValue, same

MAX_CALL_CHARS = 20_000
MAX_STEPS = 100

# Statements in the code's own namespace, one after the other in one process; the value of the last one counts.
Statement = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CALL_CHARS)]
Call = Annotated[tuple[Statement, ...], Field(min_length=1, max_length=MAX_STEPS)]

CaseOutcome = Literal[
    "returned",  # a value
    "raised",  # an exception
    "unreadable",  # something that is no built-in value, or is nested too deeply or too long
    "timed_out",
    "died",  # its process ended without a result
    "invalid",  # the call itself can't be read: no fault of the code
    "not_run",  # the run ended before its turn
]


class Case(Answer):
    """A call, and the value or the exception that it should lead to."""

    call: Call = Field(examples=[["f(1)"], ["f(2)"]])
    expected: Annotated[str, Field(examples=["2", "3"])] = ""  # a literal
    raises: Annotated[str, Field(examples=[""])] = ""  # instead: the name of an exception

    @property
    def problem(self) -> str:
        """Why this is no case that anything could be held against, or nothing."""
        if bool(self.expected) == bool(self.raises):
            return "A case needs either the value that is expected or the exception."
        try:
            if self.expected:
                parsed(self.expected)
        except NotAValue as wrong:
            return str(wrong)
        return ""


class CaseRun(Answer):
    """What came of a call."""

    outcome: CaseOutcome
    value: str = ""  # of "returned": a literal
    error: str = ""  # of "raised" the name of the exception, of "unreadable" that of the type, of "died" the signal
    message: str = ""
    ms: int = 0
    cpu_ms: float = 0.0
    peak_bytes: int | None = None  # None: not measured


def passes(case: Case, run: CaseRun) -> bool:
    """Whether a call led to what its case expects. What was not run, or can't be read, never does."""
    if case.problem:
        return False
    if case.raises:
        return run.outcome == "raised" and run.error == case.raises
    try:
        return run.outcome == "returned" and same(parsed(case.expected), parsed(run.value))
    except NotAValue:
        return False
