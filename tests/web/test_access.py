"""Accessibility (axe finds nothing on any page, in either theme and size), themes, and logging in."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.server.serving import Served
from tests.server.test_serve import run
from tests.web.conftest import SIM, Open, Serve, check_axe, to_checkpoint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def paths(site: Served) -> dict[str, tuple[str, str]]:
    """Each page's path, and what is there when it is complete."""
    duel = site.completed(topic="Tabs or spaces?", format="duel", settings={"turns": 4, "claims": True})
    branch = {"at": "3/speak/a", "guidance": "Think of diffs."}
    fork = site.post(f"/v1/debates/{duel['id']}/fork", branch).raise_for_status().json()
    site.rested(fork["id"], "completed")
    panel = site.made(topic="Build or buy?", format="panel", settings={"perspectives": 3, "max_rounds": 2})
    to_checkpoint(site, panel["id"])
    crucible = site.completed(topic="How many piano tuners?", format="crucible")
    council = site.completed(topic="Which database?", format="council")
    return {
        "list": ("/", ".row"),
        "new": ("/new?format=panel", ".estimate .price"),
        "duel": (f"/debates/{duel['id']}", ".answer .grounds"),
        "map": (f"/debates/{duel['id']}?view=claims", ".map svg"),
        "calls": (f"/debates/{duel['id']}?view=calls", ".timeline svg"),
        "checkpoint": (f"/debates/{panel['id']}", ".gate"),
        "crucible": (f"/debates/{crucible['id']}", ".answer .grounds"),
        "council": (f"/debates/{council['id']}", ".answer .grounds"),
        "record": (f"/debates/{duel['id']}/record", ".recommendation"),
        "compare": (f"/compare/{duel['id']}/{fork['id']}", ".excerpt"),
        "history": ("/history?q=tabs", ".row"),
        "missing": ("/debates/00000000", ".problem"),
    }


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_axe_finds_nothing(site: Served, paths: dict[str, tuple[str, str]], open_page: Open, size: str):
    page = open_page(site.url, size=size, allowed=("status of 404",))
    for name, (path, there) in paths.items():
        page.goto(site.url + path)
        page.locator(there).first.wait_for(state="attached")
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
        check_axe(page)
        if size == "desktop":  # colours are the same in both sizes, and the themes differ in nothing else
            page.emulate_media(color_scheme="dark")
            check_axe(page, "color-contrast")
            page.emulate_media(color_scheme="light")


def test_axe_finds_nothing_in_dialogs_and_open_folds(site: Served, paths: dict[str, tuple[str, str]], open_page: Open):
    page = open_page(site.url + paths["duel"][0])
    expect(page.locator(".answer")).to_be_visible()  # before that, keys have no effect
    page.keyboard.press("t")
    expect(page.locator("details.thought").first).to_have_attribute("open", "")
    page.get_by_role("button", name="Fork", exact=True).click()
    page.get_by_label("Ask anew from").wait_for()
    check_axe(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Open or fold all thoughts")
    check_axe(page)


def test_a_chosen_theme_stays(site: Served, open_page: Open):
    page = open_page(site.url, theme="light")
    root = page.locator("html")
    light = root.evaluate("(e) => getComputedStyle(e).backgroundColor")
    expect(page.get_by_role("heading", name="Debates")).to_be_visible()
    page.keyboard.press("d")
    expect(root).to_have_attribute("data-theme", "light")
    page.keyboard.press("d")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).not_to_have_css("background-color", light)
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).not_to_have_css("background-color", light)


def test_logging_in_with_a_token(serve: Serve, open_page: Open, tmp_path):
    with serve(model=SIM, serve_tokens="always") as site:
        token = re.search(r"moot_\S+", run(tmp_path, "token", "create", "ann", "--scope", "read,decide").stdout)[0]
        page = open_page(f"{site.url}/history", allowed=("status of 401", "EventSource"))
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        check_axe(page)
        page.get_by_label("Token").fill("moot_wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.locator(".problem")).to_contain_text("not valid")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="History")).to_be_visible()
        expect(page.locator(".top")).to_contain_text("ann")
        expect(page.get_by_role("link", name="New debate")).to_have_count(0)  # it can't run any
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
