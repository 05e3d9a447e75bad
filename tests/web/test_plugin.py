"""A third party's format in real Chromium: its lanes, marks, badge, chart, topology and record section."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.formats.examples import INTERVIEW
from tests.server.serving import Served, served
from tests.web.conftest import Open

pytestmark = pytest.mark.slow

TOPIC = "Is the backup plan sound?"


@pytest.fixture(scope="module")
def interview(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("drawn"), answers=dict(INTERVIEW.answers)) as server:
        yield server


def test_it_is_drawn_like_ours(interview: Served, open_page: Open):
    done = interview.completed(topic=TOPIC, format="interview")
    page = open_page(f"{interview.url}/debates/{done['id']}")
    lanes = page.locator(".lane")
    expect(lanes).to_have_count(3)
    candidate = page.locator(".lane[data-lane=candidate]")
    expect(candidate.locator(".lane-head")).to_contain_text("Candidate")
    expect(candidate.locator(".lane-head")).to_contain_text("has an answer")
    expect(candidate.locator(".lane-head")).to_contain_text("warned")
    expect(candidate).to_contain_text("Words of candidate at 1/reply/candidate.")
    table = page.locator(".lane[data-lane=table]")
    expect(table).to_contain_text("8 of 20")
    expect(table).to_contain_text("has gaps")
    expect(table).to_contain_text("Candidate was warned: two replies below half")
    expect(page.locator(".chart").first).to_contain_text("Marks")
    notes = page.locator("[id='1/notes/examiner']")
    expect(notes).to_have_count(1)
    expect(notes).not_to_have_attribute("open", "")  # private: folded
    expect(page.get_by_role("link", name="Argument map")).to_have_count(0)  # it keeps no ledger
    page.get_by_role("link", name="Record").first.click()
    expect(page.get_by_role("heading", name="Gaps Found")).to_be_visible()
    expect(page.locator("main")).to_contain_text("The load is not known.")
    expect(page.locator("main")).to_contain_text("all questions were asked")


def test_it_can_be_chosen_by_its_purpose(interview: Served, open_page: Open):
    page = open_page(f"{interview.url}/new")
    expect(page.locator("main")).to_contain_text("Find the gaps in an answer")
