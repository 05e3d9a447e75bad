"""Commands about memory: search, templates."""

from __future__ import annotations

import datetime
from argparse import Namespace
from collections.abc import Sequence

from moot.cli.blocks import answer_line
from moot.cli.commands import DONE
from moot.cli.printer import Printer, Span, make_printer, note, table
from moot.cli.session import open_app, open_client
from moot.cli.views import print_json, printer_of
from moot.core.amounts import money
from moot.core.errors import InputError
from moot.core.types import Json
from moot.memory.decisions import headline
from moot.memory.library import DOOR as PLUG_INS
from moot.memory.library import Library, Template
from moot.memory.past import PastDebate, SearchResult
from moot.reasoning.fence import one_line

MOST = 100
EXAMPLE = 'moot "Should we use Redis or PostgreSQL for caching?"'


async def search(args: Namespace) -> int:
    async with open_client(args) as client:
        query = " ".join(" ".join(args.words).split())
        if not 1 <= args.limit <= MOST:
            raise InputError(f"--limit is {args.limit}; it can be 1 to {MOST}.")
        found = await client.search(query, args.limit)
        if args.json:
            print_json(_json(query, found), indent=2)
        else:
            _print(printer_of(args), found, anything=client.app.has_database)
    return DONE


async def templates(args: Namespace) -> int:
    async with open_app(args) as app:
        known = app.memory.library
        if args.name is None:
            _print_library(make_printer(), known)
        else:
            _print_template(make_printer(), known.get(args.name))
    return DONE


def _print(out: Printer, found: SearchResult, *, anything: bool) -> None:
    rows: list[Sequence[Span]] = []
    for past in found.past:
        debate = past.debate
        rows.append(((debate.short, "bold"), _day(past), f"{past.score:.2f}", (one_line(debate.topic, 200), "bold")))
        quarantine = "(in quarantine) " if debate.quarantined_at is not None else ""
        rows.append(("", "", "", f"{quarantine}{answer_line(debate, demonstration=past.demonstration)}"))
    if rows:
        table(out, ("ID", "DATE", "MATCH", "QUESTION AND OUTCOME"), rows, cut=True)
        out.note(f"Found by {found.by}. Read one with: moot show {found.past[0].debate.short}")
    elif anything:
        out.note("No completed debate matches. Try other words, or see all debates with: moot list")
    else:
        out.note(f"No debates here. Begin one: {EXAMPLE}")
    if found.note:
        out.note(found.note)
    if found.more:
        out.note("Not all debates are indexed yet: search again to include the rest.")
    if found.usage.cost_usd != 0:
        out.note(f"The embedder read {found.usage.tokens_in:,} tokens, {money(found.usage.cost_usd)}.")


def _day(past: PastDebate) -> str:
    return datetime.datetime.fromtimestamp(past.debate.completed_at or 0.0).strftime("%Y-%m-%d")


def _json(query: str, found: SearchResult) -> Json:
    """docs/cli.md describes the fields."""
    return {
        "query": query,
        "found": [
            {
                "id": past.debate.id,
                "topic": past.debate.topic,
                "format": past.debate.format,
                "winner": past.debate.outcome.winner if past.debate.outcome else None,
                "headline": headline(past.debate),
                "demonstration": past.demonstration,
                "quarantined": past.debate.quarantined_at is not None,
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


def _print_library(out: Printer, known: Library) -> None:
    table(out, ("TEMPLATE", "", "WHAT IT DOES"), [_row(template) for template in known.templates], cut=True)
    out.note("Read one with: moot templates NAME")
    for problem in known.problems:
        note(f"Left out: {problem}")
    for problem in PLUG_INS.broken():
        note(f"Left out: {problem.name} ({problem.package}). {problem.text}")


def _row(template: Template) -> Sequence[Span]:
    whose = ("yours", "green") if template.file else template.package
    return ((template.id, "bold"), whose, template.front.summary)


def _print_template(out: Printer, template: Template) -> None:
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
    elif template.package:
        out.note(f"From {template.package}")
