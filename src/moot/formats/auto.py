"""Which format suits a question, by its words alone."""

from __future__ import annotations

from collections.abc import Collection

from moot.core.types import record
from moot.reasoning.question import Kind, read_question

AUTO = "auto"

_BY_KIND: dict[Kind, tuple[str, str]] = {
    "choice": ("classic", "the question offers a choice"),
    "yes_no": ("classic", "the question can be answered with yes or no"),
    "claim": ("classic", "it is a claim to be argued for and against"),
    "open": ("council", "the question is open: there are no two sides to argue"),
}


@record
class Pick:
    format: str
    reason: str  # completes "… because {reason}"


def pick(topic: str, among: Collection[str]) -> Pick:
    """The format for a question. `among`: those that can take what the request asks for; the only one is taken."""
    name, reason = _BY_KIND[read_question(topic).kind]
    if name in among or not among:
        return Pick(format=name, reason=reason)
    first = sorted(among)[0]
    only = "the only one that takes" if len(among) == 1 else "the first that takes"
    return Pick(format=first, reason=f"it is {only} the given settings")
