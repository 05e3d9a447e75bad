"""The decision in a shape that the person who asked has given: the setting `answer_schema`, for every format.

When the rules have come to their outcome, one typed call of the judge's model puts it into the shape. The call is a
step like any other: recorded, budgeted, replayed. Where it fails, the outcome says so; nothing is filled in by code."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from pydantic import ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from moot.core.errors import LimitReached
from moot.core.json_schema import mistakes
from moot.core.stage import Seat, Stage
from moot.core.steps import Failed
from moot.core.types import Answer, Json, Outcome
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence

PHASE = "structure"
PHASES = {PHASE: "The decision in the shape that was asked for"}
MAX_TOKENS = 1_000
_MOST_SAID = 3  # mistakes that are told at once

prompts = Prompts("structured", "moot.formats.shared.structured")


def answer_type(schema: Json) -> type[Answer]:
    """The type of answers that a JSON schema describes. The same schema always gives the same type."""
    return _answer_type(json.dumps(schema, sort_keys=True))


@lru_cache(maxsize=256)
def _answer_type(text: str) -> type[Answer]:
    schema: Json = json.loads(text)

    class Structured(Answer):
        model_config = ConfigDict(extra="allow")

        @model_validator(mode="before")
        @classmethod
        def _fits(cls, value: Any) -> Any:
            found = mistakes(schema, value)
            if found:
                raise PydanticCustomError("not_in_shape", "{said}", {"said": "; ".join(found[:_MOST_SAID])})
            return value

        @classmethod
        def model_json_schema(cls, *given: Any, **options: Any) -> Json:
            return json.loads(text)

        def prose(self) -> str:
            return json.dumps(self.model_dump(), ensure_ascii=False)

    return Structured


def scribe_of(stage: Stage) -> Seat | None:
    """The participant who will fill in the shape; its tokens are kept from now on. None if only people take part."""
    scribe = stage.scribe(MAX_TOKENS)
    if scribe is not None:
        stage.keep_for_end(scribe)
    return scribe


async def structured(stage: Stage, scribe: Seat | None, outcome: Outcome, schema: Json) -> Outcome:
    """The outcome with its decision in that shape, or with the reason why there is none."""
    if scribe is None:
        return outcome.model_copy(update={"unstructured": "No model takes part that could write it."})
    scribe.brief(prompts("scribe", topic=stage.topic))
    told = fence(_told(outcome, stage), of="the outcome", at=f"0/{PHASE}/{scribe.id}")
    try:
        given = await scribe.ask(
            PHASE, prompts("fill", outcome=told), returns=answer_type(schema), tolerant=True, closing=True
        )
    except LimitReached as limit:
        return outcome.model_copy(update={"unstructured": str(limit)})
    if isinstance(given, Failed):
        return outcome.model_copy(update={"unstructured": given.failure.message})
    return outcome.model_copy(update={"structured": given.model_dump(mode="json")})


def _told(outcome: Outcome, stage: Stage) -> str:
    names = {seat.id: seat.name for seat in stage.seats} | outcome.names
    parts = outcome.record
    facts = {
        "Decision": outcome.headline,
        "Winner": names.get(outcome.winner, outcome.winner),
        "Answer": outcome.answer.value if outcome.answer else "",
        "How it came about": outcome.how,
        "Why it is undecided": "" if outcome.decided else outcome.reason,
        "Decided by": outcome.decided_by,
        "Confidence": f"{outcome.confidence.level}: {outcome.confidence.source}" if outcome.confidence else "",
        "Share of voters behind the winner": "" if outcome.support is None else f"{outcome.support:.0%}",
        **{f"Score of {names.get(seat, seat)}, of {outcome.scale:g}": _number(n) for seat, n in outcome.scores.items()},
        **{f"Votes for {names.get(seat, seat)}": _number(n) for seat, n in (outcome.tally or {}).items()},
        **outcome.facts,
        "Agreed": _list(parts.agreements),
        "Not agreed": _list(parts.tensions),
        "Caveats": _list(parts.caveats),
        "Dissent": _list(parts.dissent),
        "Notes": _list(outcome.notes),
        "Recommendation": outcome.recommendation,
        "Statement": "" if outcome.statement == outcome.recommendation else outcome.statement,
    }
    return "\n".join(f"{name}: {text}" for name, text in facts.items() if text)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _list(items: tuple[str, ...] | None) -> str:
    return "".join(f"\n- {item}" for item in items or ())
