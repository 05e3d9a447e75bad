"""What both backends share of the table `spending`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.core.ceilings import Reserved, Spending, Today, day_of
from moot.core.types import Usage
from moot.store import Commit
from moot.store.columns import Row

NOTHING = Reserved()


def commit_values(commit: Commit, now: float) -> dict[str, Any]:
    """Values for book_spending.sql; `books` is False for a commit that changes nothing there."""
    # What a recollection cost was booked when its embedder was called.
    paid = [turn.usage for turn in commit.turns if turn.kind != "recall"]
    usages = [*paid, *([] if commit.lost is None else [commit.lost])]
    used = sum(usages, Usage(cost_usd=0.0))
    cost = sum(each.cost_usd or 0.0 for each in usages)
    return {
        **booking_values(cost, used.tokens_out, commit.reserved or NOTHING, now),
        "books": commit.reserved is not None or bool(cost or used.tokens_out),
    }


def booking_values(cost_usd: float, tokens: int, reserved: Reserved, now: float) -> dict[str, Any]:
    return {
        "day": day_of(now),
        "spent_usd": cost_usd,
        "spent_tokens": tokens,
        "reserved_usd": reserved.cost_usd,
        "reserved_tokens": reserved.tokens,
    }


def driver_values(debate_id: str, token_id: str, epoch: int) -> Mapping[str, Any]:
    return {"id": debate_id, "token_id": token_id, "epoch": epoch}


def today_of(row: Row, now: float) -> Today:
    return Today(now=now, all=spending_of(row), caller=spending_of(row, "caller_"))


def spending_of(row: Row, prefix: str = "") -> Spending:
    return Spending(
        cost_usd=float(row[f"{prefix}cost_usd"]),
        tokens=int(row[f"{prefix}tokens"]),
        reserved_usd=float(row[f"{prefix}reserved_usd"]),
        reserved_tokens=int(row[f"{prefix}reserved_tokens"]),
    )
