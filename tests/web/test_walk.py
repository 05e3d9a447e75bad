"""From a question to its record, a fork and a comparison: every page, as someone would use it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.serving import Served
from tests.web.conftest import COMPLETED, Open, Serve

pytestmark = pytest.mark.slow

QUESTION = "Should we split the monolith into services?"


def past_clarification(page: Page) -> None:
    """A simulated moderator may ask something first."""
    gate = page.locator(".gate")
    expect(gate).to_be_visible()
    if gate.get_attribute("data-gate") == "clarification":
        page.get_by_label("Your answer").fill("A team of five.")
        page.get_by_role("button", name="Answer").click()
    expect(page.locator(".gate[data-gate=checkpoint]")).to_be_visible()


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.soak)])
def test_from_question_to_comparison(site: Served, open_page: Open, size: str):
    page = open_page(site.url, size=size)
    page.get_by_role("link", name="New debate").first.click()

    # New: the estimate comes before the money.
    page.get_by_label("The question").fill(f"{QUESTION} ({size})")
    page.locator(".customise > summary").click()
    page.get_by_role("radio", name=re.compile("^Several viewpoints")).check()
    page.get_by_label("Max rounds").fill("2")
    page.get_by_label("Perspectives", exact=True).select_option("2")
    page.get_by_role("checkbox", name=re.compile("^Claims")).check()
    expect(page.locator(".estimate .price")).to_contain_text("$")
    expect(page.locator(".estimate")).to_contain_text("calls")
    page.get_by_role("button", name="Start the debate").click()

    # Live, up to the checkpoint, which is answered with the keyboard.
    expect(page).to_have_url(re.compile(r"/debates/[0-9a-f-]{36}$"))
    debate_id = page.url.rsplit("/", 1)[1]
    past_clarification(page)
    page.locator("main").focus()
    page.keyboard.press("g")
    page.get_by_label("Guidance for the next round").fill("Look at the cost of operations.")
    page.get_by_role("button", name="Send guidance").click()
    expect(page.locator(".gate[data-key='1/checkpoint/you']")).to_have_count(0)
    asked = page.locator(".gate")
    expect(asked.or_(page.locator(COMPLETED))).to_be_visible()
    while asked.count():  # it stays until it is answered
        key = asked.get_attribute("data-key")
        page.keyboard.press("c")
        expect(page.locator(f".gate[data-key='{key}']")).to_have_count(0)
        expect(asked.or_(page.locator(COMPLETED))).to_be_visible()
    assert site.debate(debate_id)["status"] == "completed"
    guided = [g for g in site.get(f"/v1/debates/{debate_id}/gates").json()["items"] if g["kind"] == "checkpoint"]
    assert guided[0]["decision"] == {"choice": "guide", "text": "Look at the cost of operations."}

    # What ran in parallel; what was claimed.
    page.get_by_role("link", name="Calls").click()
    expect(page.locator(".timeline svg")).to_be_visible()
    turns = [t for t in site.get(f"/v1/debates/{debate_id}/turns").json()["items"] if t["kind"] == "ask"]
    expect(page.locator(".timeline rect.call")).to_have_count(len(turns))
    page.get_by_role("link", name="Argument map").click()
    claims = site.get(f"/v1/debates/{debate_id}/claims").json()["claims"]
    expect(page.locator(".map g.claim")).to_have_count(len(claims))

    # The record: folded arguments, a link to a turn, exports.
    page.get_by_role("link", name="Record").click()
    expect(page.get_by_role("heading", name="Recommendation")).to_be_visible()
    argument = page.locator(".fold").first
    expect(argument.locator(".inside")).to_be_hidden()
    argument.locator("summary").click()
    expect(argument.locator(".quote").first).to_be_visible()
    page.goto(f"{site.url}/debates/{debate_id}/record#1/argue/p1")
    expect(page.locator("[id='1/argue/p1']")).to_be_in_viewport()
    page.get_by_text("Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Record as Markdown").click()
    assert QUESTION in download.value.path().read_text(encoding="utf-8")

    # A fork, and where it parts from its parent.
    page.get_by_role("link", name="The debate").click()
    page.get_by_role("button", name="Fork", exact=True).click()
    page.get_by_label("Ask anew from").select_option("2/argue/p1")
    page.get_by_label("Guidance for the branch").fill("What about latency?")
    page.get_by_role("button", name="Fork and run").click()
    expect(page.locator(".over")).to_contain_text("forked at 2/argue/p1")
    page.get_by_role("link", name="Compare", exact=True).last.click()
    expect(page.get_by_role("heading", name="Where they part")).to_be_visible()
    expect(page.locator(".compare .lead").first).to_contain_text("forked from the first")

    # Found again.
    page.goto(f"{site.url}/history")
    page.get_by_role("searchbox").fill("monolith services")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(f".row[data-id='{debate_id}']")).to_be_visible()
    page.goto(site.url)
    expect(page.locator(f".row[data-id='{debate_id}']")).to_contain_text("Completed")


def test_the_list_is_live_and_its_filters_are_in_the_address(site: Served, open_page: Open):
    page = open_page(f"{site.url}/?format=duel&q=BEES")
    expect(page.locator(".empty")).to_be_visible()
    debate = site.made(topic="Do bees sleep?", format="duel", settings={"turns": 2})
    row = page.locator(f".row[data-id='{debate['id']}']")
    expect(row).to_contain_text("Completed")
    other = site.completed(topic="Do bees dance?", format="classic", settings={"max_rounds": 1})
    expect(page.locator(f".row[data-id='{other['id']}']")).to_have_count(0)
    page.get_by_label("Format").select_option("")
    expect(page.locator(f".row[data-id='{other['id']}']")).to_be_visible()
    page.get_by_label("Text in the question").fill("dance")
    expect(row).to_have_count(0)
    assert "q=dance" in page.url
    page.reload()
    expect(page.locator(f".row[data-id='{other['id']}']")).to_be_visible()
    expect(row).to_have_count(0)


def test_what_is_wrong_is_said_at_its_field(site: Served, open_page: Open):
    page = open_page(f"{site.url}/new?format=duel", allowed=("status of 422",))
    page.get_by_role("button", name="Start the debate").click()
    expect(page.locator(".estimate .price")).to_be_visible()  # an estimate needs no question …
    expect(page.locator("#topic-error")).to_be_visible()  # … a debate does
    page.get_by_label("The question").fill("Tabs or spaces?")
    expect(page.locator("#topic-error")).to_have_count(0)
    page.get_by_label("Turns", exact=True).fill("1")
    error = page.locator("#field-turns-error")
    expect(error).to_contain_text("must be a whole number from 2 to 200")
    expect(page.get_by_label("Turns", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Turns", exact=True).fill("4")
    expect(error).to_have_count(0)


def test_stop_resume_guide_cancel_and_delete(site: Served, open_page: Open):
    slow = "sim:?tps=150&latency_ms=50&tokens=120"
    settings = {"model_debater": slow, "max_rounds": 1000, "max_total_output_tokens": 10_000_000}
    debate = site.made(format="classic", settings=settings)  # it does not end by itself
    page = open_page(f"{site.url}/debates/{debate['id']}")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Guide").click()
    page.get_by_label("Guidance").fill("Think of the night shift.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".debate-top [data-status=running]")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the debate").click()
    expect(page.locator(".debate-top [data-status=canceled]")).to_be_visible()
    assert site.debate(debate["id"])["status"] == "canceled"
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Keep it").click()
    assert site.debate(debate["id"])["status"] == "canceled"
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete the debate").click()
    expect(page).to_have_url(f"{site.url}/")
    assert site.get(f"/v1/debates/{debate['id']}").status_code == 410


def test_thoughts_stay_as_they_were_left(site: Served, open_page: Open):
    debate = site.completed(format="duel", settings={"turns": 2})
    page = open_page(f"{site.url}/debates/{debate['id']}")
    expect(page.locator(".verdict")).to_be_attached()
    first = page.locator("details.thought").first
    expect(first).not_to_have_attribute("open", "")
    page.keyboard.press("t")
    expect(first).to_have_attribute("open", "")
    first.locator("summary").click()
    page.reload()
    expect(page.locator("details.thought").nth(1)).to_have_attribute("open", "")
    expect(page.locator("details.thought").first).not_to_have_attribute("open", "")


def test_a_link_to_a_turn_leads_to_it_in_either_mode(site: Served, open_page: Open):
    debate = site.completed(format="duel", settings={"turns": 2})
    for size in ("phone", "desktop"):
        page = open_page(f"{site.url}/debates/{debate['id']}#2/speak/b", size=size)
        expect(page.locator("[id='2/speak/b']")).to_be_in_viewport()
    page.get_by_role("button", name="One column").click()
    expect(page.locator(".part > h2")).to_have_text(["To begin with", "Turn 1", "Turn 2"])
    expect(page.locator("[id='2/speak/b']")).to_be_in_viewport()
    page.reload()
    expect(page.get_by_role("button", name="One column")).to_have_attribute("aria-pressed", "true")


def test_the_list_goes_on_and_its_filters_look_at_every_page(serve: Serve, open_page: Open):
    with serve() as site:
        needle = site.made(topic="A needle in a haystack?", start=False)
        for number in range(60):
            site.made(topic=f"Straw number {number}?", start=False)
        fork = site.post(f"/v1/debates/{needle['id']}/fork", {"start": False}).raise_for_status().json()
        page = open_page(site.url)
        rows = page.locator(".row")
        expect(rows).to_have_count(50)
        expect(rows.first).to_have_attribute("data-id", fork["id"])
        page.get_by_role("button", name="Older debates").click()
        expect(rows).to_have_count(62)
        expect(rows.last).to_have_attribute("data-id", needle["id"])
        expect(page.get_by_role("button", name="Older debates")).to_have_count(0)
        page.get_by_label("Text in the question").fill("NEEDLE in")
        expect(rows).to_have_count(2)
        page.reload()
        expect(rows).to_have_count(2)
        page.get_by_label("Text in the question").fill("straw")
        expect(rows).to_have_count(50)
        page.get_by_role("button", name="Older debates").click()
        expect(rows).to_have_count(60)
        rows.last.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Straw number 0?")
        page.go_back()
        expect(rows).to_have_count(50)
        expect(page.get_by_label("Text in the question")).to_have_value("straw")
        page.goto(f"{site.url}/debates/{needle['id']}")
        page.get_by_role("link", name="1 fork").click()
        expect(rows).to_have_count(1)
        expect(rows).to_have_attribute("data-id", fork["id"])
        expect(page).to_have_url(re.compile(r"\?parent="))


@pytest.mark.soak
def test_a_debate_of_more_turns_than_a_page_has(serve: Serve, open_page: Open):
    with serve() as site:
        settings = {"max_rounds": 510, "max_total_output_tokens": 10_000_000, "max_runtime_seconds": 100_000}
        debate = site.completed(settings=settings)
        assert debate["turns"] > 1000
        page = open_page(f"{site.url}/debates/{debate['id']}?view=calls")
        expect(page.locator(".calls-table tbody tr")).to_have_count(debate["turns"])
        page.get_by_role("button", name="Fork", exact=True).click()
        expect(page.get_by_label("Ask anew from").locator("option")).to_have_count(debate["turns"])
        page.keyboard.press("Escape")
        page.goto(f"{site.url}/debates/{debate['id']}#1/speak/b")
        expect(page.locator("[id='1/speak/b']")).to_be_in_viewport()
