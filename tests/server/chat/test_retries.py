"""A request that is sent again joins its debate; one that is meant anew starts another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx2
import openai
import pytest

from moot.core.types import Usage
from moot.runtime.owner import this_process
from moot.server.chat import retries
from tests.running import Held, an_app, new_debate
from tests.server.chat.asking import client, count, left_when, user
from tests.server.serving import Served, served, wait_for

BODY = {"model": "moot/classic", "messages": user(), "metadata": {"moot_settings": '{"max_rounds": 1}'}}


def asked(server: Served) -> dict[str, Any]:
    """One request, as of a client that says nothing of having tried before."""
    return server.post("/v1/chat/completions", BODY).raise_for_status().json()


@pytest.mark.slow
@pytest.mark.parametrize("configured", ["stop", "continue"])
def test_a_client_that_gave_up_waiting_and_asks_again_joins_its_debate(tmp_path, configured):
    model = Held(tmp_path)
    with served(tmp_path, model=model.model, chat_on_disconnect=configured) as server, ThreadPoolExecutor(1) as pool:
        left_when(server, BODY, lambda: model.calls)
        wait_for(lambda: not server.app.runtime.hub.watched, "the server to notice")
        debate_id = server.get("/v1/debates").json()["items"][0]["id"]
        if configured == "stop":
            server.until(debate_id, "stopping")
        again = pool.submit(asked, server)
        wait_for(lambda: server.app.runtime.hub.watched, "the second request to listen")
        model.release()
        assert again.result(60)["moot"]["debate"] == debate_id
        assert server.debate(debate_id)["status"] == "completed"
        assert count(server) == 1


@pytest.mark.slow
def test_requests_at_the_same_time_get_a_debate_each(tmp_path):
    model = Held(tmp_path)
    with served(tmp_path, model=model.model) as server, ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(asked, server) for _ in range(3)]
        wait_for(lambda: count(server) == 3, "three debates")
        model.release()
        assert len({each.result(60)["id"] for each in asking}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "debates"), [(600, 1), (0, 2)])
def test_after_an_error_the_failed_debate_goes_on_for_a_while(tmp_path, monkeypatch, seconds, debates):
    monkeypatch.setattr(retries, "JOIN_SECONDS", seconds)
    answers = {"1/speak/a": [{"fail": "unavailable"}, "Words."]}
    model = f"scripted:{tmp_path}/answers.yaml"
    with served(tmp_path, answers=answers, model=model) as server:
        with pytest.raises(httpx2.HTTPStatusError, match="502"):
            asked(server)
        assert server.debate(asked(server)["moot"]["debate"])["status"] == "completed"
        assert count(server) == debates


@pytest.mark.slow
def test_a_refused_request_holds_no_place(tmp_path):
    ceilings = {"day_tokens": 1}
    with served(tmp_path, model="sim:", ceilings=ceilings) as server, client(server) as asking:
        server.in_loop(server.app.runtime.store.book("x", "", 0, Usage(tokens_out=10)))
        for _ in range(retries.PLACES + 1):
            with pytest.raises(openai.RateLimitError):
                asking.ask()


async def test_a_place_of_a_dead_process_can_be_taken(tmp_path):
    async with an_app(tmp_path, model="sim:") as app:
        context: Any = SimpleNamespace(app=app, store=app.runtime.store)
        debate = await new_debate(app, "sim:")
        first = await retries.place(context, "same", again=False)
        assert (first.joins, first.key) == (None, "chat/same/0")
        await context.store.release_key(first.key, first.once.held.debate_id)
        host, _, started, name = this_process().split("/")
        dead = "/".join((host, "999999999", started, name))
        for owner, joined in ((this_process(), None), (dead, debate.id)):
            held = retries.IdempotencyKey(key="chat/same/0", hash=owner, debate_id=debate.id)
            await context.store.reserve_key(held, 600)
            found = await retries.place(context, "same", again=False)
            assert (found.joins and found.joins.id) == joined
            assert found.key == ("chat/same/0" if joined else "chat/same/1")
            await context.store.release_key("chat/same/0", debate.id)
