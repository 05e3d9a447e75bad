"""Commands about what is remembered: search, templates."""

from __future__ import annotations

import datetime
from argparse import Namespace
from collections.abc import Sequence

from moot.app import App
from moot.cli.commands import DONE
from moot.cli.door import database, opened
from moot.cli.lines import paper_of, print_json
from moot.cli.paper import Paper, Span, note, paper, table
from moot.cli.words import money, one_line
from moot.errors import InputError
from moot.memory.decisions import headline
from moot.memory.library import Library, Template
from moot.memory.meaning import BY_WORDS
from moot.memory.past import Found, Past
from moot.types import Json, Usage

MOST = 100
EXAMPLE = 'moot "Should we use Redis or PostgreSQL for caching?"'


async def search(args: Namespace) -> int:
    async with opened(args) as app:
        query = " ".join(" ".join(args.words).split())
        if not query:
            raise InputError("What should be searched for? For example: moot search caching")
        if not 1 <= args.limit <= MOST:
            raise InputError(f"--limit is {args.limit}; it can be 1 to {MOST}.")
        found = await _find(app, query, args.limit)
        if args.json:
            print_json(_json(query, found), indent=2)
        else:
            _print(paper_of(args), found, anything=app.database.exists())
    return DONE


async def templates(args: Namespace) -> int:
    async with opened(args) as app:
        known = app.memory.library
        if args.name is None:
            _print_library(paper(), known)
        else:
            _print_template(paper(), known.get(args.name))
    return DONE


async def _find(app: App, query: str, limit: int) -> Found:
    """Looking never creates a database."""
    if not app.database.exists():
        return Found(past=(), by=BY_WORDS, usage=Usage())
    await database(app)
    return await app.memory.past.search(query, limit)


def _print(out: Paper, found: Found, *, anything: bool) -> None:
    rows: list[Sequence[Span]] = []
    for past in found.past:
        debate = past.debate
        label = "  (a demonstration: it means nothing)" if past.demonstration else ""
        rows.append(((debate.short, "bold"), _day(past), f"{past.score:.2f}", (one_line(debate.topic, 200), "bold")))
        rows.append(("", "", "", (f"{one_line(headline(debate), 200)}{label}", "")))
    if rows:
        table(out, ("ID", "DATE", "SCORE", "QUESTION AND OUTCOME"), rows, cut=True)
        out.note(f"Found by {found.by}. Read one with: moot show {found.past[0].debate.short}")
    elif anything:
        out.note("No completed debate is like that. Try other words, or see all debates with: moot list")
    else:
        out.note(f"No debates here. Begin one: {EXAMPLE}")
    if found.note:
        out.note(found.note)
    if found.more:
        out.note("Many debates were not looked at before, and some still are not: search again to have all of them.")
    if found.usage.cost_usd != 0:
        out.note(f"The embedder read {found.usage.tokens_in:,} tokens, {money(found.usage.cost_usd)}.")


def _day(past: Past) -> str:
    return datetime.datetime.fromtimestamp(past.debate.completed_at or 0.0).strftime("%Y-%m-%d")


def _json(query: str, found: Found) -> Json:
    """docs/cli.md describes the fields."""
    return {
        "query": query,
        "found": [
            {
                "id": past.debate.id,
                "topic": past.debate.topic,
                "format": past.debate.format,
                "winner": (past.debate.outcome or {}).get("winner"),
                "headline": headline(past.debate),
                "demonstration": past.demonstration,
                "score": round(past.score, 4),
                "completed_at": past.debate.completed_at,
            }
            for past in found.past
        ],
        "by": found.by,
        "note": found.note,
        "more": found.more,
        "tokens_in": found.usage.tokens_in,
        "cost_usd": found.usage.cost_usd,
    }


def _print_library(out: Paper, known: Library) -> None:
    table(out, ("TEMPLATE", "", "WHAT IT DOES"), [_row(template) for template in known.templates], cut=True)
    out.note("Read one with: moot templates NAME")
    for problem in known.problems:
        note(f"Left out: {problem}")


def _row(template: Template) -> Sequence[Span]:
    return ((template.id, "bold"), ("yours", "green") if template.file else "", template.front.summary)


def _print_template(out: Paper, template: Template) -> None:
    front = template.front
    out.line((front.name, "bold"), f" ({template.id})")
    out.line(front.summary)
    if front.domains:
        out.line(("For: " + ", ".join(front.domains), "dim"))
    out.line()
    for line in template.text.splitlines():
        out.line((line, "bold") if line.startswith("#") else line)
    if template.file:
        out.note(f"Your own: {template.file}")
