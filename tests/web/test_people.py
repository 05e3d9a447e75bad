"""What people do to find debates again: rename, pin, tag, archive, delete with undo, the palette, keys of the list."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.server.serving import Served
from tests.web.conftest import SIZES, Open, check_axe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(site: Served) -> list[str]:
    """Three debates that have not begun, the oldest first."""
    topics = ("Do bees sleep?", "Tabs or spaces?", "Redis or PostgreSQL for caching?")
    return [site.made(topic=topic, start=False)["id"] for topic in topics]


def row(page: Page, debate_id: str):
    return page.locator(f".debates .row[data-id='{debate_id}']")


def menu_of(page: Page, debate_id: str):
    return page.locator(f".debates li:has(> .row[data-id='{debate_id}']) .row-menu summary")


def choose(page: Page, debate_id: str, action: str) -> None:
    menu_of(page, debate_id).click()
    page.get_by_role("button", name=action, exact=True).click()


def order(page: Page) -> list[str]:
    return page.locator(".debates .row").evaluate_all("rows => rows.map(row => row.dataset.id)")


def test_debates_are_renamed_pinned_tagged_archived_and_found_again(site: Served, made: list[str], open_page: Open):
    bees, tabs, redis = made
    page = open_page(site.url, size="phone")
    expect(row(page, bees)).to_be_visible()
    assert order(page) == [redis, tabs, bees]
    choose(page, bees, "Rename and tag")
    check_axe(page)
    page.get_by_role("textbox", name=re.compile("^Title")).fill("The sleep of insects")
    page.get_by_role("textbox", name=re.compile("^Tags")).fill("Nature, #Night")
    page.get_by_role("button", name="Save").click()
    expect(row(page, bees)).to_contain_text("The sleep of insects")
    expect(row(page, bees).locator(".tag.own")).to_have_text(["nature", "night"])
    choose(page, bees, "Pin")
    expect(row(page, bees)).to_contain_text("Pinned:")
    assert order(page) == [bees, redis, tabs], "what is pinned stands on top"
    menu_of(page, tabs).click()
    check_axe(page)
    menu = page.locator(".row-menu[open] ul").bounding_box()
    assert menu is not None
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= SIZES["phone"]["width"]
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(row(page, tabs)).to_have_count(0)

    page.get_by_label("Which debates").select_option("Archived")
    expect(row(page, tabs)).to_be_visible()
    expect(row(page, redis)).to_have_count(0)
    choose(page, tabs, "Back into the list")
    expect(page.locator(".empty")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(row(page, tabs)).to_be_visible()
    page.get_by_role("combobox", name="Tag", exact=True).select_option("night")
    expect(row(page, redis)).to_have_count(0)
    assert "tag=night" in page.url
    page.reload()
    expect(row(page, bees)).to_contain_text("The sleep of insects")
    expect(page.get_by_role("combobox", name="Tag", exact=True)).to_have_value("night")
    assert site.debate(bees)["tags"] == ["nature", "night"]


def test_a_deleted_debate_comes_back_until_its_time_is_over(site: Served, open_page: Open):
    kept, gone = (site.made(topic=f"Number {n}?", start=False)["id"] for n in (1, 2))
    page = open_page(site.url)
    stop_time(page, kept)
    choose(page, kept, "Delete")
    expect(row(page, kept)).to_have_count(0)
    notice = page.locator(".undo-place .notice")
    expect(notice).to_contain_text("“Number 1?” will be deleted.")
    notice.hover()  # while someone is about to choose, it waits
    page.clock.resume()
    page.clock.run_for(10_000)
    check_axe(page)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, kept)).to_be_visible()

    # A page that is closed in time has deleted nothing.
    stop_time(page, kept)
    choose(page, kept, "Delete")
    expect(row(page, kept)).to_have_count(0)
    page.clock.resume()
    page.reload()

    stop_time(page, kept)
    choose(page, gone, "Delete")
    page.mouse.move(0, 0)
    page.get_by_role("link", name="History").click()
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.clock.run_for(10_000)
    page.clock.resume()
    page.get_by_role("link", name="Debates", exact=True).click()
    expect(row(page, kept)).to_be_visible()
    expect(row(page, gone)).to_have_count(0)
    assert site.get(f"/v1/debates/{gone}").status_code == 410
    assert site.get(f"/v1/debates/{kept}").status_code == 200


def stop_time(page: Page, shown: str) -> None:
    """From here on, no timer of the page ends by itself."""
    expect(row(page, shown)).to_be_visible()
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))


def test_by_keyboard(site: Served, made: list[str], open_page: Open):
    page = open_page(site.url)
    expect(row(page, made[0])).to_be_visible()
    first, second = order(page)[:2]
    for key, at in (("j", first), ("j", second), ("k", first), ("k", first)):
        page.keyboard.press(key)
        expect(row(page, at)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(second))

    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name=re.compile("^A page"))
    expect(field).to_be_focused()
    field.type("redis")
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(chosen).to_contain_text("Redis or PostgreSQL for caching?")
    check_axe(page)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(made[2]))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option")).not_to_have_count(0)
    field.fill("redis")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")  # at once
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    field.fill("archive")
    expect(chosen).to_contain_text("Archive")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("archived=true"))
    expect(page.get_by_label("Which debates")).to_have_value("archived")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/new$"))


def test_a_debate_is_shared_as_a_link_and_as_a_file(site: Served, open_page: Open):
    debate = site.completed(topic="Is <b>sharing</b> safe?", settings={"max_rounds": 1})
    page = open_page(f"{site.url}/debates/{debate['id']}")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("combobox", name="It ends").select_option("in 30 days")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("The link", exact=True).input_value()
    expect(page.locator(".shares li")).to_have_count(1)
    check_axe(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as one HTML file").click()
    text = download.value.path().read_text(encoding="utf-8")

    # Read without the server, and by the link: the same, with no request for anything else.
    shown = open_page(link)
    expect(shown.get_by_role("heading", name="Is <b>sharing</b> safe?")).to_be_visible()
    assert shown.content().count("<script") == 0
    check_axe(shown)
    shown.emulate_media(media="print", color_scheme="dark")
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(shown.locator("nav")).to_be_hidden()
    assert len(shown.pdf()) > 10_000
    said = shown.locator("#transcript article")
    assert said.count() >= 2
    alone = open_page("about:blank")
    alone.set_content(text)
    assert alone.locator("#transcript article").count() == said.count()
    phone = open_page(link, size="phone", theme="dark")
    assert phone.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    check_axe(phone)

    page.get_by_role("button", name=re.compile("^Revoke")).click()
    expect(page.locator(".shares")).to_have_count(0)
    gone = open_page(link, allowed=("status of 404",))
    expect(gone.get_by_role("heading", name="This link is not valid")).to_be_visible()


def test_a_question_is_asked_after_a_debate(site: Served, open_page: Open):
    first = site.completed(topic="Tea or coffee?", settings={"max_rounds": 1})
    page = open_page(f"{site.url}/debates/{first['id']}")
    page.get_by_role("button", name="Ask further").click()
    page.get_by_role("textbox", name=re.compile("^Your question")).fill("And in the evening?")
    check_axe(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("And in the evening? (asked after “Tea or coffee?”)")
    expect(page.get_by_role("link", name=first["id"][:8])).to_be_visible()
    made = site.rested(page.url.rpartition("/")[2])
    assert (made["follows"], made["format"]) == (first["id"], first["format"])
    page.get_by_role("link", name=first["id"][:8]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tea or coffee?")
    further = page.get_by_role("region", name="Asked further").get_by_role("listitem")
    expect(further).to_have_count(1)
    expect(further).to_contain_text(made["headline"])
    check_axe(page)
    page.goto(f"{site.url}/?follows={first['id']}")
    expect(page.locator(".debates .row")).to_have_count(1)
    page.get_by_role("button", name="Show all debates").click()
    expect(page.locator(f".debates .row[data-id='{first['id']}']")).to_be_visible()
