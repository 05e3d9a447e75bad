"""The pages of evaluations: the list, a report, and its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.server.evaluating import ITEMS, evaluated
from tests.server.serving import Served, served
from tests.web.conftest import Open, Serve, check_axe, keep

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("evaluations")) as server:
        yield server


@pytest.fixture(scope="module")
def plan(site: Served) -> Any:
    return evaluated(site)


@pytest.mark.parametrize(("size", "theme"), [("desktop", "light"), ("desktop", "dark"), ("phone", "light")])
def test_a_report_is_found_and_read(site: Served, plan: Any, open_page: Open, size: str, theme: str):
    page = open_page(f"{site.url}/history", size=size, theme=theme)
    page.get_by_role("main").get_by_role("link", name="evaluations").click()
    row = page.locator(f".row[data-id='{plan.id}']")
    expect(row).to_contain_text("Complete")
    check_axe(page)
    keep(page, f"evaluations-{size}-{theme}")
    row.click()
    report = site.get(f"/v1/evaluations/{plan.id}").json()
    expect(page.locator(".finding")).to_have_text([each["sentence"] for each in report["comparisons"]])
    arms = page.get_by_role("region", name="Table of arms").locator("tbody tr")
    expect(arms).to_have_count(len(report["baselines"]) + len(report["arms"]))
    expect(arms.last).to_contain_text(f"{report['arms']['council']['accuracy'] * 100:.1f}%")
    check_axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    keep(page, f"evaluation-{size}-{theme}")
    answers = page.get_by_role("region", name="Table of answers").locator("tbody tr")
    expect(answers).to_have_count(ITEMS * len(plan.arms))
    page.get_by_role("combobox", name="Arm").select_option("council")
    expect(answers).to_have_count(ITEMS)
    answers.first.get_by_role("link").click()
    expect(page.locator("section.answer")).to_be_visible()


def test_a_report_is_saved_as_a_file(site: Served, plan: Any, open_page: Open):
    page = open_page(f"{site.url}/evaluations/{plan.id}")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as one HTML file").click()
    assert "<h1>Evaluation" in download.value.path().read_text(encoding="utf-8")


def test_where_there_are_none_the_page_says_so(serve: Serve, open_page: Open):
    with serve() as empty:
        page = open_page(f"{empty.url}/evaluations", size="phone", allowed=("status of 404",))
        expect(page.locator(".empty")).to_contain_text("There are no evaluations")
        page.goto(f"{empty.url}/evaluations/none")
        expect(page.get_by_role("main")).to_contain_text("There is no evaluation")
