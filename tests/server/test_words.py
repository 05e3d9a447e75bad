"""Words, marks, charts and badges: what formats declare is served with their debates, so that clients need no table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from moot import formats
from moot.core.limits import LIMITS
from moot.formats.format import COMMON_PHASES
from tests.formats.examples import PANEL
from tests.server.serving import Served, served, watching


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    unasked = {**PANEL.answers["*/analyze/*"], "clarifying_question": ""}
    answers = {"4/ballot/juror3": "I don't know.", **PANEL.answers, "*/analyze/*": unasked}
    with served(tmp_path_factory.mktemp("words"), answers=answers) as running:
        yield running


def page(server: Served, debate_id: str, **params: Any) -> list[dict[str, Any]]:
    found = server.get(f"/v1/debates/{debate_id}/events", params=params, headers={"Accept": "application/json"})
    return found.raise_for_status().json()["items"]


def notes(event: dict[str, Any]) -> list[str]:
    return [note["text"] for note in event["caption"]["notes"]]


class TestEvents:
    def test_of_a_duel(self, server: Served):
        done = server.completed(format="duel", settings={"turns": 4, "jury": 3})
        events = page(server, done["id"])
        ballots = {each["turn"]["seat"]: each for each in events if each["type"] == "BALLOT"}
        assert ballots["juror1"]["caption"]["heading"] == "Juror 1 votes, turn 4"
        assert notes(ballots["juror1"]) == ["for Ada (Redis)", "Ada (Redis) 6", "Basil (PostgreSQL) 4"]
        assert [note["tone"] for note in ballots["juror1"]["caption"]["notes"]] == ["strong", "", ""]
        assert notes(ballots["juror2"]) == ["for Basil (PostgreSQL)", "Ada (Redis) 4", "Basil (PostgreSQL) 6"]
        abstained = {"heading": "Juror 3 abstains, turn 4", "notes": [], "lines": [], "grid": None}
        assert ballots["juror3"]["caption"] == abstained
        assert [point for each in events for point in each["points"]] == [
            {"seat": seat, "label": name, "x": turn, "y": 7.0}
            for turn, (seat, name) in enumerate([("a", "Ada (Redis)"), ("b", "Basil (PostgreSQL)")] * 2, 1)
        ]
        last = {each["type"]: each for each in events}
        flags = {kind: (each["public"], each["quiet"], each["hidden"]) for kind, each in last.items()}
        assert flags["TURN"] == flags["VERDICT"] == (True, False, False)
        assert flags["PLAN"] == flags["THINK"] == (False, True, False)
        assert flags["HEADER"][2] is flags["status"][2] is True
        assert last["VERDICT"]["caption"]["heading"] == "Verdict"
        assert last["status"]["caption"] is None, "the runtime's own"

    def test_points_of_a_panel_are_shares(self, server: Served):
        settings = {"max_rounds": 2, "checkpoints": False, "perspectives": 2}
        panel = server.completed(format="panel", settings=settings)
        shares = {(point["seat"], point["label"]) for each in page(server, panel["id"]) for point in each["points"]}
        assert shares == {("p1", "Performance Advocate"), ("p2", "Operational Simplicity")}
        assert panel["vocabulary"]["chart"]["unit"] == "%"

    def test_a_reader_who_comes_late_knows_the_names(self, server: Served):
        """The event that names the seats is before the page, or before the stream; the debate has no outcome yet."""
        waiting = server.rested(server.made(format="panel", settings=dict(PANEL.settings))["id"])
        assert waiting["status"] == "waiting"
        whole = page(server, waiting["id"])
        cast = next(each for each in whole if each["type"] == "CAST")
        later = [each for each in whole if each["seq"] > cast["seq"]]
        assert later[0]["caption"]["heading"] == "Performance Advocate, round 1"
        assert page(server, waiting["id"], after=cast["seq"]) == later
        for after in (cast["seq"], 0):
            with watching(server, f"/v1/debates/{waiting['id']}/events?until=rest&after={after}") as events:
                streamed = [each.data for each in events if each.event == "message"]
            assert streamed == [each for each in whole if each["seq"] > after]

    def test_a_stream_that_lasts_learns_the_names_as_they_are_given(self, server: Served):
        made = server.made(format="panel", settings=dict(PANEL.settings), start=False)
        streamed: list[dict[str, Any]] = []
        with watching(server, f"/v1/debates/{made['id']}/events?until=rest") as events:
            server.post(f"/v1/debates/{made['id']}/start")
            for each in events:
                if each.event == "message":
                    streamed.append(each.data)
                if each.event == "end" or (streamed and streamed[-1]["type"] == "gate"):
                    break
        assert streamed == page(server, made["id"])[: len(streamed)]
        headings = [each["caption"]["heading"] for each in streamed if each["caption"]]
        assert "Performance Advocate, round 1" in headings


class TestVocabulary:
    def test_a_debate_carries_what_its_format_declares(self, server: Served):
        for name, format_ in formats.installed().items():
            told = server.made(format=name, start=False)["vocabulary"]
            assert set(told["events"]) == set(format_.vocabulary), name
            assert told["phases"] == {**COMMON_PHASES, **format_.phases}, name
            assert (told["unit"], told["length"]) == (format_.unit, format_.length or None), name
            hears = [(each["listener"], each["speaker"]) for each in told["hears"]]
            assert hears == [(each.listener, each.speaker) for each in format_.hears], name
            assert told["ledger"] is format_.keeps_ledger, name
            assert (told["chart"] is None) is (format_.chart is None), name

    def test_seats_say_what_they_are(self, server: Served):
        made = server.made(format="panel", start=False, settings={"seats": {"p1": {"temperature": 0.3, "top_p": 0.9}}})
        cast = {seat["id"]: seat for seat in made["seats"]}
        moderator, first = cast["moderator"], cast["p1"]
        assert (moderator["role"], moderator["tier"], moderator["voice"]) == ("moderator", "judge", False)
        assert (first["role"], first["tier"], first["voice"]) == ("perspective", "debater", True)
        assert (moderator["optional"], first["optional"]) == (False, True)
        assert (moderator["sampling"], first["sampling"]) == ({}, {"temperature": 0.3, "top_p": 0.9})
        assert made["vocabulary"]["table"] == "Moderator"
        stances = [seat["stance"] for seat in server.made(settings={"a_stance": "con"}, start=False)["seats"]]
        assert stances == ["PostgreSQL", "Redis", ""]

    def test_a_format_that_is_not_installed_here_is_told_in_general_words(self, server: Served, monkeypatch):
        done = server.completed(format="duel", settings={"turns": 2})
        events = page(server, done["id"])
        left = {name: each for name, each in formats.installed().items() if name != "duel"}
        monkeypatch.setattr(formats.DOOR, "_usable", left)
        monkeypatch.setattr(server.app, "formats", left)
        told = server.debate(done["id"])
        assert told["vocabulary"]["events"].keys() == {"HEADER", "CAST", "PERSON", "VERDICT"}
        assert told["vocabulary"]["chart"] is None
        assert told["progress"] == {"done": done["turns"], "of": None, "unit": "step"}
        assert told["outcome"]["headline"] == done["outcome"]["headline"]
        again = page(server, done["id"])
        assert [(each["seq"], each["turn"]) for each in again] == [(each["seq"], each["turn"]) for each in events]
        assert again[-2]["caption"]["heading"] == "Verdict"


class TestOutcomes:
    def test_why_it_ended_is_said_in_words(self, server: Served):
        done = server.completed(settings={"max_rounds": 1})["outcome"]
        assert (done["ended_by"], done["ended"], done["limit"]) == ("max_rounds", "all rounds were played", None)
        assert done["decided_by"] == "the judge"

    def test_a_limit_that_cut_it_short_is_named(self, server: Served):
        done = server.completed(settings={"max_rounds": 5, "max_total_output_tokens": 40})["outcome"]
        name = "max_total_output_tokens"
        assert (done["ended_by"], done["limit"], done["ended"]) == (name, name, LIMITS[name].words)
