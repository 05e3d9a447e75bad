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
from tests.formats.examples import CRUCIBLE, PANEL
from tests.server.serving import Served, served
from tests.web.conftest import Open, Serve, check_axe, keep

SOURCE = Path(__file__).parents[2] / "web" / "src"
COMPLETED = ".debate-top [data-status=completed]"
ANALYSIS = {**PANEL.answers["*/analyze/*"], "clarifying_question": ""}
ASSESSMENT = PANEL.answers["*/evaluate/*"]


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
        **{key: answer for key, answer in PANEL.answers.items() if "*/evaluate" not in key and "*/analyze" not in key},
        "*/analyze/*": ANALYSIS,
        "1/evaluate/*": {**ASSESSMENT, "mute": ["Cost Steward"]},
        "*/evaluate/*": ASSESSMENT,
        "4/ballot/juror3": "I don't know.",
        **{key: answer for key, answer in CRUCIBLE.answers.items() if "critique" in key},
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
    def test_a_valid_ballot_is_a_vote_and_only_an_invalid_one_abstains(self, site: Served, open_page: Open):
        page = opened(site, open_page, site.completed(format="duel", settings={"turns": 4, "jury": 3}))
        for juror, votes in (
            ("juror1", ["for Ada (Redis)", "Ada (Redis) 6", "Basil (PostgreSQL) 4"]),
            ("juror2", ["for Basil (PostgreSQL)", "Ada (Redis) 4", "Basil (PostgreSQL) 6"]),
        ):
            ballot = shown(page, f"4/ballot/{juror}")
            expect(ballot.locator(".what")).to_contain_text(f"Juror {juror[-1]}votes")
            expect(ballot.locator(".notes > *")).to_have_text(votes)
            expect(ballot).not_to_contain_text(re.compile("abstain", re.IGNORECASE))
        invalid = shown(page, "4/ballot/juror3")
        expect(invalid.locator(".what")).to_contain_text("Juror 3abstains")
        expect(invalid.locator(".notes")).to_have_count(0)
        shown(page, "4/ballot/juror1").scroll_into_view_if_needed()
        check_axe(page)
        keep(page, "jury-desktop-light")

    def test_a_verdict_lists_what_was_checked_in_marks_and_words(self, site: Served, open_page: Open):
        page = opened(site, open_page, site.completed(format="duel", settings={"turns": 2}))
        checks = page.locator(".answer .checks")
        expect(checks).to_have_attribute("aria-label", "What was checked about the verdict")
        expect(checks.locator("li.passed").first).to_have_text("✓ Holds: both sides spoke in their own words")
        expect(checks.locator("li.open").last).to_have_text("– Not checked: the other order was not tried")
        check_axe(page)

    def test_scores_are_drawn_for_whom_they_are(self, site: Served, open_page: Open):
        page = opened(site, open_page, site.completed(format="duel", settings={"turns": 4}))
        chart = page.locator(".chart")
        expect(chart.locator("figcaption")).to_have_text("Judge’s scores by turn")
        drawn = "Ada (Redis): turn 1 7, turn 3 7. Basil (PostgreSQL): turn 2 7, turn 4 7."
        expect(chart.locator("svg").first).to_have_attribute("aria-label", f"Judge’s scores by turn. {drawn}")
        expect(shown(page, "1/score/judge").locator(".notes > *")).to_have_text(["Ada (Redis)", "7 of 10"])
        expect(shown(page, "1/score/judge").locator(".what")).to_contain_text("The judgescores")

    def test_what_is_not_public_is_folded_under_the_name_of_its_phase(self, site: Served, open_page: Open):
        page = opened(site, open_page, site.completed(format="duel", settings={"turns": 2, "claims": True}))
        for key, label in (
            ("0/plan/a", "Plan"),
            ("1/think/a", "Thoughts1"),
            ("1/claims-speak/a", "Claims1"),
            ("1/evaluate/judge", "The judge: Evaluation1"),
        ):
            folded = page.locator(f"details.thought[id='{key}']")
            expect(folded.locator("summary")).to_have_text(label)
            expect(folded.locator(".prose")).to_be_hidden()

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
    def test_muting_is_for_good_is_said_in_the_lane_and_has_no_invented_reason(self, site: Served, open_page: Open):
        settings = {"perspectives": 3, "max_rounds": 2, "checkpoints": False}
        page = opened(site, open_page, site.completed(format="panel", settings=settings))
        note = page.locator(".card-note", has_text="muted")
        expect(note).to_have_text("The moderator muted Cost Steward: it is not heard after round 1.")
        expect(page.locator(".lane")).not_to_contain_text(["this round", "this round", "this round", "this round"])
        expect(page.locator("[data-lane=p3] .lane-head .badge")).to_have_text("muted")
        expect(page.locator(".lane-head .badge")).to_have_count(1)
        expect(page.locator("[data-lane=p3] [data-key]").last).to_have_attribute("data-key", "1/rebut/p3")
        check_axe(page)
        keep(page, "muted-desktop-light")

    def test_a_reason_is_given_where_there_is_one(self, serve: Serve, open_page: Open):
        off_topic = {**ASSESSMENT, "mute": ["Cost Steward"], "off_topic": ["Cost Steward"]}
        answers = {"1/evaluate/*": off_topic, **PANEL.answers, "*/analyze/*": ANALYSIS}
        with serve(answers=answers) as site:
            settings = {"perspectives": 3, "max_rounds": 2, "checkpoints": False}
            page = opened(site, open_page, site.completed(format="panel", settings=settings))
            expect(page.locator(".card-note", has_text="muted")).to_contain_text("It had left the question.")

    @pytest.mark.parametrize("size", ["desktop", "phone"])
    def test_seats_that_were_never_filled_have_no_lane(self, site: Served, open_page: Open, size: str):
        """The moderator chose three of four: the fourth seat stays empty."""
        settings = {"perspectives": "auto", "max_rounds": 1, "checkpoints": False}
        made = site.made(format="panel", settings=settings, start=False)
        assert len([seat for seat in made["seats"] if seat["voice"]]) == 4
        page = open_page(f"{site.url}/debates/{made['id']}", size=size)
        page.get_by_role("button", name="Start").click()
        expect(page.locator(COMPLETED)).to_be_visible()
        names = ["Performance Advocate", "Operational Simplicity", "Cost Steward"]
        for _ in range(2):
            if size == "desktop":
                expect(page.locator(".lane-head h2")).to_have_text([*names, "Moderator"])
            else:
                argued = page.locator(".voice-block [id^='1/argue/'] .what strong")
                expect(argued).to_have_text(names)  # one column, in the order of the cast
            expect(page.get_by_text("Nothing said yet")).to_have_count(0)
            expect(page.get_by_text(re.compile(r"Perspective \d"))).to_have_count(0)
            page.reload()


@pytest.mark.slow
class TestCrucible:
    def test_settled_issues_have_a_section_of_their_own(self, site: Served, open_page: Open):
        done = site.completed(format="crucible", settings={"min_rounds": 3, "max_rounds": 3})
        record = site.get(f"/v1/debates/{done['id']}/record").json()
        [section] = record["sections"]
        page = open_page(f"{site.url}/debates/{done['id']}/record")
        own = page.locator("section", has=page.get_by_role("heading", name=section["title"], exact=True))
        expect(own.locator("li")).to_have_text(section["items"])
        expect(own).to_contain_text("Problem of skeptic.")
        expect(page.get_by_role("heading", name="Where they agree")).to_have_count(0)
        facts = page.locator("section", has=page.get_by_role("heading", name="How it was decided")).locator(".facts")
        expect(facts).to_contain_text(f"Decided by{record['decided']['by']}")
        expect(facts).to_contain_text(f"Ended because{record['decided']['ended']}")

    def test_the_final_answer_is_shown_once(self, site: Served, open_page: Open):
        page = opened(site, open_page, site.completed(format="crucible", settings={"min_rounds": 1, "max_rounds": 1}))
        expect(page.locator(".answer").get_by_text("The answer that held.")).to_have_count(1)
        expect(page.locator(".block:not(.verdict)").get_by_text("The answer that held.")).to_have_count(1)


@pytest.mark.slow
class TestEveryFormat:
    @pytest.mark.parametrize("name", sorted(formats.installed()))
    def test_who_hears_whom_is_drawn_for_any_roles(self, site: Served, open_page: Open, name: str):
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
