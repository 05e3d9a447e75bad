"""What must hold for any vote, whatever the ballots."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.poll import Ballot, Candidate
from moot.reasoning.voting import Profile, condorcet_winner, count, methods
from moot.reasoning.voting.independence import effective_voters

NAMES = "abcde"
METHODS = sorted(methods())
BREAKS = ("pairwise", "support")


Vote = tuple[list[Candidate], list[Ballot]]
SEEDS = st.integers(0, 2**32).map(Random)  # drawing every ballot by itself would take most of the time


def vote_of(rng: Random, *, owned: bool = True, weighed: bool = True) -> Vote:
    """Candidates, some of them voters' own, and ballots that may be short, empty, weighted."""
    names = NAMES[: rng.randint(1, 5)]
    voters = [f"v{n}" for n in range(rng.randint(0, 7))]
    candidates = [Candidate(id=name, author=rng.choice(["", *voters]) if owned else "") for name in names]
    ballots: list[Ballot] = []
    for voter in voters:
        able = [each.id for each in candidates if each.author != voter]
        ranking = rng.sample(able, rng.randint(0, len(able)))
        weight = Fraction(rng.randint(0, 6), rng.randint(1, 4)) if weighed else Fraction(1)
        approves = rng.sample(names, rng.randint(0, len(names)))
        ballots.append(Ballot(voter=voter, ranking=tuple(ranking), weight=weight, approves=tuple(approves)))
    return candidates, ballots


def grouped(method, candidates, ballots, breaks=BREAKS) -> list[frozenset[str]]:
    return [frozenset(place) for place in count(method, candidates, ballots, breaks).places]


@given(SEEDS)
def test_neither_the_order_of_ballots_nor_what_is_called_how_matters(rng: Random):
    candidates, ballots = vote_of(rng)
    mixed = rng.sample(candidates, len(candidates)), rng.sample(ballots, len(ballots))
    called = dict(zip(NAMES, rng.sample(NAMES, 5), strict=True))
    renamed = [Candidate(id=called[each.id], author=each.author) for each in candidates]
    written = [
        ballot.model_copy(
            update={
                "ranking": tuple(called[name] for name in ballot.ranking),
                "approves": tuple(called[name] for name in ballot.approves),
            }
        )
        for ballot in ballots
    ]
    for method in METHODS:
        before = grouped(method, candidates, ballots)
        assert sorted(name for place in before for name in place) == sorted(each.id for each in candidates)
        assert grouped(method, *mixed) == before
        assert grouped(method, renamed, written) == [frozenset(called[name] for name in place) for place in before]


@given(SEEDS)
def test_raising_a_winner_keeps_it_a_winner(rng: Random):
    candidates, ballots = vote_of(rng)
    can_rise = [(n, at) for n, each in enumerate(ballots) for at in range(1, len(each.ranking))]
    if not can_rise:
        return
    n, at = rng.choice(can_rise)
    order = list(ballots[n].ranking)
    risen = order.pop(at)
    order.insert(rng.randrange(at), risen)
    raised = [*ballots]
    raised[n] = ballots[n].model_copy(update={"ranking": tuple(order)})
    for method in METHODS:
        before, after = count(method, candidates, ballots), count(method, candidates, raised)
        if risen in before.places[0]:
            assert risen in after.places[0]
            assert after.reached >= before.reached


@given(SEEDS)
def test_what_beats_every_other_one_wins(rng: Random):
    candidates, ballots = vote_of(rng)
    profile = Profile(candidates, ballots)
    best = condorcet_winner(profile)
    rivals = [each.id for each in candidates]
    beats_all = [
        one
        for one in rivals
        if all(profile.preferences[one][two] > profile.preferences[two][one] for two in rivals if two != one)
    ]
    assert beats_all == ([] if best is None else [best])
    if best is not None and profile.total:
        for method in ("condorcet", "schulze"):
            result = count(method, candidates, ballots)
            assert (result.winner, result.fallback) == (best, "")
    elif profile.total:
        assert count("condorcet", candidates, ballots).fallback == "borda"


@given(SEEDS)
def test_what_everyone_puts_first_wins(rng: Random):
    candidates, ballots = vote_of(rng, owned=False, weighed=False)
    first = rng.choice(candidates).id
    agreed = [
        ballot.model_copy(update={"ranking": (first, *(name for name in ballot.ranking if name != first))})
        for ballot in ballots
    ]
    for method in METHODS if agreed else ():
        assert count(method, candidates, agreed).winner == first


@given(SEEDS)
def test_a_weight_is_so_many_equal_ballots_and_a_weight_of_one_is_none(rng: Random):
    candidates, ballots = vote_of(rng, weighed=False)
    weights = [rng.randint(1, 3) for _ in ballots]
    weighed = [ballot.model_copy(update={"weight": Fraction(n)}) for ballot, n in zip(ballots, weights, strict=True)]
    copied = [ballot for ballot, n in zip(ballots, weights, strict=True) for _ in range(n)]
    halved = [ballot.model_copy(update={"weight": ballot.weight / 2}) for ballot in weighed]
    for name, method in methods().items():
        same = count(name, candidates, copied if method.weighs else ballots).places
        assert count(name, candidates, weighed).places == same
        assert count(name, candidates, halved).places == same
    assert count("weighted", candidates, ballots).places == count("plurality", candidates, ballots).places


@given(SEEDS)
def test_points_are_what_their_definition_says(rng: Random):
    candidates, ballots = vote_of(rng)
    names = [each.id for each in candidates]
    own = {each.id: each.author for each in candidates}
    expected: dict[str, Fraction] = {}
    for name in names:
        earned = compared = Fraction()
        for ballot in ballots:
            others = [other for other in names if own[other] != ballot.voter and other != name]
            if not ballot.ranking or not others or own[name] == ballot.voter:
                continue
            place = {each: n for n, each in enumerate(ballot.ranking)}
            mine = place.get(name, len(names))
            below = sum(place.get(other, len(names)) > mine for other in others)
            beside = sum(place.get(other, len(names)) == mine for other in others)
            earned += ballot.weight * Fraction(2 * below + beside, 2 * len(others))
            compared += ballot.weight
        if compared:
            expected[name] = earned / compared
    profile = Profile(candidates, ballots)
    assert profile.points == expected
    assert all(0 <= points <= 1 for points in profile.points.values())
    for one in names:
        for two in set(names) - {one}:
            assert profile.margins[one][two] == -profile.margins[two][one]
            assert -1 <= profile.margins[one][two] <= 1


def sets(**signed: str):
    return {voter: frozenset(answers) for voter, answers in signed.items()}


def test_effective_voters():
    assert effective_voters(sets(x="abc", y="abc", z="abc"), "abc") == 1
    assert effective_voters(sets(x="a", y="b", z="c"), "abc") == 3
    assert effective_voters(sets(x="ab", y="ab", z="c"), "abc") == pytest.approx(1.8)
    assert effective_voters(sets(x="a", y="b"), "ab") == 2
    assert effective_voters(sets(x="a"), "ab") is None
    assert effective_voters({}, "ab") is None
    assert effective_voters(sets(x="a", y="b"), "") is None


@given(st.lists(st.frozensets(st.sampled_from("abcd")), min_size=2, max_size=9))
def test_effective_voters_are_at_least_one_and_at_most_all(signed):
    voters = {str(n): each for n, each in enumerate(signed)}
    worth = effective_voters(voters, "abcd")
    assert 1 <= worth <= len(signed) + 1e-9
    assert effective_voters(dict(reversed(voters.items())), "dcba") == worth
