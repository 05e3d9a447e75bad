"""Two sides that answered the same items, compared: over what both have, and over all, with what failed counted against
the one and in its favour. A finding must hold however that is counted, and among all that are compared together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from moot.core.types import Json
from moot.evaluate.comparing import among, compared, holm, items_needed
from moot.evaluate.intervals import Pairs
from moot.evaluate.rows import Row, pairs_of
from moot.evaluate.summaries import ends

NO_FINDING = "can't tell"
BOUNDS = ("counted_against", "counted_for")

Pair = tuple[Row, Row]


def comparison(pairs: Sequence[Pair], low: Sequence[Pair], high: Sequence[Pair]) -> Json:
    """The first of each pair less the second. `low` and `high`: also of the items that `pairs` leaves out because a
    debate failed or has not ended, with what they are compared with when that is counted against the first, and in its
    favour."""
    known = known_of(pairs)
    items = len({row.item for row, _ in known})
    result = compared(pairs_of(known), items)
    debates = {row.item for row, _ in low} - {row.item for row, _ in pairs}
    debates |= {row.item for row, other in low if "debate" in (row.lost, other.lost)}
    samples = {row.item for row, other in low if "samples" in (row.lost, other.lost)} - debates
    unfinished = {row.item for row, other in low if row.unfinished or other.unfinished} & debates
    return {
        "n": result.pairs.n,
        "answers": len(known),
        "items": items,
        "gained": result.pairs.gained,
        "lost": result.pairs.lost,
        "difference": result.pairs.difference,
        "interval": ends(result.interval),
        "p": result.p,
        "finding": result.finding,
        "needed": result.needed,
        "failed_items": len(debates | samples),
        "failed_samples": len(samples),
        "unfinished_items": len(unfinished),
        "counted_against": _bound(low, 0.0) if debates | samples else None,
        "counted_for": _bound(high, 1.0) if debates | samples else None,
    }


def known_of(pairs: Sequence[Pair]) -> list[Pair]:
    """Those of which neither side is lost."""
    return [(row, other) for row, other in pairs if not row.lost and not other.lost]


def _bound(pairs: Sequence[Pair], score: float) -> Json:
    """The comparison over all items: what failed has this score on the first side, and the opposite on the second."""
    result = compared(pairs_of((_scored(row, score), _scored(other, 1 - score)) for row, other in pairs))
    return {
        "difference": result.pairs.difference,
        "interval": ends(result.interval),
        "p": result.p,
        "finding": result.finding,
    }


def _scored(row: Row, score: float) -> Row:
    return replace(row, score=score) if row.lost else row


def settle(comparisons: Sequence[Json]) -> None:
    """Complete comparisons that are made together: what each finds must hold among them all, and in spite of what
    failed."""
    for bound in BOUNDS:
        _correct_bounds(comparisons, bound)
    for each, p_holm in zip(comparisons, holm([float(each["p"]) for each in comparisons]), strict=True):
        _correct(each, p_holm, len(comparisons))
        _hold(each)


def _correct_bounds(comparisons: Sequence[Json], bound: str) -> None:
    """Correct what bounds find for being several, as their comparisons are. Where nothing failed, there is none: the
    comparison itself stands for it."""
    for each, p_holm in zip(
        comparisons, holm([float((each[bound] or each)["p"]) for each in comparisons]), strict=True
    ):
        if each[bound]:
            each[bound]["finding"] = among(each[bound]["finding"], p_holm)


def _correct(comparison: Json, p_holm: float, arms: int) -> None:
    pairs = Pairs(n=comparison["n"], gained=comparison["gained"], lost=comparison["lost"])
    alone = comparison["finding"]
    found = among(alone, p_holm)
    comparison["doubt"] = None
    if found != alone:
        needed = items_needed(pairs, comparison["items"], arms)
        comparison |= {"finding": found, "needed": needed, "doubt": "arms"}
    comparison |= {"p_holm": p_holm, "arms_compared": arms, "finding_alone": alone}


def _hold(comparison: Json) -> None:
    """Take back what a comparison finds where it need not hold: what failed, counted against it, could undo it, or the
    debate that did better has asked models that the baseline has not, or cost more than it. More items would not tell,
    then, either."""
    found, short = comparison["finding"], comparison.get("pool_too_small", False)
    if comparison["failed_items"]:
        low, high = (comparison[bound] for bound in BOUNDS)
        held = {
            "helped": low["finding"] == "helped" and (short or not low.get("pool_too_small", False)),
            "hurt": high["finding"] == "hurt",
            "did not help": high["finding"] in ("did not help", "hurt"),
            NO_FINDING: True,
        }
        if not held[found]:
            comparison |= {"finding": NO_FINDING, "doubt": "failed", "needed": None}
            return
    asked, other = (set(comparison.get(key, ())) for key in ("models", "baseline_models"))
    doubt = (
        "models" if other and asked - other else "cost" if short or comparison.get("baseline_cheaper", False) else None
    )
    if doubt and comparison["difference"] > 0 and found in ("helped", NO_FINDING):
        comparison["needed"] = None
        if found == "helped":
            comparison |= {"finding": NO_FINDING, "doubt": doubt}
