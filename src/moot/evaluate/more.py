"""What else a report knows about each arm, as a table: the same in a terminal and on a page."""

from __future__ import annotations

from typing import Any

from moot.core.amounts import duration, money
from moot.core.types import Json

HEAD = (
    "arm", "undecided", "ties", "flips", "usd/right", "tokens/right", "p50", "p95", "voters worth",
    "majority predicted", "observed",
)  # fmt: skip


def more_about_arms(report: Json) -> tuple[list[str], list[list[str]]]:
    """Head and rows. A figure that is not known is empty, and a column without any is left out."""
    timing: Json = report.get("timing", {})
    parts = ((name, each) for part in ("baselines", "arms") for name, each in report[part].items() if each["n"])
    rows = [_row(name, each, timing.get(name, {})) for name, each in parts]
    kept = [at for at in range(len(HEAD)) if at == 0 or any(row[at] for row in rows)]
    return [HEAD[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _row(name: str, each: Json, timing: Json) -> list[str]:
    own = each["no_answer"] is not None  # has debates of its own, and is not computed from a pool
    voters: Json = each["voters"] or {}
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
        _number(voters.get("majority_predicted"), ".1%"),
        _number(voters.get("majority_observed"), ".1%"),
    ]


def _flips(flips: Json | None) -> str:
    if not flips:
        return ""
    low, high = flips["interval"]
    return f"{flips['rate']:.1%} ({low:.1%} to {high:.1%})"


def _number(value: Any, how: str) -> str:
    return "" if value is None else format(value, how)


def _seconds(value: float | None) -> str:
    return "" if value is None else duration(value)
