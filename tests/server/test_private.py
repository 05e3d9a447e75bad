"""A private debate: no route shows it to another token. The routes come from the OpenAPI description, so that a new one
can't be forgotten."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from moot.server import openapi
from moot.server.app import ROUTERS
from tests.mcp.test_mcp import called, over_http, refused
from tests.server.serving import Served, served, told, wait_for
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
        self.ended(self.ann, self.id)

    def ended(self, person: Person, debate_id: str) -> None:
        def over() -> bool:
            return person.client.get(f"/v1/debates/{debate_id}").json()["status"] == "completed"

        wait_for(over, "the debate to end")

    def asked(self, route: Any, debate_id: str, person: Person, **more: Any) -> httpx2.Response:
        [method] = route.methods
        headers = {"Authorization": f"Bearer {person.secret}", "Accept": "application/json", **more.pop("headers", {})}
        body = BODIES.get(route.operation_id, {}) if method in ("POST", "PATCH") else None
        return self.server.client.request(
            method, path_of(route, debate_id), json=more.pop("json", body), headers=headers, **more
        )


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
    chat = route.path in ("/v1/chat/completions", "/v1/responses")
    asks = {**CHAT, "metadata": {"moot_debate": case.id}} if chat else {}
    if route.path == "/v1/responses":
        asks = {"model": CHAT["model"], "input": "What?", "previous_response_id": f"resp_{case.id}"}
    if route.operation_id == "watchMany":  # without the debate it would never end
        params: dict[str, Any] = {"debates": case.id, "newest": True}
    else:
        params = {"q": QUESTION, "parent": case.id}
    if route.operation_id in ("listDebates", "searchDebates", "listGates"):
        params.pop("parent", None)
    if route.operation_id == "listDebates":
        params["q"] = "zeppelin"
    answer = case.asked(route, case.id, case.bob, params=params, **({"json": asks} if chat else {}))
    assert answer.status_code != 500
    if chat or route.operation_id == "watchMany":
        assert answer.status_code == 404, answer.text
    kept = answer.text if answer.status_code == 200 else ""
    query = json.loads(kept).pop("query", "") if route.operation_id == "searchDebates" else ""
    shown = kept.replace(query, "") if query else kept
    assert not any(word in shown for word in SECRET)
    assert case.id not in shown


def test_its_owner_and_an_admin_see_it_everywhere(case: Case):
    for person in (case.ann, case.boss):
        listed = person.client.get("/v1/debates", params={"q": "zeppelin"}).json()["items"]
        assert (case.id, True) in [(each["id"], each["private"]) for each in listed]
        found = person.client.get("/v1/search", params={"q": QUESTION}).json()["items"]
        assert case.id in [each["id"] for each in found]
        for path in ("", "/turns", "/events", "/record", "/audit", "/proof", f"/diff/{case.id}"):
            answer = person.client.get(f"/v1/debates/{case.id}{path}", headers={"Accept": "application/json"})
            assert answer.status_code == 200, path
    assert case.bob.client.get("/v1/session").json()["private"] is False


def test_its_forks_are_private_too(case: Case):
    step = case.ann.client.get(f"/v1/debates/{case.id}/turns").json()["items"][-1]["key"]
    body = {"at": step, "start": False}
    fork = case.boss.client.post(f"/v1/debates/{case.id}/fork", json=body).raise_for_status().json()
    assert fork["private"] is True
    assert case.bob.client.get(f"/v1/debates/{fork['id']}").status_code == 404
    assert case.ann.client.get(f"/v1/debates/{fork['id']}").status_code == 404, "it is the admin's"


def test_it_is_told_to_private_debates_of_its_own_token_alone(case: Case):
    tells = {"start": False, "settings": {"recall_decisions": True}}

    def notices(person: Person, **more: Any) -> str:
        made = person.ask(QUESTION, **tells, **more)["id"]
        path = f"/v1/debates/{made}/events"
        found = person.client.get(path, headers={"Accept": "application/json"}).json()["items"]
        return json.dumps([each["data"] for each in found])

    assert case.id[:8] in notices(case.ann, private=True)
    for told_to in (notices(case.bob), notices(case.bob, private=True), notices(case.ann), notices(case.boss)):
        assert case.id[:8] not in told_to


def test_over_mcp_it_is_not_there(case: Case):
    async def main() -> None:
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
        assert case.bob.client.get(f"/v1/debates/{made['id']}").status_code == 404

    asyncio.run(main())


def test_a_chat_can_be_private(case: Case):
    asks = {**CHAT, "metadata": {"moot_private": "true"}}
    answer = case.ann.client.post("/v1/chat/completions", json=asks)
    assert answer.status_code == 200, answer.text
    made = answer.headers["x-moot-debate"]
    assert case.bob.client.get(f"/v1/debates/{made}").status_code == 404
    assert case.ann.client.get(f"/v1/debates/{made}").json()["private"] is True
    follows = {"model": CHAT["model"], "input": "And then?", "previous_response_id": f"resp_{case.id}"}
    answer = case.ann.client.post("/v1/responses", json=follows)
    assert answer.status_code == 200, answer.text
    assert case.ann.client.get(f"/v1/debates/{answer.headers['x-moot-debate']}").json()["private"] is True
    shown = answer.headers["x-moot-debate"]
    case.server.in_loop(case.server.app.runtime.set_private(shown, False))
    follows |= {"input": "And now?", "previous_response_id": f"resp_{shown}"}
    answer = case.ann.client.post("/v1/responses", json=follows)
    assert answer.status_code == 200, answer.text
    made = case.ann.client.get(f"/v1/debates/{answer.headers['x-moot-debate']}").json()
    assert made["private"] is True, "it quotes the first, which is private, as well"
    wrong = {**CHAT, "metadata": {"moot_private": "perhaps"}}
    assert case.ann.client.post("/v1/chat/completions", json=wrong).status_code == 422


def test_its_owner_can_change_it_and_another_can_not(case: Case):
    shared = case.ann.ask("Is this one shared?", start=False)["id"]
    path = f"/v1/debates/{shared}/privacy"
    assert case.bob.client.post(path, json={}).status_code == 403, "it is not Bob's"
    assert case.ann.client.post(path, json={}).json()["private"] is True
    assert case.bob.client.get(f"/v1/debates/{shared}").status_code == 404
    assert case.bob.client.post(path, json={"private": False}).status_code == 404
    seen = case.ann.client.get(f"/v1/debates/{shared}").headers["etag"]
    assert case.boss.client.post(path, json={"private": False}).json()["private"] is False
    stale = case.ann.client.post(path, json={"private": True}, headers={"If-Match": seen})
    assert stale.status_code == 412
    assert case.bob.client.get(f"/v1/debates/{shared}").status_code == 200


def test_streams_of_others_end_when_it_becomes_private(case: Case):
    shared = case.ann.ask("Is this one followed?", start=False)["id"]
    with case.bob.client.stream(f"/v1/stream?debates={shared}&newest=true") as response:
        events = told(response.iter_lines())
        assert any(each.event == "debate" and each.data["id"] == shared for each in events)
        case.ann.client.post(f"/v1/debates/{shared}/privacy", json={}).raise_for_status()
        end = next(each for each in events if each.event == "end")
        assert (end.data["debate"], end.data["deleted"]) == (shared, True)
        case.ann.client.post(f"/v1/debates/{shared}/cancel").raise_for_status()
        own = case.bob.ask("Is this one Bob's?", start=False)["id"]
        after = []
        for each in events:
            if each.event == "debate":
                after.append(each.data["id"])
                if each.data["id"] == own:
                    break
        assert shared not in after
