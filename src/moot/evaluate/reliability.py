"""How far confidence can be believed: pairs of how sure something was, from 0 to 1, and how far it was right."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from moot.core.types import Json

BINS = 10


def brier(pairs: Sequence[tuple[float, float]]) -> float:
    """The mean squared distance between confidence and outcome: 0 is perfect, 0.25 is saying 50% of everything."""
    return sum((said - came) ** 2 for said, came in pairs) / len(pairs)


def ece(pairs: Sequence[tuple[float, float]]) -> float:
    """Expected calibration error: how far confidence and share of right ones are apart in bins of equal width, weighted
    by the number in each."""
    return sum(abs(sum(said for said, _ in each) - sum(came for _, came in each)) for each in binned(pairs)) / len(
        pairs
    )


def binned(pairs: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """The pairs by confidence; a bin that nothing falls into is left out."""
    found: dict[int, list[tuple[float, float]]] = {}
    for said, came in pairs:
        found.setdefault(bin_of(said), []).append((said, came))
    return [found[at] for at in sorted(found)]


def bin_of(said: float) -> int:
    return min(BINS - 1, int(said * BINS + 1e-9))


def reliability(pairs: Sequence[tuple[float, float]]) -> Json | None:
    """Brier score, expected calibration error and a reliability diagram, as JSON; None without any confidence."""
    if not pairs:
        return None
    return {
        "n": len(pairs),
        "brier": brier(pairs),
        "ece": ece(pairs),
        "reliability": [
            {
                "confidence": fmean(said for said, _ in each),
                "accuracy": fmean(came for _, came in each),
                "n": len(each),
            }
            for each in binned(pairs)
        ],
    }
