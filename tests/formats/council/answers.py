"""Answers for a whole council, and what its prompts and events say."""

from __future__ import annotations

import re

from moot.core.types import Failure
from tests.playing import play, script_of

NAMES = {"members": [{"name": "Ines"}, {"name": "Jonas"}, {"name": "Karin"}], "chair": {"name": "Lena"}}


QUOTE = re.compile(r"\[words of answer ([A-Z]) begin (\w+)\]\nWhat (m\d) holds at (\d+)", re.MULTILINE)


def opinion(seat: str, round: int, **changes) -> dict:
    return {
        "position": f"What {seat} holds at {round}",
        "answer": f"Words of {seat} at {round}.",
        "reasons": [f"Reason of {seat}."],
        "confidence": 73,
        **changes,
    }


def labels_in(step) -> dict[str, str]:
    """What was read under which label: {"m2/0": "A"}."""
    return {f"{seat}/{round}": label for label, _, seat, round in QUOTE.findall(step.prompt.text)}


def ballot(step, favourites=(), behind=()) -> dict:
    """Rank the favourites first, where they are shown, the rest by name; stand behind `behind`."""
    labels = labels_in(step)
    wanted = [each for each in favourites if each in labels]
    order = wanted + sorted(each for each in labels if each not in wanted)
    return {
        "reasoning": f"Reasoning of {step.key}.",
        "ranking": [labels[each] for each in order],
        "stands_behind": [labels[each] for each in behind if each in labels],
    }


def council(*, favourites=("m1/0",), behind=("m1/0",), revise=(), **exact):
    """Answers for a whole council. `exact` overrides by key, with _ for /."""

    def answer(step):
        own = exact.get(step.key.replace("/", "_"), exact.get(step.phase))
        if own is not None:
            return own(step) if callable(own) else own
        if step.phase == "answer":
            return opinion(step.seat.id, 0)
        if step.phase == "rank":
            return ballot(step, favourites, behind)
        if step.phase == "object":
            label = step.returns.model_json_schema()["properties"]["against"]
            return {"against": label.get("const") or label["enum"][0], "objection": f"Objection at {step.key}."}
        if step.phase == "rebut":
            revised = opinion(step.seat.id, step.round) if step.seat.id in revise else None
            return {"rebuttal": f"Rebuttal at {step.key}.", "revised": revised}
        return {"answer": "The council's answer.", "departs": False}

    return answer


INVALID = Failure(kind="invalid", message="three bad tries")


LIMIT = Failure(kind="limit", message="none left")


def shown(played) -> list[str]:
    return [f"{event.type} {event.key or '-'}" for event in played.shown]


def outcome_of(answer, **options):
    return play(script_of("council", **{**NAMES, **options}), answer).outcome
