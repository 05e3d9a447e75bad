"""Winners by the package pref_voting, which this suite compares itself with. It runs in an environment of its own: the
package needs half a gigabyte of others. Reads a JSON list of profiles, writes one of winners by method."""

from __future__ import annotations

import json
import sys
from typing import Any

from pref_voting.c1_methods import condorcet
from pref_voting.margin_based_methods import beat_path
from pref_voting.other_methods import absolute_majority
from pref_voting.profiles import Profile
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.scoring_methods import borda, borda_for_profile_with_ties, plurality


def winners(given: dict[str, Any]) -> dict[str, list[int]]:
    """`ballots` are candidates by number, best first, and how many ballots are like that."""
    rankings = [ranking for ranking, _ in given["ballots"]]
    counts = [count for _, count in given["ballots"]]
    if all(len(ranking) == given["candidates"] for ranking in rankings):
        profile = Profile(rankings, rcounts=counts)
        # Where no one wins head to head, the oracle's `condorcet` gives everyone.
        best = profile.condorcet_winner()
        return {
            "plurality": plurality(profile),
            "majority": absolute_majority(profile),
            "borda": borda(profile),
            "condorcet": [] if best is None else condorcet(profile),
            "schulze": beat_path(profile),
        }
    orders = [{candidate: place for place, candidate in enumerate(ranking, 1)} for ranking in rankings]
    truncated = ProfileWithTies(orders, rcounts=counts, candidates=list(range(given["candidates"])))
    truncated.use_extended_strict_preference()  # what is left out is below what is ranked
    best = truncated.condorcet_winner()
    return {
        "plurality": plurality(truncated),
        "borda": borda_for_profile_with_ties(truncated),
        "condorcet": [] if best is None else [best],
        "schulze": beat_path(truncated),
    }


if __name__ == "__main__":
    found = [{name: [int(n) for n in won] for name, won in winners(each).items()} for each in json.load(sys.stdin)]
    json.dump(found, sys.stdout)
