"""Labels over HTTP: rename, pin, tag and archive a debate, and filter the list by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.serving import Served, served
from tests.server.test_owners import Person


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("labels")) as server:
        yield server


def patched(server: Served, debate_id: str, body: Any, **headers: str) -> Any:
    return server.client.patch(f"/v1/debates/{debate_id}", json=body, headers=headers)


def listed(server: Served, **query: Any) -> list[str]:
    return [each["id"] for each in server.get("/v1/debates", params=query).raise_for_status().json()["items"]]


def test_labels_are_changed_one_by_one_and_filter_the_list(server: Served):
    made, other = server.made(start=False), server.made(start=False)
    answer = patched(
        server, made["id"], {"title": "  The\ncache\u202e question ", "tags": ["#Cache", "cache", "Q4 plan"]}
    )
    assert answer.status_code == 200, answer.text
    named = answer.json()
    assert (named["title"], named["tags"], named["pinned"], named["archived"]) == (
        *("The cache question", ["cache", "q4 plan"]),
        *(False, False),
    )
    assert named["topic"] == made["topic"]
    pinned = patched(server, made["id"], {"pinned": True}, **{"If-Match": answer.headers["etag"]}).json()
    assert (pinned["pinned"], pinned["title"], pinned["tags"]) == (True, named["title"], named["tags"])
    stale = patched(server, made["id"], {"pinned": False}, **{"If-Match": answer.headers["etag"]})
    assert stale.status_code == 412
    assert patched(server, other["id"], {"archived": True}).json()["archived"] is True

    assert listed(server, pinned=True) == listed(server, tag="Cache") == listed(server, q="CACHE QUE") == [made["id"]]
    assert other["id"] not in listed(server)
    assert listed(server, archived=True) == [other["id"]]
    assert listed(server, tag="nothing") == []
    assert server.debate(other["id"])["archived"] is True, "by its id it is there"
    patched(server, other["id"], {"archived": False})
    assert other["id"] in listed(server, pinned=False)
    cleared = patched(server, made["id"], {"title": "", "tags": []}).json()
    assert (cleared["title"], cleared["tags"], cleared["pinned"]) == ("", [], True)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"title": "x" * 201}, "200 is the most"),
        ({"tags": ["x" * 41]}, "40 is the most"),
        ({"tags": ["a,b"]}, "comma"),
        ({"tags": ["#"]}, "letter or a digit"),
        ({"tags": [f"t{n}" for n in range(21)]}, "can have 20 tags"),
        ({"topic": "Another?"}, "topic"),
        ({"pinned": "perhaps"}, "pinned"),
    ],
)
def test_what_is_no_label_is_refused(server: Served, body: Any, says: str):
    made = server.made(start=False)
    answer = patched(server, made["id"], body)
    assert answer.status_code == 422
    assert says in answer.text
    assert server.debate(made["id"])["updated_at"] == made["updated_at"], "nothing was changed"


def test_labels_need_the_scope_run_and_a_debate_that_one_sees(server: Served):
    ann, bob = Person(server, "ann", "read", "run"), Person(server, "bob", "read", "run")
    reader = Person(server, "reader", "read")
    mine = ann.ask("Whose is this?", private=True, start=False)["id"]
    shared = ann.ask("And whose is this?", start=False)["id"]

    def asked(person: Person, debate_id: str) -> int:
        return patched(server, debate_id, {"title": "x"}, Authorization=f"Bearer {person.secret}").status_code

    assert [asked(person, mine) for person in (reader, bob, ann)] == [403, 404, 200]
    assert [asked(person, shared) for person in (reader, bob, ann)] == [403, 200, 200]
