"""Votes of stored debates are counted again from their turns, and what was changed is noticed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from moot.core.errors import InputError, UnknownName
from moot.core.types import Debate, Failure, Turn
from moot.formats import installed
from moot.reasoning.voting import methods
from moot.runtime.tally import tally
from tests.formats.council.answers import INVALID, NAMES, ballot, council
from tests.playing import finished, good, play, script_of

CYCLE = {"m1": "m2/0", "m2": "m3/0", "m3": "m1/0"}


def played(format_: str, answer: Any = good, **settings: Any) -> tuple[Debate, list[Turn]]:
    run = play(script_of(format_, **settings), answer)
    return finished(format_, run, **settings), run.turns


def of_council(answer: Any = None, **settings: Any) -> tuple[Debate, list[Turn]]:
    return played("council", answer or council(behind=(), revise=("m1",)), **NAMES, **settings)


def recounted(debate: Debate, turns: list[Turn], method: str | None = None):
    return tally(installed()[debate.format], debate, turns, method)


def flipping(step):
    """Jurors who prefer the side that they read first, one of them with a bad ballot."""
    if step.key.endswith("juror2"):
        return Failure(kind="invalid", message="three bad tries")
    return {"reasoning": "r", "score_first": 8, "score_second": 3} if step.phase == "ballot" else good(step)


def in_a_circle(step):
    return ballot(step, [CYCLE[step.seat.id]])


@pytest.mark.parametrize(
    ("debate", "votes"),
    [
        *((partial(of_council, voting=name, max_rounds=2), 3) for name in ("auto", *methods())),
        (partial(of_council, council(**{"0_rank_m3": INVALID}), weights="models", agreement=0.6), 1),
        (partial(of_council, council(rank=INVALID)), 1),
        (partial(of_council, council(rank=in_a_circle), voting="condorcet", depth="vote"), 1),
        (partial(played, "duel", jury=3), 1),
        (partial(played, "duel", flipping, jury=3, swap=True), 1),
        (partial(played, "duel", flipping, jury=3, voting="majority"), 1),
        (partial(played, "duel", flipping, swap=True), 1),
        (partial(played, "classic", flipping, jury=2, max_rounds=1, voting="unanimous"), 1),
    ],
)
def test_every_vote_counted_again_is_the_one_stored(debate, votes):
    again = recounted(*debate())
    assert (again.same, again.unread, len(again.recounts)) == (True, "", votes)
    assert all(each.result == each.poll.result for each in again.recounts)


def test_another_method_shows_what_it_would_have_given():
    again = recounted(*of_council(voting="plurality", depth="vote"), method="schulze")
    (vote,) = again.recounts
    assert (vote.result.method, vote.other.method, again.same) == ("plurality", "schulze", True)
    with pytest.raises(UnknownName, match="There is no voting method 'dice'"):
        recounted(*of_council(), method="dice")


def changed(debate: Debate, **changes: Any) -> Debate:
    return replace(debate, outcome=debate.outcome.model_copy(update=changes))


def poll_changed(debate: Debate, **changes: Any) -> Debate:
    poll = debate.outcome.polls[0]
    return changed(debate, polls=(poll.model_copy(update=changes), *debate.outcome.polls[1:]))


def test_what_was_changed_since_is_said():
    debate, turns = of_council(depth="vote")
    poll = debate.outcome.polls[0]
    (first, *others), result = poll.ballots, poll.result

    def differences(stored: Debate, given: list[Turn] = turns) -> list[str]:
        again = recounted(stored, given)
        assert again.same is False
        return [*again.differences, *(line for each in again.recounts for line in each.differences)]

    swapped = first.model_copy(update={"ranking": first.ranking[::-1]})
    assert "The ballot of 'm1' is not the one in the turns." in differences(
        poll_changed(debate, ballots=(swapped, *others))
    )
    assert "The ballot of 'm1' in the turns was not counted." in differences(poll_changed(debate, ballots=(*others,)))
    assert differences(poll_changed(debate, method="schulze"))[0].startswith("What was voted on, or how,")
    assert differences(poll_changed(debate, result=result.model_copy(update={"abstained": 1}))) == [
        "Counted again, the result is another one than is stored."
    ]
    bad = first.model_copy(update={"ranking": ("m9/0",)})
    assert "It can't be counted: a ballot ranks 'm9/0', which is no candidate." in differences(
        poll_changed(debate, ballots=(bad, *others))
    )
    assert differences(changed(debate, winner="m2")) == ["The stored winner is 'm2', and not 'm1', as the vote has it."]
    assert "It is not clear which vote decides." in differences(poll_changed(debate, decides=False))
    assert differences(changed(debate, polls=(poll, poll)))[-1] == "The turns don't lead to this vote."
    edited = [
        replace(turn, data={**turn.data, "ranking": turn.data["ranking"][::-1]}) if turn.key == "0/rank/m2" else turn
        for turn in turns
    ]
    assert differences(debate, edited) == ["The turns don't lead to this vote."]
    garbled = [replace(turn, data={"ranking": 7}) if turn.key == "0/rank/m2" else turn for turn in turns]
    assert differences(debate, garbled) == ["The turns don't lead to this vote."]
    assert differences(debate, turns[:-1]) == ["The turns don't lead to this vote."]
    several, turns = of_council(max_rounds=1)
    assert "The turns have 1 vote more than are stored." in differences(
        changed(several, polls=several.outcome.polls[1:]), turns
    )


def test_ballots_that_can_not_be_read_again_are_counted_as_they_are_stored():
    debate, turns = of_council(depth="vote")
    without = tally(None, debate, turns)
    assert (without.same, without.unread) == (True, "The format 'council' is not installed here.")
    older = recounted(replace(debate, format_version=0), turns)
    assert older.same is True
    assert "made with version 0 of its format" in older.unread


def test_a_debate_without_a_vote_is_refused():
    with pytest.raises(InputError, match="has no vote to count"):
        recounted(*played("duel"))
    debate, turns = of_council()
    with pytest.raises(InputError, match="is stopped: there is no result"):
        recounted(replace(debate, status="stopped", outcome=None), turns)
