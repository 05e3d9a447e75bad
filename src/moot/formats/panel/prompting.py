"""What a panel's prompts quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from moot.core.types import Prompt
from moot.formats.panel.panelist import Panelist
from moot.formats.panel.shapes import Analysis, Framing, ShortFraming, short_framing
from moot.formats.prompts import Prompts
from moot.formats.shared.perspectives import Perspective
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


def chosen(recommendations: Iterable[str], options: Sequence[str]) -> set[str]:
    """Which of the options the recommendations name, each by most of the words that no other option has. Those who
    recommend different ones don't agree, whatever they say."""
    words = {option: _words(option) for option in options if option not in ("Yes", "No")}
    own = {
        option: each - set[str]().union(*(other for name, other in words.items() if name != option))
        for option, each in words.items()
    }
    return {
        option
        for text in recommendations
        for option, marks in own.items()
        if marks and 2 * len(marks & _words(text)) > len(marks)
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def said(speaking: Sequence[Panelist], at: str) -> str:
    """Quote what they have said in this round so far."""
    words: list[str] = []
    for panelist in speaking:
        words.append(fence(panelist.arguments[-1], of=panelist.name, at=f"{at}/argue/{panelist.seat.id}"))
        if panelist.last is not None:
            answer = panelist.last.prose()
            words.append(fence(answer, of=f"{panelist.name}, answering", at=f"{at}/rebut/{panelist.seat.id}"))
    return "\n\n".join(words) or "(nothing)"


def said_short(speaking: Sequence[Panelist], *, answering: bool = False) -> str:
    """The beginning of what each has said last in this round. One who is `answering` reads only arguments: it would
    copy an answer to its own."""
    words: list[str] = []
    for panelist in speaking:
        answered = None if answering else panelist.last
        said = opening_words(answered.rebuttal if answered else panelist.arguments[-1], 2)
        words.append(f"{panelist.name} said: {quote(said, MOST_QUOTED)}")
    return "\n".join(words) or "(nothing)"


def latest(read: Sequence[Panelist], at: str) -> str:
    """Quote the latest words of each."""
    return "\n\n".join(fence(each.said[-1], of=each.name, at=f"{at}/{each.seat.id}") for each in read)


def latest_short(read: Sequence[Panelist]) -> str:
    """The beginning of the latest words of each."""
    said = ((each.name, opening_words(each.said[-1], 2)) for each in read)
    return "\n".join(f"{name} said: {quote(words, MOST_QUOTED)}" for name, words in said)


def told(option: str) -> str:
    return f"Your answer to it: {quote(option, POINT_CHARS)}. You never change sides." if option else ""
