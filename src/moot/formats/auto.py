"""Which format suits a question, by its words alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from moot.core.types import record
from moot.formats.format import Format
from moot.reasoning.question import Kind, read_question

AUTO = "auto"

_REASONS: dict[Kind, str] = {
    "choice": "the question offers a choice",
    "yes_no": "the question can be answered with yes or no",
    "claim": "it is a claim to be argued for and against",
    "open": "the question is open: there are no two sides to argue",
}


@record
class Pick:
    format: str
    reason: str  # completes "… because {reason}"


def pick(topic: str, formats: Mapping[str, Format], among: Collection[str]) -> Pick:
    """The format for a question: the first that suits its kind. `among`: those that can take what the request asks for;
    when none of them suits the question, the first is taken."""
    kind = read_question(topic).kind
    suiting = [name for name, format_ in formats.items() if kind in format_.suits]
    for name in suiting:
        if name in among or not among:
            return Pick(format=name, reason=_REASONS[kind])
    takes = "it is the only one that takes" if len(among) == 1 else "it takes"
    return Pick(format=sorted(among or formats)[0], reason=f"{takes} the given settings")
