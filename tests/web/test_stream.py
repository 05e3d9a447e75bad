"""Text that comes in: nothing lost, nothing doubled, and the reader's place is the reader's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.server.serving import Served
from tests.server.test_serve import serving
from tests.web.conftest import Open

pytestmark = pytest.mark.slow

SLOW = "sim:?tps=160&latency_ms=20&tokens=160"

IN_FLIGHT = """() => Object.fromEntries([...document.querySelectorAll('[data-flight]')].map(
  (each) => [each.dataset.flight, each.textContent]))"""
SHOWN = """() => [...document.querySelectorAll('.lane [data-key]')].map(
  (each) => [each.dataset.key, each.querySelector('.prose')?.textContent ?? ''])"""


def words(text: str) -> str:
    return " ".join(text.split())


def stored(house: Any, debate_id: str) -> dict[str, dict[str, Any]]:
    events = house.get(f"/v1/debates/{debate_id}/events", headers={"Accept": "application/json"}).json()["items"]
    return {event["key"]: event["turn"] for event in events if event["turn"] and event["type"] != "CLAIMS"}


def check_whole(page: Page, turns: dict[str, dict[str, Any]]) -> None:
    expect(page.locator("[data-flight]")).to_have_count(0)
    shown = page.evaluate(SHOWN)
    keys = [key for key, _ in shown]
    assert sorted(keys) == sorted(turns)
    for key, text in shown:
        assert words(text) == words(turns[key]["content"]), key


def test_reloading_in_mid_stream_loses_and_doubles_nothing(house: Served, open_page: Open):
    debate = house.made(format="duel", settings={"turns": 4, "model_debater": SLOW, "model_judge": SLOW})
    page = open_page(f"{house.url}/debates/{debate['id']}")
    seen: list[dict[str, str]] = []
    for _ in range(6):
        page.wait_for_function("() => [...document.querySelectorAll('[data-flight]')].some((e) => e.textContent)")
        seen.append(page.evaluate(IN_FLIGHT))
        page.reload()
    house.rested(debate["id"], "completed")
    expect(page.locator(".debate-top [data-status=completed]")).to_be_visible()
    turns = stored(house, debate["id"])
    check_whole(page, turns)
    plain = [(key, text) for flight in seen for key, text in flight.items() if turns[key]["data"] is None]
    assert plain
    for key, text in plain:
        assert turns[key]["content"].startswith(text.strip()), key


def test_a_server_that_is_killed_and_comes_back(browser, open_page: Open, built: None, tmp_path):
    lost = ("ERR_", "Failed to load resource")
    body = {"topic": "Tabs or spaces?", "format": "duel", "settings": {"turns": 4, "model_debater": SLOW}}
    with serving(tmp_path) as first:
        debate_id = first.client.post("/v1/debates", json=body).json()["id"]
        page = open_page(f"{first.url}/debates/{debate_id}", allowed=lost)
        page.wait_for_function("() => [...document.querySelectorAll('[data-flight]')].some((e) => e.textContent)")
        first.end(9)
        expect(page.get_by_text("Reconnecting")).to_be_visible()
        port = re.search(r":(\d+)$", first.url)[1]
    with serving(tmp_path, "--port", port) as second:
        expect(page.locator(".debate-top [data-status=completed]")).to_be_visible()
        check_whole(page, stored(second.client, debate_id))


def test_the_reader_keeps_the_place(house: Served, open_page: Open):
    debate = house.made(
        format="classic", settings={"max_rounds": 8, "model_debater": SLOW, "max_total_output_tokens": 90_000}
    )
    page = open_page(f"{house.url}/debates/{debate['id']}")
    lane = page.locator("[data-lane=a] .blocks")
    lane.wait_for()
    page.wait_for_function("() => document.querySelector('[data-lane=a] .blocks').scrollTop > 200")
    lane.evaluate("(e) => { e.scrollTop = 60 }")
    length = lane.evaluate("(e) => e.scrollHeight")
    jump = page.locator("[data-lane=a] .jump")
    expect(jump).to_be_visible()
    page.wait_for_function("(n) => document.querySelector('[data-lane=a] .blocks').scrollHeight > n + 100", arg=length)
    assert lane.evaluate("(e) => e.scrollTop") == 60
    jump.click()
    page.wait_for_function(
        "() => { const e = document.querySelector('[data-lane=a] .blocks');"
        " return e.scrollHeight - e.scrollTop - e.clientHeight < 50 }"
    )
    expect(jump).to_have_count(0)
    house.post(f"/v1/debates/{debate['id']}/cancel")
