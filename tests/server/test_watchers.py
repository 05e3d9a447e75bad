"""Watchers of one debate share each encoded event; a watcher with other parameters gets its own."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.server.serving import Served, Told, wait_for, watching
from tests.server.test_events import TALK, Listener, stored


@pytest.mark.slow
def test_each_is_told_everything_in_the_way_it_asked_for(server: Served):
    made = server.made(format="duel", settings={"turns": 2, **TALK}, start=False)
    path = f"/v1/debates/{made['id']}"
    told: dict[str, list[Told]] = {}

    def listen(name: str, place: str) -> None:
        with watching(server, place) as events:
            told[name] = [each for each in events if each.event != ":"]

    ways = {
        "one": f"{path}/events",
        "other": f"{path}/events",
        "html": f"{path}/events?html=true",
        "later": f"{path}/events?after=1",
        "duel": f"{path}/events?dialect=duel",
    }
    threads = [threading.Thread(target=listen, args=each) for each in ways.items()]
    for thread in threads:
        thread.start()
    live = server.server._api.state.context.live
    wait_for(lambda: live.streams == len(ways), "all to listen")
    server.post(f"{path}/start").raise_for_status()
    for thread in threads:
        thread.join()

    events = stored(server, made["id"])
    assert heard(told["one"]).events == heard(told["other"]).events == events
    assert heard(told["later"]).events == events[1:]
    assert [without_html(each) for each in heard(told["html"]).events] == events
    assert any(each["turn"] and each["turn"]["html"] for each in heard(told["html"]).events)
    assert {each.event for each in told["duel"]} & {"message", "delta", "end"} == set()
    assert told["duel"]
    for name in ("one", "other", "html", "later"):
        assert heard(told[name]).ended["status"] == "completed"


def heard(told: list[Told]) -> Listener:
    listener = Listener()
    for each in told:
        listener.hear(each)
    return listener


def without_html(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "turn": event["turn"] and {**event["turn"], "html": None}}
