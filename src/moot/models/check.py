"""The test calls of `moot doctor`: does a model answer, and can it give typed answers?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from moot.core.errors import BadOutput, ModelError
from moot.core.types import Answer, Call, Message, Model


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    ok: bool
    what: str
    fix: str = ""
    lacks: bool = False  # something is not there that a debate can do without


class LargerNumber(Answer):
    """Which of two numbers is larger."""

    reasoning: str
    larger: Literal["first", "second"]


# Reasoning models refuse lower limits, which leave no room for an answer.
_MIN_TOKENS = 16
_QUESTION = "Which number is larger, the first or the second? First: 12. Second: 7."


async def probe(model: Model, spec: str) -> list[Finding]:
    """Make one plain and one typed call. The second is skipped if the first fails."""
    try:
        reply = await model(_call("doctor/answer", "Say yes.", max_tokens=_MIN_TOKENS, returns=None), _ignore)
    except ModelError as error:
        return [Finding(ok=False, what=f"{spec} does not answer", fix=str(error))]
    took = f" after {reply.first_token_ms} ms" if reply.first_token_ms is not None else ""
    found = [Finding(ok=True, what=f"{spec} answers{took}")]
    try:
        await model(_call("doctor/shape", _QUESTION, max_tokens=300, returns=LargerNumber), _ignore)
    except BadOutput as error:
        fix = f"Choose a stronger model for judges: {error}"
        found.append(Finding(ok=False, what=f"{spec} does not give typed answers", fix=fix))
    except ModelError as error:
        found.append(Finding(ok=False, what=f"{spec} fails when asked for a typed answer", fix=str(error)))
    else:
        found.append(Finding(ok=True, what=f"{spec} gives typed answers"))
    return found


def _call(key: str, text: str, *, max_tokens: int, returns: type[Answer] | None) -> Call:
    message = Message(role="user", text=text)
    return Call(key=key, seat="doctor", messages=(message,), max_tokens=max_tokens, tries=2, returns=returns)


def _ignore(_text: str | None) -> None:
    pass
