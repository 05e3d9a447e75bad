"""Every rendering of a verdict says the same, in the same order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from moot.cli.blocks import RenderContext, answer_line, block_of
from moot.core.stage import HEADER, VERDICT
from moot.core.types import Check, Debate, Event, Outcome
from moot.formats import installed, wording_of
from moot.formats.wording import checks_words
from moot.mcp.schemas import DebateState
from moot.mcp.service import status_of
from moot.reasoning.fence import one_line
from moot.records import transcript
from moot.records.issue import draft
from moot.records.markdown import render
from moot.records.record import record_of
from moot.server import views
from moot.server.chat.follow import answer_of
from moot.server.chat.shapes import TEXT
from tests.formats.ways import Way, played, ways_of
from tests.playing import finished
from tests.records.making import DAY, ID, completed, section, split

HEAD = Event(seq=1, type=HEADER, key="", data={}, created_at=0.0)

CHECKS = (
    Check(name="own words", passed=True, words="both sides spoke in their own words"),
    Check(name="complete", passed=False, words="Debater B's statement 2 was cut off at its limit"),
    Check(name="other order", passed=None, words="the other order was not tried"),
)
IN_ONE_LINE = (
    "Doubtful: Debater B's statement 2 was cut off at its limit. Checked: both sides spoke in their own words. "
    "The other order was not tried."
)


def block(debate: Debate) -> str:
    """The verdict's block in the terminal."""
    assert debate.outcome
    data = debate.outcome.model_dump(mode="json")
    event = Event(seq=1, type=VERDICT, key="", data=data, created_at=0.0)
    shown = block_of(event, RenderContext.of(debate, demonstration=False))
    assert shown
    assert shown.heading == "Verdict"
    return f"{shown.lead}\n{shown.body}"


def status(debate: Debate) -> str:
    state = DebateState(id=debate.id, format=debate.format, status=debate.status, next="")
    return status_of(state, debate, (), demonstration=False).model_dump_json(indent=2)


def markdown(debate: Debate) -> str:
    return render(record_of(debate, (), wording_of(debate), demonstration=False)).replace("\\", "")


def issue(debate: Debate) -> str:
    return draft(record_of(debate, (), wording_of(debate), demonstration=False)).body.replace("\\", "")


def said(debate: Debate) -> str:
    return transcript.render(debate, (), wording_of(debate), demonstration=False)


def chat(debate: Debate) -> str:
    return answer_of(debate, (), TEXT, demonstration=False)


RENDERINGS: Mapping[str, Callable[[Debate], str]] = {
    "terminal": block,
    "transcript": said,
    "record": markdown,
    "issue": issue,
    "chat": chat,
    "mcp": status,
}


def debated(outcome: Outcome | None = None) -> Debate:
    debate, _ = completed("classic", max_rounds=1, sides=("Redis", "PostgreSQL"))
    return replace(debate, outcome=outcome or debate.outcome)


def checked(*checks: Check) -> Debate:
    debate = debated()
    assert debate.outcome
    return replace(debate, outcome=debate.outcome.model_copy(update={"checks": checks}))


def lines(text: str) -> list[str]:
    """The lines of a rendering, without front matter, marks and what JSON puts around them."""
    _, found, body = text.partition("\n---\n")
    made = (line.strip("# *,{}").strip() for line in (body if found else text).splitlines())
    return [line for line in made if line]


def played_debate(name: str, way: Way) -> Debate:
    given = played(name, way)
    return replace(finished(name, given, **way.settings), id=ID, completed_at=DAY)


@pytest.mark.parametrize("name", installed())
def test_the_answer_is_the_first_line_of_every_rendering(name: str):
    for way in ways_of(name):
        debate = played_debate(name, way)
        assert debate.outcome
        headline = one_line(debate.outcome.headline)
        assert headline
        assert lines(block(debate))[0] == headline
        assert lines(chat(debate))[0] == headline
        assert lines(said(debate))[:2] == [debate.topic, headline]
        assert lines(markdown(debate))[:2] == [f"Decision: {debate.topic}", headline]
        assert next(iter(json.loads(status(debate)).items())) == ("headline", debate.outcome.headline)
        assert answer_line(debate, demonstration=False) == headline
        shown = block_of(HEAD, RenderContext.of(debate, demonstration=False))
        assert shown
        assert (shown.heading, shown.lead) == (debate.topic, headline)


def test_scores_and_votes_name_the_sides():
    debate = debated()
    assert debate.outcome
    tally = {"a": 2.0, "b": 1.0}
    voted = replace(debate, outcome=debate.outcome.model_copy(update={"tally": tally}))
    for text in (block(voted), markdown(voted)):
        assert "Points of 10: 7 for Debater A (Redis), 5 for Debater B (PostgreSQL)" in text
        assert "Votes: 2 for Debater A (Redis), 1 for Debater B (PostgreSQL)" in text
    assert "Perspectives:** Debater A (Redis), Debater B (PostgreSQL)" in markdown(voted)


@pytest.mark.parametrize("name", RENDERINGS)
def test_what_was_checked_stands_in_one_line_below_the_verdict(name: str):
    debate = checked(*CHECKS)
    assert debate.outcome
    text = RENDERINGS[name](debate)
    lines = [line.strip(' ,"').removeprefix('checked": "') for line in text.splitlines()]
    assert lines.count(IN_ONE_LINE) == 1
    assert text.index(debate.outcome.headline) < text.index(IN_ONE_LINE)


def test_checks_are_part_of_the_document_and_of_the_api():
    debate = checked(*CHECKS)
    document = json.loads(json.dumps(record_of(debate, (), wording_of(debate), demonstration=False).as_json()))
    assert document["decided"]["checks"] == [each.model_dump() for each in CHECKS]
    chosen = {"kind": "choice", "value": "Redis", "options": ["Redis", "PostgreSQL"], "language": ""}
    assert document["decided"]["answer"] == chosen
    outcome = views.outcome(debate, wording_of(debate), with_html=False)
    assert outcome
    assert outcome.checked == IN_ONE_LINE
    assert outcome.checks == CHECKS
    assert IN_ONE_LINE in section(split(markdown(debate))[1], "Recommendation")


def test_checks_in_words():
    assert checks_words(()) == ""
    assert checks_words(CHECKS) == IN_ONE_LINE
    assert checks_words(CHECKS[2:]) == "The other order was not tried."
    assert checks_words((CHECKS[0], CHECKS[0])) == (
        "Checked: both sides spoke in their own words; both sides spoke in their own words."
    )
