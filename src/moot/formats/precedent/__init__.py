"""What debaters are told of an earlier decision on a question like theirs. Judges are not: it would lean on them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence
from moot.types import Debate

prompts = Prompts("precedent")


def precedent(debate: Debate) -> str:
    """Empty when there is none. It hangs on what the debate has recorded alone, so it replays."""
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
