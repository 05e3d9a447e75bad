"""Intervals, tests and findings, against published figures, exact counts and each other."""

from __future__ import annotations

from math import inf, isclose, log, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.evaluate.clusters import equal_clusters, freedom_of, t_of
from moot.evaluate.comparing import among, compared, finding, holm, items_for, items_needed, mid_p, one_sided
from moot.evaluate.intervals import (
    Pairs,
    clustered_wilson,
    effective_n,
    expected_pairs,
    paired,
    tango,
    wilson,
)
from moot.evaluate.validate import FALSE_HELPED, NO_BETTER, RARE, validate
from moot.evaluate.voters import draw_votes, effective_voters, error_correlation, majority_theory

counts = st.integers(0, 60)


def near(value: float, expected: float, digits: int = 3) -> bool:
    return round(value, digits) == expected


def test_wilson_gives_published_figures():
    # Newcombe 1998: 81 of 263, and 0 of 20.
    assert (near(wilson(81, 263).low, 0.2553, 4), near(wilson(81, 263).high, 0.3662, 4)) == (True, True)
    assert wilson(0, 20).low == 0
    assert near(wilson(0, 20).high, 0.1611, 4)
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


@pytest.mark.parametrize(("n", "gained", "lost"), [(44, 1, 0), (30, 3, 1), (100, 20, 10), (164, 5, 5)])
def test_tango_ends_where_the_score_test_just_rejects(n: int, gained: int, lost: int):
    """The nuisance share is found by search here, not by the closed form."""

    def statistic(delta: float) -> float:
        def likelihood(q: float) -> float:
            p, same = q + delta, 1 - 2 * q - delta
            terms = ((gained, p), (lost, q), (n - gained - lost, same))
            return -inf if any(k and share <= 0 for k, share in terms) else sum(k * log(s) for k, s in terms if k)

        low, high = max(0.0, -delta), (1 - delta) / 2
        q = max((low + (high - low) * step / 20_000 for step in range(20_001)), key=likelihood)
        return (gained - lost - n * delta) / sqrt(n * (2 * q + delta * (1 - delta)))

    found = tango(Pairs(n=n, gained=gained, lost=lost))
    assert isclose(statistic(found.low), 1.96, abs_tol=0.01)
    assert isclose(statistic(found.high), -1.96, abs_tol=0.01)


@given(counts, counts, counts)
def test_tango_holds_its_estimate_and_turns_around_with_its_arms(both: int, gained: int, lost: int):
    pairs = Pairs(n=both + gained + lost, gained=gained, lost=lost)
    one, other = tango(pairs), tango(Pairs(n=pairs.n, gained=lost, lost=gained))
    assert one.low - 1e-9 <= pairs.difference <= one.high + 1e-9
    assert -1 <= one.low <= one.high <= 1
    assert isclose(one.low, -other.high, abs_tol=1e-6)
    assert isclose(one.high, -other.low, abs_tol=1e-6)


def test_one_epoch_is_no_cluster_and_equal_epochs_are_one_item():
    right = [True] * 30 + [False] * 20
    single = clustered_wilson([[score] for score in right])
    assert isclose(single.low, wilson(30, 50).low, abs_tol=0.01)
    repeated = clustered_wilson([[score] * 5 for score in right])
    assert isclose(repeated.width, single.width, rel_tol=0.02)
    assert 48 <= effective_n([[score] * 5 for score in right]) <= 51


def test_one_item_asked_often_shows_nothing_and_few_items_count_as_no_more():
    once = expected_pairs([[(1.0, 0.0)] * 40])
    assert (once.n, once.gained, once.lost) == (1, 1, 0)
    assert finding(once) == "can't tell"
    alike = [[(1.0, 0.0)] * 10 + [(0.0, 0.0)] * 10, [(1.0, 0.0)] * 11 + [(0.0, 0.0)] * 9]
    assert (expected_pairs(alike).n, finding(expected_pairs(alike))) == (2, "can't tell")
    assert effective_n([[1.0, 0.0] * 5, [0.0, 1.0] * 4 + [1.0, 1.0]]) == 2


def test_students_t_gives_published_figures():
    assert [round(t_of(freedom), 3) for freedom in (1, 2, 5, 10, 99)] == [12.706, 4.303, 2.571, 2.228, 1.984]
    assert near(t_of(5000), 1.96, 2)


def test_clusters_of_unequal_size_are_worth_fewer():
    assert (equal_clusters([20] * 10), round(freedom_of([20] * 10), 6)) == (10, 9)
    unequal = [60, 60] + [4] * 18
    assert near(equal_clusters(unequal), 4.923)
    assert 1 < freedom_of(unequal) < 2


@pytest.mark.parametrize("sizes", [[30] * 4, [60, 60] + [4] * 18], ids=str)
def test_related_items_are_not_said_to_be_helped_by_chance(sizes: list[int]):
    """No true difference, but a cluster of items goes one way or the other."""
    rng, evaluations = Random(7), 600
    helped = covered = 0
    kinds = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    for _ in range(evaluations):
        effects = (max(-0.3, min(0.3, rng.gauss(0, 0.2))) for _ in sizes)
        drawn = [
            rng.choices(kinds, weights=((0.3 + effect) / 2, (0.3 - effect) / 2, 0.7), k=size)
            for size, effect in zip(sizes, effects, strict=True)
        ]
        pairs = expected_pairs(drawn)
        helped += finding(pairs) == "helped"
        covered += 0.0 in tango(pairs)
    assert helped / evaluations <= 0.025
    assert covered / evaluations >= 0.935


@pytest.mark.parametrize(("clusters", "size"), [(8, 30), (50, 10)])
def test_topics_on_which_an_arm_does_far_worse_do_not_help_by_being_rare(clusters: int, size: int):
    """It does a little better on most topics and far worse on a few, so that there is no true difference. `validate`
    looks at a larger share of such topics."""
    rng, evaluations = Random(11), 600
    found: list[str] = []
    for _ in range(evaluations):
        chances = [(0.05, 0.95) if rng.random() < 0.1 else (0.5, 0.4) for _ in range(clusters)]
        drawn = [[(float(rng.random() < a), float(rng.random() < b)) for _ in range(size)] for a, b in chances]
        found.append(finding(expected_pairs(drawn)))
    assert found.count("helped") / evaluations <= 0.025 + 2 * (0.025 * 0.975 / evaluations) ** 0.5


def test_many_related_items_show_what_is_there():
    rng, kinds = Random(7), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    for clusters, size in ((57, 20), (100, 5)):
        found = [
            finding(expected_pairs([rng.choices(kinds, weights=(0.2, 0.1, 0.7), k=size) for _ in range(clusters)]))
            for _ in range(100)
        ]
        assert found.count("helped") >= 80


def test_mcnemar_and_holm():
    assert near(mid_p(9, 3), 0.0923, 4)
    assert mid_p(0, 0) == 1
    assert mid_p(5, 0) == 2 / 32 - 1 / 32
    assert mid_p(3, 9) == mid_p(9, 3)
    assert one_sided(5, 0) == 1 / 32
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_findings():
    assert finding(Pairs(n=100, gained=20, lost=2)) == "helped"
    assert finding(Pairs(n=100, gained=2, lost=20)) == "hurt"
    assert finding(Pairs(n=2000, gained=40, lost=60)) == "did not help"
    unclear = compared(Pairs(n=50, gained=6, lost=3))
    assert (unclear.finding, unclear.needed) == ("can't tell", items_needed(unclear.pairs))
    assert unclear.needed is not None
    assert unclear.needed > 50
    assert compared(Pairs(n=20, gained=0, lost=0)).needed is None


def test_findings_among_several_must_hold_after_the_correction():
    assert [among("helped", p) for p in (0.05, 0.051)] == ["helped", "can't tell"]
    assert [among("hurt", p) for p in (0.05, 0.051)] == ["hurt", "did not help"]  # its interval ends below 0
    assert among("did not help", 1.0) == "did not help"
    pairs = Pairs(n=100, gained=13, lost=4)
    one, two = items_needed(pairs), items_needed(pairs, arms=2)
    assert one is not None
    assert two is not None
    assert two > one


def test_scores_that_are_probabilities_give_expected_gains_and_losses():
    found = expected_pairs([[(1.0, 0.25)], [(0.0, 0.25)], [(1.0, 1.0)]])
    assert (found.n, found.gained, found.lost) == (3, 0.75, 0.25)
    assert expected_pairs([[(1.0, 0.0)], [(0.0, 1.0)]]) == paired([True, False], [False, True])


def test_more_items_are_asked_for_than_there_were():
    few = compared(Pairs(n=4, gained=4, lost=0), items=6)
    assert (few.finding, few.interval.low > 0, few.needed) == ("can't tell", True, 9)


def test_how_many_items_it_takes():
    assert [items_for(0.03, 0.2), items_for(0.05, 0.2), items_for(0.1, 0.3)] == [1742, 626, 234]
    with pytest.raises(ValueError, match="difference of 0"):
        items_for(0, 0.2)


def test_a_majority_of_correlated_voters():
    assert [round(majority_theory(0.7, rho, 5), 3) for rho in (0, 0.5, 0.8, 1)] == [0.837, 0.719, 0.702, 0.7]
    assert effective_voters(5, 0) == 5
    assert effective_voters(5, 1) == 1


def test_the_correlation_that_was_drawn_is_found_again():
    rng = Random(3)
    found = error_correlation([draw_votes(rng, 0.7, 0.5, 4) for _ in range(20_000)])
    assert found is not None
    assert abs(found - 0.5) < 0.02
    assert error_correlation([[True, True]] * 9) is None


@pytest.mark.slow
def test_everything_that_is_promised_holds_and_can_fail(monkeypatch: pytest.MonkeyPatch):
    checks = list(validate(seed=1, evaluations=300))
    assert [each.name for each in checks if not each.holds] == []
    assert sum(each.limit == FALSE_HELPED for each in checks) == 3 + len(RARE) + len(NO_BETTER)
    monkeypatch.setattr("moot.evaluate.validate.tango", lambda pairs: wilson(0, 50))
    assert [each for each in validate(seed=1, evaluations=2) if not each.holds]
