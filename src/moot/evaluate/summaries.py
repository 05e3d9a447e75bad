"""What each arm did by itself: how often it was right, at what cost, and what its debates changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from moot.core.types import Json
from moot.evaluate.comparing import compared
from moot.evaluate.intervals import Interval, clustered_wilson, effective_n, wilson
from moot.evaluate.reliability import reliability
from moot.evaluate.rows import Row, pairs_of
from moot.evaluate.voters import effective_voters, error_correlation, majority_theory


def summary(rows: Sequence[Row], failed: int = 0) -> Json:
    """What is printed for each arm. `failed`: how many of its debates did, beside these rows. Lost rows are
    counted, and part of nothing else."""
    samples, rows = _samples(rows), [row for row in rows if not row.lost]
    if not rows:
        return {"n": 0, "failed": None if samples else failed, "samples": samples}
    scores, n, right = _by_cluster((row, row.score) for row in rows), len(rows), sum(row.score for row in rows)
    known = [row.usd for row in rows if row.usd is not None]
    usd = sum(known) if len(known) == n else None
    tokens = sum(row.tokens_in + row.tokens_out for row in rows)
    flips = [(row, row.flip_rate) for row in rows if row.flip_rate is not None]
    return {
        "n": n,
        "right": right,
        "accuracy": right / n,
        "interval": ends(_share_interval(scores)),
        "effective_n": float(n) if len(scores) == n else effective_n(scores),
        "failed": None if samples else failed,
        "no_answer": sum(row.no_answer for row in rows),
        "samples": samples,
        "undecided": sum(row.undecided for row in rows),
        "ties": sum(row.tie for row in rows),
        "flips": None
        if not flips
        else {
            "rate": fmean(rate for _, rate in flips),
            "of": len(flips),
            "interval": ends(_share_interval(_by_cluster(flips))),
        },
        "usd_per_item": None if usd is None else usd / n,
        "tokens_per_item": tokens / n,
        "usd_per_right": None if usd is None or not right else usd / right,
        "tokens_per_right": None if not right else tokens / right,
        **_before(rows),
        "voters": _voters(rows),
        "calibration": {
            "stated": reliability([(row.stated, bool(row.score)) for row in rows if row.stated is not None]),
            "agreement": reliability([(row.agreement, bool(row.score)) for row in rows if row.agreement is not None]),
        },
    }


def _samples(rows: Sequence[Row]) -> Json | None:
    """The samples that a baseline is drawn from; None: these rows have debates of their own."""
    if not any(row.drawn for row in rows):
        return None
    kept = [row for row in rows if not row.lost]
    return {
        "given": sum(row.samples for row in kept),
        "no_answer": sum(row.silent for row in kept),
        "missed": sum(row.missed for row in rows),
        "left_out": len(rows) - len(kept),
    }


def _before(rows: Sequence[Row]) -> Json:
    """What the debate itself added: the vote of the first answers, and what became of it."""
    voted = [row for row in rows if row.first_vote]
    if not voted:
        return {"first_vote": None}
    moved = Counter(f"{row.first_vote} to {_ending(row)}" for row in voted)
    added = compared(pairs_of((row, replace(row, score=row.first_score)) for row in voted))
    return {
        "first_vote": {
            "accuracy": fmean(row.first_score for row in voted),
            "added": {"difference": added.pairs.difference, "interval": ends(added.interval), "p": added.p},
            "ties": sum(row.first_vote == "tie" for row in voted),
            "repaired": moved["wrong to right"],
            "broken": moved["right to wrong"] + moved["right to none"],
            "transitions": dict(sorted(moved.items())),
        }
    }


def _ending(row: Row) -> str:
    return "none" if row.value is None else "right" if row.score else "wrong"


def _voters(rows: Sequence[Row]) -> Json | None:
    """How far the errors of those who answered first go together, and what a majority of them would be worth."""
    votes = [list(row.first) for row in rows if len(row.first) > 1]
    if not votes:
        return None
    k = min(map(len, votes))
    flat = [vote for each in votes for vote in each]
    skill, rho = sum(flat) / len(flat), error_correlation(votes)
    odd = k if k % 2 else k - 1  # an even number has no majority where it is split
    first = [each[:odd] for each in votes]
    own = fmean(vote for each in first for vote in each)
    return {
        "voters": k,
        "accuracy": skill,
        "correlation": rho,
        "effective": None if rho is None else effective_voters(k, rho),
        "majority_of": odd,
        "majority_predicted": None if rho is None or not 0 < own < 1 else majority_theory(own, max(0.0, rho), odd),
        "majority_observed": fmean(2 * sum(each) > odd for each in first),
    }


def timing(rows: Sequence[Row]) -> Json:
    times = sorted(row.seconds for row in rows)
    if not times:
        return {"p50": None, "p95": None}

    def at(share: float) -> float:
        return times[min(len(times) - 1, int(share * len(times)))]

    return {"p50": round(at(0.5), 3), "p95": round(at(0.95), 3)}


def ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _by_cluster(scores: Iterable[tuple[Row, float]]) -> list[list[float]]:
    clusters: dict[str, list[float]] = {}
    for row, score in scores:
        clusters.setdefault(row.cluster, []).append(score)
    return list(clusters.values())


def _share_interval(clusters: Sequence[Sequence[float]]) -> Interval:
    n = sum(map(len, clusters))
    return wilson(sum(map(sum, clusters)), n) if len(clusters) == n else clustered_wilson(clusters)
