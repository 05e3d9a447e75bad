"""Typed answers, for every format: the setting `answer` adds one field to a shape that a format has anyway.

Where the field is missing or invalid, there is no answer: nothing is read out of prose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, StringConstraints, create_model

from moot.core.answers import AnswerSpec, same_as, written_number
from moot.core.types import Answer, Candidate, FinalAnswer, NonEmpty, Poll, Prompt, TextAnswer
from moot.core.types import Ballot as CastBallot
from moot.reasoning.code.written import closed
from moot.reasoning.fence import clean
from moot.reasoning.voting import counted

A = TypeVar("A", bound=Answer)

FIELD = "final"
MOST_CHARS = 2_000
METHOD = "plurality"
_MARK = "```"

Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_CHARS)]


def _finite(value: float) -> float:
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("it must be a finite number")
    return value


@lru_cache(maxsize=256)
def with_final(shape: type[A], spec: AnswerSpec) -> type[A]:
    """The shape with one more field, the answer itself. The same arguments always give the same type."""
    return create_model(shape.__name__, __base__=shape, **{FIELD: (_type(spec), ...)})  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]


def _type(spec: AnswerSpec) -> Any:
    match spec.kind:
        case "choice":
            return Literal[spec.options]  # pyright: ignore[reportInvalidTypeForm]
        case "number":
            return Annotated[float, AfterValidator(_finite)]
        case "text":
            return Short
        case _:
            return NonEmpty


def final_in(given: Answer) -> str | None:
    """The value of the field that `with_final` adds; None if the shape has none."""
    value: object = getattr(given, FIELD, None)
    if value is None:
        return None
    return written_number(value) if isinstance(value, float | int) else str(value).strip()


def final_answer(value: str | None, spec: AnswerSpec) -> FinalAnswer | None:
    return None if value is None else FinalAnswer(kind=spec.kind, value=same_form(value, spec), options=spec.options)


def same_form(value: str, spec: AnswerSpec) -> str:
    """The value as it is stored: an option in the spelling of the question, a number in one form."""
    return same_as(value, spec) if spec.kind in ("choice", "number") else value


def headline_of(answer: FinalAnswer) -> str:
    """A sentence that states the answer, or, of code and patches, how long it is."""
    if not answer.is_code:
        return f"{clean(answer.value)}."
    lines = len(answer.value.strip().splitlines())
    return f"The answer is {'a patch' if answer.kind == 'patch' else 'code'} of {lines} line{'s' * (lines != 1)}."


def asked_for(spec: AnswerSpec) -> str:
    """What is to be written into the field, to follow its name."""
    match spec.kind:
        case "choice":
            named = ", ".join(json.dumps(each, ensure_ascii=False) for each in spec.options)
            return f"your answer, exactly one of: {named}"
        case "number":
            return "your answer, as a number"
        case "text":
            return "your answer alone, in as few words as it takes"
        case "code":
            return "your answer: the whole code, as one string"
        case "patch":
            return "your answer: the whole patch, as a unified diff"


def asking(prompt: Prompt, spec: AnswerSpec | None, *, inside: str = "") -> Prompt:
    """The prompt with one more field in the list with which it ends. `inside`: the field of which it is a part."""
    if spec is None:
        return prompt
    part = f', as a part of "{inside}"' if inside else ""
    return Prompt(name=prompt.name, text=f'{prompt.text}\n- "{FIELD}"{part}: {asked_for(spec)}')


class Written(TextAnswer):
    """Code or a patch, written as text: reasoning first, the answer in the last block between ``` marks."""

    reasoning: str
    final: NonEmpty

    @classmethod
    def from_text(cls, text: str) -> Self:
        around: list[str] = []
        block: list[str] | None = None  # that is open
        last: list[str] = []
        for line in text.split("\n"):
            if block is None:
                if line.startswith(_MARK):
                    block = [line]
                else:
                    around.append(line)
            elif line.rstrip(" \t") == _MARK:
                last, block = block[1:], None
                around.append("")
            else:
                block.append(line)
        final = "\n".join(last).strip("\n")
        if not final.strip():
            raise ValueError("the answer must stand in a block between ``` marks")
        return cls(reasoning="\n".join((*around, *(block or ()))).strip(), final=final)

    @classmethod
    def ended(cls, text: str) -> str:
        return closed(text)

    def as_text(self) -> str:
        return f"{self.reasoning}\n\n```\n{self.final}\n```"

    def prose(self) -> str:
        return self.as_text().strip()


def poll_of(answers: Sequence[tuple[str, str | None, str]], spec: AnswerSpec) -> Poll:
    """Count answers: each a seat, its answer or None, and the step in which it was given. Candidates stand in the order
    in which their answers were first given."""
    forms = list(dict.fromkeys(same_as(value, spec) for _, value, _ in answers if value is not None))
    names = {form: f"answer-{n}" for n, form in enumerate(forms, 1)}
    candidates = [Candidate(id=names[form], title=_title(form)) for form in forms]
    ballots = [
        CastBallot(
            voter=seat,
            ranking=() if value is None else (names[same_as(value, spec)],),
            keys=(key,),
            reason="It gave no valid answer." if value is None else "",
        )
        for seat, value, key in answers
    ]
    return counted(METHOD, candidates or [Candidate(id="none", title="none")], ballots)


def _title(form: str) -> str:
    line = form.strip().splitlines()[0] if form.strip() else form
    return line if len(line) <= 80 else f"{line[:79]}…"
