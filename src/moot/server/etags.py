"""Versions of a debate, so that whoever changes it can say what they believe it to be."""

from __future__ import annotations

from moot.server.problems import Refused
from moot.types import Debate


def etag(debate: Debate) -> str:
    """Another one after everything that happens to the debate."""
    return f'"{debate.epoch}-{debate.last_seq}-{debate.status}-{round(debate.updated_at * 1_000_000):x}"'


def same(header: str | None, tag: str) -> bool:
    """Whether a header with one or several tags names this one."""
    if header is None:
        return False
    given = [each.strip().removeprefix("W/") for each in header.split(",")]
    return "*" in given or tag in given


def seen(if_match: str | None, debate: Debate) -> Debate | None:
    """The debate as whoever changes it has seen it, if they say so. Raises Refused when it has changed since."""
    check(if_match, debate)
    return None if if_match is None or if_match.strip() == "*" else debate


def check(if_match: str | None, debate: Debate) -> None:
    if if_match is not None and not same(if_match, etag(debate)):
        raise Refused(
            "stale",
            f"Debate {debate.short} has changed since you looked; it is {debate.status} now. Get it again first.",
            headers={"ETag": etag(debate)},
        )
