"""What is kept of a request with its debate, in the debate's metadata under `chat`, to tell of it later."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any, cast

from moot.core.types import Debate, Json, record

_NAME = "chat"


@record
class About:
    model: str = ""  # as the client calls it
    metadata: Json = field(default_factory=dict[str, Any])  # the client's own
    follows: str = ""  # the id of the debate that this one follows
    shape: str = ""  # of the answer, where it is not text

    @property
    def json(self) -> Json:
        return {_NAME: {name: value for name, value in asdict(self).items() if value}}


def about_of(debate: Debate) -> About:
    """Of a debate that was begun in another way, nothing is known."""
    given: Any = debate.metadata.get(_NAME)
    kept = cast(Json, given) if isinstance(given, dict) else {}
    return About(**{name: kept[name] for name in ("model", "metadata", "follows", "shape") if name in kept})
