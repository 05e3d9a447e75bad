"""What a debate asks people, answered in the browser: each kind of question, and two who answer the same one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from moot import formats
from tests.runtime.asking import FORMAT
from tests.server.serving import Served, served
from tests.web.conftest import COMPLETED, Open, check_axe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with formats.DOOR.adding("asking", FORMAT), served(tmp_path_factory.mktemp("gates")) as server:
        yield server


def asking(site: Served, *answers: dict[str, Any], **settings: Any) -> str:
    """A debate that waits, after these answers."""
    debate_id = site.made(format="asking", settings=settings)["id"]
    for answer in answers:
        assert site.rested(debate_id)["status"] == "waiting"
        site.post(f"/v1/debates/{debate_id}/answer", answer).raise_for_status()
    assert site.rested(debate_id)["status"] == "waiting"
    return debate_id


def decisions(site: Served, debate_id: str) -> dict[str, Any]:
    gates = site.get(f"/v1/debates/{debate_id}/gates").json()["items"]
    return {gate["key"]: gate["decision"] for gate in gates if gate["status"] == "decided"}


def gate(page: Page, kind: str):
    return page.locator(f".gate[data-gate={kind}]")


def test_an_approval(site: Served, open_page: Open):
    debate_id = asking(site, {"choice": "continue"}, {"text": "Session data."})
    page = open_page(f"{site.url}/debates/{debate_id}")
    asked = gate(page, "approval")
    expect(asked.locator(".question")).to_contain_text("fine?")
    check_axe(page)
    asked.get_by_label("Reason (optional)").fill("It was looked at.")
    asked.get_by_role("button", name="Reject").click()
    expect(page.locator(COMPLETED)).to_be_visible()
    expect(asked).to_have_count(0)
    expect(page.locator(".answer .headline")).to_have_text("reject: Session data.")
    assert decisions(site, debate_id)["2/approve/you"] == {"choice": "reject", "text": "It was looked at."}


@pytest.mark.parametrize(("words", "button"), [("Session data.", "Answer"), ("", "Nothing to add")])
def test_a_clarification(site: Served, open_page: Open, words: str, button: str):
    debate_id = asking(site, {"choice": "continue"})
    page = open_page(f"{site.url}/debates/{debate_id}", size="phone")
    asked = gate(page, "clarification")
    expect(asked.locator(".question")).to_have_text("What do you mean?")
    check_axe(page)
    asked.get_by_label("Your answer").fill(words)
    asked.get_by_role("button", name=button).click()
    expect(gate(page, "approval")).to_be_visible()
    assert decisions(site, debate_id)["2/clarify/you"] == {"text": words}


def test_a_seat_that_a_person_speaks_for(site: Served, open_page: Open):
    page = open_page(f"{site.url}/new?format=classic")
    page.get_by_label("The question").fill("Tea or coffee?")
    page.get_by_label("Max rounds").fill("2")
    page.locator(".group > summary", has_text="Models").click()
    page.get_by_label("Model of the debaters").fill(site.model)
    page.get_by_label("Model of the judge").fill(site.model)
    page.get_by_label("Model of Debater A").fill("human")
    page.get_by_role("button", name="Start the debate").click()
    said = ["Tea, since it keeps one calm.", "And it can be had *anywhere*."]
    for number, words in enumerate(said, 1):
        asked = page.locator(f".gate[data-key='{number}/speak/a']")
        expect(asked).to_be_visible()
        expect(asked.get_by_role("button", name="Say it")).to_be_disabled()
        check_axe(page)
        asked.get_by_label("What you say").fill(words)
        asked.get_by_label("What you say").press("Control+Enter")
        expect(page.locator(f"[data-lane=a] [data-key='{number}/speak/a'] .prose")).to_contain_text(words[:15])
    expect(page.locator(COMPLETED)).to_be_visible()
    debate_id = page.url.rsplit("/", 1)[1]
    turns = site.get(f"/v1/debates/{debate_id}/turns").json()["items"]
    assert [turn["content"] for turn in turns if turn["seat"] == "a"] == said
    page.get_by_role("link", name="Record").click()
    page.locator(".fold summary", has_text="Debater A").click()
    expect(page.locator(".fold .quote em").first).to_have_text("anywhere")


def test_guidance_is_typed_and_never_taken_for_shortcuts(site: Served, open_page: Open):
    debate_id = asking(site)
    page = open_page(f"{site.url}/debates/{debate_id}")
    expect(gate(page, "checkpoint")).to_be_visible()
    page.keyboard.type("gend costs; change nothing else")  # g for guide; what follows are words
    page.get_by_role("button", name="Send guidance").click()
    expect(gate(page, "clarification")).to_be_visible()
    assert decisions(site, debate_id) == {
        "1/checkpoint/you": {"choice": "guide", "text": "end costs; change nothing else"}
    }
    expect(page.locator(".answered")).to_have_count(0)  # it was this window's own answer


def test_two_windows_one_answer(site: Served, open_page: Open):
    debate_id = asking(site)
    one = open_page(f"{site.url}/debates/{debate_id}")
    two = open_page(f"{site.url}/debates/{debate_id}", allowed=("status of 409",))
    old = site.get(f"/v1/debates/{debate_id}/gates?html=true").json()
    two.route("**/gates*", lambda route: route.fulfill(json=old))  # it does not hear of the other's answer
    expect(gate(two, "checkpoint")).to_be_visible()
    gate(one, "checkpoint").get_by_role("button", name="Continue").click()
    expect(gate(one, "clarification")).to_be_visible()
    gate(two, "checkpoint").get_by_role("button", name="End early").click()
    name = site.get("/v1/session").json()["name"]
    expect(two.locator(".notice")).to_contain_text(f"{name} was faster")
    two.unroute("**/gates*")
    two.reload()
    expect(gate(two, "clarification")).to_be_visible()
    assert decisions(site, debate_id) == {"1/checkpoint/you": {"choice": "continue", "text": ""}}


def test_words_for_a_question_that_someone_else_answered_are_kept(site: Served, open_page: Open):
    debate_id = asking(site, {"choice": "continue"})
    page = open_page(f"{site.url}/debates/{debate_id}")
    gate(page, "clarification").get_by_label("Your answer").fill("What I wanted to say.")
    site.post(f"/v1/debates/{debate_id}/answer", {"text": "Session data."}).raise_for_status()
    kept = page.locator(".unsent")
    expect(kept).to_contain_text("What I wanted to say.")
    check_axe(page)
    kept.get_by_role("button", name=re.compile("guidance")).click()
    expect(kept).to_have_count(0)
    gates = site.get(f"/v1/debates/{debate_id}/gates").json()["items"]
    assert [each["decision"]["text"] for each in gates if each["kind"] == "guidance"] == ["What I wanted to say."]


def test_the_clock_does_not_count_the_time_that_a_person_takes(site: Served, open_page: Open):
    debate_id = asking(site)
    with closing(sqlite3.connect(site.folder / "moot.db", timeout=30)) as database, database:
        # As if it had been asked two hours ago.
        database.execute("update debate_events set created_at = created_at - 7200 where session_id = ?", (debate_id,))
    page = open_page(f"{site.url}/debates/{debate_id}")
    taken = page.locator(".meter dd").last
    expect(taken).to_contain_text(re.compile(r"\d s$"))
    gate(page, "checkpoint").get_by_role("button", name="Continue").click()
    expect(gate(page, "clarification")).to_be_visible()
    events = site.get(f"/v1/debates/{debate_id}/events").json()["items"]
    assert events[-1]["created_at"] - events[0]["created_at"] > 7000
    expect(taken).to_contain_text(re.compile(r"\d s$"))
    expect(taken).not_to_contain_text(re.compile("min|h"))
    page.reload()
    expect(taken).to_contain_text(re.compile(r"\d s$"))
    expect(taken).not_to_contain_text(re.compile("min|h"))
