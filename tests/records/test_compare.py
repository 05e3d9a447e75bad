"""Comparing two debates."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.fence import clean
from moot.records.compare import CONTEXT_WORDS, EXCERPT_WORDS, compare, marked
from tests.playing import good
from tests.records.making import completed

OTHER = "11112222-0000-4000-8000-000000000000"


def other(format_name="classic", answer=good, **settings):
    debate, turns = completed(format_name, answer, **settings)
    return replace(debate, id=OTHER), turns


def scored(points):
    def answer(step):
        given = good(step)
        return {**given, "score_a": points} if step.returns else given

    return answer


def saying(words):
    """Good answers, but these words at these keys."""
    return lambda step: words.get(step.key) or good(step)


def test_the_same_debate_never_parts_from_itself():
    debate, turns = completed(max_rounds=2)
    found = compare(debate, turns, debate, turns)
    assert (found.relation, found.same, found.parting) == ("same", 5, None)
    assert (found.settings, found.seats, found.changed, found.only_one, found.only_two) == ((), (), (), (), ())


@pytest.mark.parametrize(
    ("one", "two", "relation"),
    [
        ({}, {"parent_id": "3f2a1b2c-0000-4000-8000-000000000000", "forked_at": "2/speak/a"}, "fork"),
        ({"parent_id": OTHER, "forked_at": "2/speak/a"}, {}, "parent"),
        ({"parent_id": "x"}, {"parent_id": "x"}, "siblings"),
        ({}, {}, "none"),
        ({"parent_id": "x"}, {}, "none"),
    ],
)
def test_how_they_are_related(one, two, relation):
    first, second = completed(), other()
    assert compare(replace(first[0], **one), first[1], replace(second[0], **two), second[1]).relation == relation


def test_the_first_step_with_other_words_is_where_they_part():
    first = completed(max_rounds=2)
    second = other(answer=saying({"2/speak/a": "Words of a at another place."}), max_rounds=2)
    found = compare(*first, *second)
    assert found.same == 4
    assert found.changed == ("2/speak/a",)
    assert found.parting.one.key == found.parting.two.key == "2/speak/a"
    assert found.parting.asked_alike
    assert [(span.text, span.differs) for span in found.parting.one.excerpt.spans] == [
        ("Words of a at", False),
        ("2/speak/a.", True),
    ]
    assert [(span.text, span.differs) for span in found.parting.two.excerpt.spans] == [
        ("Words of a at", False),
        ("another place.", True),
    ]


def test_the_same_words_with_another_score_are_another_answer():
    found = compare(*completed(max_rounds=1), *other(answer=scored(2), max_rounds=1))
    assert found.parting.one.key == "1/verdict/judge"
    (field,) = found.parting.fields
    assert (field.name, field.one, field.two) == ("score_a", 7, 2)
    assert (found.one.winner, found.two.winner) == ("a", "b")
    assert found.one.scores == {"a": 7, "b": 5}


def test_a_longer_debate_parts_where_the_shorter_one_rules():
    found = compare(*completed(max_rounds=1), *other(max_rounds=2))
    assert [(each.name, each.one, each.two) for each in found.settings] == [("max_rounds", 1, 2)]
    assert (found.same, found.changed) == (2, ())
    assert found.only_one == ("1/verdict/judge",)
    assert found.only_two == ("2/speak/a", "2/speak/b", "2/verdict/judge")
    assert (found.parting.one.key, found.parting.two.key) == ("1/verdict/judge", "2/speak/a")
    assert not found.parting.asked_alike
    assert not any(span.differs for each in (found.parting.one, found.parting.two) for span in each.excerpt.spans)


def test_one_that_was_stopped_ends_where_the_other_goes_on():
    debate, turns = completed(max_rounds=2)
    stopped = replace(debate, id=OTHER, status="stopped", outcome=None)
    found = compare(debate, turns, stopped, turns[:3])
    assert found.parting.one.key == turns[3].key
    assert found.parting.two is None
    assert (found.two.winner, found.two.headline, found.two.turns) == (None, "", 3)


def test_steps_that_run_at_once_may_end_in_any_order():
    debate, turns = completed("duel", turns=2)
    swapped = [turns[1], turns[0], *turns[2:]]
    assert compare(debate, turns, replace(debate, id=OTHER), swapped).parting is None


def test_it_is_the_same_from_both_sides():
    first = completed("duel", turns=2)
    second = other("duel", saying({"0/plan/b": "Another plan.", "1/think/a": "Another thought."}), turns=2)
    there, back = compare(*first, *second), compare(*second, *first)
    assert there.parting.one.key == back.parting.one.key == "0/plan/b"
    assert (there.parting.one, there.parting.two) == (back.parting.two, back.parting.one)
    assert (there.same, there.changed) == (back.same, back.changed)


def test_other_models_and_seats_are_differences_of_the_cast():
    first, (debate, turns) = completed(), other(jury=1)
    changed = replace(debate, cast=tuple(replace(seat, model="openai:x@http://me:secret@h/v1") for seat in debate.cast))
    found = compare(*first, changed, turns)
    cast = {each.name: (each.one, each.two) for each in found.seats}
    assert cast["a.model"] == ("scripted:none", "openai:x@http://h/v1")
    assert cast["juror1"] == (None, "openai:x@http://h/v1")
    assert "secret" not in json.dumps(found.as_json())


def test_nested_settings_are_named_with_dots():
    calm = {"name": "Calm", "position": "Against."}
    first = completed("duel", turns=2)
    second = other("duel", turns=2, debaters=({"name": "Ada"}, calm), jury_models=["openai:x@http://me:secret@h/v1"])
    found = compare(*first, *second)
    names = {each.name: (each.one, each.two) for each in found.settings}
    assert names["debaters.1.name"] == ("Basil", "Calm")
    assert names["jury_models"] == (None, ["openai:x@http://h/v1"])


def test_different_formats_have_no_steps_in_common():
    found = compare(*completed(max_rounds=1), *other("duel", turns=2))
    assert not found.same_rules
    assert (found.same, found.changed, found.only_one, found.only_two, found.parting) == (0, (), (), (), None)
    assert [each.name for each in found.settings] == ["max_runtime_seconds", "max_total_output_tokens"]
    assert found.one.winner == found.two.winner == "a"


def test_long_texts_are_cut_around_where_they_part():
    same = " ".join(f"w{n}" for n in range(200))
    one, two = marked(f"{same} left {same} {same}", f"{same} right {same} {same}")
    assert one.before == two.before == 200 - CONTEXT_WORDS
    assert sum(len(span.text.split()) for span in one.spans) == EXCERPT_WORDS
    assert one.before + EXCERPT_WORDS + one.after == 601
    assert one.spans[1].text == "left"
    assert two.spans[1].text == "right"


@given(st.text(), st.text())
def test_an_excerpt_has_the_words_of_its_text_and_marks_none_of_equal_ones(one: str, two: str):
    left, right = marked(one, two)
    for excerpt, text in ((left, one), (right, two)):
        words = " ".join(span.text for span in excerpt.spans).split()
        whole = clean(text).split()
        assert words == whole[excerpt.before : excerpt.before + len(words)]
        assert excerpt.before + len(words) + excerpt.after == len(whole)
    assert not any(span.differs for span in marked(one, one)[0].spans)
