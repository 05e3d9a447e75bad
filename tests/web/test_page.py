"""What a person sees first: the answer of a debate of any format, a question asked in a few steps, and words that stay
readable. One server for all of it, and few pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from moot import formats
from tests.running import topic_for
from tests.server.serving import Served, served
from tests.server.test_serve import serving
from tests.web.conftest import Open, Serve, check_axe, to_checkpoint
from tests.web.talking import Talk

pytestmark = pytest.mark.slow

SIM = "sim:?tps=5000&tokens=60"
LONG_WORD = "incomprehensibilities"
HEBREW = "הנימוקים:\n\n- הזמן קצר\n- המחיר נמוך"
TABLE = f"| what | why |\n|---|---|\n| {LONG_WORD} | {LONG_WORD} {LONG_WORD} {LONG_WORD} |"
RULING = {"summary": "B was clearer.", "score_a": 5, "score_b": 8, "no_new_substantive_arguments": False}
ANSWERS: dict[str, Any] = {
    "1/speak/a": TABLE,
    "1/speak/b": HEBREW,
    "*/rule/*": RULING,
    "*/verdict/*": RULING,
    "*/extract/*": {"winner": "Basil", "scores": {"Ada": 5, "Basil": 8}},
    "*/confirm/*": {"winner": "Basil"},
    "*/ballot/juror2": {"reasoning": "Nobody answered the first side.", "score_first": 7, "score_second": 4},
    "*/ballot/juror2-swapped": {"reasoning": "Now the other.", "score_first": 7, "score_second": 4},
    "*/ballot/*-swapped": {"reasoning": "The same.", "score_first": 8, "score_second": 5},
    "*/ballot/*": {"reasoning": "The second side.", "score_first": 5, "score_second": 8},
}


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("page"), answers=ANSWERS, model=SIM) as running:
        yield running


def show(page: Page, site: Served, debate: dict[str, Any], more: str = "") -> None:
    page.goto(f"{site.url}/debates/{debate['id']}{more}")
    expect(page.locator(".debate-top")).to_be_visible()


def height(page: Page) -> tuple[int, int]:
    return tuple(page.evaluate("() => [document.documentElement.scrollHeight, innerHeight]"))


@pytest.mark.parametrize(
    "names", [("council", "forge"), pytest.param((*formats.installed(),), marks=pytest.mark.soak)], ids=["two", "all"]
)
def test_the_answer_of_a_format_is_in_the_first_screen(site: Served, open_page: Open, names: tuple[str, ...]):
    page = open_page(site.url)
    sim = {"model_debater": SIM, "model_judge": SIM}
    for name in names:
        format_ = formats.installed()[name]
        quick = {**format_.unattended, **format_.efforts.get("quick", {})}
        made = site.made(topic=topic_for(name), format=name, settings={**sim, **quick})
        done = site.rested(made["id"])
        while done["status"] == "waiting":
            site.post(f"/v1/debates/{made['id']}/answer", {"choice": "approve"}).raise_for_status()
            done = site.rested(made["id"])
        assert done["status"] == "completed", done
        show(page, site, done)
        for width, tall in ((1440, 900), (1280, 720), (390, 844)):
            page.set_viewport_size({"width": width, "height": tall})
            headline = page.locator(".answer .headline")
            expect(headline).to_have_text(" ".join(done["headline"].split()))
            expect(page.locator(".answer .confidence-level")).to_have_text(re.compile("(High|Medium|Low) confidence"))
            box = headline.bounding_box()
            assert box is not None
            assert box["y"] + min(box["height"], 200) <= tall, f"{name} at {width}"
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), f"{name} at {width}"
        if done["vocabulary"]["versions"]:
            written = site.get(f"/v1/debates/{made['id']}/versions").json()["items"]
            assert written
            page.get_by_role("link", name="Versions").click()
            expect(page.locator(".version")).to_have_count(len(written))
            page.get_by_role("button", name="Show the code").first.click()
            expect(page.locator(".version pre code").first).to_contain_text("def ")
            check_axe(page)


def test_an_answer_says_how_sure_it_is_and_who_is_against_it(site: Served, open_page: Open):
    debate = site.completed(topic="Tabs or spaces?", format="duel", settings={"turns": 2, "jury": 3, "swap": True})
    page = open_page(f"{site.url}/debates/{debate['id']}")
    answer = page.locator(".answer")
    expect(answer.locator(".answer-facts")).to_contain_text("3 to 0, 1 for neither")
    expect(answer.locator(".answer-facts")).to_contain_text("1 of 3 flipped")
    expect(answer).to_contain_text("Strongest dissent")
    expect(answer).to_contain_text("Nobody answered the first side.")
    answer.locator(".votes > summary").click()
    flipped = answer.locator(".matrix tr.flipped")
    expect(flipped).to_have_text(["Juror 2Tabsspacesflipped: neither"])
    check_axe(page)
    answer.get_by_role("link", name="read it").click()
    expect(page.locator("[id='2/ballot/juror2']")).to_be_in_viewport()
    page.get_by_role("button", name="Details of 1/speak/a").click()
    inspected = page.get_by_role("dialog")
    expect(inspected).to_contain_text("0% from the cache")
    expect(inspected.locator(".sent").last).to_contain_text("Tabs")
    check_axe(page)
    page.keyboard.press("Escape")
    many = site.completed(topic="Tabs or spaces?", format="duel", settings={"turns": 2, "jury": 25})
    show(page, site, many)
    expect(page.locator(".verdict")).to_be_attached()
    assert height(page)[0] < 2500
    expect(page.locator(".many > summary")).to_contain_text("25 ballots")
    page.locator(".many > summary").click()
    expect(page.locator("[id='2/ballot/juror25']")).to_be_visible()


def test_a_debate_that_a_limit_cut_says_where(site: Served, open_page: Open):
    limited = {"turns": 8, "max_total_output_tokens": 3200, "model_debater": "sim:?tps=5000&tokens=150"}
    done = site.completed(format="duel", settings={**limited, "model_judge": "sim:?tps=5000&tokens=150"})
    spoken = [t for t in site.get(f"/v1/debates/{done['id']}/turns").json()["items"] if t["phase"] == "speak"]
    heard = [turn for turn in spoken if not turn["failure"]]
    assert done["outcome"]["limit"] == "max_total_output_tokens"
    assert done["progress"] == {"done": len(heard), "of": 8, "unit": "turn"}
    page = open_page(f"{site.url}/debates/{done['id']}")
    expect(page.locator(".answer-facts")).to_contain_text("Cut short: the tokens were used up")
    expect(page.locator(".answer")).to_contain_text("Its limit was 3,200")
    expect(page.locator(".meter")).to_contain_text(f"{len(heard)} of 8")


def test_from_nothing_to_a_debate_in_three_steps(site: Served, open_page: Open):
    page = open_page(site.url, allowed=("status of 422",))
    expect(page.get_by_role("heading", name="Debates")).to_be_visible()
    page.get_by_role("link", name="New debate").first.click()  # one
    page.keyboard.type("help: light or dark themes?")  # two: nothing of it is a shortcut
    question = page.get_by_label("The question")
    expect(question).to_have_value("help: light or dark themes?")
    assert page.url.endswith("/new")
    expect(page.locator(".warning")).to_contain_text("A demonstration")  # before it begins
    page.reload()
    expect(question).to_have_value("help: light or dark themes?")
    expect(page.locator(".examples")).to_have_count(0)  # they never take its place
    page.locator(".customise > summary").click()
    page.get_by_role("radio", name=re.compile("^Ask a council")).check()
    page.get_by_label("Members", exact=True).fill("5")
    page.locator(".group > summary", has_text="Models").click()
    judge = page.get_by_label("Model of the judge")
    with page.expect_response("**/estimate"):
        judge.press_sequentially("sim:?tokens=30")
    expect(judge).to_be_focused()
    expect(judge).to_be_visible()
    page.get_by_role("radio", name=re.compile("^Two sides")).check()
    expect(question).to_have_value("help: light or dark themes?")
    page.get_by_role("radio", name=re.compile("^Ask a council")).check()
    expect(page.get_by_label("Members", exact=True)).to_have_value("5")  # what was set is still set
    check_axe(page)
    question.press("Control+Enter")  # three
    expect(page).to_have_url(re.compile(r"/debates/[0-9a-f-]{36}$"))
    made = site.debate(page.url.rsplit("/", 1)[1])
    assert (made["topic"], made["format"]) == ("help: light or dark themes?", "council")
    assert len([seat for seat in made["seats"] if seat["voice"]]) == 5
    page.goto(f"{site.url}/new")
    expect(question).to_have_value("")
    page.locator(".examples button").first.click()
    expect(question).not_to_have_value("")


def test_words_stay_readable(site: Served, open_page: Open):
    done = site.completed(topic="Tea? " * 200, format="classic", settings={"max_rounds": 1})
    page = open_page(f"{site.url}/debates/{done['id']}", size="phone", theme="dark")
    cell = page.locator("[id='1/speak/a'] tbody td").first
    expect(cell).to_be_visible()
    lines = "(e) => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects().length }"
    assert cell.evaluate(lines) == 1  # no word is split
    item = page.locator("[id='1/speak/b'] li").first
    outside = "(e) => e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right - 10"
    assert not item.evaluate(outside)  # its bullet has room, on the right
    question = page.get_by_role("heading", level=1)
    assert question.evaluate("(e) => e.scrollHeight > e.clientHeight")
    page.get_by_role("button", name="The whole question").click()
    assert question.evaluate("(e) => e.scrollHeight <= e.clientHeight + 1")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("details:not([open])")).to_have_count(0)


def test_a_page_fits_its_window_and_a_bad_address_says_so(site: Served, open_page: Open):
    page = open_page(site.url, allowed=("status of 404",))
    show(page, site, site.made(format="duel", start=False))
    assert height(page)[0] == height(page)[1]
    show(page, site, site.completed(format="duel", settings={"turns": 50, "max_total_output_tokens": 10**6}))
    chart = page.locator(".chart").first
    expect(chart.locator(".point")).to_have_count(2)
    assert chart.locator(".axis").count() <= 15
    away = "openai:any@http://127.0.0.1:9/v1"
    show(page, site, site.made(settings={"model_debater": away}, start=False))
    expect(page.locator("[data-lane=a] .lane-head p")).not_to_contain_text("127.0.0.1")
    page.goto(f"{site.url}/debates/%E0%A4%A")
    expect(page.locator("main")).to_contain_text("There is no debate")
    expect(page.locator("main")).not_to_contain_text("/v1")


def test_two_formats_are_not_called_the_same_and_guidance_is_listed(site: Served, open_page: Open):
    one = site.completed(format="classic", settings={"max_rounds": 1})
    two = site.completed(format="duel", settings={"turns": 2})
    panel = site.made(
        format="panel", settings={"perspectives": 2, "max_rounds": 2, "model_judge": SIM, "model_debater": SIM}
    )
    to_checkpoint(site, panel["id"])
    site.post(f"/v1/debates/{panel['id']}/answer", {"choice": "guide", "text": "Mind the cost."}).raise_for_status()
    page = open_page(f"{site.url}/compare/{one['id']}/{two['id']}")
    parting = page.get_by_role("region", name="First difference")
    expect(parting).to_contain_text("they follow different rules")
    page.route("**/diff/*", lambda route: _slower(route, 119.7))
    page.goto(f"{site.url}/compare/{one['id']}/{panel['id']}")
    expect(page.get_by_role("region", name="What people said")).to_contain_text("Mind the cost.")
    expect(page.locator(".side .facts").first).to_contain_text("2 min")


def _slower(route: Any, seconds: float) -> None:
    told = route.fetch().json()
    route.fulfill(json={**told, "one": {**told["one"], "seconds": seconds}})


def test_what_is_chosen_for_a_fork_stays_while_the_debate_goes_on(site: Served, open_page: Open):
    panel = site.made(format="panel", settings={"perspectives": 2, "max_rounds": 2})
    to_checkpoint(site, panel["id"])
    page = open_page(f"{site.url}/debates/{panel['id']}")
    page.get_by_role("button", name="Fork", exact=True).click()
    step, rounds = page.get_by_label("Ask anew from"), page.get_by_label("max rounds")
    step.select_option("1/argue/p1")
    rounds.fill("4")
    site.post(f"/v1/debates/{panel['id']}/answer", {"choice": "continue"}).raise_for_status()
    site.rested(panel["id"], "completed")
    turns = site.get(f"/v1/debates/{panel['id']}/turns").json()["items"]
    expect(step.locator("option")).to_have_count(sum(turn["kind"] == "ask" for turn in turns))  # it is known here, too
    expect(step).to_have_value("1/argue/p1")
    expect(rounds).to_have_value("4")


def test_text_in_flight_has_its_form_and_no_false_breaks(serve: Serve, open_page: Open):
    first = "".join(f"This is sentence {number} of many. " for number in range(60))
    with Talk(f"**Bold** and `code` come first.\n\n{first}") as talk, serve() as site:
        debate = site.made(format="classic", settings={"max_rounds": 1, "model_debater": talk.model})
        page = open_page(f"{site.url}/debates/{debate['id']}")
        flight = page.locator("[data-flight='1/speak/a']")
        expect(flight).to_contain_text("sentence 59 of many.")
        expect(flight.locator("strong")).to_have_text("Bold")
        expect(flight.locator("code")).to_have_text("code")
        expect(flight).not_to_contain_text("**")
        expect(flight.locator("p")).to_have_count(2)
        talk.go_on()
        talk.go_on()
        expect(page.locator(".answer")).to_be_visible()


def test_a_person_speaks_on_a_phone_without_marks_of_fences(site: Served, open_page: Open):
    debate = site.made(format="classic", settings={"max_rounds": 1, "seats": {"b": {"model": "human"}}})
    site.rested(debate["id"], "waiting")
    page = open_page(f"{site.url}/debates/{debate['id']}", size="phone")
    expect(page).to_have_title(re.compile("^●"))
    expect(page.locator(".badge-count")).to_contain_text("waiting for you")
    bar = page.locator(".gate")
    bar.get_by_text("All that you are asked").click()
    expect(bar.locator("blockquote table")).to_be_visible()  # what the other side said, as it is meant
    expect(bar).not_to_contain_text(re.compile(r"begin [0-9a-f]{12}|\|---"))
    for width, tall in ((390, 844), (1280, 720)):
        page.set_viewport_size({"width": width, "height": tall})
        expect(bar.get_by_label("What you say")).to_be_in_viewport()
        expect(bar.get_by_role("button", name="Say it")).to_be_in_viewport()
        box = bar.bounding_box()
        assert box is not None
        assert box["height"] <= tall * 0.75
    check_axe(page)
    bar.get_by_label("What you say").fill("Tea.")
    bar.get_by_role("button", name="Say it").click()
    expect(page.locator(".answer")).to_be_visible()


def test_a_failed_debate_goes_on_with_another_model(site: Served, open_page: Open):
    debate = site.made(
        format="classic", settings={"max_rounds": 1, "model_debater": "openai:any@http://127.0.0.1:1/v1"}
    )
    site.rested(debate["id"], "failed")
    page = open_page(f"{site.url}/debates/{debate['id']}")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.get_by_role("button", name="Try with another model").click()
    page.get_by_label("Model", exact=True).select_option("sim:")
    page.get_by_role("button", name="Go on with it").click()
    expect(page.locator(".answer")).to_be_visible()
    assert site.debate(page.url.rsplit("/", 1)[1])["parent"] == debate["id"]


def test_a_page_opened_while_the_server_was_down_recovers(open_page: Open, built: None, tmp_path):
    body = {"topic": "Tabs or spaces?", "format": "duel", "start": False, "settings": {"model_debater": SIM}}
    with serving(tmp_path) as first:
        debate_id = first.client.post("/v1/debates", json=body).json()["id"]
        page = open_page(first.url, allowed=("ERR_", "Failed to load resource"))
        row = page.locator(f".row[data-id='{debate_id}']")
        expect(row).to_be_visible()
        first.end(9)
        row.click()
        expect(page.locator(".problem")).to_contain_text("can’t be reached")
        port = re.search(r":(\d+)$", first.url)[1]
    with serving(tmp_path, "--port", port):
        expect(page.locator(".debate-top")).to_be_visible()
