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
        _source(earlier),
        f"Question: {earlier.get('topic', '')}",
        f"Outcome: {earlier.get('headline', '')}",
        earlier.get("text", ""),
    )
    quoted = fence("\n\n".join(filter(None, map(str, lines))), of="an earlier debate", at="precedent")
    return prompts("told", date=decided_on(earlier), quoted=quoted).text


def _source(earlier: dict[str, Any]) -> str:
    """Which debate it is and who asked; empty in metadata without it, so that such a debate replays as it was."""
    if "asked_by" not in earlier:
        return ""
    who = f", asked by {earlier['asked_by']}" if earlier["asked_by"] else ""
    return f"Source: debate {str(earlier.get('id', ''))[:8]}{who}"


def decided_on(earlier: dict[str, Any]) -> str:
    at = earlier.get("decided_at")
    return datetime.fromtimestamp(at, UTC).date().isoformat() if isinstance(at, int | float) else "an unknown day"
