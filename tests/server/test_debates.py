"""Debates over HTTP: created, listed, moved on, refused."""

from __future__ import annotations

import pytest

from tests.running import Held
from tests.server.serving import Served, served, wait_for


def problem(response, status: int, slug: str) -> dict:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["type"] == f"urn:moot:problem:{slug}"
    assert told["status"] == status
    assert told["title"]
    assert told["detail"]
    return told


def test_a_debate_runs_from_its_question_to_its_outcome(server: Served):
    response = server.ask(settings={"max_rounds": 2})
    made = response.json()
    assert response.status_code == 201
    assert response.headers["location"] == f"/v1/debates/{made['id']}"
    assert made["status"] == "running"
    assert made["settings"]["max_rounds"] == 2
    done = server.rested(made["id"])
    assert done["status"] == "completed"
    assert (done["winner"], done["winner_name"]) == ("a", "Debater A")
    assert done["outcome"]["scores"] == {"a": 7, "b": 5}
    assert done["progress"] == {"done": 2, "of": 2, "unit": "round"}
    turns = server.get(f"/v1/debates/{made['id']}/turns").json()["items"]
    assert [turn["key"] for turn in turns] == [
        *("1/speak/a", "1/speak/b", "2/speak/a", "2/speak/b"),
        "2/verdict/judge",
    ]
    assert turns[0]["content"] == "Words of a at 1/speak/a."
    assert done["turns"] == len(turns)


def test_what_was_decided_before_is_told_in_the_words_of_the_api(server: Served):
    question = "Should the canteen serve elephants or giraffes first?"
    first = server.rested(server.made(topic=question, settings={"max_rounds": 1})["id"])
    again = server.made(topic=question, settings={"max_rounds": 1})
    events = server.get(f"/v1/debates/{again['id']}/audit").json()["events"]
    (note,) = [event["data"]["text"] for event in events if event["type"] == "notice"]
    assert f"in {first['id'][:8]} on " in note
    assert first["headline"] in note
    assert note.endswith('The debaters are not told; to let them know: "recall_decisions": true in the settings.')


def test_the_stance_is_chosen_at_creation(server: Served):
    made = server.made(settings={"a_stance": "con", "max_rounds": 1})
    assert made["settings"]["a_stance"] == "con"
    audit = server.get(f"/v1/debates/{server.rested(made['id'])['id']}/audit").json()
    briefs = {turn["seat"]: turn["messages"][0]["text"] for turn in audit["turns"]}
    assert "You argue for “PostgreSQL”" in briefs["a"]
    assert "You argue for “Redis”" in briefs["b"]


def test_it_can_be_created_without_being_started(server: Served):
    made = server.made(start=False)
    assert made["status"] == "pending"
    assert "start" in made["actions"]
    started = server.post(f"/v1/debates/{made['id']}/start")
    assert started.status_code == 200
    assert server.rested(made["id"])["status"] == "completed"
    told = problem(server.post(f"/v1/debates/{made['id']}/start"), 409, "wrong-status")
    assert "completed" in told["detail"]
    assert told["actions"] == ["record", "fork", "rate", "delete"]


def test_an_unambiguous_beginning_of_an_id_will_do(server: Served):
    made = server.made(start=False)
    assert server.get(f"/v1/debates/{made['id'][:13]}").json()["id"] == made["id"]
    problem(server.get("/v1/debates/zzzz"), 404, "unknown-debate")
    problem(server.get("/v1/debates/00000000-0000-4000-8000-000000000000"), 404, "unknown-debate")


@pytest.mark.parametrize(
    ("body", "slug", "said"),
    [
        ({}, "invalid", "topic"),
        ({"topic": "  \n "}, "invalid", "question is empty"),
        ({"topic": "x" * 20_001}, "invalid", "20,000"),
        ({"topic": "Why?", "settings": {"max_round": 3}}, "unknown-name", "Did you mean 'max_rounds'?"),
        ({"topic": "Why?", "settings": {"max_rounds": 0}}, "invalid", "max_rounds"),
        ({"topic": "Why?", "settings": {"model_debater": "nobody"}}, "unknown-model", "nobody"),
        ({"topic": "Why?", "settings": {"model_debater": "replay:ffff"}}, "invalid", "ffff"),
        ({"topic": "Why?", "settings": {"model_debater": "openai:gpt-6-luna"}}, "invalid", "OPENAI_API_KEY"),
        ({"topic": "Why?", "unknown": 1}, "invalid", "unknown"),
        ([], "invalid", "body"),
    ],
)
def test_a_bad_request_is_explained_and_stores_nothing(server: Served, body, slug, said):
    before = server.get("/v1/debates").json()["items"]
    told = problem(server.post("/v1/debates", body), 422, slug)
    assert said in told["detail"]
    assert server.get("/v1/debates").json()["items"] == before


HALF = "\\ud800"  # half a character, as JSON can write it


@pytest.mark.parametrize(
    "body",
    [
        f'{{"topic": "{HALF}?"}}',
        f'{{"topic": "Why?", "{HALF}": 1}}',
        f'{{"topic": "Why?", "format": "{HALF}"}}',
        f'{{"topic": "Why?", "settings": {{"{HALF}": 1}}}}',
        f'{{"topic": "Why?", "settings": {{"seats": {{"{HALF}": {{"model": 3}}}}}}}}',
        f'{{"topic": "Why?", "settings": {{"model_debater": "{HALF}"}}}}',
        '{"topic": "Why?", "settings": {"max_cost_usd": NaN}}',
        '{"topic": "Why?", "settings": {"max_cost_usd": 1e999}}',
        '{"topic": "Why?", "settings": {"max_rounds": 1e400}}',
        '{"topic": "Why?"} and more',
        "\x00",
    ],
)
def test_what_no_client_should_send(server: Served, body):
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"odd {len(body)}"}
    parent = server.made(start=False)
    for path in ("/v1/debates", "/v1/debates/estimate", f"/v1/debates/{parent['id']}/fork"):
        sent = body.replace('"topic": "Why?", ', "") if path.endswith("fork") else body
        response = server.client.post(path, content=sent, headers=headers)
        assert response.status_code in (400, 422), response.text
        assert response.headers["content-type"] == "application/problem+json"


def test_paths_and_methods_that_are_not_there(server: Served):
    problem(server.get("/v1/debates/3f2a/nothing"), 404, "not-found")
    refused = server.client.put("/v1/debates", json={})
    problem(refused, 405, "method-not-allowed")
    assert set(refused.headers["allow"].split(", ")) == {"GET", "POST"}


def test_stopped_and_resumed(tmp_path):
    held = Held(tmp_path)
    with served(tmp_path) as server:
        models = {"model_debater": held.model, "model_judge": held.model}
        made = server.made(format="duel", settings={"turns": 4, **models})
        wait_for(lambda: held.calls, "a call")
        stopping = server.post(f"/v1/debates/{made['id']}/stop").json()
        assert stopping["status"] == "stopping"
        held.release()
        stopped = server.rested(made["id"])
        assert stopped["status"] == "stopped"
        assert stopped["actions"][0] == "resume"
        before = server.get(f"/v1/debates/{made['id']}/turns").json()["items"]
        assert server.post(f"/v1/debates/{made['id']}/resume").json()["status"] == "running"
        assert server.rested(made["id"])["status"] == "completed"
        after = server.get(f"/v1/debates/{made['id']}/turns").json()["items"]
        assert after[: len(before)] == before
        assert server.get(f"/v1/debates/{made['id']}/proof").json()["same"] is True


def test_canceled_while_it_runs(tmp_path):
    with served(tmp_path) as server:
        made = server.made(settings={"model_debater": Held(tmp_path).model})
        assert server.post(f"/v1/debates/{made['id']}/cancel").json()["status"] == "canceled"
        assert server.debate(made["id"])["outcome"] is None
        problem(server.post(f"/v1/debates/{made['id']}/guide", {"text": "Too late."}), 409, "wrong-status")


def test_a_failed_debate_is_tried_again(tmp_path):
    fails = {"1/speak/b": [{"fail": "unavailable", "message": "no such model"}, "Back again."]}
    with served(tmp_path, answers=fails, backoff_tries=0) as server:
        failed = server.rested(server.made(settings={"max_rounds": 1})["id"])
        assert failed["status"] == "failed"
        assert failed["error"] == {"kind": "unavailable", "message": "no such model"}
        assert "retry" in failed["actions"]
        server.post(f"/v1/debates/{failed['id']}/retry").raise_for_status()
        assert server.rested(failed["id"])["status"] == "completed"
        turns = server.get(f"/v1/debates/{failed['id']}/turns").json()["items"]
        assert [turn["content"] for turn in turns][:2] == ["Words of a at 1/speak/a.", "Back again."]


def test_a_fork_has_the_turns_before_its_step_and_leaves_its_parent_alone(server: Served):
    parent = server.completed(settings={"max_rounds": 2})
    told = problem(server.post(f"/v1/debates/{parent['id']}/fork", {}), 409, "wrong-status")
    assert "2/verdict/judge" in told["detail"]
    problem(server.post(f"/v1/debates/{parent['id']}/fork", {"at": "9/speak/a"}), 422, "unknown-name")
    problem(
        server.post(f"/v1/debates/{parent['id']}/fork", {"at": "2/speak/a", "settings": {"x": 1}}), 422, "unknown-name"
    )
    wanted = {"at": "2/speak/a", "guidance": "Look at cost.", "settings": {"judge_max_tokens": 300}}
    forked = server.post(f"/v1/debates/{parent['id']}/fork", wanted)
    assert forked.status_code == 201
    fork = server.rested(forked.json()["id"])
    assert (fork["parent"], fork["forked_at"], fork["status"]) == (parent["id"], "2/speak/a", "completed")
    assert fork["settings"]["judge_max_tokens"] == 300
    turns = server.get(f"/v1/debates/{fork['id']}/turns").json()["items"]
    assert "Look at cost." in [turn["content"] for turn in turns]
    now = server.debate(parent["id"])
    assert now == parent
    diff = server.get(f"/v1/debates/{parent['id']}/diff/{fork['id']}").json()
    assert diff["relation"] == "fork"
    assert {each["name"] for each in diff["settings"]} == {"judge_max_tokens"}


def test_ratings_are_kept_and_can_change(server: Served):
    done = server.completed(settings={"max_rounds": 1})
    for rating in (2, 5):
        assert server.post(f"/v1/debates/{done['id']}/rate", {"rating": rating}).json()["user_rating"] == rating
    problem(server.post(f"/v1/debates/{done['id']}/rate", {"rating": 6}), 422, "invalid")


def test_how_a_decision_turned_out_is_kept_and_can_change(server: Served):
    models = {"model_debater": "sim:?seed=1", "model_judge": "sim:?seed=1"}
    done = server.completed(format="council", settings={"depth": "vote", **models})
    path = f"/v1/debates/{done['id']}/turned-out"
    assert done["turned_out"] is None
    told = server.post(path, {"right": 0.7, "note": "Mostly."}).json()["turned_out"]
    assert (told["right"], told["note"]) == (0.7, "Mostly.")
    assert server.debate(done["id"])["turned_out"] == told
    assert server.post(path, {"right": None}).json()["turned_out"] is None
    problem(server.post(path, {"right": 1.5}), 422, "invalid")
    problem(server.post(path, {}), 422, "invalid")


def test_guidance_is_heard_and_is_a_turn(server: Served):
    made = server.made(start=False, settings={"max_rounds": 1})
    guided = server.post(f"/v1/debates/{made['id']}/guide", {"text": "We have no one on call."}).json()
    assert guided["key"] == "guidance/1"
    server.post(f"/v1/debates/{made['id']}/start")
    server.rested(made["id"])
    audit = server.get(f"/v1/debates/{made['id']}/audit").json()
    first = next(turn for turn in audit["turns"] if turn["key"] == "1/speak/a")
    assert "We have no one on call." in first["messages"][-1]["text"]
    problem(server.post(f"/v1/debates/{made['id']}/guide", {"text": " "}), 422, "invalid")


def test_an_audit_comes_in_parts_and_one_of_a_step_has_that_step_alone(server: Served):
    made = server.completed(settings={"max_rounds": 2})
    whole = server.get(f"/v1/debates/{made['id']}/audit")
    assert "content-length" not in whole.headers
    audit = whole.json()
    assert set(audit) == {"debate", "turns", "events"}
    assert [turn["seq"] for turn in audit["turns"]] == list(range(1, audit["debate"]["turn_count"] + 1))
    one = server.get(f"/v1/debates/{made['id']}/audit?step=2/speak/b").json()
    assert one["debate"] == audit["debate"]
    assert one["turns"] == [turn for turn in audit["turns"] if turn["key"] == "2/speak/b"]
    assert one["turns"][0]["messages"]
    assert one["events"] == [event for event in audit["events"] if event["key"] == "2/speak/b"]
    assert server.get(f"/v1/debates/{made['id']}/audit?step=9/speak/b").json()["turns"] == []


class TestList:
    @pytest.fixture(scope="class")
    @classmethod
    def full(cls, tmp_path_factory):
        with served(tmp_path_factory.mktemp("list")) as server:
            for n in range(7):
                server.made(topic=f"Question {n}?", start=False, format="duel" if n % 2 else "classic")
            server.post(f"/v1/debates/{server.get('/v1/debates').json()['items'][0]['id']}/cancel")
            yield server

    def test_newest_first_page_by_page(self, full: Served):
        seen, cursor = [], None
        while True:
            page = full.get("/v1/debates", params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
            seen += [item["topic"] for item in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert seen == [f"Question {n}?" for n in range(6, -1, -1)]

    def test_filters(self, full: Served):
        def topics(**params):
            return [item["topic"] for item in full.get("/v1/debates", params=params).json()["items"]]

        assert topics(status="canceled") == ["Question 6?"]
        assert topics(format="duel") == ["Question 5?", "Question 3?", "Question 1?"]
        assert topics(status="canceled", format="duel") == []
        assert topics(q="question 3") == topics(q="N 3?", format="duel", status="pending") == ["Question 3?"]
        assert topics(q="Question _") == topics(q="%") == []

    def test_filtered_pages_go_on(self, full: Served):
        first = full.get("/v1/debates", params={"q": "QUESTION", "format": "classic", "limit": 2}).json()
        assert [item["topic"] for item in first["items"]] == ["Question 6?", "Question 4?"]
        rest = {"q": "QUESTION", "format": "classic", "limit": 2, "cursor": first["next"]}
        page = full.get("/v1/debates", params=rest).json()
        assert ([item["topic"] for item in page["items"]], page["next"]) == (["Question 2?", "Question 0?"], None)

    @pytest.mark.parametrize(
        ("params", "slug", "said"),
        [
            ({"status": "done"}, "invalid", "status"),
            ({"format": "duell"}, "unknown-name", "Did you mean 'duel'?"),
            ({"limit": 201}, "invalid", "limit"),
            ({"cursor": "nonsense!"}, "invalid", "is no cursor"),
            ({"cursor": "bm9uZQ"}, "invalid", "page mark"),
            ({"q": "x" * 201}, "invalid", "query.q"),
        ],
    )
    def test_what_it_does_not_know(self, full: Served, params, slug, said):
        assert said in problem(full.get("/v1/debates", params=params), 422, slug)["detail"]

    def test_forks_of_a_debate(self, server: Served):
        parent, other = (server.completed(settings={"max_rounds": 1})["id"] for _ in range(2))
        wanted = {"at": "1/speak/a", "start": False}
        forks = [server.post(f"/v1/debates/{parent}/fork", wanted).json()["id"] for _ in range(3)]
        server.post(f"/v1/debates/{other}/fork", wanted).raise_for_status()
        found = server.get("/v1/debates", params={"parent": parent[:13]}).json()
        assert [item["id"] for item in found["items"]] == forks[::-1]
        assert {item["parent"] for item in found["items"]} == {parent}
        assert server.get("/v1/debates", params={"parent": forks[0]}).json() == {"items": [], "next": None}
        problem(server.get("/v1/debates", params={"parent": "ffffffff"}), 404, "unknown-debate")


class TestVersions:
    def test_what_has_not_changed_is_not_sent_again(self, server: Served):
        made = server.made(start=False)
        first = server.get(f"/v1/debates/{made['id']}")
        tag = first.headers["etag"]
        again = server.get(f"/v1/debates/{made['id']}", headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        server.post(f"/v1/debates/{made['id']}/guide", {"text": "Something."})
        changed = server.get(f"/v1/debates/{made['id']}", headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert changed.headers["etag"] != tag

    def test_a_change_to_another_version_is_refused(self, server: Served):
        made = server.made(start=False)
        path = f"/v1/debates/{made['id']}"
        stale = server.get(path).headers["etag"]
        server.post(f"{path}/guide", {"text": "Someone else was here."})
        before = server.debate(made["id"])
        bodies = dict.fromkeys(("start", "stop", "resume", "cancel", "retry", "approve", "reject")) | {
            "guide": {"text": "Now."},
            "rate": {"rating": 3},
            "turned-out": {"right": 0.7},
            "answer": {"choice": "end"},
        }
        for verb, body in bodies.items():
            problem(server.post(f"{path}/{verb}", body, headers={"If-Match": stale}), 412, "stale")
            assert server.debate(made["id"]) == before, verb
        tag = server.get(path).headers["etag"]
        assert server.post(f"{path}/cancel", headers={"If-Match": tag}).status_code == 200
