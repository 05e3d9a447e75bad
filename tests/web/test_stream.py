"""Text that comes in: nothing lost, nothing doubled, and the reader's place is the reader's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.server.serving import Served
from tests.server.test_serve import serving
from tests.web.conftest import COMPLETED, Open, Serve
from tests.web.talking import FIRST, SECOND, Talk

pytestmark = pytest.mark.slow

SLOW = "sim:?tps=160&latency_ms=20&tokens=160"

IN_FLIGHT = """() => Object.fromEntries([...document.querySelectorAll('[data-flight]')].map(
  (each) => [each.dataset.flight, each.textContent]))"""
AT_END = """(what) => [document.querySelector(what)].some(
  (e) => e && e.scrollHeight - e.scrollTop - e.clientHeight < 48 && e.scrollTop > 1000)"""
COLUMN = {"desktop": "[data-lane=a] .blocks", "phone": "html"}  # what scrolls
SHOWN = """() => [...document.querySelectorAll('.lane [data-key]')].map(
  (each) => [each.dataset.key, each.querySelector('.prose')?.textContent ?? ''])"""


def words(text: str) -> str:
    return " ".join(text.split())


def stored(site: Any, debate_id: str) -> dict[str, dict[str, Any]]:
    events = site.get(f"/v1/debates/{debate_id}/events", headers={"Accept": "application/json"}).json()["items"]
    return {event["key"]: event["turn"] for event in events if event["turn"]}


def check_whole(page: Page, turns: dict[str, dict[str, Any]]) -> None:
    expect(page.locator("[data-flight]")).to_have_count(0)
    shown = page.evaluate(SHOWN)
    keys = [key for key, _ in shown]
    assert sorted(keys) == sorted(turns)
    for key, text in shown:
        assert words(text) == words(turns[key]["content"]), key


def test_reloading_in_mid_stream_loses_and_doubles_nothing(serve: Serve, open_page: Open):
    with Talk() as talk, serve() as site:
        debate = site.made(format="classic", settings={"max_rounds": 2, "model_debater": talk.model})
        page = open_page(f"{site.url}/debates/{debate['id']}")
        for key in ("1/speak/a", "1/speak/b", "2/speak/a", "2/speak/b"):
            for _ in range(3):
                expect(page.locator("[data-flight]")).to_have_text([FIRST.strip()])
                assert page.evaluate(IN_FLIGHT) == {key: FIRST}
                speaker = f"Debater {key[-1].upper()}"
                expect(page.locator(".topology .node.lit text:last-child")).to_have_text([speaker])
                page.reload()
            talk.go_on()
            expect(page.locator(f"[data-key='{key}'] .prose")).to_have_text(FIRST + SECOND)
        expect(page.locator(COMPLETED)).to_be_visible()
        check_whole(page, stored(site, debate["id"]))


def test_a_page_opened_late_is_at_the_end_of_a_long_text(serve: Serve, open_page: Open):
    first = "".join(f"This is sentence {number} of many. " for number in range(1, 301))
    with Talk(first) as talk, serve() as site:
        settings = {"max_rounds": 1, "model_debater": talk.model, "debater_max_tokens": 100_000}
        debate = site.made(format="classic", settings=settings)
        for size in ("desktop", "phone"):
            page = open_page(f"{site.url}/debates/{debate['id']}", size=size)
            flight = page.locator("[data-flight='1/speak/a']")
            expect(flight).to_have_text(first.strip())
            page.wait_for_function(AT_END, arg=COLUMN[size])
            page.set_viewport_size({"width": 1100, "height": 620})
            page.wait_for_function(AT_END, arg=COLUMN["desktop"])
            expect(page.locator(".jump")).to_have_count(0)
        talk.go_on()
        talk.go_on()
        expect(page.locator(COMPLETED)).to_be_visible()


def test_a_server_that_is_killed_and_comes_back(browser, open_page: Open, built: None, tmp_path):
    lost = ("ERR_", "Failed to load resource")
    with Talk() as talk:
        settings = {"max_rounds": 1, "model_debater": talk.model}
        with serving(tmp_path) as first:
            body = {"topic": "Tabs or spaces?", "format": "classic", "settings": settings}
            debate_id = first.client.post("/v1/debates", json=body).json()["id"]
            page = open_page(f"{first.url}/debates/{debate_id}", allowed=lost)
            expect(page.locator("[data-flight='1/speak/a']")).to_have_text(FIRST.strip())
            first.end(9)
            expect(page.get_by_text("Reconnecting")).to_be_visible()
            port = re.search(r":(\d+)$", first.url)[1]
        with serving(tmp_path, "--port", port) as second:
            expect(page.get_by_text("Reconnecting")).to_have_count(0)
            talk.go_on(3)  # one of them for the call that was lost
            expect(page.locator(COMPLETED)).to_be_visible()
            check_whole(page, stored(second.client, debate_id))


def test_the_reader_keeps_the_place(site: Served, open_page: Open):
    debate = site.made(
        format="classic", settings={"max_rounds": 1000, "model_debater": SLOW, "max_total_output_tokens": 10_000_000}
    )  # it does not end by itself, however slow the page is
    page = open_page(f"{site.url}/debates/{debate['id']}")
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
    site.post(f"/v1/debates/{debate['id']}/cancel")
