"""Completed debates and the documents made of them, in tests."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from moot.records.record import Record, record_of
from moot.types import Debate, Failure, SeatSpec, Turn
from tests.playing import debate_of, good, play, script_of
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
    """A debate that was really played, and its turns."""
    played = play(script_of(format_name, **settings), answer)
    outcome = played.script.outcome
    assert outcome is not None
    debate = debate_of(format_name, topic, **settings)
    rounds = max(turn.round for turn in played.turns)
    changes = {"id": ID, "status": "completed", "outcome": asdict(outcome), "completed_at": DAY, "total_rounds": rounds}
    return replace(debate, **changes), played.turns


def told(record: dict[str, Any] | None = None, *, topic: str = "Which cache?", **outcome: Any) -> Debate:
    """A completed debate of a format that says more than `classic` does."""
    names = {"p1": "Performance Advocate", "p2": "Operational Simplicity"}
    return Debate(
        id=ID,
        topic=topic,
        format="panel",
        format_version=1,
        status="completed",
        config={"max_rounds": 5},
        cast=tuple(
            SeatSpec(id=id_, name=f"Perspective {n}", role="debater", model="openai:any", max_tokens=600)
            for n, id_ in enumerate(names, 1)
        ),
        completed_at=DAY,
        total_rounds=1,
        outcome={
            "winner": "consensus",
            "headline": "The panel agrees.",
            "ended_by": "agreement",
            "verdict_source": "judge",
            "reason": "",
            "statement": "",
            "scores": {},
            "details": {"names": names, **({} if record is None else {"record": record})},
            **outcome,
        },
    )


def made(debate: Debate, turns: list[Turn] | None = None, *, demonstration: bool = False) -> Record:
    return record_of(debate, turns or [], demonstration=demonstration)


def really(folder: Path, format_name: str, answers: dict[str, Any] | None = None, **settings: Any) -> Record:
    """The record of a debate that ran in a real app on a real database."""

    async def main() -> Record:
        async with an_app(folder) as app:
            debate = await new_debate(app, answers_file(folder, answers), format_name, **settings)
            left = await run_to_rest(app, debate)
            assert left.status == "completed", left.error
            return await app.record(debate.id)

    return asyncio.run(main())


def failing(phase: str, answer=good):
    """Answers well, but for one phase."""
    return lambda step: Failure(kind="invalid", message="It said # nothing.") if step.phase == phase else answer(step)


def split(document: str) -> tuple[dict[str, Any], str]:
    """Front matter and body, as any site generator finds them."""
    assert document.startswith("---\n")
    front, fence, body = document[4:].partition("\n---\n")
    assert fence
    return yaml.safe_load(front), body


def tokens(body: str) -> list[Token]:
    """Every block and inline token, as GitHub's flavour has them."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body):
        found += [token, *(token.children or [])]
    return found


def headings(body: str) -> list[tuple[str, str]]:
    """Level and visible text of each heading, wherever it stands."""
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
    return [("h1", f"Decision: {record.title}"), *sections[:2], *names, *sections[2:]]


def section(body: str, name: str) -> str:
    return body.partition(f"\n## {name}\n")[2].partition("\n## ")[0].strip()
