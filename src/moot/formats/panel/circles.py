"""Whether a panel goes in circles: how much of a new argument its speaker has said before, in the same words and in
meaning.

Words said again are said again, so that number can end a panel. Meaning can't: an embedder finds an argument as alike
to its opposite as to its paraphrase, so a speaker who has changed their mind looks like one who repeats. It is shown,
and it speaks for or against a moderator who finds that it goes in circles; it decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.reasoning.repetition import repetition
from moot.types import Json, Likeness, record

REPEATS = 0.6  # more of an argument than this said before, word for word, is called repetition
PARAPHRASE = 0.7  # from here on an argument may be an earlier one in other words


@record
class Measure:
    """What was measured of one speaker's newest argument."""

    name: str
    repetition: float  # share of its runs of words that stand in earlier ones
    likeness: float | None = None  # to the most alike of its earlier ones; None: not measured

    @property
    def repeats(self) -> bool:
        return self.repetition > REPEATS

    @property
    def paraphrases(self) -> bool:
        return self.likeness is not None and self.likeness >= PARAPHRASE

    def told(self) -> str:
        alike = ""
        if self.likeness is not None:
            alike = f", and is {self.likeness:.2f} alike in meaning to an earlier argument of its own"
            alike += ": perhaps the same in other words" if self.paraphrases and not self.repeats else ""
        return f"{self.name} repeats {self.repetition:.0%} of what it said before{alike}"


@record
class Circles:
    """What was measured in one round."""

    round: int
    measures: tuple[Measure, ...] = ()
    by: str = ""  # what compared the meanings; empty: nothing did

    def told(self) -> str:
        return "; ".join(measure.told() for measure in self.measures) or "nothing"

    def as_json(self) -> Json:
        return {
            "round": self.round,
            "repetition": {each.name: each.repetition for each in self.measures},
            "likeness": {each.name: each.likeness for each in self.measures if each.likeness is not None},
            "likeness_by": self.by,
            "repeats": [each.name for each in self.measures if each.repeats],
            "paraphrases": [each.name for each in self.measures if each.paraphrases],
        }

    def stalled(self, moderator_says_so: bool) -> str:
        """Why the panel goes in circles, or nothing. The moderator's typed word counts, and words said again count
        whatever the moderator says; meaning only adds to what the moderator finds."""
        if self.measures and all(each.repeats for each in self.measures):
            return f"everyone repeats more than {REPEATS:.0%} of their own earlier arguments, word for word"
        if not moderator_says_so:
            return ""
        found = "the moderator says so"
        if not self.by:
            return found
        if all(each.repeats or each.paraphrases for each in self.measures):
            return f"{found}, and everyone's newest argument is much like an earlier one of their own"
        if any(each.repeats or each.paraphrases for each in self.measures):
            return f"{found}, and some arguments are much like earlier ones"
        return f"{found}, though by measure the newest arguments are unlike the earlier ones"


def pairs(arguments: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Each speaker's newest argument with each of their earlier ones, speaker by speaker."""
    return [(said[-1], earlier) for said in arguments.values() for earlier in said[:-1]]


def measured(round: int, arguments: Mapping[str, Sequence[str]], alike: Likeness | None = None) -> Circles:
    """`alike` has a score for each of `pairs`, or none."""
    compared = alike is not None and len(alike.scores) == len(pairs(arguments)) > 0
    scores = iter(alike.scores) if alike is not None and compared else iter(())
    measures: list[Measure] = []
    for name, said in arguments.items():
        own = [next(scores) for _ in said[:-1]] if compared else []
        share = repetition(said[-1], said[:-1]) if said else 0.0
        measures.append(Measure(name=name, repetition=share, likeness=max(own, default=None)))
    return Circles(round=round, measures=tuple(measures), by=alike.by if alike is not None and compared else "")
