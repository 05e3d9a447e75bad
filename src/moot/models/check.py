"""What `moot doctor` asks of a model: does it answer at all, and in the shape asked for?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from moot.errors import BadOutput, ModelError
from moot.types import Answer, Call, Message, Model


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    ok: bool
    what: str
    fix: str = ""


class Fitness(Answer):
    """Which of two numbers is larger."""

    reasoning: str
    larger: Literal["first", "second"]


# Not fewer: reasoning models refuse a request whose limit leaves no room for an answer.
_FEW = 16
_QUESTION = "Which number is larger, the first or the second? First: 12. Second: 7."


async def probe(model: Model, spec: str) -> list[Finding]:
    """Two small calls; the second only when the first is answered."""
    try:
        reply = await model(_call("doctor/answer", "Say yes.", max_tokens=_FEW, returns=None), _ignore)
    except ModelError as error:
        return [Finding(ok=False, what=f"{spec} does not answer", fix=str(error))]
    took = f" after {reply.first_token_ms} ms" if reply.first_token_ms is not None else ""
    found = [Finding(ok=True, what=f"{spec} answers{took}")]
    try:
        await model(_call("doctor/shape", _QUESTION, max_tokens=300, returns=Fitness), _ignore)
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
