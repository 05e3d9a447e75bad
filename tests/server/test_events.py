"""Live events: nothing is lost or doubled for clients that join late, reconnect or read slowly."""

from __future__ import annotations

import random
from typing import Any

import pytest

from moot.server import sse
from tests.server.serving import STREAM, Served, Told, connected, served, told, wait_for, watching
from tests.server.test_debates import problem

pytestmark = pytest.mark.slow

TALK = {"model_debater": "sim:?tps=600&tokens=120", "model_judge": "sim:?tps=900"}


class Listener:
    """A client that keeps to the rules in docs/api.md."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.texts: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.ended: dict[str, Any] | None = None
        self.debate: dict[str, Any] | None = None
        self.beats = self.deltas = 0

    def hear(self, each: Told) -> None:
        if each.event == "message":
            self.events.append(each.data)
            assert int(each.id) == each.data["seq"]
            key, turn = each.data["key"], each.data["turn"]
            if key in self.texts:
                assert (turn["metadata"].get("raw") or turn["content"]).startswith(self.texts.pop(key)) or turn["data"]
        elif each.event == "delta":
            self.deltas += 1
            key, offset = each.data["key"], each.data["offset"]
            assert offset in (0, self.places.get(key))
            self.texts[key] = ("" if offset == 0 else self.texts[key]) + each.data["text"]
            self.places[key] = each.data["end"]
            assert each.data["end"] == len(self.texts[key])
        elif each.event == "debate":
            self.debate = each.data
        elif each.event == "end":
            self.ended = each.data
        else:
            self.beats += 1

    @property
    def last(self) -> int:
        return self.events[-1]["seq"] if self.events else 0


def stored(server: Served, debate_id: str) -> list[dict[str, Any]]:
    page = server.get(f"/v1/debates/{debate_id}/events", headers={"Accept": "application/json"}).json()
    assert page["next"] is None
    return page["items"]


def test_a_watcher_sees_everything_and_the_end(server: Served):
    made = server.made(format="duel", settings={"turns": 2, **TALK})
    heard = Listener()
    with watching(server, f"/v1/debates/{made['id']}/events") as events:
        for each in events:
            heard.hear(each)
    assert heard.events == stored(server, made["id"])
    assert heard.deltas > 10
    assert heard.ended == {"debate": made["id"], "status": "completed", "last_seq": heard.last, "deleted": False}
    assert heard.debate["status"] == "completed"
    assert heard.debate["turns"] == server.debate(made["id"])["turns"]


def test_dropped_twenty_times_it_is_the_same_transcript(server: Served):
    chance = random.Random(1)
    made = server.made(format="duel", settings={"turns": 6, **TALK})
    heard, drops = Listener(), 0
    while heard.ended is None:
        left = chance.randint(1, 12)
        headers = {"Last-Event-ID": str(heard.last)} if heard.last else {}
        with watching(server, f"/v1/debates/{made['id']}/events", headers=headers) as events:
            for each in events:
                heard.hear(each)
                left -= 1
                if drops < 20 and (left <= 0 or each.event == "message"):  # of messages there are more than 20
                    drops += 1
                    break
    assert drops == 20
    assert heard.events == stored(server, made["id"])
    assert [event["seq"] for event in heard.events] == list(range(1, heard.last + 1))


def test_after_begins_behind_an_event(server: Served):
    done = server.completed(settings={"max_rounds": 1})
    with watching(server, f"/v1/debates/{done['id']}/events?after=3") as events:
        seen = [each.seq for each in events if each.event == "message"]
    assert seen == list(range(4, done["last_seq"] + 1))
    with watching(server, f"/v1/debates/{done['id']}/events?after=999999") as events:
        assert [each.event for each in events] == ["debate", "end"]


def test_a_browser_that_comes_back_after_the_end_is_sent_away(server: Served):
    done = server.completed(settings={"max_rounds": 1})
    path = f"/v1/debates/{done['id']}/events"
    assert server.get(path, headers={**STREAM, "Last-Event-ID": str(done["last_seq"])}).status_code == 204
    with watching(server, path, headers={"Last-Event-ID": str(done["last_seq"] - 1)}) as events:
        assert [each.event for each in events] == ["message", "debate", "end"]


def test_a_page_of_events_is_json(server: Served):
    done = server.completed(settings={"max_rounds": 1})
    path = f"/v1/debates/{done['id']}/events"
    first = server.get(path, params={"limit": 2}, headers={"Accept": "application/json"}).json()
    rest = server.get(path, params={"after": first["next"]}).json()  # `Accept: */*`, as a generated client asks
    assert [each["seq"] for each in [*first["items"], *rest["items"]]] == list(range(1, done["last_seq"] + 1))
    assert rest["next"] is None


def test_html_is_sanitised_and_only_given_when_asked_for(tmp_path):
    words = "**Bold** <script>alert(1)</script> [x](javascript:alert(2)) ![i](http://evil.example/i.png)\n\n- one"
    with served(tmp_path, answers={"*/speak/a": words, "*/speak/b": "I see it quite otherwise."}) as server:
        done = server.completed(settings={"max_rounds": 1})
        path = f"/v1/debates/{done['id']}"
        plain = server.get(f"{path}/turns").json()["items"][0]
        assert plain["html"] is None
        html = server.get(f"{path}/turns?html=true").json()["items"][0]["html"]
        assert "<strong>Bold</strong>" in html
        assert "<li>one</li>" in html
        for danger in ("<script", 'javascript:alert(2)"', "<img", 'href="javascript'):
            assert danger not in html
        with watching(server, f"{path}/events?html=true") as events:
            told_as = [each.data["turn"]["html"] for each in events if each.data and each.data.get("type") == "TURN"]
        assert told_as[0] == html
        assert server.get(f"{path}?html=true").json()["outcome"]["html"] is not None


def test_at_rest_the_stream_ends_or_stays_as_asked(tmp_path):
    fails = {"1/speak/b": [{"fail": "unavailable"}, "Back again."]}
    with served(tmp_path, answers=fails, backoff_tries=0) as server:
        made = server.made(settings={"max_rounds": 1}, start=False)
        path = f"/v1/debates/{made['id']}"
        with watching(server, f"{path}/events") as staying:
            server.post(f"{path}/start")
            heard = Listener()
            with watching(server, f"{path}/events?until=rest") as leaving:
                for each in leaving:
                    heard.hear(each)
            assert heard.ended["status"] == "failed"
            server.post(f"{path}/retry")
            stays = Listener()
            for each in staying:
                stays.hear(each)
        statuses = [event["data"]["status"] for event in stays.events if event["type"] == "status"]
        assert statuses == ["pending", "running", "failed", "running", "completed"]
        assert stays.events == stored(server, made["id"])
        assert stays.events[: len(heard.events)] == heard.events


def test_a_quiet_stream_has_a_heartbeat(tmp_path):
    with served(tmp_path, serve_heartbeat_seconds=0.02) as server:
        made = server.made(start=False)
        with watching(server, f"/v1/debates/{made['id']}/events") as events:
            beats = 0
            for each in events:
                beats += each.event == ":"
                if beats == 3:
                    break
        wait_for(lambda: server.server._api.state.context.live.streams == 0, "the stream to be left")


def test_streams_end_with_the_server(tmp_path):
    with served(tmp_path) as server:
        made = server.made(start=False)
        with watching(server, f"/v1/debates/{made['id']}/events") as events:
            assert next(events).event == "message"
            server.server.should_exit = True
            rest = [each.event for each in events]
        assert "end" not in rest  # a browser comes back, and finds the next server


class TestSeveral:
    def test_one_stream_tells_of_several_debates_and_the_list(self, server: Served):
        one, two = (server.made(start=False, settings={"max_rounds": 1}) for _ in range(2))
        heard: dict[str, list[dict]] = {one["id"]: [], two["id"]: []}
        ends, listed, last_id = set(), {}, None
        path = f"/v1/stream?newest=true&debates={one['id']},{two['id']}:1"
        with watching(server, path) as events:
            server.post(f"/v1/debates/{one['id']}/start")
            server.post(f"/v1/debates/{two['id']}/start")
            other = server.made(settings={"max_rounds": 1})
            for each in events:
                if each.event == "message":
                    heard[each.data["debate"]].append(each.data)
                    last_id = each.id
                elif each.event == "end":
                    ends.add(each.data["debate"])
                elif each.event == "debate":
                    listed[each.data["id"]] = each.data["status"]
                if ends == set(heard) and listed.get(other["id"]) == "completed":
                    break
        assert heard[one["id"]] == stored(server, one["id"])
        assert heard[two["id"]] == stored(server, two["id"])[1:]
        assert listed[one["id"]] == listed[two["id"]] == "completed"
        # A browser that comes back says where it was in all of them.
        with watching(server, path, headers={"Last-Event-ID": last_id}) as events:
            seen = [each.event for each, _ in zip(events, range(4), strict=False)]
        assert "message" not in seen
        assert seen.count("end") == 2

    def test_what_it_can_not_tell_of(self, server: Served):
        problem(server.get("/v1/stream?debates=nope"), 404, "unknown-debate")
        problem(server.get("/v1/stream?debates=x:y"), 422, "invalid")
        many = ",".join(f"{n:032}" for n in range(21))
        problem(server.get(f"/v1/stream?debates={many}"), 422, "invalid")


class TestSlowReaders:
    """Large statements fill every buffer between the server and a client that does not read."""

    LIMITS = {"debater_max_tokens": 100_000, "max_total_output_tokens": 10_000_000, "max_rounds": 8}

    ASKED = "GET {} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"

    @pytest.fixture
    def big(self, tmp_path):
        with served(tmp_path, answers={"*/speak/*": "word " * 40_000}) as server:
            yield server

    def test_does_not_slow_the_debate_and_gets_all_of_it_later(self, big: Served):
        made = big.made(start=False, settings=self.LIMITS)
        path = f"/v1/debates/{made['id']}"
        with connected(big, self.ASKED.format(f"{path}/events").encode(), deaf=True) as client:
            wait_for(lambda: big.server._api.state.context.live.streams == 1, "the stream to begin")
            big.post(f"{path}/start")
            assert big.rested(made["id"])["status"] == "completed"
            with client.makefile("rb") as lines:
                head = iter(lambda: lines.readline().strip(), b"")
                assert next(head) == b"HTTP/1.1 200 OK"
                assert b"transfer-encoding: chunked" in [line.lower() for line in head]
                body = b"".join(iter(lambda: lines.read(int(lines.readline() or b"0", 16) + 2)[:-2], b""))
        heard = Listener()
        for each in told(iter(body.decode().split("\n"))):
            heard.hear(each)
        assert heard.events == stored(big, made["id"])
        assert heard.ended["status"] == "completed"

    def test_one_that_takes_nothing_is_let_go(self, big: Served, monkeypatch):
        monkeypatch.setattr(sse, "HOPELESS_SECONDS", 0.05)
        done = big.completed(settings=self.LIMITS)
        live = big.server._api.state.context.live
        with connected(big, self.ASKED.format(f"/v1/debates/{done['id']}/events").encode(), deaf=True):
            wait_for(lambda: live.streams == 1, "the stream to begin")
            wait_for(lambda: live.streams == 0, "the stream to be given up")
        assert big.get("/healthz").status_code == 200
