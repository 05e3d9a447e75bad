"""Versions of a debate: `ETag`, `If-None-Match`, `If-Match`."""

from __future__ import annotations

from moot.core.types import Debate
from moot.server.problems import Refused


def etag(debate: Debate) -> str:
    """The debate's version. It changes with everything that happens to the debate."""
    return f'"{debate.epoch}-{debate.last_seq}-{debate.status}-{round(debate.updated_at * 1_000_000):x}"'


def same(header: str | None, tag: str) -> bool:
    """Whether a header with one or several tags names this one."""
    if header is None:
        return False
    given = [each.strip().removeprefix("W/") for each in header.split(",")]
    return "*" in given or tag in given


def seen(if_match: str | None, debate: Debate) -> Debate | None:
    """The version named by `If-Match`, or None. Raises Refused if the debate has changed since."""
    check(if_match, debate)
    return None if if_match is None or if_match.strip() == "*" else debate


def check(if_match: str | None, debate: Debate) -> None:
    if if_match is not None and not same(if_match, etag(debate)):
        raise Refused(
            "stale",
            f"Debate {debate.short} has changed since you looked; it is {debate.status} now. Get it again first.",
            headers={"ETag": etag(debate)},
        )
