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

QUIET = {"*/analyze/*": {**PANEL.answers["*/analyze/*"], "clarifying_question": ""}}
FIRST_FIT = {key: answer for key, answer in PANEL.answers.items() if key not in QUIET}
MUTING = {**PANEL.answers["*/evaluate/*"], "mute": ["Cost Steward"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    answers = {"1/evaluate/*": MUTING, "4/ballot/juror3": "I don't know.", **QUIET, **FIRST_FIT}
    with served(tmp_path_factory.mktemp("words"), answers=answers) as running:
        yield running


def page(server: Served, debate_id: str, **params: Any) -> list[dict[str, Any]]:
    found = server.get(f"/v1/debates/{debate_id}/events", params=params, headers={"Accept": "application/json"})
    return found.raise_for_status().json()["items"]


def notes(event: dict[str, Any]) -> list[str]:
    return [note["text"] for note in event["caption"]["notes"]]


def a_panel(server: Served, **settings: Any) -> dict[str, Any]:
    return server.completed(format="panel", settings={"max_rounds": 2, "checkpoints": False, **settings})


class TestEvents:
    def test_a_ballot_says_for_whom_it_is_and_an_abstention_that_it_is_one(self, server: Served):
        done = server.completed(format="duel", settings={"turns": 4, "jury": 3})
        ballots = {each["turn"]["seat"]: each for each in page(server, done["id"]) if each["type"] == "BALLOT"}
        assert ballots["juror1"]["caption"]["heading"] == "Juror 1 votes, turn 4"
        assert notes(ballots["juror1"]) == ["for Ada (Redis)", "Ada (Redis) 6", "Basil (PostgreSQL) 4"]
        assert [note["tone"] for note in ballots["juror1"]["caption"]["notes"]] == ["strong", "", ""]
        assert notes(ballots["juror2"]) == ["for Basil (PostgreSQL)", "Ada (Redis) 4", "Basil (PostgreSQL) 6"]
        assert ballots["juror3"]["caption"] == {
            "heading": "Juror 3 abstains, turn 4",
            "notes": [],
            "lines": [],
            "grid": None,
        }

    def test_flags_say_what_is_public_quiet_and_hidden(self, server: Served):
        done = server.completed(format="duel", settings={"turns": 2})
        flags = {each["type"]: (each["public"], each["quiet"], each["hidden"]) for each in page(server, done["id"])}
        assert flags["TURN"] == flags["VERDICT"] == (True, False, False)
        assert flags["PLAN"] == flags["THINK"] == (False, True, False)
        assert flags["HEADER"][2] is flags["status"][2] is True

    def test_what_the_runtime_says_has_no_caption(self, server: Served):
        done = server.completed(settings={"max_rounds": 1})
        captions = {each["type"]: each["caption"] for each in page(server, done["id"])}
        assert captions["status"] is None
        assert captions["VERDICT"]["heading"] == "Verdict"

    def test_points_are_those_of_the_chart(self, server: Served):
        done = server.completed(format="duel", settings={"turns": 4})
        points = [point for each in page(server, done["id"]) for point in each["points"]]
        assert points == [
            {"seat": seat, "label": name, "x": turn, "y": 7.0}
            for turn, (seat, name) in enumerate([("a", "Ada (Redis)"), ("b", "Basil (PostgreSQL)")] * 2, 1)
        ]
        panel = a_panel(server, perspectives=2)
        shares = [point for each in page(server, panel["id"]) for point in each["points"]]
        assert {(point["seat"], point["label"]) for point in shares} == {
            ("p1", "Performance Advocate"),
            ("p2", "Operational Simplicity"),
        }
        assert panel["vocabulary"]["chart"]["unit"] == "%"

    def test_whoever_is_muted_gets_a_badge_and_no_invented_reason(self, server: Served):
        done = a_panel(server, perspectives=3)
        [muted] = [each for each in page(server, done["id"]) if each["badge"]]
        assert muted["badge"] == {"seat": "p3", "text": "muted"}
        assert muted["caption"]["heading"] == "The moderator muted Cost Steward: it is not heard after round 1."

    def test_a_reader_who_comes_late_knows_the_names(self, tmp_path):
        """The event that names the seats is before the page, or before the stream; the debate has no outcome yet."""
        answers = {**QUIET, **FIRST_FIT}
        with served(tmp_path, answers=answers) as server:
            waiting = server.rested(server.made(format="panel", settings=dict(PANEL.settings))["id"])
            assert waiting["status"] == "waiting"
            whole = page(server, waiting["id"])
            cast = next(each for each in whole if each["type"] == "CAST")
            later = [each for each in whole if each["seq"] > cast["seq"]]
            assert later[0]["caption"]["heading"] == "Performance Advocate, round 1"
            assert page(server, waiting["id"], after=cast["seq"]) == later
            path = f"/v1/debates/{waiting['id']}/events?until=rest&after="
            for after in (cast["seq"], 0):
                with watching(server, f"{path}{after}") as events:
                    streamed = [each.data for each in events if each.event == "message"]
                assert streamed == [each for each in whole if each["seq"] > after]

    def test_a_stream_that_lasts_learns_the_names_as_they_are_given(self, tmp_path):
        answers = {**QUIET, **FIRST_FIT}
        with served(tmp_path, answers=answers) as server:
            made = server.made(format="panel", settings=dict(PANEL.settings), start=False)
            with watching(server, f"/v1/debates/{made['id']}/events?until=rest") as events:
                server.post(f"/v1/debates/{made['id']}/start")
                streamed: list[dict[str, Any]] = []
                for each in events:
                    if each.event == "message":
                        streamed.append(each.data)
                    if each.event == "end" or (streamed and streamed[-1]["type"] == "gate"):
                        break
            stored = page(server, made["id"])
            assert streamed == stored[: len(streamed)]
            assert "Performance Advocate, round 1" in [
                each["caption"] and each["caption"]["heading"] for each in streamed
            ]


class TestVocabulary:
    @pytest.mark.parametrize("name", formats.installed())
    def test_a_debate_carries_what_its_format_declares(self, server: Served, name: str):
        format_ = formats.installed()[name]
        told = server.made(format=name, start=False)["vocabulary"]
        assert set(told["events"]) == set(format_.vocabulary)
        assert told["phases"] == {**COMMON_PHASES, **format_.phases}
        assert told["unit"] == format_.unit
        assert told["length"] == (format_.length or None)
        assert [(each["listener"], each["speaker"]) for each in told["hears"]] == [
            (each.listener, each.speaker) for each in format_.hears
        ]
        assert told["ledger"] is format_.keeps_ledger
        assert (told["chart"] is None) is (format_.chart is None)

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

    def test_the_names_of_seats_without_a_part_are_never_told_as_winners(self, server: Served):
        done = a_panel(server, perspectives="auto")
        assert done["outcome"]["names"] == {
            "p1": "Performance Advocate",
            "p2": "Operational Simplicity",
            "p3": "Cost Steward",
        }

    def test_progress_counts_what_the_format_counts(self, server: Served):
        assert server.made(format="duel", start=False, settings={"turns": 8})["progress"] == {
            "done": 0,
            "of": 8,
            "unit": "turn",
        }

    def test_a_format_that_is_not_installed_here_is_told_in_general_words(self, tmp_path, monkeypatch):
        with served(tmp_path) as server:
            done = server.completed(format="duel", settings={"turns": 2})
            events = page(server, done["id"])
            monkeypatch.delitem(formats.installed(), "duel")
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
