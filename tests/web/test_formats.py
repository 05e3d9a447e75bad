"""Every format is drawn from what it declares: ballots, badges, lanes, charts, sections. The dashboard knows none of
them by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from moot import formats
from moot.formats.format import COMMON
from tests.formats.examples import PANEL
from tests.server.serving import Served, served
from tests.web.conftest import COMPLETED, Open, check_axe

SOURCE = Path(__file__).parents[2] / "web" / "src"


def test_the_source_names_no_format_and_no_event_of_one():
    events = {type for each in formats.installed().values() for type in each.events} - set(COMMON)
    phases = {phase for each in formats.installed().values() for phase in each.phases if "-" in phase}
    known = re.compile(rf"['\"`](?:{'|'.join([*formats.installed(), *events, *phases])})['\"`]")
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*.ts*"))
        if path.name != "generated.ts"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if known.search(line)
    ]
    assert found == []


@pytest.fixture(scope="module")
def site(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    answers = {
        "*/synthesize/synthesizer": "The answer that held.",
        "1/evaluate/*": {**PANEL.answers["*/evaluate/*"], "mute": ["Cost Steward"]},
        "4/ballot/juror3": "I don't know.",
        **PANEL.answers,
        "*/analyze/*": {**PANEL.answers["*/analyze/*"], "clarifying_question": ""},
    }
    with served(tmp_path_factory.mktemp("formats"), answers=answers) as running:
        yield running


def shown(page: Page, key: str) -> Locator:
    return page.locator(f"[data-key='{key}']")


def opened(site: Served, open_page: Open, debate: dict[str, Any], **more: Any) -> Page:
    page = open_page(f"{site.url}/debates/{debate['id']}", **more)
    expect(page.locator(COMPLETED)).to_be_visible()
    expect(page.locator(".verdict")).to_be_attached()
    return page


@pytest.mark.slow
class TestDuel:
    def test_ballots_scores_checks_and_private_words_are_drawn(self, site: Served, open_page: Open):
        settings = {"turns": 4, "jury": 3, "claims": True}
        page = opened(site, open_page, site.completed(format="duel", settings=settings))
        ballot, invalid = shown(page, "4/ballot/juror1"), shown(page, "4/ballot/juror3")
        expect(ballot.locator(".what")).to_contain_text("Juror 1votes")
        expect(ballot.locator(".notes > *")).to_have_text(["for Ada (Redis)", "Ada (Redis) 6", "Basil (PostgreSQL) 4"])
        expect(invalid.locator(".what")).to_contain_text("Juror 3abstains")
        expect(invalid.locator(".notes")).to_have_count(0)
        drawn = "Ada (Redis): turn 1 7, turn 3 7. Basil (PostgreSQL): turn 2 7, turn 4 7."
        chart = page.locator(".chart svg").first
        expect(chart).to_have_attribute("aria-label", f"Judge’s scores by turn. {drawn}")
        checks = page.locator(".answer .checks")
        expect(checks.locator("li.passed").first).to_have_text("✓ Holds: both sides spoke in their own words")
        expect(checks.locator("li.open").last).to_have_text("– Not checked: the other order was not tried")
        for key, label in (
            ("0/plan/a", "Plan"),
            ("1/think/a", "Thoughts1"),
            ("1/claims-speak/a", "Claims1"),
            ("1/evaluate/judge", "The judge: Evaluation1"),
        ):
            folded = page.locator(f"details.thought[id='{key}']")
            expect(folded.locator("summary")).to_have_text(label)
            expect(folded.locator(".prose")).to_be_hidden()
        expect(page.locator(".course")).to_have_count(0)  # it is in no parts
        check_axe(page)

    def test_the_argument_map_is_offered_where_there_is_one(self, site: Served, open_page: Open):
        tabs = {
            claims: opened(
                site, open_page, site.completed(format="duel", settings={"turns": 2, "claims": claims})
            ).locator(".tabs a")
            for claims in (False, True)
        }
        expect(tabs[False]).to_have_text(["Debate", "Calls"])
        expect(tabs[True]).to_have_text(["Debate", "Argument map", "Calls"])


@pytest.mark.slow
class TestPanel:
    def test_who_is_muted_has_a_badge_and_says_nothing_more(self, site: Served, open_page: Open):
        settings = {"perspectives": 3, "max_rounds": 2, "checkpoints": False}
        page = opened(site, open_page, site.completed(format="panel", settings=settings))
        note = page.locator(".card-note", has_text="muted")
        expect(note).to_have_text("The moderator muted Cost Steward: it is not heard after round 1.")
        expect(page.locator("[data-lane=p3] .lane-head .badge")).to_have_text("muted")
        expect(page.locator(".lane-head .badge")).to_have_count(1)
        expect(page.locator("[data-lane=p3] [data-key]").last).to_have_attribute("data-key", "1/rebut/p3")
        check_axe(page)

    def test_seats_that_were_never_filled_have_no_lane(self, site: Served, open_page: Open):
        """The moderator chose three of four: the fourth seat stays empty."""
        settings = {"perspectives": "auto", "max_rounds": 1, "checkpoints": False}
        made = site.made(format="panel", settings=settings, start=False)
        assert len([seat for seat in made["seats"] if seat["voice"]]) == 4
        page = open_page(f"{site.url}/debates/{made['id']}")
        page.get_by_role("button", name="Start").click()
        expect(page.locator(COMPLETED)).to_be_visible()
        names = ["Performance Advocate", "Operational Simplicity", "Cost Steward"]
        lanes = page.locator(".lane-head h2")
        expect(lanes).to_have_text([*names, "Moderator"])
        page.reload()
        expect(lanes).to_have_text([*names, "Moderator"])
        phone = open_page(f"{site.url}/debates/{made['id']}", size="phone")
        argued = phone.locator(".voice-block [id^='1/argue/'] .what strong")
        expect(argued).to_have_text(names)  # one column, in the order of the cast
        for each in (page, phone):
            expect(each.get_by_text("Nothing said yet")).to_have_count(0)
            expect(each.get_by_text(re.compile(r"Perspective \d"))).to_have_count(0)


@pytest.mark.slow
def test_the_final_answer_is_shown_once(site: Served, open_page: Open):
    page = opened(site, open_page, site.completed(format="crucible", settings={"min_rounds": 1, "max_rounds": 1}))
    expect(page.locator(".answer").get_by_text("The answer that held.")).to_have_count(1)
    expect(page.locator(".block:not(.verdict)").get_by_text("The answer that held.")).to_have_count(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solo", "duel", "panel"])  # no one hears anyone; two sides; seats that may stay empty
def test_who_hears_whom_is_drawn_for_any_roles(site: Served, open_page: Open, name: str):
    """Before anything is charted; seats that are named later are drawn then."""
    hears = formats.installed()[name].hears
    made = site.made(format=name, start=False)
    roles = {role for each in hears for role in (each.listener, each.speaker)}
    drawn = [seat["name"] for seat in made["seats"] if seat["role"] in roles and not seat["optional"]]
    page = open_page(f"{site.url}/debates/{made['id']}")
    expect(page.locator(".debate-top")).to_be_visible()
    nodes = page.locator(".topology .node text:last-child")
    if len(drawn) < 2:
        expect(page.locator(".topology")).to_have_count(0)
    else:
        expect(nodes).to_have_text(drawn)
        expect(page.locator(".topology .heard").first).to_be_attached()
