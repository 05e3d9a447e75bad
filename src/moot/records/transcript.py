"""The transcript as Markdown: what was said in public, under a heading for each turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from moot.core.limits import LIMITS
from moot.core.stage import VERDICT
from moot.core.types import Debate, Event, FinalAnswer, Outcome
from moot.formats.wording import Wording, checks_words
from moot.reasoning.code.written import fenced
from moot.reasoning.fence import clean, one_line


@dataclass(frozen=True, kw_only=True)
class Passage:
    heading: str
    text: str
    key: str = ""  # of the step; empty if no one spoke


def passage(event: Event, wording: Wording) -> Passage | None:
    """An event as part of the transcript; None if it is private or hidden. The verdict is left to `outcome_text`."""
    wording.hear(event)
    kind = wording.type(event.type)
    if not event.type.isupper() or event.type == VERDICT or kind.hidden or not kind.public:
        return None
    caption = wording.caption(event)
    if event.turn is None:
        lines = "\n".join(f"- {line}" for line in caption.lines)
        return Passage(heading=caption.headline, text=lines)
    facts = "\n\n" + ", ".join(note.text for note in caption.notes) if caption.notes else ""
    return Passage(heading=caption.heading, text=event.turn.content.strip() + facts, key=event.key)


def outcome_text(outcome: Outcome, *, demonstration: bool) -> str:
    """The outcome: headline, how it came about, why it is undecided, what was checked, a limit that ended it, words,
    and the code if it is some."""
    statement = outcome.statement.strip()
    more = "" if statement == outcome.headline else statement
    checked = checks_words(outcome.checks)
    parts = [f"**{outcome.headline}**", outcome.how, outcome.further_reason, checked, early_end(outcome), more]
    if outcome.answer is not None and outcome.answer.is_code:
        parts.append(code_block(outcome.answer))
    if demonstration:
        parts.append("*A demonstration model took part: the verdict means nothing beyond showing how moot works.*")
    return "\n\n".join(filter(None, parts))


def code_block(answer: FinalAnswer) -> str:
    """Code or a patch as a block of Markdown, whole."""
    return fenced("diff" if answer.kind == "patch" else answer.language, clean(answer.value))


def early_end(outcome: Outcome) -> str:
    """The sentence that a limit ended the debate; empty if none did."""
    return f"The limit {outcome.ended_by} ended the debate early." if outcome.ended_by in LIMITS else ""


def render(debate: Debate, events: Iterable[Event], wording: Wording, *, demonstration: bool) -> str:
    """The debate so far as one document."""
    parts = [f"# {one_line(debate.topic)}"]
    if debate.outcome is not None:
        parts.append(f"**{one_line(debate.outcome.headline)}**")
    parts.append(f"{debate.format}, debate {debate.id}, {debate.status}")
    for event in events:
        part = passage(event, wording)
        if part is not None:
            parts += [f"## {part.heading}", *([part.text] if part.text else [])]
    if debate.outcome is not None:
        parts += ["## Outcome", outcome_text(debate.outcome, demonstration=demonstration)]
    return "\n\n".join(parts) + "\n"
