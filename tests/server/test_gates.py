"""Questions to people, answered over HTTP: once, by one, and the debate goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from moot import formats
from tests.runtime.asking import FORMAT
from tests.server.serving import Served, served, wait_for
from tests.server.test_debates import problem


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with formats.DOOR.adding("asking", FORMAT), served(tmp_path_factory.mktemp("gates")) as running:
        yield running


def waiting(server: Served, **settings) -> str:
    made = server.made(format="asking", settings=settings)
    assert server.rested(made["id"])["status"] == "waiting"
    return made["id"]


def keys(server: Served, debate_id: str) -> dict[str, str]:
    return {gate["key"]: gate["status"] for gate in server.get(f"/v1/debates/{debate_id}/gates").json()["items"]}


def test_from_question_to_question_to_the_end(server: Served):
    debate_id = waiting(server)
    path = f"/v1/debates/{debate_id}"
    [gate] = [each for each in server.get("/v1/gates").json()["items"] if each["debate"] == debate_id]
    assert (gate["key"], gate["kind"]) == ("1/checkpoint/you", "checkpoint")
    assert gate["choices"] == ["continue", "guide", "end"]
    answered = server.post(f"{path}/answer", {"choice": "guide", "text": "Look at cost."}).json()
    assert answered["gate"]["decision"] == {"choice": "guide", "text": "Look at cost."}
    assert answered["debate"]["status"] == "running"
    server.rested(debate_id)
    assert keys(server, debate_id) == {"1/checkpoint/you": "decided", "2/clarify/you": "open"}
    server.post(f"{path}/answer", {"text": "Session data."}).raise_for_status()
    server.rested(debate_id)
    server.post(f"{path}/approve", {"reason": "Fine."}).raise_for_status()
    done = server.rested(debate_id)
    assert (done["status"], done["headline"]) == ("completed", "approve: Session data.")
    turns = server.get(f"{path}/turns").json()["items"]
    people = {turn["key"]: turn["content"] for turn in turns if turn["kind"] == "gate"}
    assert people == {
        "1/checkpoint/you": "Guidance: Look at cost.",
        "2/clarify/you": "Session data.",
        "2/approve/you": "Approved. Fine.",
    }


@pytest.mark.parametrize(("verb", "headline"), [("approve", "approve: x"), ("reject", "reject: x")])
def test_approvals_need_no_body(server: Served, verb, headline):
    debate_id = waiting(server)
    for answer in ({"choice": "continue"}, {"text": "x"}):
        server.post(f"/v1/debates/{debate_id}/answer", answer).raise_for_status()
        server.rested(debate_id)
    server.post(f"/v1/debates/{debate_id}/{verb}").raise_for_status()
    assert server.rested(debate_id)["headline"] == headline


def test_a_bad_answer_leaves_the_question_open(server: Served):
    debate_id = waiting(server)
    for verb, body, said in (("answer", {"choice": "guide"}, "guidance needs words"), ("approve", None, "choice")):
        told = problem(server.post(f"/v1/debates/{debate_id}/{verb}", body), 422, "invalid")
        assert said in told["detail"]
        assert keys(server, debate_id) == {"1/checkpoint/you": "open"}
        assert server.debate(debate_id)["status"] == "waiting"


def test_of_many_at_once_one_wins_and_the_others_are_told_who(server: Served):
    debate_id = waiting(server)
    with ThreadPoolExecutor(8) as several:
        responses = list(
            several.map(lambda n: server.post(f"/v1/debates/{debate_id}/answer", {"choice": "end"}), range(8))
        )
    assert sorted(response.status_code for response in responses) == [200, *[409] * 7]
    [won] = [response.json() for response in responses if response.status_code == 200]
    for response in responses:
        if response.status_code == 409:
            assert problem(response, 409, "already-answered")["answered_by"] == won["gate"]["reviewer"]
    assert server.rested(debate_id)["status"] == "completed"


def test_nothing_to_answer(server: Served):
    pending = server.made(format="asking", start=False)
    told = problem(server.post(f"/v1/debates/{pending['id']}/answer", {"choice": "end"}), 409, "wrong-status")
    assert told["actions"][0] == "start"
    debate_id = waiting(server)
    body = {"key": "9/other/you", "choice": "end"}
    told = problem(server.post(f"/v1/debates/{debate_id}/answer", body), 422, "unknown-name")
    assert "1/checkpoint/you" in told["detail"]
    assert keys(server, debate_id) == {"1/checkpoint/you": "open"}
    server.post(f"/v1/debates/{debate_id}/answer", {"choice": "continue"}).raise_for_status()
    server.until(debate_id, "waiting")
    body["key"] = "1/checkpoint/you"
    told = problem(server.post(f"/v1/debates/{debate_id}/answer", body), 409, "already-answered")
    assert told["detail"].endswith("Now it asks: 2/clarify/you.")
    for verb, body in (("approve", None), ("answer", {"choice": "end"})):
        told = problem(server.post(f"/v1/debates/{debate_id}/{verb}", body), 422, "invalid")
        assert told["detail"] == "2/clarify/you asks for words and has no choices: answer it with text."
    assert keys(server, debate_id)["2/clarify/you"] == "open"


def test_a_question_that_nobody_answers_in_time_is_settled_by_the_server(server: Served, tmp_path, monkeypatch):
    monkeypatch.setattr("moot.dispatch.SWEEP_SECONDS", 0.02)
    with served(tmp_path) as swept:  # the other has added the format
        paused = swept.made(format="asking", settings={"timeout_seconds": 0.05})
        decided = swept.made(format="asking", settings={"timeout_seconds": 0.05, "decides": True})
        swept.until(paused["id"], "stopped")
        wait_for(lambda: keys(swept, decided["id"]).get("1/checkpoint/you") == "decided", "silence to decide")
        # A paused question can still be answered.
        swept.post(f"/v1/debates/{paused['id']}/answer", {"choice": "end"}).raise_for_status()
        assert swept.until(paused["id"], "completed")["headline"] == "Ended."
