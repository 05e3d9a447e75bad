"""Why a version was chosen, in words."""

from __future__ import annotations

from collections.abc import Mapping

from moot.reasoning.code.selection import Choice, Reason, TieBreak

BY: Mapping[Reason, str] = {
    "ran": "it alone was run",
    "given": "it alone passes every given test",
    "agreed": "it passes more of the agreed tests than any other",
    "heard": "it was written knowing what a person said when rejecting",
    "class": "more authors have written code that does the same",
    "security": "the others have serious security findings",
    "vote": "the evidence tied, and the vote decided",
    "improved": "it improves on a version that passes the same tests",
    "only": "it is the only version",
    "tie": "nothing parts it from the others",
}
# What a rule leaves, where it leaves several versions, and what then parts these.
LEFT: Mapping[Reason, str] = {
    "ran": "were run",
    "given": "pass every given test",
    "agreed": "pass the most agreed tests",
    "heard": "were written knowing what a person said when rejecting",
    "class": "do what the code of most authors does",
    "security": "have no serious security findings",
    "tie": "the evidence can't part",
}
THEN: Mapping[tuple[TieBreak, ...], str] = {
    ("complexity",): "it is the simplest",
    ("alike",): "it is the first, and they did the same in every run",
    ("complexity", "alike"): "it is the first of the simplest, and these did the same in every run",
}


def why_chosen(choice: Choice) -> str:
    """Why the winner was chosen: the rule that decided, and what parted the versions that it left."""
    if not choice.then:
        return f"because {BY[choice.by]}"
    return f"because, of the versions that {LEFT[choice.by]}, {THEN[choice.then]}"
