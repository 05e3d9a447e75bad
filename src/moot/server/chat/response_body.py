"""A debate as a response: its body, and the events in which it is streamed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from moot.core.types import Debate, Json, Status, record
from moot.server.chat.about import about_of
from moot.server.chat.errors import dumps
from moot.server.chat.follow import Spent, Told
from moot.server.chat.models import PREFIX

RESPONSE = "resp_"
PIECE_CHARS = 2_000  # of an answer that is streamed

_STATUSES: dict[Status, str] = {
    "pending": "queued",
    "running": "in_progress",
    "stopping": "in_progress",
    "waiting": "completed",  # the answer says what it waits for
    "completed": "completed",
    "stopped": "incomplete",
    "failed": "failed",
    "canceled": "cancelled",
}


@record
class Request:
    """What a response repeats of its request."""

    model: str
    instructions: str | None = None
    max_output_tokens: int | None = None
    metadata: Json
    previous: str | None = None  # the id of a debate
    effort: str | None = None
    format: Json | None = None
    background: bool = False


def request_of(debate: Debate) -> Request:
    """The request of a stored debate, as far as it is kept."""
    about = about_of(debate)
    schema = debate.config.get("answer_schema")
    shape = {"type": "json_schema", "name": "answer", "schema": schema} if schema else {"type": "json_object"}
    return Request(
        model=about.model or PREFIX + debate.format,
        metadata=about.metadata,
        previous=about.follows or None,
        format=shape if about.shape else None,
    )


class Body:
    """The body of a response, at any stage of its debate."""

    def __init__(self, request: Request, *, id: str, created: int, debate: Debate | None) -> None:
        self.request, self.id = request, id
        previous = request.previous
        self._fixed: Json = {
            "id": RESPONSE + id,
            "object": "response",
            "created_at": created,
            "background": request.background,
            "instructions": request.instructions,
            "max_output_tokens": request.max_output_tokens,
            "metadata": request.metadata,
            "model": request.model,
            "parallel_tool_calls": False,
            "previous_response_id": RESPONSE + previous if previous else None,
            "reasoning": {"effort": request.effort, "summary": "detailed"},
            "store": True,
            "temperature": None,
            "text": {"format": request.format or {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "truncation": "disabled",
        }
        self._moot: Json = {} if debate is None else {"moot": {"debate": debate.id, "format": debate.format}}

    def at(self, status: str, output: list[Json] | None = None, spent: Spent | None = None, **more: Any) -> Json:
        return {
            **self._fixed,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "output": output or [],
            "usage": None if spent is None else _usage(spent),
            **more,
            **self._moot,
        }

    def so_far(self, debate: Debate) -> Json:
        """Of a debate without an answer."""
        return self.at(_STATUSES[debate.status])

    def answered(self, reasoning: str, told: Told) -> Json:
        output = [*([self.thought(reasoning)] if reasoning else []), self.said(told.content)]
        if told.cut:
            return self.at("incomplete", output, told.spent, incomplete_details={"reason": "max_output_tokens"})
        return self.at("completed", output, told.spent)

    def failed(self, message: str) -> Json:
        return self.at("failed", error={"code": "server_error", "message": message})

    def thought(self, text: str | None) -> Json:
        """The reasoning; None: it begins."""
        summary = [] if text is None else [{"type": "summary_text", "text": text}]
        done = "in_progress" if text is None else "completed"
        return {"id": f"rs_{self.id}", "type": "reasoning", "status": done, "summary": summary}

    def said(self, text: str | None) -> Json:
        """The message; None: it begins."""
        done = "in_progress" if text is None else "completed"
        parts = [] if text is None else [_part(text)]
        return {"id": f"msg_{self.id}", "type": "message", "status": done, "role": "assistant", "content": parts}


class EventStream:
    """The events of one response, in OpenAI's order. Each method gives the frames to send."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._sent = 0
        self._thoughts: list[str] = []

    def begin(self) -> Generator[bytes]:
        yield self._event("response.created", response=self._body.at("in_progress"))
        yield self._event("response.in_progress", response=self._body.at("in_progress"))

    def think(self, text: str) -> Generator[bytes]:
        item = self._body.thought(None)
        where = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
        if not self._thoughts:
            part = {"type": "summary_text", "text": ""}
            yield self._event("response.output_item.added", output_index=0, item=item)
            yield self._event("response.reasoning_summary_part.added", **where, part=part)
        self._thoughts.append(text)
        yield self._event("response.reasoning_summary_text.delta", **where, delta=text)

    def end(self, told: Told) -> Generator[bytes]:
        thought = "".join(self._thoughts)
        if self._thoughts:
            item = self._body.thought(thought)
            where = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
            yield self._event("response.reasoning_summary_text.done", **where, text=thought)
            yield self._event("response.reasoning_summary_part.done", **where, part=item["summary"][0])
            yield self._event("response.output_item.done", output_index=0, item=item)
        yield from self._say(told.content, 1 if self._thoughts else 0)
        whole = self._body.answered(thought, told)
        yield self._event(f"response.{whole['status']}", response=whole)

    def fail(self, message: str) -> bytes:
        return self._event("response.failed", response=self._body.failed(message))

    def error(self, error: Json) -> bytes:
        """The last event where the stream, not the debate, has failed."""
        return self._event("error", code=error["code"], message=error["message"], param=error["param"])

    def _say(self, text: str, index: int) -> Generator[bytes]:
        begun, item = self._body.said(None), self._body.said(text)
        where = {"item_id": item["id"], "output_index": index, "content_index": 0}
        yield self._event("response.output_item.added", output_index=index, item=begun)
        yield self._event("response.content_part.added", **where, part=_part(""))
        for at in range(0, len(text), PIECE_CHARS):
            piece = text[at : at + PIECE_CHARS]
            yield self._event("response.output_text.delta", **where, delta=piece, logprobs=[])
        yield self._event("response.output_text.done", **where, text=text, logprobs=[])
        yield self._event("response.content_part.done", **where, part=_part(text))
        yield self._event("response.output_item.done", output_index=index, item=item)

    def _event(self, type: str, **data: Any) -> bytes:
        numbered = {"type": type, "sequence_number": self._sent, **data}
        self._sent += 1
        return f"event: {type}\ndata: {dumps(numbered)}\n\n".encode()


def _part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(spent: Spent) -> Json:
    usage = spent.usage
    return {
        "input_tokens": usage.tokens_in,
        "input_tokens_details": {"cached_tokens": usage.tokens_cached, "cache_write_tokens": usage.tokens_stored},
        "output_tokens": usage.tokens_out,
        "output_tokens_details": {"reasoning_tokens": spent.reasoning},
        "total_tokens": usage.tokens_in + usage.tokens_out,
    }
