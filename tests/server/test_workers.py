"""A server on PostgreSQL only serves: workers run the debates, and what they say is heard here all the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.server.serving import Served, served, watching
from tests.server.test_events import Listener, stored
from tests.server.test_serve import MOOT, environ

pytestmark = pytest.mark.slow

TALK = {"model_debater": "sim:?tps=300&tokens=60", "model_judge": "sim:?tps=300"}


@pytest.fixture
def server(tmp_path: Path, database_url: str):
    worker = subprocess.Popen(
        [MOOT, "worker", "--db", database_url],
        env=environ(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with served(tmp_path, database_url=database_url) as running:
            yield running
    finally:
        worker.terminate()
        worker.wait(60)


def test_debates_run_elsewhere_and_are_seen_here(server: Served):
    made = server.made(format="duel", settings={"turns": 2, **TALK}, start=False)
    heard = Listener()
    with watching(server, f"/v1/debates/{made['id']}/events") as events:
        assert server.post(f"/v1/debates/{made['id']}/start").json()["status"] == "running"
        assert not server.app.runtime.drives(made["id"])
        for each in events:
            heard.hear(each)
    assert heard.ended["status"] == "completed"
    assert heard.events == stored(server, made["id"])
    assert heard.deltas > 5


def test_stop_resume_and_refusals_hold(server: Served):
    made = server.made(format="duel", settings={"turns": 4, **TALK})
    assert server.post(f"/v1/debates/{made['id']}/stop").status_code == 200
    server.until(made["id"], "stopped")
    assert server.post(f"/v1/debates/{made['id']}/start").status_code == 409
    assert server.post(f"/v1/debates/{made['id']}/resume").json()["status"] == "running"
    assert server.rested(made["id"])["status"] == "completed"
    assert server.post(f"/v1/debates/{made['id']}/resume").status_code == 409
    assert server.get(f"/v1/debates/{made['id']}/proof").json()["same"] is True


def test_an_answer_lets_it_go_on(server: Served):
    settings = {"perspectives": 2, "max_rounds": 1, "checkpoints": True, **TALK}
    made = server.made(format="panel", settings=settings)
    for _ in range(5):
        rested = server.until(made["id"], "waiting", "completed", "failed")
        if rested["status"] != "waiting":
            break
        [gate] = [g for g in server.get(f"/v1/debates/{made['id']}/gates").json()["items"] if g["status"] == "open"]
        answer = {"choice": "end"} if "end" in gate["choices"] else {"text": "Go on."}
        answered = server.post(f"/v1/debates/{made['id']}/answer", {"key": gate["key"], **answer})
        assert answered.status_code == 200, answered.text
    assert rested["status"] == "completed"


def test_a_repeated_request_and_a_token_are_kept_here_too(server: Served):
    key = {"Idempotency-Key": "k"}
    assert server.ask(headers=key, start=False).content == server.ask(headers=key, start=False).content
    assert len(server.get("/v1/debates").json()["items"]) == 1
