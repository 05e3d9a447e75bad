"""What a record contains: typed data and quoted words, nothing made up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from moot.core.types import ArguedPosition, Check, Confidence, Outcome, RecordParts, Section, Usage
from moot.records.confidence import rate
from moot.records.issue import draft
from moot.records.markdown import render
from moot.records.record import EXCERPT_CHARS, TITLE_CHARS
from moot.records.transcript import outcome_text
from tests.playing import good
from tests.records.making import (
    ID,
    completed,
    described,
    expected_headings,
    failing,
    headings,
    made,
    really,
    section,
    split,
)

PANEL = RecordParts(
    recommendation="Use PostgreSQL first.\n\nMeasure before adding Redis.",
    caveats=("Traffic grows tenfold.",),
    agreements=("Both are fast enough today.",),
    tensions=("Latency against moving parts.",),
    dissent=("Latency will bite within a year.",),
    positions=(
        ArguedPosition(
            name="Performance Advocate",
            seat="p1",
            arguments=("Redis is faster.", "Memory is cheap."),
            trade_offs=("Complexity.",),
        ),
        ArguedPosition(name="Operational Simplicity", seat="p2", arguments=("One store.",), trade_offs=("Speed.",)),
    ),
)


def changed(**changes):
    return PANEL.model_copy(update=changes)


def test_classic():
    debate, turns = completed("classic", max_rounds=2)
    record = made(debate, turns)
    assert (record.title, record.debate, record.format, record.rounds) == ("Redis or PostgreSQL?", ID, "classic", 2)
    assert record.date.isoformat() == "2025-12-05"
    assert [(each.name, each.stance) for each in record.perspectives] == [
        ("Debater A", "for"),
        ("Debater B", "against"),
    ]
    assert record.perspectives[0].steps == ("1/speak/a", "2/speak/a")
    assert [quote.key for quote in record.perspectives[1].quotes] == ["1/speak/b", "2/speak/b"]
    assert record.perspectives[1].quotes[0].text == "Words of b at 1/speak/b."
    assert record.decided.winner == "a"
    assert record.decided.scores == {"a": 7, "b": 5}
    assert (record.statement, record.agreements, record.tensions, record.caveats) == (
        "A was clearer.",
        None,
        None,
        None,
    )
    assert record.confidence == "Medium"
    assert record.confidence_reasons == (
        "The verdict was not checked by a second reading or a vote of at least three.",
    )


def test_what_the_format_does_not_ask_for_is_said():
    _, body = split(render(made(*completed("classic", max_rounds=1))))
    for name in ("Points of Agreement", "Key Tensions"):
        assert section(body, name) == "The format does not ask for this."
    assert "- Trade-offs accepted: The format does not ask for this." in body
    assert "Debater B (against) argued the other side" in section(body, "Dissenting View")


def test_duel():
    debate, turns = completed("duel", turns=4, premise="Redis is needed.")
    record = made(debate, turns)
    assert (record.rounds, record.counted) == (4, "turn")
    ada, basil = record.perspectives
    assert (ada.name, ada.stance, basil.stance) == ("Ada", "for the premise", "against the premise")
    assert ada.steps == ("1/speak/a", "3/speak/a")
    text = render(record)
    assert "plan/a" not in text  # private thoughts are nobody's argument
    assert "think" not in text
    assert "**The premise is upheld. Ada, who argued for it, won 8 to 6 (not checked in the other order).**" in section(
        text, "Recommendation"
    )
    assert headings(split(text)[1]) == expected_headings(record)


def test_no_valid_verdict_is_low_and_names_what_is_open():
    debate, turns = completed("classic", failing("verdict"), max_rounds=1)
    record = made(debate, turns)
    assert (record.confidence, record.decided.source) == ("Low", "fallback")
    assert record.unsettled == ("Debater A (for) against Debater B (against) is not settled.",)
    _, body = split(render(record))
    assert "There is no recommendation, because no side won." in section(body, "Recommendation")
    assert "It said \\# nothing." in section(body, "How It Was Decided")
    assert section(body, "Dissenting View") == "There is no verdict to dissent from."


def test_jurors_who_voted_otherwise_are_the_dissent(tmp_path):
    # Each juror prefers what it reads first, and every second one reads B first.
    record = really(tmp_path, "classic", jury=3, max_rounds=1)
    assert record.decided.tally == {"a": 3, "b": 1, "tie": 0, "abstains": 0}
    assert record.confidence == "High"
    [against] = [vote for vote in record.decided.votes if vote.choice == "b"]
    text = render(record)
    assert f"Votes: 3 for {record.side('a')}, 1 for {record.side('b')}\n" in section(text, "How It Was Decided")
    quoted = f"Juror 2 voted for {record.side('b')} (`{against.key}`):\n\n> The first."
    assert quoted in section(text, "Dissenting View")


def test_readings_that_flip(tmp_path):
    record = really(tmp_path, "duel", swap=True, jury=2, turns=2)
    assert record.decided.flip_rate == 1.0
    assert record.confidence == "Low"
    text = render(record)
    assert "Read in both orders: 100% of the readings came out differently" in section(text, "How It Was Decided")
    assert "- Read in the other order, the debate came out differently." in section(text, "Recommendation")


def test_a_checked_verdict_with_a_clear_lead_is_high(tmp_path):
    record = really(
        tmp_path, "classic", {"*/ballot/*": {"reasoning": "B.", "score_first": 3, "score_second": 6}}, swap=True
    )
    assert (record.confidence, record.decided.flip_rate) == ("High", 0.0)
    assert record.models == record.models[:1]
    assert any(text.startswith("Everyone is the same model") for text in record.warnings)


def test_a_limit_that_cut_it_short_is_said(tmp_path):
    long = "Reasons and evidence, at some length. " * 30
    record = really(tmp_path, "classic", {"*/speak/*": long}, max_total_output_tokens=1500)
    assert record.decided.limits_reached == ("max_total_output_tokens",)
    assert record.confidence == "Low"
    assert "Limits reached: `max_total_output_tokens`" in render(record)
    assert any("max_total_output_tokens" in text for text in record.warnings)


def test_the_demonstration_model_is_labelled_at_the_top():
    record = made(*completed("classic", max_rounds=1), demonstration=True)
    front, body = split(render(record))
    assert front["demonstration"] is True
    assert body.split("\n\n")[1] == f"**{record.decided.headline}**"
    assert body.split("\n\n")[2].startswith("**Demonstration only.**")
    assert record.confidence == "Low"
    assert "Demonstration only" not in render(made(*completed("classic", max_rounds=1)))


def test_cost_includes_what_led_to_no_turn():
    debate, turns = completed("classic", max_rounds=1)
    lost = replace(
        debate, tokens_in=10, tokens_out=20, cost_usd=0.5, lost=Usage(tokens_in=1, tokens_out=2, cost_usd=0.25)
    )
    assert "Cost: \\$0.7500; 11 tokens read, 22 written" in render(made(lost, turns))
    assert "Cost: not known" in render(made(replace(lost, cost_usd=None), turns))


def test_logins_in_a_models_address_stay_out():
    debate, turns = completed("classic", max_rounds=1)
    spec = "openai:my-model@https://me:hunter2@models.example/v1"
    cast = tuple(replace(seat, model=spec) for seat in debate.cast)
    record = made(replace(debate, cast=cast), turns)
    assert "hunter2" not in render(record) + json.dumps(record.as_json())
    assert record.models == ("openai:my-model@https://models.example/v1",)


def test_long_statements_are_cut_with_the_place_of_the_rest():
    long = "word " * 2000
    debate, turns = completed("classic", lambda step: long if step.phase == "speak" else good(step), max_rounds=1)
    record = made(debate, turns)
    quote = record.perspectives[0].quotes[0]
    assert len(quote.text) <= EXCERPT_CHARS
    assert len(quote.text) + quote.left_out == len(long.strip())
    assert f"({quote.left_out:,} more characters: `moot show {ID[:8]}`, step `1/speak/a`.)" in render(record)


def test_long_titles_are_cut_and_the_question_is_not():
    topic = "Should we " + "really " * 70 + "do it?"
    record = made(*completed("classic", topic=topic, max_rounds=1))
    assert len(record.title) <= TITLE_CHARS
    assert record.title.endswith("really…")
    assert record.question == topic


def test_a_format_that_says_more():
    record = made(described(PANEL))
    _, body = split(render(record))
    assert record.confidence == "High"
    assert record.perspectives[0].model == "openai:any"
    assert "- Key arguments:\n  - Redis is faster.\n  - Memory is cheap." in body
    assert "- Trade-offs accepted: Complexity." in body
    assert section(body, "Points of Agreement") == "- Both are fast enough today."
    assert section(body, "Key Tensions") == "- Latency against moving parts."
    assert "> Use PostgreSQL first.\n>\n> Measure before adding Redis." in section(body, "Recommendation")
    assert "**Caveats:**\n\n" in section(body, "Recommendation")
    assert "- Traffic grows tenfold." in section(body, "Recommendation")
    assert section(body, "Dissenting View") == "> Latency will bite within a year."
    assert headings(body) == expected_headings(record)


def test_asked_and_nothing_found_is_not_the_same_as_not_asked():
    record = made(described(changed(agreements=(), dissent=())))
    _, body = split(render(record))
    assert section(body, "Points of Agreement") == "None was found."
    assert section(body, "Dissenting View") == "None was found."


def test_the_confidence_of_a_format_has_its_reason():
    medium = made(described(PANEL, confidence=Confidence(level="Medium", source="one of them holds out")))
    assert (medium.confidence, medium.confidence_reasons) == (
        "Medium",
        ("By the format's rules: one of them holds out.",),
    )


def test_what_people_answered_is_kept():
    debate, turns = completed("classic", max_rounds=1)
    person = replace(
        turns[0], kind="gate", key="1/checkpoint/you", seat="you", phase="checkpoint", content="Guidance: cost."
    )
    record = made(debate, [*turns, person])
    assert "- `1/checkpoint/you`: Guidance: cost." in section(render(record), "How It Was Decided")
    assert [seat.id for seat in record.seats] == ["a", "b", "judge"]


def test_seats_that_were_never_asked_are_left_out():
    debate, turns = completed("classic", max_rounds=1)
    unused = replace(debate.cast[0], id="p4", name="Perspective 4")
    record = made(replace(debate, cast=(*debate.cast, unused)), turns)
    assert "Perspective 4" not in render(record)


def test_sections_of_the_format_follow_the_agreements():
    parts = changed(sections=(Section(title="Issues Settled", items=("i1: # no heading",)),))
    record = made(described(parts))
    _, body = split(render(record))
    assert headings(body) == expected_headings(record)
    assert section(body, "Issues Settled") == "- i1: # no heading"
    assert record.as_json()["sections"] == [{"title": "Issues Settled", "items": ("i1: # no heading",), "event": ""}]


def test_further_facts_and_who_decided_are_named():
    debate, turns = completed("duel", turns=2, premise="Redis is needed.")
    how = section(render(made(debate, turns)), "How It Was Decided")
    assert "- Decided by: the judge\n- Premise: Redis is needed.\n" in how
    assert "- Ended because: all turns were taken\n" in how
    assert "- Decided by: the perspectives, who agreed\n" in section(
        render(made(described(PANEL))), "How It Was Decided"
    )


VOTES = {"a": 4, "b": 1, "tie": 0, "abstains": 0}
HIGH, MEDIUM = (Confidence(level=level, source="a rule") for level in ("High", "Medium"))


def a_check(name: Any, *, passed: bool | None = False) -> Check:
    return Check(name=name, passed=passed, words=f"the check of {name} says so")


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, "High"),
        ({"tally": None, "flip_rate": 0.0}, "High"),
        ({"tally": None}, "Medium"),
        ({"tally": {"a": 2, "b": 0}}, "Medium"),
        ({"tally": {"a": 3, "b": 2}}, "Medium"),
        ({"tally": {"a": 4, "b": 1, "abstains": 1}}, "Medium"),
        ({"scores": {"a": 7, "b": 6}}, "Medium"),
        ({"scores": {"a": 0.7, "b": 0.5}, "scale": 1}, "High"),
        ({"scores": {"a": 0.6, "b": 0.5}, "scale": 1}, "Medium"),
        ({"scores": {}}, "High"),
        ({"flip_rate": 0.2}, "Low"),
        ({"winner": "tie"}, "Low"),
        ({"winner": "undecided"}, "Low"),
        ({"verdict_source": "fallback"}, "Low"),
        ({"limits_reached": ("max_cost_usd",)}, "Low"),
        ({"demonstration": True}, "Low"),
        ({"confidence": HIGH, "winner": "undecided", "tally": None}, "High"),
        ({"confidence": MEDIUM}, "Medium"),
        ({"confidence": HIGH, "unsettled": True}, "Low"),
        ({"confidence": HIGH, "demonstration": True}, "Low"),
        ({"confidence": HIGH, "verdict_source": "fallback"}, "Low"),
        *(
            ({"checks": (a_check(name),)}, "Low")
            for name in ("own words", "statement", "running scores", "other order")
        ),
        ({"checks": (a_check("own words"),), "confidence": HIGH}, "Low"),
        ({"checks": (a_check("complete"),)}, "Medium"),
        ({"checks": (a_check("complete"),), "confidence": HIGH}, "Medium"),
        ({"checks": (a_check("complete", passed=True), a_check("other order", passed=None))}, "High"),
    ],
)
def test_the_rule_of_confidence(changes, level):
    around = {"limits_reached": (), "unsettled": False, "demonstration": False}
    around |= {name: changes[name] for name in changes if name in around}
    fields = {"winner": "a", "scores": {"a": 8, "b": 6}, "tally": VOTES, "verdict_source": "jury"}
    fields |= {name: changes[name] for name in changes if name not in around}
    tally, winner = fields["tally"], fields["winner"]
    valid = sum(votes for choice, votes in (tally or {}).items() if choice != "abstains")
    fields["support"] = tally.get(winner, 0) / valid if tally else None
    found, reasons = rate(Outcome(headline="A wins.", ended_by="max_rounds", **fields), **around)
    assert (found, bool(reasons)) == (level, True)


def test_a_failed_check_is_a_reason_of_the_confidence_and_an_open_one_is_none_of_its_own():
    def rated(*checks: Check, **fields: Any) -> Any:
        outcome = Outcome(winner="a", headline="A.", ended_by="x", verdict_source="judge", checks=checks, **fields)
        return rate(outcome, limits_reached=(), unsettled=False, demonstration=False)

    assert rated(a_check("own words"), a_check("complete")) == ("Low", ("The check of own words says so.",))
    unchecked = "The verdict was not checked by a second reading or a vote of at least three."
    assert rated(a_check("complete")) == ("Medium", ("The check of complete says so.", unchecked))
    assert rated(a_check("other order", passed=None)) == ("Medium", (unchecked,))
    once = rated(a_check("other order"), flip_rate=1.0)
    assert once == ("Low", ("Read in the other order, the debate came out differently.",))


def test_how_the_answer_came_about_stands_after_it_everywhere():
    debate = described(RecordParts(recommendation="Use Redis. It is fast."), statement="Use Redis. It is fast.")
    record = made(debate)
    assert (record.decided.headline, record.decided.how) == ("Use Redis.", "The panel agrees.")
    for text in (render(record), draft(record).body, outcome_text(debate.outcome, demonstration=False)):
        assert "**Use Redis.**\n\nThe panel agrees." in text


def test_an_answer_of_one_sentence_is_not_said_twice():
    debate = described(RecordParts(recommendation="Use Redis."), statement="Use Redis.")
    assert outcome_text(debate.outcome, demonstration=False).count("Use Redis.") == 1
