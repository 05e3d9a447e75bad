"""How much of a panelist's new argument repeats its earlier ones, verbatim and in meaning.

Verbatim repetition can end a panel. Likeness in meaning can't: an embedder finds an argument as alike to its opposite
as to its paraphrase, so a panelist who has changed its mind looks like one who repeats. It is shown, and it adds to
what the moderator says about stagnation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from moot.core.types import Json, Likeness, record
from moot.reasoning.repetition import repetition

REPEATS = 0.6  # a larger share of repeated words than this is called repetition
LEAST_COPY = 25  # letters; two may say the same short sentence by chance
PARAPHRASE = 0.7  # from this likeness on, an argument may be an earlier one in other words


@record
class ArgumentMeasure:
    """What was measured of one panelist's newest argument."""

    name: str
    repetition: float  # share of its shingles that occur in its earlier ones
    likeness: float | None = None  # to the most alike of its earlier ones; None: not measured

    @property
    def repeats(self) -> bool:
        return self.repetition > REPEATS

    @property
    def paraphrases(self) -> bool:
        return self.likeness is not None and self.likeness >= PARAPHRASE

    def __str__(self) -> str:
        alike = ""
        if self.likeness is not None:
            alike = f", and is {self.likeness:.2f} alike in meaning to an earlier argument of its own"
            alike += ": perhaps the same in other words" if self.paraphrases and not self.repeats else ""
        return f"{self.name} repeats {self.repetition:.0%} of what it said before{alike}"


@record
class RoundMeasures:
    """What was measured in one round."""

    round: int
    measures: tuple[ArgumentMeasure, ...] = ()
    by: str = ""  # what compared the meanings; empty: nothing did

    def __str__(self) -> str:
        return "; ".join(map(str, self.measures)) or "nothing"

    def as_json(self) -> Json:
        return {
            "round": self.round,
            "repetition": {each.name: each.repetition for each in self.measures},
            "likeness": {each.name: each.likeness for each in self.measures if each.likeness is not None},
            "likeness_by": self.by,
            "repeats": [each.name for each in self.measures if each.repeats],
            "paraphrases": [each.name for each in self.measures if each.paraphrases],
        }

    def stagnation(self, moderator_says_so: bool) -> str:
        """Why the panel stagnates; empty if it does not. Verbatim repetition by everyone is enough; otherwise only the
        moderator's typed assessment can say so, and likeness is quoted for or against it."""
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


def copied_from(text: str, own: Sequence[str], others: Mapping[str, Sequence[str]]) -> str | None:
    """The name of the one whose words `text` repeats: more than `REPEATS` of it, and not its speaker's own earlier
    words. Sentences too short for a share (and text without spaces) must be the same."""
    if repetition(text, own) > REPEATS or _same(text, own):
        return None
    for name, said in others.items():
        if repetition(text, said) > REPEATS or _same(text, said):
            return name
    return None


def _same(text: str, said: Sequence[str]) -> bool:
    plain = _plain(text)
    return len(plain) >= LEAST_COPY and any(plain == _plain(each) for each in said)


@lru_cache(maxsize=1024)  # each text is compared with all that were said before
def _plain(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def pairs_to_compare(arguments: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Each panelist's newest argument with each of its earlier ones, panelist by panelist."""
    return [(own[-1], earlier) for own in arguments.values() for earlier in own[:-1]]


def measure_round(
    round: int, arguments: Mapping[str, Sequence[str]], likeness: Likeness | None = None
) -> RoundMeasures:
    """Measure each panelist's newest argument. `likeness` has a score for each of `pairs_to_compare`, or none."""
    scores: Iterator[float] = iter(())
    by = ""
    if likeness is not None and len(likeness.scores) == len(pairs_to_compare(arguments)) > 0:
        scores, by = iter(likeness.scores), likeness.by
    measures: list[ArgumentMeasure] = []
    for name, own in arguments.items():
        share = repetition(own[-1], own[:-1]) if own else 0.0
        alike = [score for _, score in zip(own[:-1], scores, strict=False)]
        measures.append(ArgumentMeasure(name=name, repetition=share, likeness=max(alike, default=None)))
    return RoundMeasures(round=round, measures=tuple(measures), by=by)
