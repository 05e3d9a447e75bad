"""Requests that are made to hurt: huge names, many mistakes, models without end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from moot.core.errors import DatabaseHeld
from moot.server import context, openapi
from moot.server.app import ROUTERS
from moot.server.chat.completions import ChatRequest
from moot.server.chat.responses import ResponseRequest
from moot.server.json_size import has_too_many_values
from moot.tokens import find, new_token
from tests.server.serving import Served, served
from tests.server.test_connections import answer, connected

KIB = 1024
WITH_BODY = [
    f"{method} {route.path}".replace("{debate_id}", "0" * 36)
    for route in openapi.routes(ROUTERS)
    for method in route.methods
    if route.body_field is not None and route.path != "/v1/session"
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    with served(tmp_path_factory.mktemp("hostile"), model="sim:") as made:
        yield made


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory):
    with served(tmp_path_factory.mktemp("strict"), model="sim:", serve_tokens="always") as made:
        yield made


@pytest.mark.parametrize(
    "body",
    [
        {"://a:" * 100_000: 1},
        {f"key {n}": 1 for n in range(15_000)},
        {"topic": {"a": {"b": "y" * 500_000}}},
        {"topic": "Is it so?", "settings": {"seats": {"z" * 900_000: {}}}},
    ],
    ids=["a long name like an address", "many names", "a long mapping", "a long name inside of settings"],
)
def test_a_refusal_quotes_little(server: Served, body: dict):
    answer = server.post("/v1/debates", body)
    assert answer.status_code == 422
    assert len(answer.content) < 8 * KIB
    assert len(answer.json().get("errors", ())) <= 20


@pytest.mark.parametrize("path", ["/v1/formats/", "/v1/roles/", "/v1/templates/", "/v1/models/", "/v1/debates/", "/"])
def test_a_long_address_is_quoted_in_part(server: Served, path: str):
    answer = server.get(path + "y" * 30_000)
    assert answer.status_code in (404, 422)
    assert len(answer.content) < 8 * KIB


def test_a_cascade_has_an_end(server: Served):
    for model in ("|".join(["sim:"] * 50_000), "|".join(["sim:"] * 11)):
        answer = server.post("/v1/debates", {"topic": "Is it so?", "settings": {"model_judge": model}})
        assert answer.status_code == 422
        assert len(answer.content) < 8 * KIB
    assert "at most 10 models" in answer.json()["detail"]
    assert server.get("/v1/debates").json()["items"] == []


def test_without_a_token_little_can_be_sent(server: Served):
    answer = server.post("/v1/session", {"token": "x" * 4000})
    assert answer.status_code == 413
    assert "4,000 bytes" in answer.json()["detail"]


class TestBeforeTheBody:
    """Where a token is demanded, a body is received from no one without."""

    @staticmethod
    def token(server: Served, name: str) -> dict[str, str]:
        secret, made = new_token(name, ["read", "run"])
        assert server.in_loop(server.app.runtime.store.add_token(made))
        return {"Authorization": f"Bearer {secret}"}

    @pytest.mark.parametrize(
        ("route", "header"),
        [
            *((route, "") for route in (*WITH_BODY, "POST /v1/import", "POST /mcp")),
            ("POST /v1/debates", "Authorization: Bearer moot_never\r\n"),
            ("POST /v1/debates", "Cookie: moot_session=never\r\n"),
            ("POST /mcp", "Authorization: Bearer moot_never\r\n"),
        ],
    )
    def test_a_caller_without_a_token_is_answered(self, strict: Served, route: str, header: str):
        """And in the same words as one that has sent a whole body."""
        host, (method, path) = strict.url.removeprefix("http://"), route.split()
        lines = f"{route} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{header}"
        with connected(strict, f"{lines}Connection: close\r\nContent-Length: 990000\r\n\r\n".encode()) as client:
            head, _, told = answer(client).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 401 "), head
        assert b"www-authenticate: Bearer" in head
        name, _, value = header.strip().partition(": ")
        whole = strict.client.request(method, path, json={}, headers={name: value} if header else None)
        assert json.loads(told) == whole.json()

    def test_a_token_is_looked_up_once(self, strict: Served, monkeypatch: pytest.MonkeyPatch):
        headers, sought = self.token(strict, "once"), []

        async def counted(store: Any, secret: str) -> Any:
            sought.append(secret)
            return await find(store, secret)

        monkeypatch.setattr(context, "find", counted)
        body = {"topic": "Why?", "start": False}
        for path, status in {"/v1/debates": 201, "/v1/chat/completions": 422, "/mcp": 400}.items():
            assert strict.post(path, body, headers=headers).status_code == status
            assert len(sought) == 1, path
            sought.clear()

    def test_a_database_that_is_held_is_no_error_of_the_body(self, strict: Served, monkeypatch: pytest.MonkeyPatch):
        async def held(store: Any, secret: str) -> Any:
            raise DatabaseHeld("Another process holds the database.")

        monkeypatch.setattr(context, "find", held)
        told = strict.post("/v1/debates", {"topic": "Why?"}, headers={"Authorization": "Bearer any"})
        assert (told.status_code, told.json()["type"]) == (503, "urn:moot:problem:store-unavailable")

    def test_a_path_that_is_not_there_is_not_there_for_anyone(self, strict: Served):
        assert strict.post("/v1/nothing", {}).status_code == 404
        assert strict.client.put("/v1/debates", json={}).status_code == 405


MANY = {
    "/v1/debates": b'{"topic": "Why?", "settings": {"x": [' + b"0," * 30_000 + b"0]}}",
    "/v1/chat/completions": b'{"model": "m", "messages": [' + b"{}," * 10_001 + b"{}]}",
    "/v1/responses": b'{"model": "m", "input": [' + b'{"a":1},' * 10_001 + b"{}]}",
    "/mcp": b"[" + b'{"id":1},' * 10_001 + b"{}]",
}


class TestValues:
    """Parsing and validating take time for each value, so a body may have so many, and no more."""

    @pytest.mark.parametrize("path", MANY)
    def test_too_many_are_never_parsed(self, server: Served, monkeypatch: pytest.MonkeyPatch, path: str):
        server.post("/mcp", {})  # which loads its library
        monkeypatch.setattr("starlette.requests.Request.json", _never)
        monkeypatch.setattr("moot.mcp.endpoint._wrong", _never)
        told = server.client.post(path, content=MANY[path], headers={"Content-Type": "application/json"})
        assert told.status_code == 413
        assert "more than 20,000 values" in told.text
        assert ("error" in told.json()) == (path in ("/v1/chat/completions", "/v1/responses"))

    def test_what_people_send_has_far_fewer(self, server: Served):
        part = {"type": "text", "text": 'commas, [brackets], {braces}, "quotes" and \\, ' * 10}
        chat = {"model": "none", "messages": [{"role": "user", "content": [part, part]}] * 800}
        told = server.post("/v1/chat/completions", chat).json()["error"]
        assert "none" in told["message"], "it was read"
        settings = {"topic": "Why?", "settings": {f"name {n}": n for n in range(4900)}, "start": False}
        assert "values" not in server.post("/v1/debates", settings).json()["detail"]

    @pytest.mark.parametrize(
        ("body", "many"),
        [
            (b'"' + b"," * 30_000 + b'"', False),
            (b'["\\"' + b"," * 30_000 + b'"]', False),
            (b'["\\\\"' + b",0" * 30_000 + b"]", True),
            (b'["\\\\\\"' + b"," * 30_000 + b'"]', False),
            (b'["' + b'","' * 30_000 + b'"]', True),
            (b"[" * 30_000, True),
            (b'{"a":' * 30_000, True),
            (b"[" + b"0," * 19_000 + b"0]", False),
        ],
    )
    def test_commas_inside_of_texts_do_not_count(self, body: bytes, many: bool):
        assert has_too_many_values(body) is many

    def test_one_wrong_part_is_enough(self):
        """Thousands of errors would take long to make."""
        for wrong in ([{"role": "user", "content": [1] * 10}] * 1000, [1] * 9000):
            with pytest.raises(ValidationError) as invalid:
                ChatRequest.model_validate({"model": "m", "messages": wrong})
            assert invalid.value.error_count() <= 2
        with pytest.raises(ValidationError) as invalid:
            ResponseRequest.model_validate({"model": "m", "input": [1] * 9000})
        assert invalid.value.error_count() <= 2


async def _never(*_: Any) -> Any:
    raise AssertionError("parsed")


UNREADABLE = {
    b"[" * 5000 + b"]" * 5000: "nested too deeply",
    b'{"topic": ' + b"9" * 5000 + b"}": "too many digits",
    b'{"topic": "\xff"}': "not UTF-8",
    '{"topic": "Why?"}'.encode("utf-16"): "not UTF-8",
}


@pytest.mark.parametrize("path", ["/v1/debates", "/v1/chat/completions"])
def test_a_body_that_can_not_be_read_is_told_why(server: Served, path: str):
    for body, why in UNREADABLE.items():
        told = server.client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert (told.status_code, why in told.text) == (400, True), why


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', "MCP has no batches"),
        (b'{"method": 1}', "no message of JSON-RPC"),
        (b"{", "not valid JSON"),
        (b'"\xff"', "not valid JSON"),
    ],
)
def test_what_is_no_message_of_mcp_is_told_so_in_plain_words(server: Served, body: bytes, words: str):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    told = server.client.post("/mcp", content=body, headers=headers)
    assert told.status_code == 400
    assert words in told.json()["error"]["message"]
    assert len(told.content) < KIB
