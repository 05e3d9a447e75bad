"""Ballots are counted pair by pair; anyone can count them again from what is stored."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from challenges.asking import Place, main


def challenge(place: Place) -> None:
    skills = "seed={seed}&skill=0&cases=0&repair=0&red=0"
    chosen = {"preset": "default", "attempts": 0, "optimization": False, "adversarial": False, "voting": "condorcet"}
    polls: list[Any] = []
    for seed in range(8):  # the first whose evidence ties
        done = place.forge(skills.format(seed=seed), **chosen)
        polls = done["outcome"]["polls"]
        if polls:
            break
    place.check("where the evidence ties, there is a vote", polls)
    poll = polls[0]
    place.check("by the method that was named", poll["method"] == "condorcet")
    own = {each["author"]: each["id"] for each in poll["candidates"]}
    place.check("no one ranks its own", not [b for b in poll["ballots"] if own.get(b["voter"]) in b["ranking"]])
    stored = {turn["key"] for turn in place.rows("debate_turns", done["id"], "seq")}
    place.check("each ballot is a turn in the database", all({*b["keys"]} <= stored for b in poll["ballots"]))
    winner = _beats_all([each["id"] for each in poll["candidates"]], poll["ballots"])
    first = poll["result"]["places"][0]
    place.check(
        "counted again, it comes out the same", poll["result"]["fallback"] if winner is None else first == [winner]
    )


def _beats_all(names: list[str], ballots: list[Any]) -> str | None:
    def lead(one: str, two: str) -> Fraction:
        """By how much weight one is preferred. What is not ranked stands last; who is a candidate's author abstains."""
        total = Fraction(0)
        for ballot in ballots:
            ranking = ballot["ranking"]
            if one in ranking and two in ranking:
                total += Fraction(ballot["weight"]) * (1 if ranking.index(one) < ranking.index(two) else -1)
        return total

    return next((one for one in names if all(lead(one, two) > 0 for two in names if two != one)), None)


if __name__ == "__main__":
    main(challenge)
