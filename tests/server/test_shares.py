"""Shares: a link shows one debate to everyone who has it, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from moot.server import openapi
from moot.server.app import ROUTERS
from tests.server.serving import Served, served
from tests.server.test_owners import Person
from tests.server.test_private import BODIES
from tests.server.test_security import path_of

ROUTES = openapi.routes(ROUTERS)
QUESTION = "Should <b>the zeppelin</b> be painted?"


class Case:
    """Ann has a private debate that is over, and a link to it."""

    def __init__(self, server: Served) -> None:
        self.server = server
        self.ann, self.bob = (Person(server, name, "read", "run", "decide") for name in ("ann", "bob"))
        self.id: str = self.ann.ask(QUESTION, private=True)["id"]
        self.other: str = self.ann.ask("Another?", start=False)["id"]
        self.ann.waits_for(self.id)
        made = self.ann.post(f"/v1/debates/{self.id}/shares", json={})
        assert made.status_code == 201, made.text
        self.path: str = made.json()["path"]
        self.secret = self.path.rpartition("/")[2]


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Iterator[Case]:
    model = "sim:?small=false"
    with served(tmp_path_factory.mktemp("shares"), serve_tokens="always", model=model) as server:
        yield Case(server)


def test_a_link_shows_the_debate_without_a_token(case: Case):
    shown = case.server.get(case.path)
    assert shown.status_code == 200
    assert shown.headers["content-type"].startswith("text/html")
    text = shown.text
    assert "Should &lt;b&gt;the zeppelin&lt;/b&gt; be painted?" in text
    assert "<script" not in text
    assert 'id="record"' in text
    turn = next(each for each in case.ann.get(f"/v1/debates/{case.id}/turns").json()["items"] if each["seat"] == "a")
    assert f'id="{turn["key"]}"' in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text), "it loads nothing from elsewhere"
    assert shown.headers["cache-control"] == "no-store"
    assert shown.headers["referrer-policy"] == "no-referrer"
    assert "script-src" not in shown.headers["content-security-policy"].replace("default-src 'none'", "")
    assert case.ann.get(f"/v1/debates/{case.id}/document").text == text
    (listed,) = case.ann.get(f"/v1/debates/{case.id}/shares").json()["items"]
    assert (listed["made_by"], listed["last_used_at"] is not None) == ("ann", True)
    assert case.secret not in str(listed)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation_id)
def test_its_secret_opens_no_route(case: Case, route):
    if openapi.scope_of(route) is None and route.operation_id not in ("login", "getSession"):
        return  # open to everyone, with or without it
    [method] = route.methods
    path = path_of(route, case.id).replace("{share_id}", "x")
    body = BODIES.get(route.operation_id, {}) if method in ("POST", "PATCH") else None
    if route.operation_id == "login":
        body = {"token": case.secret}
    for headers in ({"Authorization": f"Bearer {case.secret}"}, {"Cookie": f"moot_session={case.secret}"}):
        answer = case.server.client.request(method, path, json=body, headers=headers)
        assert answer.status_code == 401, answer.text
        assert "zeppelin" not in answer.text


def test_its_address_leads_to_nothing_else(case: Case):
    for path in (f"{case.path}/{case.other}", f"{case.path}x", case.path[:-1], f"/shared/{case.other}", "/shared/"):
        assert case.server.get(path).status_code == 404, path
    assert case.server.client.request("POST", case.path, json={}).status_code == 405
    assert "Another?" not in case.server.get(f"{case.path}?debate={case.other}").text


def test_only_its_owner_and_admins_share_a_debate(case: Case):
    boss = Person(case.server, "boss", "admin")
    shared = case.ann.ask("Who shares?", start=False)["id"]
    for debate_id, statuses in ((case.id, (404, 201)), (shared, (403, 201))):
        path = f"/v1/debates/{debate_id}/shares"
        assert tuple(each.post(path, json={}).status_code for each in (case.bob, boss)) == statuses
        assert case.bob.get(path).status_code == statuses[0]
    reader = Person(case.server, "reader", "read")
    assert reader.post(f"/v1/debates/{shared}/shares", json={}).status_code == 403


def test_a_link_ends_when_it_is_revoked_and_when_its_debate_is_deleted(case: Case):
    debate_id = case.ann.ask("How long?", start=False)["id"]
    path = f"/v1/debates/{debate_id}/shares"
    first, second = (case.ann.post(path, json={"expires_in_days": 1}).json() for _ in range(2))
    assert first["expires_at"] is not None
    shown = case.server.get(first["path"])
    assert (shown.status_code, "no decision yet" in shown.text) == (200, True)
    for person, status in ((case.bob, 403), (case.ann, 204), (case.ann, 422)):
        assert person.request("DELETE", f"{path}/{first['id']}").status_code == status
    gone = case.server.get(first["path"])
    assert (gone.status_code, "This link is not valid" in gone.text) == (404, True)
    assert case.server.get(second["path"]).status_code == 200
    case.server.in_loop(case.server.app.runtime.delete(debate_id, by="boss"))
    assert case.server.get(second["path"]).status_code == 404
