"""The ledger of a crucible, made from its critiques."""

from __future__ import annotations

from typing import Any

from moot.core.types import Failure
from moot.formats import installed
from moot.formats.crucible.claims import IN_PART
from moot.formats.shared.ledger import ledger_of
from tests.formats.crucible.answers import critique, issue, marked, rounds
from tests.formats.shared.test_ledger import ledger, statuses
from tests.playing import Played, debate_of, play, script_of


def crucible(*critiques: Any, answers: tuple[str, ...]) -> Played:
    """A crucible whose rounds have these answers and critiques."""
    answer = rounds(*critiques, proposer=lambda step: answers[step.round - 1])
    return play(script_of("crucible", claims=True, max_rounds=len(answers), min_rounds=len(answers)), answer)


def test_the_ledger_of_a_crucible_costs_no_call():
    answers = (
        "p is even. q is odd.",
        "p is even, since 4 divides 2q². q may be even.",
        "Done. p is even.",
        "p is even. Done.",
    )
    critiques = (
        critique(
            issue(about="p is even", problem="Why?"),
            issue(about="q is odd", problem="It need not be."),
            issue(about="r is prime", problem="Nobody has shown it."),
            issue(about="", problem="The end is missing.", severity="minor"),
        ),
        critique(earlier=marked(i1="resolved", i2="resolved", i3="open", i4="open")),
        critique(issue(about="p is even", problem="Again?"), issue(about="Done"), earlier=marked(i4="resolved")),
        critique(earlier=marked(i6="resolved")),
    )
    played = crucible(*critiques, answers=answers)
    off = play(
        script_of("crucible", max_rounds=4, min_rounds=4), rounds(*critiques, proposer=lambda s: answers[s.round - 1])
    )
    assert played.keys == off.keys
    assert [(each["id"], each["seat"], each["text"], each["target"]) for each in ledger(played)["claims"]] == [
        ("c1", "proposer", "p is even", ""),
        ("c2", "proposer", "q is odd", ""),
        ("c3", "skeptic", "i1, critical: Why?", "c1"),
        ("c4", "skeptic", "i2, critical: It need not be.", "c2"),
        ("c5", "skeptic", "i3, critical: Nobody has shown it.", ""),
        ("c6", "skeptic", "i4, minor: The end is missing.", ""),
        ("c7", "proposer", "Done", ""),
        ("c8", "skeptic", "i5, critical: Again?", "c1"),
        ("c9", "skeptic", "i6, critical: A step is missing.", "c7"),
    ]
    assert statuses(played) == {
        "c1": "open",  # accepted, and then disputed again
        "c2": "refuted",  # the answer no longer says it
        "c3": "refuted",  # withdrawn: it was answered
        "c4": "standing",  # it was right
        "c5": "standing",
        "c6": "refuted",
        "c7": "conceded",  # the skeptic accepts it
        "c8": "standing",
        "c9": "refuted",
    }
    assert ledger(played)["claims"][4]["quote_ok"] is False
    assert ledger(played)["statements"][3]["notes"] == (
        "i1 is resolved. Because of i1.",
        "i2 is resolved. Because of i2.",
    )


def test_an_issue_that_stays_open_leaves_the_words_it_is_about_open():
    """The proposer is not asked for claims, so its silence in the ledger refutes nothing."""
    played = crucible(critique(issue(about="p is even")), critique(), answers=("p is even.", "I say p is even!"))
    assert statuses(played) == {"c1": "open", "c2": "standing"}


def test_a_critique_that_is_not_valid_is_a_gap():
    bad = Failure(kind="invalid", message="no valid Critique")
    played = crucible(bad, critique(), answers=("One.", "Two."))
    assert [each["gap"] for each in ledger(played)["statements"]] == [IN_PART, "no valid Critique", IN_PART, ""]


def test_words_too_long_for_a_claim_are_no_claim():
    long = "very " * 200 + "long"
    played = crucible(critique(issue(about=long, problem="x" * 900)), critique(), answers=(f"It is {long}.", "It is."))
    [only] = ledger(played)["claims"]
    assert (only["seat"], only["stance"], only["quote_ok"]) == ("skeptic", "none", True)
    assert len(only["text"]) == 500


def test_an_unfinished_crucible_has_a_ledger_too():
    played = crucible(critique(issue(about="p is even")), critique(), answers=("p is even.", "p is even."))
    debate = debate_of("crucible", claims=True, max_rounds=2, min_rounds=2)
    at = played.keys.index("2/defend/proposer")
    found = ledger_of(installed()["crucible"], debate, played.turns[:at])
    assert found is not None
    assert [each.text for each in found.claims] == ["p is even", "i1, critical: A step is missing."]
    assert ledger(play(script_of("crucible"), rounds(critique()))) is None
