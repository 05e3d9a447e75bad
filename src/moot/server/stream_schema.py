"""What OpenAPI says of live streams: a schema for each kind of server-sent event.

OpenAPI 3.1 has no keyword for the items of a stream, and client generators don't read 3.2, which has one. As is usual
in 3.1, the schema of a `text/event-stream` is that of one event. Its `data` is text that holds JSON.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from moot.core.types import Json
from moot.server import schemas

# The type of the server-sent event, and what its data is. Durable ones have no name on the wire, which means `message`.
KINDS: dict[str, type[BaseModel]] = {
    "message": schemas.Event,
    "delta": schemas.Delta,
    "debate": schemas.DebateSummary,
    "end": schemas.End,
}
_WITH_ID = ("message", "end")


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _item_name(kind: str) -> str:
    return "EventItem" if kind == "message" else f"{kind.capitalize()}Item"


def _item(kind: str, data: type[BaseModel]) -> Json:
    properties: Json = {
        "event": {"type": "string", "enum": [kind]},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": _ref(data.__name__)},
    }
    if kind in _WITH_ID:
        properties["id"] = {"type": "string", "description": "send it as `Last-Event-ID` to go on after this event"}
    about = f"A server-sent event. Its data is JSON: `{data.__name__}`"
    return {"type": "object", "description": about, "properties": properties, "required": list(properties)}


_REFS = {kind: _ref(_item_name(kind)) for kind in KINDS}
SCHEMAS: Json = {_item_name(kind): _item(kind, data) for kind, data in KINDS.items()} | {
    "StreamItem": {
        "description": "One server-sent event of a live stream. An event without a name is a `message`",
        "oneOf": list(_REFS.values()),
        "discriminator": {
            "propertyName": "event",
            "mapping": {kind: ref["$ref"] for kind, ref in _REFS.items()},
        },
    }
}

CONTENT: dict[str, Any] = {"text/event-stream": {"schema": _ref("StreamItem")}}
