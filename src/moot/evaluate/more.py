"""What a report knows about each arm, as tables: the same in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.core.amounts import duration, money
from moot.core.types import Json

ABOUT = (
    "arm", "right", "95% interval", "no answer", "failed", "usd/item", "tokens/item", "first vote", "added", "repaired",
    "broken",
)  # fmt: skip
HEAD = (
    "arm", "undecided", "ties", "flips", "usd/right", "tokens/right", "p50", "p95", "voters worth",
    "majority predicted", "observed",
)  # fmt: skip


def about_arms(report: Json) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the figures that matter most. A column without any is left out."""
    return _filled(ABOUT, [_about(name, each) for name, each in _arms(report)])


def more_about_arms(report: Json) -> tuple[list[str], list[list[str]]]:
    """Head and rows. A figure that is not known is empty, and a column without any is left out."""
    timing: Json = report.get("timing", {})
    return _filled(HEAD, [_row(name, each, timing.get(name, {})) for name, each in _arms(report)])


def _arms(report: Json) -> list[tuple[str, Json]]:
    return [(name, each) for part in ("baselines", "arms") for name, each in report[part].items() if each["n"]]


def _filled(head: Sequence[str], rows: Sequence[list[str]]) -> tuple[list[str], list[list[str]]]:
    kept = [at for at in range(len(head)) if at == 0 or any(row[at] for row in rows)]
    return [head[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _about(name: str, each: Json) -> list[str]:
    low, high = each["interval"]
    first: Json = each["first_vote"] or {}
    return [
        name,
        f"{each['accuracy']:.1%}",
        f"{low:.1%} to {high:.1%}",
        _no_answer(each),
        str(each["failed"] or ""),
        money(each["usd_per_item"]),
        f"{each['tokens_per_item']:,.0f}",
        _number(first.get("accuracy"), ".1%"),
        "" if not first else added(first["added"]),
        str(first.get("repaired", "")),
        str(first.get("broken", "")),
    ]


def _no_answer(each: Json) -> str:
    """How often there is no answer; of a baseline, also how many of the samples that it is drawn from have none."""
    share = f"{each['no_answer'] / each['n']:.1%}"
    samples: Json | None = each["samples"]
    return f"{share} ({samples['no_answer']} of {samples['given']} samples)" if samples else share


def added(difference: Json) -> str:
    """What a debate added to the vote of its first answers, in points."""
    low, high = difference["interval"]
    return f"{difference['difference'] * 100:+.1f} ({low * 100:+.1f} to {high * 100:+.1f})"


def _row(name: str, each: Json, timing: Json) -> list[str]:
    own = each["samples"] is None  # has debates of its own, and is not computed from a pool
    voters: Json = each["voters"] or {}
    odd = f" (of {voters['majority_of']})" if voters and voters["majority_of"] < voters["voters"] else ""
    return [
        name,
        str(each["undecided"]) if own else "",
        str(each["ties"]) if own else "",
        _flips(each["flips"]),
        "" if each["usd_per_right"] is None else money(each["usd_per_right"]),
        _number(each["tokens_per_right"], ",.0f"),
        _seconds(timing.get("p50")),
        _seconds(timing.get("p95")),
        f"{voters['effective']:.1f} of {voters['voters']}" if voters.get("effective") is not None else "",
        _of(voters.get("majority_predicted"), odd),
        _of(voters.get("majority_observed"), odd),
    ]


def _flips(flips: Json | None) -> str:
    if not flips:
        return ""
    low, high = flips["interval"]
    return f"{flips['rate']:.1%} ({low:.1%} to {high:.1%})"


def _of(share: float | None, voters: str) -> str:
    return "" if share is None else f"{share:.1%}{voters}"


def _number(value: Any, how: str) -> str:
    return "" if value is None else format(value, how)


def _seconds(value: float | None) -> str:
    return "" if value is None else duration(value)
