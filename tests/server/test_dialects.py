"""The streams of a duel and a crucible, worded as other clients expect them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pytest

from tests.server.serving import Served, served, watching
from tests.server.test_debates import problem
from tests.web.talking import FIRST, SECOND, Talk

CRITIQUE = {"assessment": "It holds.", "issues": [], "earlier": [], "score": 6, "ready": False}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("dialects"), delay_ms=5) as running:
        yield running


def named(server: Served, debate_id: str, dialect: str, **more):
    with watching(server, f"/v1/debates/{debate_id}/events?dialect={dialect}", **more) as events:
        return [each for each in events if each.event != ":"]


def test_a_duel_in_the_order_of_its_document(server: Served):
    made = server.made(format="duel", settings={"turns": 6, "premise": "Caches are databases."})
    told = named(server, made["id"], "duel")
    turn = ["THINK", "TURN", "THINK", "SCORE"]
    assert [each.event for each in told] == ["HEADER", "PLAN", "PLAN", *turn * 6, "THINK", "VERDICT"]
    assert all(each.data["type"] == each.event for each in told)
    header, verdict = told[0].data, told[-1].data
    assert header["topic"] == "Redis or PostgreSQL?"
    assert (header["debaters"], header["judge"], header["turns"]) == (["Ada", "Basil"], "The judge", 6)
    turns = [(each.data["speaker"], each.data["text"]) for each in told if each.event == "TURN"]
    assert [speaker for speaker, _ in turns] == ["Ada", "Basil"] * 3
    assert turns[0][1] == "Words of a at 1/speak/a."
    scores = [each.data for each in told if each.event == "SCORE"]
    assert [score["speaker"] for score in scores] == ["Ada", "Basil"] * 3
    first = {"judge": "The judge", "speaker": "Ada", "score": 7, "reasoning": "It holds."}
    assert scores[0] == {"type": "SCORE", **first}
    assert verdict == {
        "type": "VERDICT",
        "winner": "Ada",
        "scores": {"Ada": 8, "Basil": 6},
        "reasoning": "Words of judge at 6/announce/judge.",
        "premise_upheld": True,
    }
    # Who comes back with the last id gets the rest, in the same words.
    place = told[5].id
    rest = named(server, made["id"], "duel", headers={"Last-Event-ID": place})
    assert [each.event for each in rest] == [each.event for each in told[6:]]


def test_a_crucible_in_the_words_of_its_document(tmp_path):
    words = {"*/critique/*": CRITIQUE}
    with served(tmp_path, answers=words, delay_ms=5) as server:
        made = server.made(format="crucible", settings={"min_rounds": 1, "max_rounds": 1}, start=False)
        with watching(server, f"/v1/debates/{made['id']}/events?dialect=crucible") as events:
            server.post(f"/v1/debates/{made['id']}/start")
            told = [each for each in events if each.event != ":"]
        assert server.debate(made["id"])["status"] == "completed"
    kinds = [kind for kind, _ in groupby(each.event for each in told if not each.event.endswith("_chunk"))]
    assert kinds == [
        *("rag_complete", "round_start", "proposer_complete", "skeptic_complete"),
        *("synthesis_start", "synthesis_complete", "complete"),
    ]
    by_name = {each.event: each.data for each in told}
    assert all(each.data["type"] == each.event for each in told)
    assert by_name["round_start"] == {"type": "round_start", "round": 1}
    assert set(by_name["proposer_complete"]) == {"type", "round", "content", "durationMs"}
    assert set(by_name["synthesis_complete"]) == {"type", "content", "durationMs"}
    trace = by_name["complete"]["trace"]
    assert set(trace) == {
        *("id", "createdAt", "query", "templatesUsed", "rounds", "finalAnswer", "totalRounds", "earlyStopped"),
        *("qualityScore", "userRating", "autoScore", "models", "timing"),
    }
    assert set(trace["timing"]) == {"totalMs", "ragMs", "roundsMs", "synthesisMs"}


def test_chunks_lead_up_to_what_is_complete(tmp_path):
    with Talk() as talk, served(tmp_path) as server:
        models = {"model_proposer": talk.model, "model_skeptic": "sim:", "model_synthesizer": "sim:"}
        settings = {"min_rounds": 1, "max_rounds": 1, **models}
        made = server.made(format="crucible", settings=settings, start=False)
        said = ""
        with watching(server, f"/v1/debates/{made['id']}/events?dialect=crucible") as events:
            server.post(f"/v1/debates/{made['id']}/start")
            while said != FIRST:
                said += next(each.data["content"] for each in events if each.event == "proposer_chunk")
            talk.go_on()
            [complete] = [each.data["content"] for each in events if each.event == "proposer_complete"]
    assert complete == FIRST + SECOND


def test_a_failure_is_an_error_to_a_crucible(tmp_path):
    with served(tmp_path, answers={"*/critique/*": {"fail": "unavailable", "message": "no such model"}}) as server:
        made = server.made(format="crucible", start=False)
        with watching(server, f"/v1/debates/{made['id']}/events?dialect=crucible&until=rest") as events:
            server.post(f"/v1/debates/{made['id']}/start")
            told = [each for each in events if each.event != ":"]
    assert told[-1].event == "error"
    assert "no such model" in told[-1].data["error"]


@pytest.mark.parametrize(
    ("format", "dialect", "known"), [("classic", "latin", "moot"), ("duel", "crucible", "moot, duel")]
)
def test_a_dialect_that_the_format_lacks_is_refused_with_those_it_has(server: Served, format, dialect, known):
    made = server.made(format=format, start=False)
    for accept in ("text/event-stream", "application/json"):
        path = f"/v1/debates/{made['id']}/events?dialect={dialect}"
        told = problem(server.get(path, headers={"Accept": accept}), 422, "invalid")
        assert f"no dialect '{dialect}'. Known: {known}." in told["detail"]
