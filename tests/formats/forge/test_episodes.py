"""Attempts are measured by the tests that count, and by no other."""

from __future__ import annotations

from moot.core.artifacts import Episode, Lesson
from tests.formats.forge.world import RIGHT, TESTS, WRONG, World, cases, forge, repair


def episodes(played) -> dict[tuple[str, int], Episode]:
    made = [each for each in played.script.artifacts if isinstance(each, Episode)]
    return {(each.agent, each.attempt): each for each in made}


def test_a_test_that_is_not_confirmed_fails_no_attempt():
    """The tester is wrong about one call, which the oracles see; its author repaired nothing that was wrong."""
    wrong = cases({**TESTS, "mid(3, 2)": "99"})
    played = forge(World({"e1": RIGHT}, tests={"cases": wrong}, repair=repair(RIGHT)))
    assert played.outcome.answer is not None
    first = episodes(played)["e1", 1]
    assert first.passed is True
    assert first.test_results["failed"] == []


def test_a_test_that_is_agreed_on_fails_the_attempt_and_a_later_pass_confirms_the_lesson():
    played = forge(World({"e1": WRONG, "e2": WRONG, "e3": WRONG}))
    made = episodes(played)
    assert [made["e1", n].passed for n in (1, 2)] == [False, True]
    assert made["e1", 1].test_results["counted"] == 6
    assert made["e1", 2].reflection == "The sign."
    lesson = next(each for each in played.script.artifacts if isinstance(each, Lesson))
    assert lesson.confirmed


def test_where_no_test_counts_nothing_is_said_of_an_attempt():
    played = forge(World(), proposal=False)
    assert {each.passed for each in episodes(played).values()} == {None}


def test_a_given_test_counts_without_anyone_who_confirms_it():
    played = forge(World({"e3": WRONG}, repair=repair(WRONG)), proposal=False, cases=["mid(-1, -2) == 0"])
    made = episodes(played)
    assert (made["e1", 1].passed, made["e3", 1].passed) == (True, False)
