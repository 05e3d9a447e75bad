"""The pages of evaluations: the list, a report, and its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.server.evaluating import ITEMS, MODEL, evaluated
from tests.server.serving import Served, served
from tests.web.conftest import Open, Serve, check_axe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("evaluations")) as server:
        yield server


@pytest.fixture(scope="module")
def plan(site: Served) -> Any:
    return evaluated(site)


@pytest.mark.parametrize(("size", "theme"), [("desktop", "dark"), ("phone", "light")])
def test_a_report_is_found_and_read(site: Served, plan: Any, open_page: Open, size: str, theme: str):
    page = open_page(f"{site.url}/history", size=size, theme=theme)
    page.get_by_role("main").get_by_role("link", name="evaluations").click()
    row = page.locator(f".row[data-id='{plan.id}']")
    expect(row).to_contain_text("Complete")
    check_axe(page)
    row.click()
    report = site.get(f"/v1/evaluations/{plan.id}").json()
    expect(page.locator(".finding")).to_have_text([each["sentence"] for each in report["comparisons"]])
    arms = page.get_by_role("region", name="Table of arms").locator("tbody tr")
    expect(arms).to_have_count(len(report["baselines"]) + len(report["arms"]))
    expect(arms.last).to_contain_text(f"{report['arms']['council']['accuracy'] * 100:.1f}%")
    check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as one HTML file").click()
    assert "<h1>Evaluation" in download.value.path().read_text(encoding="utf-8")
    answers = page.get_by_role("region", name="Table of answers").locator("tbody tr")
    expect(answers).to_have_count(ITEMS * len(plan.arms))
    page.get_by_role("combobox", name="Arm").select_option("council")
    expect(answers).to_have_count(ITEMS)
    answers.first.get_by_role("link").click()
    expect(page.locator("section.answer")).to_be_visible()


def test_what_is_left_out_is_shown_with_its_cause(site: Served, open_page: Open):
    cut = evaluated(site, items=6, seed=7, model=f"{MODEL}&garbage=0.8", budget=1.2)
    page = open_page(f"{site.url}/evaluations/{cut.id}", size="phone")
    report = site.get(f"/v1/evaluations/{cut.id}").json()
    assert (report["cut_by"], report["complete"] > 0) == ("budget", True)
    expect(page.get_by_role("region", name="Left out")).to_contain_text(report["missing"][0])
    expect(page.get_by_role("region", name="Left out")).to_contain_text("with a larger budget")
    costs = page.get_by_role("region", name="Table of costs").locator("tbody tr")
    expect(costs).to_have_count(len(report["curve"]) + len(report["standing"]["arms"]))
    expect(costs.locator("th, td")).to_have_text([cell for row in report["costs"]["rows"] for cell in row])
    expect(page.locator(".curve figcaption")).to_contain_text("self-consistency, by samples, as a line")
    expect(page.locator(".equal-ring")).to_have_count(len(report["standing"]["arms"]))
    page.get_by_role("combobox", name="Answers").select_option("none")
    silent = site.get(f"/v1/evaluations/{cut.id}/cells", params={"answered": False}).json()["items"]
    answers = page.get_by_role("region", name="Table of answers").locator("tbody tr")
    assert silent
    expect(answers).to_have_count(len(silent))
    expect(answers.first).to_contain_text("none: counts as wrong")
    check_axe(page)
    failed = evaluated(site, items=2, seed=8, model_debater=f"{MODEL}&fail=1")
    page.goto(f"{site.url}/evaluations/{failed.id}")
    rows = page.get_by_role("region", name="Table of debates that failed").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("The simulated model failed")
    check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows.first.get_by_role("link").click()
    first = site.get(f"/v1/evaluations/{failed.id}").json()["failed"][0]
    expect(page).to_have_url(f"{site.url}/debates/{first['debate']}")


def test_where_there_are_none_the_page_says_so(serve: Serve, open_page: Open):
    with serve() as empty:
        page = open_page(f"{empty.url}/evaluations", size="phone", allowed=("status of 404",))
        expect(page.locator(".empty")).to_contain_text("There are no evaluations")
        page.goto(f"{empty.url}/evaluations/none")
        expect(page.get_by_role("main")).to_contain_text("There is no evaluation")
