"""A loopback server for OpenAI's chat completions and embeddings and Anthropic's messages, with scripted answers.

    with Wire(Say("Hello."), Say(status=429, headers={"Retry-After": "2"})) as wire:
        ... f"openai:any@{wire.openai}", f"anthropic:any@{wire.anthropic}" ...
        wire.requests[0].body["messages"]

The answers are given in order; the last one is repeated.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Any = None  # the body of an error answer
    finish: str | None = "stop"  # OpenAI's word for it; None: the stream just ends
    tokens: tuple[int, int, int] | None = (10, 5, 0)  # in, out, cached; None: not reported
    cut: int | None = None  # hang up after so many pieces of text
    ends: int | None = None  # end the stream, in good order, after so many pieces of text
    done: bool = True  # OpenAI: send [DONE] at the end
    hold: threading.Event | None = None  # wait for this before the first byte
    model: str | None = None
    vectors: Callable[[str], list[float]] | None = None  # what /embeddings gives for a text


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Any


class Wire:
    def __init__(self, *answers: Say, tags: Any = None, lists: Mapping[str, Any] | None = None) -> None:
        """`tags`: Ollama's list of models; `lists`: what GET gives, by path."""
        self._answers = list(answers) or [Say("Yes.")]
        self._lists = {"/api/tags": tags, **(lists or {})}
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._now = 0

    def __enter__(self) -> Wire:
        wire = self

        class Handler(_Handler):
            owner = wire

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for answer in self._answers:
            if answer.hold is not None:
                answer.hold.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def anthropic(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai(self) -> str:
        return f"{self.anthropic}/v1"

    def take(self, request: Request) -> Say:
        with self._lock:
            self.requests.append(request)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def give_back(self) -> None:
        with self._lock:
            self._now -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # concurrent connections


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Wire

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        body = json.dumps(self.owner._lists.get(self.path.partition("?")[0], {"data": []})).encode()
        self._send(200, {"Content-Type": "application/json"}, body)

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        say = self.owner.take(Request(self.path, {k.lower(): v for k, v in self.headers.items()}, content))
        try:
            if say.hold is not None:
                say.hold.wait(60)
            if say.status != 200:
                error = say.error if say.error is not None else {"error": {"message": f"status {say.status}"}}
                body = error.encode() if isinstance(error, str) else json.dumps(error).encode()
                self._send(say.status, {"Content-Type": "application/json", **say.headers}, body)
            elif say.vectors is not None:
                body = json.dumps(_embeddings(say, content)).encode()
                self._send(200, {"Content-Type": "application/json"}, body)
            else:
                model = say.model or content["model"]
                events = _anthropic(say, model) if self.path.endswith("/messages") else _openai(say, model)
                self._stream(say, events)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            self.owner.give_back()

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, say: Say, events: list[tuple[bool, str]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in say.headers.items():
            self.send_header(name, value)
        self.end_headers()
        said = 0
        for is_text, event in events:
            if say.cut is not None and said >= say.cut:
                self.close_connection = True
                return
            if say.ends is not None and said >= say.ends and not event.startswith("data: [DONE]"):
                continue
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            said += is_text
        self.wfile.write(b"0\r\n\r\n")


def _embeddings(say: Say, asked: Any) -> Any:
    assert say.vectors is not None
    data = [
        {"object": "embedding", "index": at, "embedding": say.vectors(text)} for at, text in enumerate(asked["input"])
    ]
    usage = {} if say.tokens is None else {"usage": {"prompt_tokens": say.tokens[0], "total_tokens": say.tokens[0]}}
    return {"object": "list", "model": asked["model"], "data": data, **usage}


def pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [word if place == 0 else f" {word}" for place, word in enumerate(words)] if text else []


def _openai(say: Say, model: str) -> list[tuple[bool, str]]:
    def chunk(choices: list[Any], **more: Any) -> str:
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
        return f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n"

    events = [(True, chunk([{"index": 0, "delta": {"content": piece}}])) for piece in pieces(say.text)]
    if say.finish is not None:
        events.append((False, chunk([{"index": 0, "delta": {}, "finish_reason": say.finish}])))
    if say.tokens is not None:
        tokens_in, tokens_out, cached = say.tokens
        usage = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        events.append((False, chunk([], usage=usage)))
    return [*events, *([(False, "data: [DONE]\n\n")] if say.done else [])]


def _anthropic(say: Say, model: str) -> list[tuple[bool, str]]:
    def event(type: str, **more: Any) -> str:
        return f"event: {type}\ndata: {json.dumps({'type': type, **more})}\n\n"

    tokens_in, tokens_out, cached = say.tokens or (0, 0, 0)
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens_in - cached, "output_tokens": 1, "cache_read_input_tokens": cached},
    }
    stop = {"stop": "end_turn", "length": "max_tokens"}.get(say.finish or "stop", "end_turn")
    return [
        (False, event("message_start", message=message)),
        (False, event("content_block_start", index=0, content_block={"type": "text", "text": ""})),
        *(
            (True, event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece}))
            for piece in pieces(say.text)
        ),
        (False, event("content_block_stop", index=0)),
        (
            False,
            event(
                "message_delta",
                delta={"stop_reason": stop, "stop_sequence": None},
                usage={"output_tokens": tokens_out},
            ),
        ),
        (False, event("message_stop")),
    ]
