"""A duel through the real OpenAI client: what arrives at the server, who sees what, and where the key goes."""

from __future__ import annotations

import json
import re
import threading
from itertools import pairwise

import pytest

from moot.app import App
from moot.client import documents
from moot.core.settings import Settings
from tests.models.wire import Request, Say, Wire
from tests.running import new_debate, run_to_rest

CANARY = "sk-canary-7f3a9c1e5b"


class Debating(Wire):
    """Answers as each seat should, with a mark in every answer that tells where it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[tuple[Request, str]] = []
        self._both = threading.Barrier(2)

    def take(self, request: Request) -> Say:
        super().take(request)
        asked = request.body["messages"][-1]["content"]
        if "Nothing has been said yet" in asked:
            self._both.wait(60)  # both plan at once: neither is answered before both have been asked
        with self._lock:
            text = self._answer(request.body, len(self.answers))
            self.answers.append((request, text))
        return Say(text, tokens=(2000, 40, 100))

    def _answer(self, body, n: int) -> str:
        asked = body["messages"][-1]["content"]
        mark = f"mark-{body['model']}-{n}"
        if "response_format" not in body:
            return f"My words, {mark}."
        shape = body["response_format"]["json_schema"]["schema"]["properties"]
        if "score" in shape:
            return json.dumps({"reasoning": mark, "score": 6})
        if "scores" in shape:
            return json.dumps({"winner": "Basil", "scores": {"Ada": 4, "Basil": 9}})
        assert "who won" in asked
        return json.dumps({"winner": "Basil"})


@pytest.mark.slow
async def test_a_duel_over_the_wire(tmp_path):
    with Debating() as wire:
        app = App(Settings(database_url=str(tmp_path / "moot.db")), environ={"MOOT_API_KEY": CANARY})
        seats = {seat: {"model": f"openai:{seat}@{wire.openai}", "temperature": 0.2} for seat in ("a", "b", "judge")}
        made = await new_debate(app, "sim:", premise="PostgreSQL is cache enough.", seats=seats)
        done = await run_to_rest(app, made)
        turns = await app.runtime.store.turns(done.id)
        assert (await documents.prove(app, done.id)).same
        audit = json.dumps(await documents.audit(app, done.id), default=str)
        await app.close()

    assert (done.status, done.outcome.winner, done.outcome.scores) == ("completed", "b", {"a": 4, "b": 9})
    assert done.outcome.details["premise_upheld"] is False
    assert len(wire.answers) == 30
    assert wire.most_at_once == 2
    assert (done.tokens_in, done.tokens_out) == (60000, 1200)
    assert all(turn.tokens_cached == 100 for turn in turns)

    by_text = {turn.written: turn for turn in turns}
    public = {turn.key for turn in turns if turn.phase == "speak"}
    for _, answer in wire.answers:
        mark = re.search(r"mark-\w+-\d+", answer)
        if mark is None:
            continue
        turn, marked = by_text[answer], re.compile(rf"{mark[0]}(?!\d)")
        sent = [(request.body["model"], json.dumps(request.body["messages"])) for request, _ in wire.answers]
        readers = {reader for reader, messages in sent if marked.search(messages)}
        if turn.key in public:
            assert "judge" in readers
        else:
            assert readers <= {turn.seat}, turn.key

    for seat in ("a", "b", "judge"):
        sent = [request.body["messages"] for request, _ in wire.answers if request.body["model"] == seat]
        for earlier, later in pairwise(sent):
            assert later[: len(earlier)] == earlier  # append-only: a provider's cache can reuse all of it
        assert all(request.headers["authorization"] == f"Bearer {CANARY}" for request, _ in wire.answers)

    stored = b"".join(path.read_bytes() for path in tmp_path.glob("moot.db*"))
    assert CANARY.encode() not in stored
    assert CANARY not in audit
