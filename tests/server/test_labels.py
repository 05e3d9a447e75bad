"""Over HTTP: rename, pin, tag and archive a debate, filter the list by it, and ask further after one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.serving import Served
from tests.server.test_owners import Person


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
        ({"tags": ["#"]}, "letter or a digit"),
        ({"tags": [f"t{n}" for n in range(21)]}, "can have 20 tags"),
        ({"topic": "Another?"}, "topic"),
    ],
)
def test_what_is_no_label_is_refused(server: Served, body: Any, says: str):
    made = server.made(start=False)
    answer = patched(server, made["id"], body)
    assert answer.status_code == 422
    assert says in answer.text
    assert server.debate(made["id"])["updated_at"] == made["updated_at"], "nothing was changed"


def test_a_debate_that_follows_another_is_told_what_that_came_to(server: Served):
    first = server.completed(topic="Redis or PostgreSQL?")
    made = server.made(topic="And for two services?", follows=first["id"][:8])
    assert made["topic"] == "And for two services? (asked after “Redis or PostgreSQL?”)"
    assert made["follows"] == first["id"]
    done = server.rested(made["id"])
    assert done["status"] == "completed"
    told = server.get(f"/v1/debates/{made['id']}/audit").raise_for_status().json()
    for turn in [each for each in told["turns"] if each["kind"] == "ask"]:
        heard = "\n".join(each["text"] for each in turn["messages"])
        assert "follows an earlier debate" in heard, turn["key"]
        assert f"Answer: **{first['headline']}**" in heard
        assert "Question: Redis or PostgreSQL?" in heard
    third = server.made(topic="And for ten?", follows=made["id"], start=False)
    assert third["topic"] == "And for ten? (asked after “And for two services?”)"
    assert server.get(f"/v1/debates/{made['id']}/proof").json()["same"] is True


def test_only_a_debate_with_an_answer_that_one_sees_is_followed(server: Served):
    open_ = server.made(start=False)
    refused = server.ask(topic="And then?", follows=open_["id"])
    assert (refused.status_code, "has no answer yet" in refused.text) == (422, True)
    assert server.ask(topic="And then?", follows="00000000").status_code == 404
    boss, dan = Person(server, "chief", "admin"), Person(server, "dan", "read", "run")
    models = {"model_debater": server.model, "model_judge": server.model}
    asked = {"topic": "Secret?", "format": "classic", "settings": models, "private": True}
    mine = boss.post("/v1/debates", json=asked).raise_for_status().json()["id"]
    server.rested(mine)
    after = {"topic": "And?", "format": "classic", "follows": mine, "start": False}
    assert dan.post("/v1/debates", json=after).status_code == 404
    assert boss.post("/v1/debates", json=after).json()["private"] is True, "it quotes what is private"
