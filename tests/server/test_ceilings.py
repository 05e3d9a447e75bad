"""Ceilings of the operator on a real server: no shape of a request gets past them, and a refusal costs nothing."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.serving import STREAM, Served, served, wait_for

pytestmark = pytest.mark.slow

PRICED = "sim:?seed=3&tokens=150&price_in=2&price_out=10"
MODELS = {"model_debater": PRICED, "model_judge": PRICED}
CHORE = "### Task:\nGenerate a concise title for the chat."
USD, TOKENS = 0.02, 1500
PRESET = {"greedy": {"format": "duel", "settings": {**MODELS, "max_cost_usd": 900, "max_total_output_tokens": 90_000}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    ceilings = {"debate_usd": USD, "debate_tokens": TOKENS}
    greedy = {"duel": {"max_cost_usd": 800, "max_total_output_tokens": 80_000}}
    with served(
        tmp_path_factory.mktemp("ceilings"), model=PRICED, ceilings=ceilings, presets=PRESET, defaults=greedy
    ) as server:
        yield server


def spending(folder: Path) -> tuple[float, int]:
    with closing(sqlite3.connect(folder / "moot.db")) as reader:
        return reader.execute(
            "select coalesce(sum(cost_usd), 0), coalesce(sum(tokens_out), 0) from spending"
        ).fetchone()


def chat(question: str) -> dict[str, Any]:
    return {"model": "moot/duel", "messages": [{"role": "user", "content": question}]}


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "max_cost_usd": st.none() | st.floats(0.001, 900_000),
        "max_total_output_tokens": st.integers(1, 100_000_000),
        "debater_max_tokens": st.integers(1, 1_000_000),
        "judge_max_tokens": st.integers(1, 1_000_000),
        "seats": st.dictionaries(
            st.sampled_from(["a", "b", "judge"]), st.fixed_dictionaries({"max_tokens": st.integers(1, 1_000_000)})
        ),
    },
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=LIMITS, effort=st.sampled_from([None, "quick", "standard", "thorough"]), way=st.sampled_from(["http", "chat"])
)
def test_no_shape_of_a_request_raises_a_ceiling(server: Served, asked: dict[str, Any], effort: str | None, way: str):
    above = (asked.get("max_cost_usd") or 0) > USD or asked.get("max_total_output_tokens", 0) > TOKENS
    if way == "http":
        body = {"topic": "Redis or PostgreSQL?", "format": "duel", "effort": effort, "settings": {**MODELS, **asked}}
        answer = server.post("/v1/debates", {**body, "start": False})
        debate_id = answer.json().get("id")
    else:
        body = {"model": "moot/greedy", "messages": [{"role": "user", "content": "Redis or PostgreSQL?"}]}
        headers = {"X-Moot-Settings": json.dumps(asked)}
        answer = server.post("/v1/chat/completions", {**body, "max_tokens": 50_000}, headers=headers)
        debate_id = answer.headers.get("x-moot-debate")
    if answer.status_code == 422:
        assert above or "max_tokens" in answer.text or "budget" in answer.text, answer.text
        return
    debate = server.debate(debate_id)
    assert debate["settings"]["max_cost_usd"] <= USD
    assert debate["settings"]["max_total_output_tokens"] <= TOKENS
    assert debate["tokens_out"] <= TOKENS
    assert (debate["cost_usd"] or 0) <= USD


def test_a_model_without_a_known_price_is_refused(server: Served):
    refused = server.ask(settings={"model_debater": "openai:gpt-unheard-of@https://models.invalid/v1"})
    assert refused.status_code == 422
    assert "so the operator's ceilings in money can't be kept" in refused.json()["detail"]


def test_a_fork_and_a_retry_stay_below_the_ceilings(tmp_path):
    with served(tmp_path, model=PRICED) as free:
        made = free.completed(format="duel", settings={**MODELS, "turns": 2, "max_total_output_tokens": 50_000})
        key = free.get(f"/v1/debates/{made['id']}/turns").json()["items"][0]["key"]
        left = free.made(format="duel", start=False, settings={**MODELS, "turns": 6, "max_total_output_tokens": 50_000})
    assert made["tokens_out"] > 700
    with served(tmp_path, model=PRICED, ceilings={"debate_tokens": 700}) as server:
        refused = server.post(
            f"/v1/debates/{made['id']}/fork", {"at": key, "settings": {"max_total_output_tokens": 701}}
        )
        assert refused.status_code == 422
        fork = server.post(f"/v1/debates/{made['id']}/fork", {"at": key}).json()
        assert fork["settings"]["max_total_output_tokens"] == 700
        assert server.rested(fork["id"])["tokens_out"] <= 700
        # Made before there was a ceiling: its own limit stays as it is, but no call is made beyond the ceiling.
        server.post(f"/v1/debates/{left['id']}/start").raise_for_status()
        done = server.rested(left["id"])
        assert (done["status"], done["settings"]["max_total_output_tokens"]) == ("completed", 50_000)
        assert done["tokens_out"] <= 700
        assert server.get(f"/v1/debates/{left['id']}/proof").json()["same"]


def test_a_day_that_is_used_up_refuses_before_anything_is_spent(tmp_path):
    with served(tmp_path, model=PRICED, ceilings={"day_tokens": 2000}) as server:
        made = server.made(format="duel", settings={**MODELS, "turns": 6, "max_total_output_tokens": 50_000})
        left = server.rested(made["id"])
        assert left["status"] == "stopped", left["error"]
        assert left["error"]["kind"] == "limit"
        assert "opens again at" in left["error"]["message"]
        assert 0 < left["tokens_out"] <= 2000
        events = server.get(f"/v1/debates/{made['id']}/events", headers={"Accept": "application/json"}).json()["items"]
        assert any(each["type"] == "notice" and "opens again at" in each["data"]["text"] for each in events)
        me = server.get("/v1/session").json()["budget"]
        assert (me["tokens"], me["reserved_tokens"]) == (left["tokens_out"], 0)
        assert me["left_tokens"] == 2000 - me["tokens"]
        assert spending(tmp_path) == (pytest.approx(left["cost_usd"]), left["tokens_out"])
    with served(tmp_path, model=PRICED, ceilings={"day_tokens": left["tokens_out"]}) as server:
        for refused in (
            server.ask(format="duel", settings=MODELS),
            server.post(f"/v1/debates/{made['id']}/resume"),
            server.post(f"/v1/debates/{made['id']}/fork", {}),
            server.post("/v1/chat/completions", chat("x?")),
            server.post("/v1/chat/completions", chat(CHORE)),
        ):
            assert refused.status_code == 429, refused.text
            assert "Today's budget is used up" in refused.text
            assert 0 < int(refused.headers["retry-after"]) <= 86_400
        problem = server.ask(format="duel", settings=MODELS).json()
        assert problem["type"] == "urn:moot:problem:over-budget"
        assert problem["opens_at"] > time.time()
        assert len(server.get("/v1/debates").json()["items"]) == 1
        assert spending(tmp_path)[1] == left["tokens_out"]
    # The ceiling is lifted, or the next day comes: it goes on where it was, and nothing is asked twice.
    with served(tmp_path, model=PRICED) as server:
        server.post(f"/v1/debates/{made['id']}/resume").raise_for_status()
        done = server.rested(made["id"])
        assert (done["status"], done["error"]) == ("completed", None)
        assert server.get(f"/v1/debates/{made['id']}/proof").json()["same"]
        assert spending(tmp_path) == (pytest.approx(done["cost_usd"]), done["tokens_out"])


def test_chores_of_chat_clients_are_paid_by_their_token(tmp_path):
    with served(tmp_path, model=PRICED, ceilings={"caller_usd": 1.0, "caller_tokens": 700}) as server:
        answers = [server.post("/v1/chat/completions", chat(CHORE)) for _ in range(20)]
        done = [each for each in answers if each.status_code == 200]
        assert 1 <= len(done) < 20
        assert {each.status_code for each in answers[len(done) :]} == {429}
        used = sum(each.json()["usage"]["completion_tokens"] for each in done)
        budget = server.get("/v1/session").json()["budget"]
        assert (budget["tokens"], budget["reserved_tokens"]) == (used, 0)
        assert used <= 700
        assert budget["cost_usd"] > 0
        assert server.get("/v1/debates").json()["items"] == []


def test_a_debate_that_is_canceled_in_mid_sentence_is_paid_for(tmp_path):
    slow = "sim:?seed=3&tokens=4000&price_in=2&price_out=10&tps=500"
    with served(tmp_path, model=PRICED, ceilings={"day_usd": 10.0}) as server:
        models = {"model_debater": slow, "model_judge": slow}
        made = server.made(settings={**models, "debater_max_tokens": 5000, "max_total_output_tokens": 50_000})
        with server.client.stream("GET", f"/v1/debates/{made['id']}/events", headers=STREAM) as stream:
            next(line for line in stream.iter_lines() if line == "event: delta")
        server.post(f"/v1/debates/{made['id']}/cancel").raise_for_status()

        def booked() -> dict[str, Any] | None:
            budget = server.get("/v1/session").json()["budget"]
            return budget if budget["reserved_usd"] == 0 and budget["cost_usd"] else None

        wait_for(booked, "what was written to be booked")
