"""Numbers, money, lengths of time and lists in words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def money(usd: float | None) -> str:
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "$0"
    if usd < 0.0001:
        return "under $0.0001"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"


def dollars(usd: float) -> str:
    """An amount as someone has given it, to its last digit."""
    return f"${Decimal(repr(usd)).normalize():f}"


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def duration(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
