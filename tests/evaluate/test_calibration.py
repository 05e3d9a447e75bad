"""Brier score, calibration error and reliability, against figures worked out by hand; and what of stored debates they
are made from."""

from __future__ import annotations

from random import Random

import pytest

from moot.client.client import Client
from moot.core.errors import InputError
from moot.evaluate.calibration import Forecast, Source, calibrated, forecasts
from moot.evaluate.reliability import brier, ece
from tests.evaluate.conftest import debated


def forecast(confidence: float, right: float, *, source: Source = "votes", group: str = "") -> Forecast:
    return Forecast(debate="d", source=source, group=group, confidence=confidence, right=right)


def test_figures_that_were_worked_out_by_hand():
    # 0.9 right, 0.9 wrong, 0.6 right, 0.3 wrong: squares 0.01, 0.81, 0.16, 0.09
    pairs = [(0.9, 1.0), (0.9, 0.0), (0.6, 1.0), (0.3, 0.0)]
    assert brier(pairs) == pytest.approx(1.07 / 4)
    # bins: |1.8 - 1|, |0.6 - 1|, |0.3 - 0|
    assert ece(pairs) == pytest.approx((0.8 + 0.4 + 0.3) / 4)
    assert brier([(0.5, 1.0), (0.5, 0.0)]) == 0.25
    assert brier([(0.7, 0.7)]) == ece([(0.7, 0.7)]) == 0


def test_bins_begin_where_they_say():
    whole = calibrated([forecast(share, 1) for share in (0.0, 0.1, 0.3, 0.7, 0.99, 1.0)])[0]
    assert [each.label for each in whole.bins] == ["0 to 10%", "10 to 20%", "30 to 40%", "70 to 80%", "90 to 100%"]
    assert [each.n for each in whole.bins] == [1, 1, 1, 1, 2]


def test_those_who_are_as_often_right_as_they_say_have_no_calibration_error():
    rng = Random(1)
    said = [rng.choice((0.55, 0.65, 0.75, 0.85, 0.95)) for _ in range(20_000)]
    honest = calibrated([forecast(each, float(rng.random() < each)) for each in said])[0]
    boasting = calibrated([forecast(min(1.0, each + 0.2), float(rng.random() < each)) for each in said])[0]
    assert honest.ece is not None
    assert boasting.ece is not None
    assert honest.brier is not None
    assert boasting.brier is not None
    assert honest.ece < 0.015
    assert 0.14 < boasting.ece < 0.2
    assert honest.brier < boasting.brier


def test_sources_are_never_mixed_and_levels_get_no_score():
    found = calibrated(
        [
            forecast(0.9, 1),
            forecast(0.6, 0, source="stated"),
            Forecast(debate="d", source="level", group="", confidence="High", right=1),
            Forecast(debate="e", source="level", group="", confidence="Low", right=0),
        ]
    )
    assert [(each.source, each.n) for each in found] == [("votes", 1), ("stated", 1), ("level", 2)]
    level = found[2]
    assert (level.brier, level.ece, level.confidence) == (None, None, None)
    assert [(each.label, each.right) for each in level.bins] == [("High", 1), ("Low", 0)]


def test_groups_have_figures_of_their_own_the_largest_first():
    made = [forecast(0.8, 1, group="a"), *[forecast(0.8, 0, group="b")] * 2]
    assert [(each.group, each.n, each.right) for each in calibrated(made, grouped=True)] == [("b", 2, 0), ("a", 1, 1)]
    assert [(each.group, each.n) for each in calibrated(made)] == [("", 3)]
    assert calibrated([]) == calibrated([], grouped=True) == []


async def test_forecasts_come_from_decisions_whose_outcome_is_recorded(client: Client):
    one, other, _ = [await debated(client, "council", depth="vote", model=f"sim:?seed={n}") for n in (1, 2, 3)]
    assert [each async for each in forecasts(client)] == []
    await client.turned_out(one, 1, "It held.")
    await client.turned_out(other, 0.25)
    found = [each async for each in forecasts(client, "model")]
    assert {each.debate for each in found} == {one.id, other.id}
    assert {each.group for each in found if each.debate == other.id} == {"sim:?seed=2"}
    assert one.outcome is not None
    by_source = {each.source: each.confidence for each in found if each.debate == one.id}
    assert by_source == {"votes": one.outcome.support, "stated": one.outcome.stated, "level": "Low"}
    assert all(each.demonstration for each in found)
    assert {each.group async for each in forecasts(client, "person")} == {one.initiated_by}
    with pytest.raises(InputError, match="at most 2,000 are kept"):
        await client.turned_out(one, 1, "x" * 2001)


async def test_what_came_to_no_decision_can_not_turn_out(client: Client):
    done = await debated(client, "classic", model_judge="sim:?garbage=1", max_rounds=1)
    assert done.outcome is not None
    assert not done.outcome.decided
    with pytest.raises(InputError, match="came to no decision"):
        await client.turned_out(done, 1)


async def test_an_answer_that_all_gave_can_turn_out_although_their_texts_tie(client: Client):
    question = "Simulated question 1-1: which of these is right, cobalt, amber or dune?"
    answer = {"kind": "choice", "options": ["cobalt", "amber", "dune"]}
    done = await debated(client, "council", question, model_debater="sim:?skill=1&seed=2", answer=answer)
    assert done.outcome is not None
    assert (done.outcome.decided, done.outcome.answer is None) == (False, False)
    assert (await client.turned_out(done, 1)).turned_out is not None
