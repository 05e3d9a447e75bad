"""Issues: their ids, their status, and how they cap the score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moot.core.script import Failed
from moot.formats.crucible.issues import Issues, RaisedIssue
from moot.formats.crucible.shapes import Critique, Issue, critique_after
from tests.formats.crucible.answers import BAD, STUCK, critique, issue, marked, run


@pytest.mark.parametrize(
    "wrong",
    [
        {"score": 11},
        {"ready": "Ready for Synthesis"},
        {"issues": [{**issue(), "severity": "🔴"}]},
    ],
)
def test_the_shape_is_strict(wrong):
    with pytest.raises(ValueError):
        Critique.model_validate({**critique(), **wrong})


def test_issues_get_ids_from_code_and_stay_open_until_they_are_marked_resolved():
    played = run(
        critique(issue(), issue("minor")),
        critique(issue("major"), earlier=marked(i1="open")),
        critique(earlier=marked(i1="resolved"), score=4),
    )
    outcome = played.outcome
    assert [
        (each["id"], each["severity"], each["round"], each["resolved_in"]) for each in outcome.details["issues"]
    ] == [
        ("i1", "critical", 1, 3),
        ("i2", "minor", 1, None),
        ("i3", "major", 2, None),
    ]
    assert outcome.ended_by == "no_critical"
    recorded = played.step("2/critique/skeptic").record(Critique.model_validate(critique(score=3, ready=True)))
    still_open = {"open": {"i1": "critical", "i2": "minor"}, "still_open": "1 critical, 1 minor"}
    assert recorded == {"score": 3, "ready": True, **still_open}
    assert played.step("2/critique/skeptic").record(Failed(failure=BAD, raw="")) == still_open


def test_marked_both_ways_is_open_and_a_settled_issue_stays_settled():
    shape = critique_after(("i1", "i2"), 2)
    one = RaisedIssue(id="i1", round=1, issue=Issue(**issue()))
    two = replace(one, id="i2")
    given = shape.model_validate(critique(earlier=[*marked(i1="resolved"), *marked(i1="open")]))
    after = Issues([one, two]).after(given, 2)
    assert [each.id for each in after.open] == ["i1", "i2"]
    settled = after.after(shape.model_validate(critique(earlier=marked(i1="resolved", i2="resolved"))), 3)
    assert settled.open == []
    again = settled.after(shape.model_validate(critique(earlier=marked(i1="open"))), 4)
    assert again.open == []


def test_only_open_issues_can_be_marked():
    shape = critique_after(("i2",), 3)
    shape.model_validate(critique(earlier=marked(i2="resolved")))
    with pytest.raises(ValueError, match="i2"):
        shape.model_validate(critique(earlier=marked(i1="resolved")))
    assert "earlier" not in critique_after((), 0).model_json_schema()["properties"]
    names = shape.model_json_schema()["required"]
    assert names.index("earlier") < names.index("score")  # reasons come before the number


def test_a_critique_reads_well_and_names_its_issues():
    shape = critique_after(("i1",), 2)
    prose = shape.model_validate(critique(issue(), earlier=marked(i1="resolved"))).prose()
    assert prose == (
        "It is not there yet.\n\n- i1 is resolved. Because of i1.\n\n"
        '- i3, critical: A step is missing. About: "p is even" To fix it: Show it.'
    )


def test_ready_while_a_critical_issue_is_open_is_said():
    outcome = run(STUCK, STUCK, critique(score=9, ready=True)).outcome
    assert (outcome.ended_by, outcome.details["quality_score"], outcome.details["auto_score"]) == ("satisfied", 9, 4)
    assert "not marked every critical issue as resolved" in " ".join(outcome.notes)
    assert outcome.confidence.level == "Low"


@pytest.mark.parametrize(
    ("open_", "score", "worth"),
    [((), 9, 9), (("minor",), 9, 9), (("major",), 9, 7), (("critical", "major"), 9, 4), (("critical",), 2, 2)],
)
def test_the_auto_score_is_the_score_as_far_as_open_issues_allow(open_, score, worth):
    raised = [RaisedIssue(id=f"i{n}", round=1, issue=Issue(**issue(severity))) for n, severity in enumerate(open_)]
    assert Issues(raised).capped(score) == worth
