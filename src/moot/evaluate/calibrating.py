"""How far confidence can be believed: one source of it at a time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from moot.core.types import Json

BINS = 10


def calibration(given: Sequence[tuple[float, bool]]) -> Json | None:
    """Brier score, expected calibration error and a reliability diagram; None without any confidence."""
    if not given:
        return None
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for confidence, right in given:
        bins[min(BINS - 1, int(confidence * BINS))].append((confidence, right))
    filled = [each for each in bins if each]
    return {
        "n": len(given),
        "brier": fmean((confidence - right) ** 2 for confidence, right in given),
        "ece": sum(abs(_confidence(each) - _accuracy(each)) * len(each) for each in filled) / len(given),
        "reliability": [
            {"confidence": _confidence(each), "accuracy": _accuracy(each), "n": len(each)} for each in filled
        ],
    }


def _confidence(given: Sequence[tuple[float, bool]]) -> float:
    return fmean(confidence for confidence, _ in given)


def _accuracy(given: Sequence[tuple[float, bool]]) -> float:
    return fmean(float(right) for _, right in given)
