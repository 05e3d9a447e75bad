"""Answers that would take all memory: compressed a thousandfold, or in one line that never ends."""

from __future__ import annotations

import asyncio
import gzip
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from moot.core.errors import ModelError, ModelUnavailable
from moot.models import answer_size
from moot.models.embedding import RemoteEmbedder
from moot.models.providers import Endpoint
from moot.models.providers.ollama import installed_in_ollama
from tests.models.asking import ask, both
from tests.models.wire import Say, _openai

pytestmark = pytest.mark.slow

MOST = 1_000_000
BOUND = 40_000_000  # bytes of memory: far below what the answers hold
EVENTS = "text/event-stream"


@pytest.fixture(autouse=True)
def most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_size, "MAX_ANSWER_BYTES", MOST)


class Hose:
    """A server that gives each request one answer: its headers, and its bytes as long as the client reads them."""

    def __init__(self, body: Callable[[], Iterator[bytes]], status: int = 200, **headers: str) -> None:
        self.body, self.status, self.headers = body, status, headers
        self.sent, self.cut_off = 0, threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Hose:
        hose = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.send_response(hose.status)
                for name, value in hose.headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                try:
                    for chunk in hose.body():
                        self.wfile.write(chunk)
                        hose.sent += len(chunk)
                except OSError:
                    hose.cut_off.set()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def endpoint(hose: Hose, protocol: str = "openai") -> Endpoint:
    provider = {"openai": "openai-compatible"}.get(protocol, protocol)
    url = hose.url if protocol == "anthropic" else f"{hose.url}/v1"
    return Endpoint(provider=provider, model="hose", url=url, key="sk-x")


def endless(first: bytes = b"") -> Callable[[], Iterator[bytes]]:
    def body() -> Iterator[bytes]:
        yield first
        while True:
            yield b"x" * 65_536

    return body


def bomb(first: bytes, megabytes: int = 200) -> Callable[[], Iterator[bytes]]:
    """A few hundred kilobytes that become 200 MB."""

    def body() -> Iterator[bytes]:
        zipped = zlib.compressobj(9, wbits=31)
        yield zipped.compress(first)
        for _ in range(megabytes):
            yield zipped.compress(b" " * 1_000_000)
        yield zipped.flush()

    return body


@contextmanager
def bounded() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < BOUND
    finally:
        tracemalloc.stop()


@cache
def prepared() -> None:
    """Import all that a call needs, which takes memory, too, and minutes while memory is traced."""
    for protocol in ("openai", "anthropic"):
        with Hose(lambda: iter([b"data: [DONE]\n\n"]), content_type=EVENTS) as hose, suppress(ModelError):
            ask(endpoint(hose, protocol))


def refused(to: Endpoint, what: str) -> None:
    prepared()
    with bounded(), pytest.raises(ModelUnavailable) as raised:
        ask(to)
    said = str(raised.value)
    assert f"{to.name} sent {what}" in said
    assert "Check what answers at its address" in said


@both
def test_a_line_that_never_ends(protocol):
    with Hose(endless(b"data: "), content_type=EVENTS) as hose:
        refused(endpoint(hose, protocol), "a line of more than 62,500 bytes")
        assert hose.cut_off.wait(60)


@both
def test_a_stream_that_never_ends(protocol):
    def body() -> Iterator[bytes]:
        while True:
            yield b": keep-alive\n\n" * 1000

    with Hose(body, content_type=EVENTS) as hose:
        refused(endpoint(hose, protocol), "an answer of more than 1,000,000 bytes")
        assert hose.cut_off.wait(60)


@both
@pytest.mark.parametrize("status", [200, 400])
def test_a_bomb(protocol, status):
    kind = EVENTS if status == 200 else "application/json"
    with Hose(bomb(b"data: "), status, content_type=kind, content_encoding="gzip") as hose:
        what = "a line of more than 62,500 bytes" if status == 200 else "an answer of more than 1,000,000 bytes"
        refused(endpoint(hose, protocol), what)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
def test_an_answer_of_usual_size_is_read(encoding):
    text = "".join(event for _, event in _openai(Say("All is well."), "hose")).encode()
    packed = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}[encoding](text)

    def body() -> Iterator[bytes]:
        for at in range(0, len(packed), 7):
            yield packed[at : at + 7]

    with Hose(body, content_type=EVENTS, content_encoding=encoding) as hose:
        assert ask(endpoint(hose)).text == "All is well."


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for(encoding):
    with (
        Hose(lambda: iter([b"x"]), content_type=EVENTS, content_encoding=encoding) as hose,
        pytest.raises(ModelError, match="not asked for"),
    ):
        ask(endpoint(hose))


def test_an_embedder():
    async def main(hose: Hose) -> None:
        embedder = RemoteEmbedder("openai:hose", endpoint(hose), lambda _: None)
        try:
            await embedder(["a text"])
        finally:
            await embedder.close()

    with Hose(lambda: iter([b"{}"]), content_type="application/json") as hose, suppress(ModelError):
        asyncio.run(main(hose))  # as `prepared`
    with (
        Hose(bomb(b"["), content_type="application/json", content_encoding="gzip") as hose,
        bounded(),
        pytest.raises(ModelUnavailable, match="more than 1,000,000 bytes"),
    ):
        asyncio.run(main(hose))


def test_the_look_for_ollama():
    with Hose(endless(b'{"models": [{"name": "'), content_type="application/json") as hose, bounded():
        assert installed_in_ollama({"OLLAMA_HOST": hose.url}, timeout=30) is None
        assert hose.cut_off.wait(60)
