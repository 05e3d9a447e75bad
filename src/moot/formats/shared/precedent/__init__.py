"""An earlier decision on a similar question, quoted to seats with a voice. Judges don't see it: it could sway them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from moot.core.types import Debate
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence

prompts = Prompts("precedent", "moot.formats.shared.precedent")


def precedent(debate: Debate) -> str:
    """The text for system prompts, from the debate's metadata; empty if there is no precedent."""
    given = debate.metadata.get("earlier")
    if not isinstance(given, dict):
        return ""
    earlier = cast("dict[str, Any]", given)
    lines = (
        f"Question: {earlier.get('topic', '')}",
        f"Outcome: {earlier.get('headline', '')}",
        earlier.get("text", ""),
    )
    quoted = fence("\n\n".join(filter(None, map(str, lines))), of="an earlier debate", at="precedent")
    return prompts("told", date=decided_on(earlier), quoted=quoted).text


def decided_on(earlier: dict[str, Any]) -> str:
    at = earlier.get("decided_at")
    return datetime.fromtimestamp(at, UTC).date().isoformat() if isinstance(at, int | float) else "an unknown day"
