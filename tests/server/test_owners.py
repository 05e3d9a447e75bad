"""Whose a debate is: private debates, and tokens that end, are rotated and say when they were used."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from moot.tokens import hashed, new_secret, new_token
from tests.mcp.test_mcp import called, over_http, refused
from tests.server.serving import Served, served, told, wait_for

QUESTION = "Is the sky of this planet blue?"


class Person:
    """Someone with a token of the server's."""

    def __init__(self, server: Served, name: str, *scopes: str, expires_at: float | None = None) -> None:
        self._server = server
        self.secret, self.token = new_token(name, scopes, expires_at)
        self.headers = {"Authorization": f"Bearer {self.secret}"}
        assert server.in_loop(server.app.runtime.store.add_token(self.token))

    def request(self, method: str, path: str, **more: Any) -> httpx2.Response:
        headers = {**self.headers, **more.pop("headers", {})}
        return self._server.client.request(method, path, headers=headers, **more)

    def get(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("POST", path, **more)

    def stream(self, path: str) -> Any:
        return self._server.client.stream("GET", path, headers=self.headers)

    def waits_for(self, debate_id: str) -> None:
        wait_for(lambda: self.get(f"/v1/debates/{debate_id}").json()["status"] == "completed", "the debate to end")

    def ask(self, topic: str = QUESTION, **more: Any) -> dict[str, Any]:
        body = {"topic": topic, "format": "classic", **more}
        return self.post("/v1/debates", json=body).raise_for_status().json()


@pytest.fixture
def private(tmp_path) -> Iterator[Served]:
    with served(tmp_path, serve_tokens="always", private_debates=True, model="sim:?small=false") as server:
        yield server


def test_others_do_not_see_a_private_debate_anywhere(private: Served):
    ann, bob = Person(private, "ann", "read", "run", "decide"), Person(private, "bob", "read", "run", "decide")
    boss = Person(private, "boss", "admin")
    made = ann.ask()
    one = made["id"]
    assert made["initiated_by"] == "ann"
    ann.waits_for(one)
    missing = bob.get("/v1/debates/00000000-0000-4000-8000-000000000000").json()
    for path in ("", "/turns", "/events", "/record"):  # tests/server/test_private.py has every route
        answer = bob.get(f"/v1/debates/{one}{path}", headers={"Accept": "application/json"})
        assert answer.status_code == 404, path
        assert answer.json()["type"] == missing["type"]
        assert bob.get(f"/v1/debates/{one[:8]}{path}").status_code == 404
    for verb, body in (("cancel", None), ("fork", {"at": "x"}), ("guide", {"text": "x"})):
        assert bob.post(f"/v1/debates/{one}/{verb}", json=body).status_code == 404, verb
    assert bob.get(f"/v1/debates/{one}/diff/{one}").status_code == 404
    assert bob.get(f"/v1/stream?debates={one}").status_code == 404
    assert bob.get("/v1/debates").json()["items"] == []
    assert bob.get("/v1/gates").json()["items"] == []
    assert bob.get("/v1/search", params={"q": QUESTION}).json()["items"] == []
    chat = {"model": "moot/classic", "messages": [{"role": "user", "content": "x?"}], "metadata": {"moot_debate": one}}
    assert bob.post("/v1/chat/completions", json=chat).status_code == 404
    # Not even as a precedent: the same question of another is not told of it.
    again = bob.ask()
    notes = bob.get(f"/v1/debates/{again['id']}/events", headers={"Accept": "application/json"}).json()["items"]
    assert not any("decided before" in str(each["data"]) for each in notes)
    for person in (ann, boss):
        assert person.get(f"/v1/debates/{one}/record").status_code == 200
        found = person.get("/v1/search", params={"q": QUESTION}).json()["items"]
        assert one in [each["id"] for each in found]
    assert {each["id"] for each in boss.get("/v1/debates").json()["items"]} == {one, again["id"]}
    assert [each.get("/v1/session").json()["private"] for each in (bob, boss)] == [True, False]


def test_the_live_list_has_only_ones_own_debates(private: Served):
    ann, bob = Person(private, "ann", "read", "run"), Person(private, "bob", "read", "run")
    theirs = ann.ask(start=False)["id"]
    with bob.stream("/v1/stream?newest=true") as response:
        events = told(response.iter_lines())
        ann.ask(start=False)
        own = bob.ask(start=False)["id"]
        seen = next(each.data["id"] for each in events if each.event == "debate")
    assert seen == own != theirs


async def test_over_mcp_others_debates_are_not_there(private: Served):
    ann, bob = Person(private, "ann", "read", "run"), Person(private, "bob", "read", "run")
    one = ann.ask(start=False)["id"]
    async with over_http(private, bob.secret) as client:
        assert (await called(client, "list_debates"))["debates"] == []
        for tool in ("debate_status", "wait_for_debate", "read_record", "resume_debate", "cancel_debate"):
            assert (await refused(client, tool, debate_id=one)).startswith("There is no debate"), tool
        with pytest.raises(Exception, match="There is no debate"):
            await client.read_resource(f"moot://debates/{one}/transcript")
    async with over_http(private, ann.secret) as client:
        assert [each["id"] for each in (await called(client, "list_debates"))["debates"]] == [one]
        assert await client.read_resource(f"moot://debates/{one}/transcript")


def test_a_token_ends_and_so_does_its_session(tmp_path):
    with served(tmp_path, serve_tokens="always") as server:
        ann = Person(server, "ann", "read", expires_at=time.time() + 3600)
        assert ann.get("/v1/session").json()["expires_at"] == ann.token.expires_at
        cookie = server.post("/v1/session", {"token": ann.secret}).cookies["moot_session"]
        server.client.cookies.clear()
        session = server.in_loop(server.app.runtime.store.token(hashed(cookie)))
        assert session.expires_at == ann.token.expires_at
        late = Person(server, "late", "read", expires_at=time.time() - 1)
        assert late.get("/v1/debates").status_code == 401


def test_a_rotated_secret_ends_and_the_new_one_is_the_same_caller(tmp_path):
    with served(tmp_path, serve_tokens="always", private_debates=True) as server:
        ann, store = Person(server, "ann", "read", "run"), server.app.runtime.store
        made = ann.ask(start=False, settings={"model_debater": "sim:", "model_judge": "sim:"})["id"]
        secret = new_secret()
        server.in_loop(store.rotate_token(ann.token.id, hashed(secret), grace_seconds=3600, expires_at=None))
        either = ({}, {"Authorization": f"Bearer {secret}"})
        assert [ann.get(f"/v1/debates/{made}", headers=each).status_code for each in either] == [200, 200]
        server.in_loop(store.rotate_token(ann.token.id, hashed(new_secret()), grace_seconds=0, expires_at=None))
        assert [ann.get(f"/v1/debates/{made}", headers=each).status_code for each in either] == [401, 401]


def test_a_stream_does_not_outlive_the_secret_it_was_opened_with(tmp_path):
    with served(tmp_path, serve_tokens="always", serve_heartbeat_seconds=0.05) as server:
        ann = Person(server, "ann", "read", "run")
        with ann.stream("/v1/stream?newest=true") as response:
            lines = response.iter_lines()
            assert next(lines).startswith("retry")
            store = server.app.runtime.store
            server.in_loop(store.rotate_token(ann.token.id, hashed(new_secret()), grace_seconds=0, expires_at=None))
            list(lines)  # it ends


def test_the_use_of_a_token_is_recorded_now_and_then(tmp_path):
    with served(tmp_path, serve_tokens="always") as server:
        ann, store = Person(server, "ann", "read"), server.app.runtime.store
        assert server.in_loop(store.tokens())[0].last_used_at is None
        ann.get("/v1/debates").raise_for_status()
        first = server.in_loop(store.tokens())[0].last_used_at
        assert abs(first - time.time()) < 3600
        ann.get("/v1/debates").raise_for_status()
        assert server.in_loop(store.tokens())[0].last_used_at == first
        assert json.dumps(ann.get("/v1/session").json())
