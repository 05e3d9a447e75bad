"""A debate as one HTML file that needs nothing else: its answer, its record and what was said."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files

from moot.core.types import Debate, Event
from moot.formats.wording import Wording
from moot.reasoning.fence import clean, one_line
from moot.records.html import html
from moot.records.markdown import body
from moot.records.quoting import literal
from moot.records.record import Record
from moot.records.transcript import Passage, outcome_text, passage

TITLE_CHARS = 80
NO_RECORD = "This debate has no decision yet. What follows is what was said so far."
_ELSEWHERE = ("## Question", "## Transcript")
_DEMONSTRATION = "A demonstration model took part: the verdict means nothing beyond showing how moot works."


def render(
    debate: Debate, record: Record | None, events: Iterable[Event], wording: Wording, *, demonstration: bool
) -> str:
    """The file. `record`: None while the debate is not completed."""
    title = escape(one_line(debate.name, TITLE_CHARS))
    said = [made for event in events if (made := passage(event, wording)) is not None]
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n',
            '<meta name="viewport" content="width=device-width">\n<meta name="robots" content="noindex">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n<main>\n",
            *_head(debate, record, demonstration=demonstration),
            *_record(record),
            *_transcript(said),
            f"</main>\n<footer>moot, debate {escape(debate.id)}</footer>\n</body>\n</html>\n",
        ]
    )


@cache
def style() -> str:
    return (files("moot.records") / "page.css").read_text(encoding="utf-8").strip()


@cache
def policy() -> str:
    """The content security policy of the file: its own style, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(debate: Debate, record: Record | None, *, demonstration: bool) -> Iterator[str]:
    at = datetime.fromtimestamp(debate.completed_at or debate.created_at, UTC).date().isoformat()
    yield f'<header>\n<p class="over">{escape(debate.format)} · {escape(debate.status)} · {at}</p>\n'
    if debate.title:
        yield f'<p class="title" dir="auto">{escape(one_line(debate.title))}</p>\n'
    yield f'<h1 dir="auto">{escape(clean(debate.topic).strip())}</h1>\n'
    if debate.outcome is None:
        yield f'<p class="answer">{NO_RECORD}</p>\n'
    else:
        yield f'<p class="answer" dir="auto">{escape(one_line(debate.outcome.headline))}</p>\n'
        yield f"<p>{escape(one_line(debate.outcome.how))}</p>\n" if debate.outcome.how else ""
    if record is not None:
        yield f"<p>Confidence: {escape(record.confidence)}</p>\n"
    if demonstration:
        yield f'<p class="warning">{_DEMONSTRATION}</p>\n'
    links = [*([("record", "Record")] if record is not None else []), ("transcript", "Transcript")]
    yield "<nav>" + " ".join(f'<a href="#{name}">{word}</a>' for name, word in links) + "</nav>\n</header>\n"
    if record is None and debate.outcome is not None:
        yield f"<section>{html(outcome_text(debate.outcome, demonstration=False))}</section>\n"


def _record(record: Record | None) -> Iterator[str]:
    """The sections of the record, what is recommended first; without what the head and the transcript say."""
    if record is None:
        return
    headline = f"**{literal(record.decided.headline)}**"
    sections: list[list[str]] = []
    for part in body(_without_addresses(record)):
        if part.startswith("## "):
            sections.append([])
        if sections and part != headline and not part.startswith("```mermaid"):
            sections[-1].append(part)
    sections.sort(key=lambda parts: parts[0] != "## Recommendation")
    yield '<section id="record">\n'
    for part in [part for parts in sections if parts[0] not in _ELSEWHERE for part in parts]:
        yield f'<div dir="auto">{html(part)}</div>\n'
    yield "</section>\n"


def _transcript(said: Iterable[Passage]) -> Iterator[str]:
    yield '<section id="transcript">\n<h2>Transcript</h2>\n'
    for each in said:
        place = f' id="{escape(each.key)}"' if each.key else ""
        yield f'<article{place}>\n<h3 dir="auto">{escape(one_line(each.heading, 300))}</h3>\n'
        yield f'<div dir="auto">{html(each.text)}</div>\n</article>\n'
    yield "</section>\n"


def _without_addresses(record: Record) -> Record:
    """The record without where models are reached, which is for those who run them."""
    return replace(
        record,
        seats=tuple(replace(seat, model=_name(seat.model)) for seat in record.seats),
        perspectives=tuple(replace(each, model=_name(each.model)) for each in record.perspectives),
    )


def _name(spec: str) -> str:
    return spec.partition("@")[0].partition("?")[0]
