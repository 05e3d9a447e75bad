"""A debate that writes code, on the real page: how far it is, what helps a person to approve, and two versions side by
side. A real sandbox runs the code; the models are simulated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from moot.corpus import tasks
from tests.server.serving import Served, served
from tests.web.conftest import COMPLETED, Open, check_axe

pytestmark = pytest.mark.slow

TASK = next(iter(tasks()))
SIM = "sim:?seed=3&skill=.3&cases=.9&repair=.6&tps=5000"  # both engineers begin with a mistake and repair it
SETTINGS = {"preset": "quick", "gates": ["proposal"], "hooks": [], "model_debater": SIM, "model_judge": SIM}
PHASES = ["Self-evolvement", "Proposal", "Adversarial rounds", "Convergence"]
OFF = ["Dehallucination", "Critique", "Review", "Optimization"]
SIZES = ({"width": 1280, "height": 800}, {"width": 400, "height": 844})


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("code")) as server:
        yield server


@pytest.fixture(scope="module")
def waiting(site: Served) -> str:
    """A debate that waits for an approval. Nobody gives it: tests look at it."""
    debate_id = site.made(topic=TASK.spec, format="forge", settings=SETTINGS)["id"]
    assert site.rested(debate_id)["status"] == "waiting"
    return debate_id


def artifacts(site: Served, debate_id: str) -> dict[str, Any]:
    [gate] = site.get(f"/v1/debates/{debate_id}/gates").json()["items"]
    return gate["artifacts"]


def fits(page: Page) -> bool:
    return page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def steps(page: Page) -> Locator:
    return page.get_by_role("list", name="How far it is").get_by_role("listitem")


def states(page: Page) -> list[str]:
    return [each.rpartition(", ")[2] for each in steps(page).locator("> .unseen").all_text_contents()]


def test_how_far_it_is_while_it_runs_and_what_is_approved(site: Served, open_page: Open):
    made = site.made(topic=TASK.spec, format="forge", settings=SETTINGS, start=False)
    page = open_page(f"{site.url}/debates/{made['id']}")
    page.get_by_role("button", name="Start").click()
    asked = page.locator(".gate[data-gate=approval]")
    expect(asked).to_be_visible()
    expect(steps(page)).to_have_count(len(PHASES) + len(OFF))
    for step, name in zip(steps(page).all(), (*PHASES, *OFF), strict=True):
        expect(step).to_contain_text(name)
    expect(page.locator(".course [aria-current=step]")).to_contain_text("Proposal")
    assert states(page) == ["done", "under way", "to come", "to come", *["off"] * len(OFF)]
    asked.get_by_role("button", name="Approve").click()
    expect(page.locator(COMPLETED)).to_be_visible()
    expect(page.locator(".course [aria-current]")).to_have_count(0)
    assert states(page) == [*["done"] * len(PHASES), *["off"] * len(OFF)]
    expect(page.locator(".answer .headline")).to_be_visible()
    check_axe(page)
    page.reload()
    expect(steps(page).nth(len(PHASES) - 1)).to_contain_text("done")
    assert states(page) == [*["done"] * len(PHASES), *["off"] * len(OFF)]


def test_what_was_never_played_is_said(site: Served, open_page: Open):
    made = site.made(topic=TASK.spec, format="forge", settings=SETTINGS)
    assert site.rested(made["id"])["status"] == "waiting"
    page = open_page(f"{site.url}/debates/{made['id']}")
    page.locator(".gate").get_by_role("button", name="Reject").click()  # without words: it ends
    expect(page.locator(COMPLETED)).to_be_visible()
    expect(steps(page).nth(len(PHASES) - 1)).to_contain_text("not played")
    assert states(page) == ["done", "done", "not played", "not played", *["off"] * len(OFF)]
    check_axe(page)


def test_on_a_phone_an_approval_can_be_folded_to_read_what_it_covers(site: Served, open_page: Open, waiting: str):
    page = open_page(f"{site.url}/debates/{waiting}")
    page.set_viewport_size({"width": 390, "height": 844})
    panel = page.locator(".gate")
    expect(panel.get_by_role("button", name="Approve")).to_be_visible()
    fold = panel.get_by_role("button", name="Fold")
    expect(fold).to_have_attribute("aria-expanded", "true")
    check_axe(page)
    panel.get_by_label("Reason").fill("Not yet")
    fold.click()
    expect(panel.get_by_label("Reason")).to_be_hidden()
    expect(panel.get_by_role("button", name="Approve")).to_be_visible()
    box = panel.bounding_box()
    assert box is not None
    assert box["height"] < 844 / 4
    assert fits(page)
    check_axe(page)
    panel.get_by_role("button", name="Unfold").click()
    expect(panel.get_by_label("Reason")).to_have_value("Not yet")


def test_on_a_phone_a_long_diff_scrolls_and_the_buttons_stay(site: Served, open_page: Open, waiting: str):
    page = open_page("about:blank")
    page.set_viewport_size({"width": 390, "height": 480})
    gates = site.get(f"/v1/debates/{waiting}/gates?html=true").json()
    told = gates["items"][0]["artifacts"]
    long = "".join(f"+    line_{n} = {n}\n" for n in range(400))
    told["diff"] = f"--- a\n+++ b\n@@ -0,0 +1,400 @@\n{long}"
    told["matrix"]["rows"] = told["matrix"]["rows"] * 20
    page.route("**/gates*", lambda route: route.fulfill(json=gates))
    page.goto(f"{site.url}/debates/{waiting}")
    panel = page.locator(".gate")
    for part in (panel.locator("[data-kind=diff]"), panel.locator("[data-kind=table]")):
        if part.get_attribute("open") is None:
            part.locator("> summary").click()
    for name in ("Approve", "Reject"):
        expect(panel.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    panel.locator("[data-kind=diff] .added").last.scroll_into_view_if_needed()
    expect(panel.locator("[data-kind=diff] .added").last).to_be_in_viewport()
    for name in ("Approve", "Reject"):
        expect(panel.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    assert fits(page)
    check_axe(page)


def test_an_approval_shows_code_diff_cases_and_scores(site: Served, open_page: Open, waiting: str):
    told = artifacts(site, waiting)
    page = open_page(f"{site.url}/debates/{waiting}", theme="dark")
    panel = page.locator(".gate")
    expect(panel.locator(".artifact-facts")).to_have_text(f"Version{told['version']}")

    diff = panel.locator("[data-kind=diff]")
    expect(diff.locator("summary")).to_have_text("Diff 1 added, 1 removed")
    lines = told["diff"].splitlines()
    expect(diff.locator(".added")).to_have_text([line for line in lines[2:] if line.startswith("+")])
    expect(diff.locator(".removed")).to_have_text([line for line in lines[2:] if line.startswith("-")])

    table = panel.get_by_role("region", name="Matrix").get_by_role("table")
    versions = told["matrix"]["versions"]
    authors = {seat["id"]: seat["name"] for seat in site.debate(waiting)["seats"]}
    under = [f"{label}{authors[author]}" for label, author in zip(versions, told["matrix"]["authors"], strict=True)]
    expect(table.get_by_role("columnheader")).to_have_text(["Case", *under, "Known"])
    rows = told["matrix"]["rows"]
    expect(table.locator("tbody").get_by_role("rowheader")).to_have_text([row["case"] for row in rows])
    marks = {True: "✓passes", False: "✗fails", None: "–not run"}
    expect(table.locator("tbody .mark-cell")).to_have_text(
        [marks[row["passed"][label]] for row in rows for label in versions]
    )
    expect(table.locator("tbody .tag")).to_have_text([f"{row['standing']}, by {authors[row['by']]}" for row in rows])
    expect(table.locator("tfoot .mark-cell")).to_have_text(["1 of 5", "1 of 5", "5 of 5", "5 of 5"])

    scores = panel.get_by_role("region", name="Scores")
    expect(scores.locator("thead th")).to_have_text(["Scores", *told["scores"]])
    expect(scores.locator("td")).to_have_text([f"{round(value, 2):g}" for value in told["scores"].values()])

    code = panel.locator("[data-kind=text]")
    expect(code.locator("pre")).to_be_hidden()
    code.locator("summary").click()
    expect(code.locator("pre")).to_have_text(told["code"])
    for size in SIZES:
        page.set_viewport_size(size)
        assert fits(page)
        expect(panel.get_by_role("button", name="Approve")).to_be_in_viewport()
        check_axe(page)
    panel.locator(".artifacts > summary").click()
    expect(diff).to_be_hidden()


def test_artifacts_are_shown_by_what_they_look_like_and_as_text(site: Served, open_page: Open, waiting: str):
    """Whatever a format hands over: markup stays text, and what is of no known kind is JSON."""
    evil = "<img src=x onerror=\"document.title='owned'\">"
    given = {
        "note": evil,
        "nothing": None,
        "empty": "",
        "report": f"{evil}\nline two",
        "patch": f"--- a\n+++ b\n@@ -1,3 +1,2 @@\n--- an old remark\n {evil}\n-x\n+++y\n",
        "marks": {"one": 1, "two": None},
        "other": {"deep": [1, {"html": evil}]},
    }
    page = open_page("about:blank")
    gates = site.get(f"/v1/debates/{waiting}/gates?html=true").json()
    gates["items"][0]["artifacts"] = given
    page.route("**/gates*", lambda route: route.fulfill(json=gates))
    page.goto(f"{site.url}/debates/{waiting}")
    panel = page.locator(".gate")
    expect(panel.locator(".artifact-facts > div")).to_have_text([f"Note{evil}", "Nothingnone", "Emptynone"])
    diff = panel.locator("[data-kind=diff]")
    expect(diff.locator("summary")).to_have_text("Patch 1 added, 2 removed")
    expect(diff.locator(".removed")).to_have_text(["--- an old remark", "-x"])  # no name of a file
    expect(panel.get_by_role("region", name="Marks").locator("td")).to_have_text(["1", "not measured"])
    panel.locator("[data-kind=text] summary").click()
    expect(panel.locator("[data-kind=text] pre")).to_have_text(given["report"])
    panel.locator("[data-kind=other] summary").click()
    expect(panel.locator("[data-kind=other] pre")).to_contain_text('"deep"')
    expect(panel.locator("img")).to_have_count(0)
    expect(page).to_have_title(re.compile("moot$"))
    check_axe(page)


def test_two_versions_side_by_side(site: Served, open_page: Open, waiting: str):
    codes = {
        number: site.get(f"/v1/debates/{waiting}/versions?number={number}").json()["items"][0]["code"].splitlines()
        for number in (1, 2, 3)
    }
    page = open_page(f"{site.url}/debates/{waiting}?view=versions", theme="dark")
    before, after = page.get_by_label("From", exact=True), page.get_by_label("To", exact=True)
    expect(before).to_have_value("2")  # the newest that changes another, and the one it changes
    expect(after).to_have_value("4")
    before.select_option("1")
    after.focus()
    page.keyboard.press("ArrowUp")
    expect(after).to_have_value("3")
    expect(page).to_have_url(re.compile("from=1&to=3"))
    table = page.locator(".beside-table")
    expect(table.get_by_role("columnheader")).to_have_text(["Line of V1", "V1", "Line of V3", "V3"])
    changed = table.locator("tr.changed")
    [at] = [n for n, (one, two) in enumerate(zip(codes[1], codes[3], strict=True), 1) if one != two]
    expect(changed).to_have_count(1)
    removed, added = codes[1][at - 1], codes[3][at - 1]
    expect(changed.locator("td.number")).to_have_text([str(at), str(at)])
    assert changed.locator("td:not(.number)").all_text_contents() == [f"−removed: {removed}", f"+added: {added}"]
    expect(page.locator(".beside")).to_contain_text("1 line removed, 1 added.")
    table.get_by_role("button", name=re.compile("the same")).first.click()
    expect(table.locator("tr.same td.number").first).to_have_text("1")
    for size in SIZES:
        page.set_viewport_size(size)
        assert fits(page)
        check_axe(page)
        old, new = changed.locator(".removed").bounding_box(), changed.locator(".added").bounding_box()
        assert old is not None
        assert new is not None
        wide = size["width"] > 700
        assert (new["x"] > old["x"], new["y"] > old["y"]) == (wide, not wide)
    before.select_option("2")
    after.select_option("1")
    expect(page.locator(".beside")).to_contain_text("Both have the same code.")
