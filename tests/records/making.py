"""Completed debates, and tools to read the documents made of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from moot.client import documents
from moot.core.types import Confidence, Debate, Failure, Outcome, RecordParts, SeatSpec, Turn
from moot.formats import wording_of
from moot.records.record import Record, record_of
from tests.playing import finished, good, play, script_of
from tests.running import an_app, answers_file, new_debate, run_to_rest

DAY = 1_764_900_000.0  # 2025-12-05
ID = "3f2a1b2c-0000-4000-8000-000000000000"
SECTIONS = [
    "Question",
    "Perspectives Considered",
    "Points of Agreement",
    "Key Tensions",
    "Recommendation",
    "Dissenting View",
    "How It Was Decided",
    "Transcript",
]


def completed(format_name: str = "classic", answer=good, topic: str = "Redis or PostgreSQL?", **settings: Any):
    """A debate that was played by hand, and its turns."""
    played = play(script_of(format_name, **settings), answer)
    debate = finished(format_name, played, topic, **settings)
    return replace(debate, id=ID, completed_at=DAY), played.turns


def described(parts: RecordParts | None = None, *, topic: str = "Which cache?", **outcome: Any) -> Debate:
    """A completed debate without turns, whose format contributes these parts to the record."""
    names = {"p1": "Performance Advocate", "p2": "Operational Simplicity"}
    return Debate(
        id=ID,
        topic=topic,
        format="panel",
        format_version=1,
        status="completed",
        config={"max_rounds": 5},
        cast=tuple(
            SeatSpec(
                id=id_, name=f"Perspective {n}", role="perspective", model="openai:any", max_tokens=600, voice=True
            )
            for n, id_ in enumerate(names, 1)
        ),
        completed_at=DAY,
        total_rounds=1,
        outcome=Outcome(
            **{
                "winner": "consensus",
                "headline": "Use Redis.",
                "how": "The panel agrees.",
                "ended_by": "agreement",
                "verdict_source": "rules",
                "decided_by": "the perspectives, who agreed",
                "confidence": Confidence(level="High", source="they agreed"),
                "names": names,
                "record": parts or RecordParts(),
                **outcome,
            }
        ),
    )


def made(debate: Debate, turns: list[Turn] | None = None, *, demonstration: bool = False) -> Record:
    return record_of(debate, turns or [], wording_of(debate), demonstration=demonstration)


def really(folder: Path, format_name: str, answers: dict[str, Any] | None = None, **settings: Any) -> Record:
    """The record of a debate that an app ran on a real database."""

    async def main() -> Record:
        async with an_app(folder) as app:
            debate = await new_debate(app, answers_file(folder, answers), format_name, **settings)
            left = await run_to_rest(app, debate)
            assert left.status == "completed", left.error
            return await documents.record(app, debate.id)

    return asyncio.run(main())


def failing(phase: str, answer=good):
    """Good answers, but invalid ones in one phase."""
    return lambda step: Failure(kind="invalid", message="It said # nothing.") if step.phase == phase else answer(step)


def split(document: str) -> tuple[dict[str, Any], str]:
    """Front matter and body, as a site generator separates them."""
    assert document.startswith("---\n")
    front, fence, body = document[4:].partition("\n---\n")
    assert fence
    return yaml.safe_load(front), body


def tokens(body: str) -> list[Token]:
    """Every block and inline token, in GitHub's flavour."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body):
        found += [token, *(token.children or [])]
    return found


def headings(body: str) -> list[tuple[str, str]]:
    """Level and visible text of each heading, at any depth."""
    parsed = MarkdownIt("commonmark").parse(body)
    return [
        (token.tag, visible(parsed[at + 1].children or []))
        for at, token in enumerate(parsed)
        if token.type == "heading_open"
    ]


def visible(children: list[Token]) -> str:
    return "".join("\n" if child.type in ("softbreak", "hardbreak") else child.content for child in children)


def expected_headings(record: Record) -> list[tuple[str, str]]:
    names = [("h3", each.name) for each in record.perspectives]
    sections = [("h2", name) for name in SECTIONS]
    own = [("h2", each.title) for each in record.sections]
    return [("h1", f"Decision: {record.title}"), *sections[:2], *names, sections[2], *own, *sections[3:]]


def section(body: str, name: str) -> str:
    return body.partition(f"\n## {name}\n")[2].partition("\n## ")[0].strip()
