"""Agreement of several judges beyond chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def krippendorff_alpha(units: Sequence[Sequence[str | None]]) -> float | None:
    """Krippendorff's alpha for nominal values: 1 is full agreement, 0 is what chance gives.

    A unit holds what each judge made of one thing; None is missing. Units that fewer than two judged don't count. None
    where nothing can differ: no such unit, or one value in all of them."""
    pairable = [[value for value in unit if value is not None] for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    totals = Counter(value for unit in pairable for value in unit)
    n = totals.total()
    expected = n * n - sum(count * count for count in totals.values())
    if not expected:
        return None
    differing = sum(_differing(unit) / (len(unit) - 1) for unit in pairable)
    return 1 - (n - 1) * differing / expected


def _differing(unit: Sequence[str]) -> int:
    """Ordered pairs of different values."""
    return len(unit) ** 2 - sum(count * count for count in Counter(unit).values())
