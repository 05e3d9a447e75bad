"""A private debate: no route shows it to another token. The routes come from the OpenAPI description, so that a new one
can't be forgotten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import httpx2
import pytest

from moot.server import openapi
from moot.server.app import ROUTERS
from tests.mcp.test_mcp import called, over_http, refused
from tests.server.serving import Served, served, told
from tests.server.test_owners import Person
from tests.server.test_security import path_of

QUESTION = "Should the zeppelin be painted vermilion?"
SECRET = ("zeppelin", "vermilion")
ROUTES = openapi.routes(ROUTERS)
OF_A_DEBATE = [route for route in ROUTES if "{debate_id}" in route.path]
OTHERS = [route for route in ROUTES if route not in OF_A_DEBATE]
NOWHERE = "00000000-0000-4000-8000-000000000000"
# What a route needs in order to get as far as the debate.
BODIES: dict[str, Any] = {
    "forkDebate": {"at": "x"},
    "rateDebate": {"rating": 5},
    "recordHowItTurnedOut": {"right": 1},
    "labelDebate": {"pinned": True},
    "guideDebate": {"text": "x"},
    "answerDebate": {"text": "x"},
}
CHAT = {"model": "moot/classic", "messages": [{"role": "user", "content": "What?"}]}


class Case:
    """Ann has a private debate that is over; Bob has every scope but admin."""

    def __init__(self, server: Served) -> None:
        self.server = server
        self.ann = Person(server, "ann", "read", "run", "decide")
        self.bob = Person(server, "bob", "read", "run", "decide")
        self.boss = Person(server, "boss", "admin")
        made = self.ann.ask(QUESTION, private=True)
        assert made["private"] is True
        self.id: str = made["id"]
        self.ann.waits_for(self.id)

    def asked(self, route: Any, debate_id: str, person: Person, **more: Any) -> httpx2.Response:
        [method] = route.methods
        headers = {"Accept": "application/json", **more.pop("headers", {})}
        body = BODIES.get(route.operation_id, {}) if method in ("POST", "PATCH") else None
        path = path_of(route, debate_id)
        return person.request(method, path, json=more.pop("json", body), headers=headers, **more)


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Iterator[Case]:
    folder = tmp_path_factory.mktemp("private")
    with served(folder, serve_tokens="always", model="sim:?small=false") as server:
        yield Case(server)


@pytest.mark.parametrize("route", OF_A_DEBATE, ids=lambda route: route.operation_id)
def test_by_its_id_it_does_not_exist_for_another(case: Case, route):
    if openapi.scope_of(route) == "admin":
        assert case.asked(route, case.id, case.bob).status_code == 403
        return
    for given in (case.id, case.id[:8]):
        answer, nothing = case.asked(route, given, case.bob), case.asked(route, NOWHERE[: len(given)], case.bob)
        assert (answer.status_code, nothing.status_code) == (404, 404), answer.text
        same = [re.sub(r"[0-9a-f-]{8,36}", "ID", each.text.replace(given, "ID")) for each in (answer, nothing)]
        assert same[0] == same[1], "nor can the answers be told apart"
    streamed = case.asked(route, case.id, case.bob, headers={"Accept": "text/event-stream"})
    assert streamed.status_code == 404


@pytest.mark.parametrize("route", OTHERS, ids=lambda route: route.operation_id)
def test_no_other_route_shows_it(case: Case, route):
    follows = {"model": CHAT["model"], "input": "What?", "previous_response_id": f"resp_{case.id}"}
    naming = {
        "createChatCompletion": {"json": {**CHAT, "metadata": {"moot_debate": case.id}}},
        "createResponse": {"json": follows},
        "watchMany": {"params": {"debates": case.id, "newest": True}},  # without the debate it would never end
    }
    query = {"params": {"q": "zeppelin" if route.operation_id == "listDebates" else QUESTION}}
    answer = case.asked(route, case.id, case.bob, **naming.get(route.operation_id, query))
    assert answer.status_code != 500
    if route.operation_id in naming:
        assert answer.status_code == 404, answer.text
    shown = answer.text if answer.status_code == 200 else ""
    if route.operation_id == "searchDebates":
        shown = shown.replace(answer.json()["query"], "")
    assert not any(word in shown for word in SECRET)
    assert case.id not in shown


def test_its_owner_and_an_admin_see_it_everywhere(case: Case):
    for person in (case.ann, case.boss):
        listed = person.get("/v1/debates", params={"q": "zeppelin"}).json()["items"]
        assert (case.id, True) in [(each["id"], each["private"]) for each in listed]
        found = person.get("/v1/search", params={"q": QUESTION}).json()["items"]
        assert case.id in [each["id"] for each in found]
        for path in ("", "/turns", "/events", "/record", "/audit", "/proof", f"/diff/{case.id}"):
            answer = person.get(f"/v1/debates/{case.id}{path}", headers={"Accept": "application/json"})
            assert answer.status_code == 200, path
    assert case.bob.get("/v1/session").json()["private"] is False


def test_its_forks_are_private_too(case: Case):
    step = case.ann.get(f"/v1/debates/{case.id}/turns").json()["items"][-1]["key"]
    body = {"at": step, "start": False}
    fork = case.boss.post(f"/v1/debates/{case.id}/fork", json=body).raise_for_status().json()
    assert fork["private"] is True
    assert case.bob.get(f"/v1/debates/{fork['id']}").status_code == 404
    assert case.ann.get(f"/v1/debates/{fork['id']}").status_code == 404, "it is the admin's"


def test_it_is_told_to_private_debates_of_its_own_token_alone(case: Case):
    tells = {"start": False, "settings": {"recall_decisions": True}}

    def notices(person: Person, **more: Any) -> str:
        made = person.ask(QUESTION, **tells, **more)["id"]
        path = f"/v1/debates/{made}/events"
        found = person.get(path, headers={"Accept": "application/json"}).json()["items"]
        return json.dumps([each["data"] for each in found])

    assert case.id[:8] in notices(case.ann, private=True)
    for told_to in (notices(case.bob), notices(case.bob, private=True), notices(case.ann), notices(case.boss)):
        assert case.id[:8] not in told_to


async def test_over_mcp_it_is_not_there(case: Case):
    async with over_http(case.server, case.bob.secret) as client:
        for tool in ("debate_status", "wait_for_debate", "read_record", "resume_debate", "cancel_debate"):
            assert (await refused(client, tool, debate_id=case.id)).startswith("There is no debate"), tool
        listed = await called(client, "list_debates", contains="zeppelin")
        assert case.id not in [each["id"] for each in listed["debates"]]
        found = (await called(client, "search_decisions", query=QUESTION))["found"]
        assert case.id not in [each["id"] for each in found]
        with pytest.raises(Exception, match="There is no debate"):
            await client.read_resource(f"moot://debates/{case.id}/transcript")
    async with over_http(case.server, case.ann.secret) as client:
        assert await client.read_resource(f"moot://debates/{case.id}/transcript")
        made = await called(client, "start_debate", question="A zeppelin?", format="classic", private=True)
    assert case.bob.get(f"/v1/debates/{made['id']}").status_code == 404


def test_a_chat_can_be_private(case: Case):
    def made(path: str, **asks: Any) -> dict[str, Any]:
        answer = case.ann.post(path, json={**asks, "model": CHAT["model"]}).raise_for_status()
        return case.ann.get(f"/v1/debates/{answer.headers['x-moot-debate']}").json()

    chat = made("/v1/chat/completions", **CHAT, metadata={"moot_private": "true"})
    assert chat["private"] is True
    assert case.bob.get(f"/v1/debates/{chat['id']}").status_code == 404
    second = made("/v1/responses", input="And then?", previous_response_id=f"resp_{case.id}")
    assert second["private"] is True
    case.server.in_loop(case.server.app.runtime.set_private(second["id"], False))
    third = made("/v1/responses", input="And now?", previous_response_id=f"resp_{second['id']}")
    assert third["private"] is True, "it quotes the first, which is private, as well"
    wrong = {**CHAT, "metadata": {"moot_private": "perhaps"}}
    assert case.ann.post("/v1/chat/completions", json=wrong).status_code == 422


def test_its_owner_can_change_it_and_another_can_not(case: Case):
    shared = case.ann.ask("Is this one shared?", start=False)["id"]
    path = f"/v1/debates/{shared}/privacy"
    assert case.bob.post(path, json={}).status_code == 403, "it is not Bob's"
    assert case.ann.post(path, json={}).json()["private"] is True
    assert case.bob.get(f"/v1/debates/{shared}").status_code == 404
    assert case.bob.post(path, json={"private": False}).status_code == 404
    seen = case.ann.get(f"/v1/debates/{shared}").headers["etag"]
    assert case.boss.post(path, json={"private": False}).json()["private"] is False
    stale = case.ann.post(path, json={"private": True}, headers={"If-Match": seen})
    assert stale.status_code == 412
    assert case.bob.get(f"/v1/debates/{shared}").status_code == 200


@pytest.mark.slow
def test_streams_of_others_end_when_it_becomes_private(case: Case):
    shared = case.ann.ask("Is this one followed?", start=False)["id"]
    with case.bob.stream(f"/v1/stream?debates={shared}&newest=true") as response:
        events = told(response.iter_lines())
        assert any(each.event == "debate" and each.data["id"] == shared for each in events)
        case.ann.post(f"/v1/debates/{shared}/privacy", json={}).raise_for_status()
        end = next(each for each in events if each.event == "end")
        assert (end.data["debate"], end.data["deleted"]) == (shared, True)
        case.ann.post(f"/v1/debates/{shared}/cancel").raise_for_status()
        own = case.bob.ask("Is this one Bob's?", start=False)["id"]
        listed = (each.data["id"] for each in events if each.event == "debate")
        assert shared not in takewhile(lambda debate_id: debate_id != own, listed)
