"""What a panel's prompts quote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from moot.core.types import Prompt
from moot.formats.panel.panelist import Panelist
from moot.formats.panel.settings import Perspective
from moot.formats.panel.shapes import Analysis, Framing, ShortFraming, short_framing
from moot.formats.prompts import Prompts
from moot.formats.shared.small import POINT_CHARS, opening_words
from moot.reasoning.fence import fence, quote
from moot.reasoning.question import read_question

prompts = Prompts("panel")

MOST_QUOTED = 400  # characters of a statement that a small model reads


def full_analysis(catalog: Iterable[Perspective]) -> tuple[type[Framing], Prompt]:
    known = "\n".join(f"- {p.name}: {', '.join(p.priorities)}. {p.trade_offs}" for p in catalog)
    return Analysis, prompts("analyze", catalog=known)


def short_analysis(topic: str, names: tuple[str, ...], count: int) -> tuple[type[Framing], Prompt]:
    """A small model can't tell what is too vague: it does not ask back. It reads the names alone."""
    asked = {"topic": topic, "names": ", ".join(names), "count": str(count)}
    return short_framing(names, count), prompts("analyze_small", **asked)


def options_of(topic: str, framing: Framing | None) -> Sequence[str]:
    """The answers between which a question, or else a small moderator, chooses; empty if there are none."""
    asked = read_question(topic)
    if asked.kind == "yes_no":
        return ("Yes", "No")
    if asked.kind == "choice":
        return asked.options
    return framing.options if isinstance(framing, ShortFraming) else ()


def said(speaking: Sequence[Panelist], at: str, but: Panelist | None = None) -> str:
    """Quote what was said in this round so far, by everyone `but` one."""
    words: list[str] = []
    for panelist in speaking:
        if panelist is but:
            continue
        words.append(fence(panelist.arguments[-1], of=panelist.name, at=f"{at}/argue/{panelist.seat.id}"))
        if panelist.last is not None:
            answer = panelist.last.prose()
            words.append(fence(answer, of=f"{panelist.name}, answering", at=f"{at}/rebut/{panelist.seat.id}"))
    return "\n\n".join(words) or "(nothing)"


def said_short(speaking: Sequence[Panelist], but: Panelist | None = None, *, answering: bool = False) -> str:
    """The beginning of what each has said last in this round, by everyone `but` one. One who is `answering` reads
    only arguments: it would copy an answer to its own."""
    words: list[str] = []
    for panelist in speaking:
        if panelist is not but:
            latest = None if answering else panelist.last
            said = opening_words(latest.rebuttal if latest else panelist.arguments[-1], 2)
            words.append(f"{panelist.name} said: {quote(said, MOST_QUOTED)}")
    return "\n".join(words) or "(nothing)"


def told(option: str) -> str:
    return f"Your answer to it: {quote(option, POINT_CHARS)}. You never change sides." if option else ""
