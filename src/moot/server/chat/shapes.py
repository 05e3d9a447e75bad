"""The shape of an answer: text, or JSON as `response_format` (of a chat) or `text.format` (of a response) asks for."""

from __future__ import annotations

import json
from typing import Any, Literal, cast

from moot.core.json_schema import NotASchema, check_schema
from moot.core.types import Debate, Json, Outcome, record
from moot.formats.shared.structured import PHASE
from moot.records.transcript import outcome_text
from moot.server.problems import Refused

NO_RETRY = {"X-Should-Retry": "false"}  # OpenAI's clients heed it


@record
class Shape:
    kind: Literal["text", "outcome", "schema"]  # "outcome": as moot itself has it
    schema: Json | None = None  # that the client gave


TEXT = Shape(kind="text")


def read_shape(given: Json | None, param: str) -> Shape:
    """Raises Refused, before anything is asked."""
    kind = (given or {}).get("type", "text")
    if kind == "text":
        return TEXT
    if kind == "json_object":
        return Shape(kind="outcome")
    if kind != "json_schema":
        raise Refused("invalid", f"`{param}` can be 'text', 'json_object' or 'json_schema'.", param=param)
    assert given is not None
    inner: Any = given.get("json_schema", given)  # a chat nests it
    found: Any = cast(Json, inner).get("schema") if isinstance(inner, dict) else None
    if not isinstance(found, dict):
        raise Refused("invalid", f"`{param}` has no `schema`: give the JSON schema of an object.", param=param)
    schema = cast(Json, found)
    try:
        check_schema(schema)
    except NotASchema as error:
        raise Refused("invalid", f"The schema in `{param}` can't be used: {error}.", param=param) from None
    return Shape(kind="schema", schema=schema)


def content_of(shape: Shape, debate: Debate, outcome: Outcome, *, demonstration: bool) -> str:
    """The answer of a completed debate. Raises Refused when it could not be put into the shape."""
    if shape.kind == "text":
        return outcome_text(outcome, demonstration=demonstration)
    if shape.kind == "outcome":
        return json.dumps(outcome.model_dump(mode="json"), ensure_ascii=False)
    if debate.config.get("answer_schema") != shape.schema:
        raise Refused(
            "invalid",
            f"Debate {debate.short} was not asked for this shape. Ask the question again, or ask for text.",
        )
    if outcome.structured is None:
        raise Refused(
            "model-failed",
            f"Debate {debate.short} is decided, but its answer could not be put into your schema: "
            f"{outcome.unstructured.rstrip('.')}. GET /v1/debates/{debate.id} has the outcome; to try that step alone "
            f"again, fork the debate at 0/{PHASE}/scribe.",
            headers=NO_RETRY,
        )
    return json.dumps(outcome.structured, ensure_ascii=False)
