"""A debate as a card: question, answer, how it came about, what was checked, and the statements folded. HTML for
notebooks."""

from __future__ import annotations

from html import escape

from moot.core.amounts import count, money
from moot.core.lifecycle import LIVE
from moot.core.types import Gate
from moot.formats.wording import checks_words
from moot.library.snapshot import Snapshot
from moot.records.html import html as rendered
from moot.records.transcript import Passage, early_end

DEMONSTRATION = "A demonstration model takes part: this shows how moot works; the outcome means nothing beyond that."

_CARD = (
    "border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:14px 18px;max-width:52em;"
    "font-family:system-ui,sans-serif;line-height:1.45"
)
_QUIET = "opacity:.7;font-size:.87em"
_COLOURS = {"completed": "#2e7d4f", "running": "#1f6feb", "waiting": "#b26a00", "failed": "#c62f2f"}


def html(seen: Snapshot) -> str:
    """Safe to display: whatever a model or a person wrote is escaped or sanitised."""
    debate = seen.debate
    colour = _COLOURS.get(debate.status, "#7a7a7a")
    parts = [
        f'<div style="{_QUIET}">{escape(_facts(seen))}</div>',
        f'<div style="margin:.2em 0 .5em">{escape(debate.topic)}</div>',
    ]
    if lines := _lines(seen):
        first, *others = lines
        parts.append(
            f'<div style="border-left:4px solid {colour};padding-left:.8em;margin:.6em 0">'
            f'<div style="font-size:1.2em;font-weight:600">{escape(first)}</div>'
            + "".join(f'<div style="margin-top:.25em">{escape(line)}</div>' for line in others)
            + "</div>"
        )
    parts += [_question(gate) for gate in seen.gates if gate.status == "open"]
    if seen.demonstration:
        parts.append(f'<div style="{_QUIET}">{escape(DEMONSTRATION)}</div>')
    if full := _in_full(seen):
        parts.append(_folded("The answer in full", rendered(full)))
    if passages := seen.passages:
        latest = "" if debate.outcome else _statement(passages[-1], unfolded=True)
        before = passages if debate.outcome else passages[:-1]
        said = "".join(_statement(each) for each in before)
        parts.append((_folded(f"What was said ({count(len(before), 'passage')})", said) if before else "") + latest)
    if debate.outcome is None and debate.status not in LIVE:
        parts.append(f'<div style="{_QUIET};margin-top:.5em">{escape(seen.next_step)}</div>')
    return f'<div class="moot-debate" style="{_CARD}">{"".join(parts)}</div>'


def _facts(seen: Snapshot) -> str:
    debate = seen.debate
    unit, done, of = seen.wording.progress(debate)
    facts = [debate.format, "interrupted" if seen.interrupted else debate.status]
    facts += [f"{unit} {done} of {of}"] if of is not None and debate.outcome is None else []
    facts += [count(debate.turn_count, "step"), money(debate.usage.cost_usd), debate.short]
    return " · ".join(facts)


def _lines(seen: Snapshot) -> list[str]:
    """The answer, how it came about and what was checked; or why there is none."""
    outcome, error = seen.debate.outcome, seen.debate.error
    if outcome is None:
        return [error.message] if error is not None and seen.debate.status == "failed" else []
    said = [outcome.headline, outcome.how, outcome.further_reason, checks_words(outcome.checks), early_end(outcome)]
    return [line for line in said if line]


def _in_full(seen: Snapshot) -> str:
    outcome = seen.debate.outcome
    statement = "" if outcome is None else outcome.statement.strip()
    return "" if outcome is None or statement == outcome.headline else statement


def _question(gate: Gate) -> str:
    choices = " · ".join(f"<code>{escape(choice)}</code>" for choice in gate.choices)
    return (
        '<div style="border-left:4px solid #b26a00;padding-left:.8em;margin:.6em 0;white-space:pre-wrap">'
        f"{escape(gate.question)}{f'<div>{choices}</div>' if choices else ''}</div>"
    )


def _statement(passage: Passage, *, unfolded: bool = False) -> str:
    if not passage.text:
        return f'<div style="margin:.3em 0">{escape(passage.heading)}</div>'
    return _folded(passage.heading, rendered(passage.text), unfolded=unfolded)


def _folded(title: str, inside: str, *, unfolded: bool = False) -> str:
    summary = f'<summary style="cursor:pointer">{escape(title)}</summary>'
    body = f'<div style="margin:.2em 0 .4em 1.1em">{inside}</div>'
    return f'<details style="margin:.3em 0"{" open" if unfolded else ""}>{summary}{body}</details>'
