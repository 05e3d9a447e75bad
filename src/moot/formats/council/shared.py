"""How far the members' errors could be one error: they are models, and models of one family err alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

from moot.types import Json, SeatSpec

_FIRST_WORD = re.compile(r"[a-z]+")
_MADE_UP = frozenset({"scripted", "sim", "replay"})  # what they name is no model
_SAME = {
    "o": "gpt",
    "chatgpt": "gpt",
    "codex": "gpt",
    "qwq": "qwen",
    "codellama": "llama",
    "mixtral": "mistral",
    "ministral": "mistral",
    "magistral": "mistral",
    "codestral": "mistral",
    "devstral": "mistral",
}


def family_of(spec: str) -> str:
    """The first word of the model's name, wherever it is served: `openai:gpt-5` and `openrouter:openai/gpt-4o` are both
    `gpt`. Of a model with fallbacks the first counts."""
    provider, _, rest = spec.partition("|")[0].strip().lower().partition(":")
    if provider in _MADE_UP:
        return provider
    if provider == "local":
        return "smollm"
    name = re.split(r"@https?://", rest)[0].rpartition("/")[2]
    word = _FIRST_WORD.match(name)
    return _SAME.get(word[0], word[0]) if word else name or provider


def shared_errors(members: Sequence[SeatSpec], voters: int, effective: float | None) -> Json:
    families: dict[str, list[str]] = {}
    for member in members:
        families.setdefault(family_of(member.model), []).append(member.id)
    return {
        "families": families,
        "distinct_families": len(families),
        "voters": voters,
        "effective_voters": None if effective is None else round(effective, 2),
        "note": _note(families, len(members), voters, effective),
    }


def _note(families: dict[str, list[str]], members: int, voters: int, effective: float | None) -> str:
    if len(families) == 1:
        note = (
            f"All {members} members are {next(iter(families))} models: what one gets wrong the others are likely to "
            "get wrong too, so their agreement is weak evidence."
        )
    elif len(families) < members:
        listed = ", ".join(f"{len(seats)} {name}" for name, seats in families.items())
        note = f"The members are of {len(families)} model families ({listed}); those of one are likely to err alike."
    else:
        note = (
            f"The {members} members are of {members} different model families; what all were trained on can still "
            "mislead them alike."
        )
    if effective is not None:
        note += f" By what they stand behind, {voters} voters may be worth as few as {effective:.1f} independent ones."
    return note
