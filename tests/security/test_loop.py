"""Work on a request's behalf that may take long leaves the event loop free.

Each such function is held by the test once it has begun; another request must be answered meanwhile. If the function
ran on the loop, nothing would be, until the client gives up.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import pytest

from moot import formats
from moot.app import App
from moot.core.script import Script
from moot.server import markdown
from tests.runtime.asking import FORMAT
from tests.server.serving import DEADLINE, STREAM, Served, served

ANSWERED_SECONDS = 15  # a guard against hanging, not a measure
LONG = "long " * 1000
TURN = {"*/speak/*": LONG, "*/open/*": LONG, "*/reply/*": LONG}


class Hold:
    """Holds a function from its first call on until the test lets go."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self._function = function

    def __get__(self, instance: Any, owner: Any) -> Callable[..., Any]:  # as a method
        return self if instance is None else lambda *given, **named: self(instance, *given, **named)

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.begun.set()
        assert self.released.wait(DEADLINE)
        return self._function(*given, **named)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("loop"), answers=TURN) as made:
        yield made


@pytest.fixture(scope="module")
def done(server: Served) -> dict[str, Any]:
    return server.completed(settings={"max_rounds": 1, "claims": True})


NEW = {"topic": "Why?", "format": "classic", "start": False}

# The function that is held, and the request that needs it.
HEAVY: dict[str, tuple[Any, str, str, str, Any]] = {
    "a page of turns": (markdown, "html", "GET", "/turns?html=true", None),
    "a page of events": (markdown, "html", "GET", "/events?html=true", {"Accept": "application/json"}),
    "audit": ("moot.client.documents", "rerun", "GET", "/audit", None),
    "proof": ("moot.runtime.replay", "prove", "GET", "/proof", None),
    "claims": ("moot.client.documents", "ledger_of", "GET", "/claims", None),
    "record": ("moot.client.documents", "record_of", "GET", "/record", None),
    "record as text": ("moot.server.routes.records", "render", "GET", "/record?format=markdown", None),
    "issue": ("moot.server.routes.records", "draft", "GET", "/issue", None),
    "difference": ("moot.records.compare", "compare", "GET", "/diff/{id}", None),
    "fork": (Script, "replay", "POST", "/fork", {"start": False}),
    "plan": (App, "plan", "POST", "", NEW),
    "estimate": ("moot.estimate", "_rehearsals", "POST", "/estimate", {"topic": "Why?"}),
    "distrust": ("moot.client.permission", "reaching", "POST", "", NEW),
    "description": ("moot.server.openapi", "describe", "GET", "/openapi.json", None),
    "formats": ("moot.server.routes.catalog", "_format", "GET", "/v1/formats", None),
    "one format": ("moot.server.routes.catalog", "_format", "GET", "/v1/formats/classic", None),
}


@contextmanager
def others_answered(server: Served, hold: Hold, what: str) -> Iterator[None]:
    """Once the function has begun and before it ends; then it may end."""
    try:
        assert hold.begun.wait(DEADLINE), f"{what} does not need it"
        with httpx2.Client(base_url=server.url, timeout=ANSWERED_SECONDS, verify=False) as other:
            assert other.get("/healthz").status_code == 200
            assert other.get("/v1/debates").status_code == 200
        yield
    finally:
        hold.released.set()


def answered_beside_others(server: Served, hold: Hold, method: str, url: str, **more: Any) -> httpx2.Response:
    answers: list[httpx2.Response] = []
    asking = threading.Thread(target=lambda: answers.append(server.client.request(method, url, **more)))
    asking.start()
    try:
        with others_answered(server, hold, url):
            assert not answers
    finally:
        asking.join()
    return answers[0]


@pytest.mark.parametrize("name", HEAVY)
def test_others_are_answered_meanwhile(server: Served, done: dict[str, Any], monkeypatch, name: str):
    where, function, method, path, given = HEAVY[name]
    markdown.html.cache_clear()
    monkeypatch.setattr("moot.runtime.threads.LONG_REPLAY", 0)
    monkeypatch.setattr(markdown, "SHORT", 0)
    place = import_module(where) if isinstance(where, str) else where
    hold = Hold(getattr(place, function))
    monkeypatch.setattr(place, function, hold)
    if function == "html":
        monkeypatch.setattr("moot.server.views.html", hold)
    if name == "distrust":
        monkeypatch.setattr("moot.caller.Caller.may", lambda self, scope: scope != "admin")
    collection = name in ("plan", "estimate", "distrust")
    url = "/v1/debates" + ("" if collection else f"/{done['id']}") + path.format(id=done["id"])
    url = path if path.startswith(("/v1/", "/openapi")) else url
    if name == "fork":
        given = {**given, "at": server.get(f"{url.removesuffix(path)}/turns").json()["items"][-1]["key"]}
    answer = answered_beside_others(server, hold, method, url, **{"headers" if method == "GET" else "json": given})
    assert answer.status_code < 300, answer.text


def test_live_events_are_rendered_beside_the_loop(server: Served, done: dict[str, Any], monkeypatch):
    markdown.html.cache_clear()
    hold, url = Hold(markdown.html), f"/v1/debates/{done['id']}/events?html=true"
    monkeypatch.setattr(markdown, "html", hold)
    with server.client.stream("GET", url, headers=STREAM) as stream:
        with others_answered(server, hold, url):
            pass
        assert "event: end" in stream.read().decode()


def test_what_a_debate_asks_is_rendered_beside_the_loop(tmp_path: Path, monkeypatch):
    with formats.DOOR.adding("asking", FORMAT), served(tmp_path) as server:
        waits = server.rested(server.made(format="asking")["id"], "waiting")
        hold = Hold(markdown.html)
        monkeypatch.setattr("moot.server.views.html", hold)
        answer = answered_beside_others(server, hold, "GET", f"/v1/debates/{waits['id']}/gates?html=true")
        [gate] = answer.json()["items"]
        assert gate["html"].startswith("<p>")


def test_what_is_short_is_not_handed_to_a_thread(monkeypatch):
    async def never(work: Callable[[], Any]) -> Any:
        raise AssertionError("handed to a thread")

    monkeypatch.setattr(markdown, "in_thread", never)
    asyncio.run(markdown.prepare("short"))
