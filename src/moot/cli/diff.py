"""The command `moot diff`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from moot.cli import printer as printers
from moot.cli.blocks import DEMONSTRATION
from moot.cli.commands import DONE
from moot.cli.printer import Printer, table
from moot.cli.session import open_client
from moot.cli.views import print_json, printer_of
from moot.core.amounts import count, duration, money
from moot.reasoning.fence import one_line
from moot.records.compare import ComparedDebate, Comparison, Difference, Excerpt, Parting

VALUE_CHARS = 60
KEYS = 12  # of steps, before the rest is only counted
MARKS = ("bold underline red", "bold underline green")  # styles of differing words


async def diff(args: Namespace) -> int:
    async with open_client(args) as client:
        compared = await client.compare(await client.find(args.one), await client.find(args.two))
    if args.json:
        print_json(compared.as_json(), indent=2)
    else:
        _print(printer_of(args), compared)
    return DONE


def _print(printer: Printer, compared: Comparison) -> None:
    one, two = compared.one, compared.two
    printer.line((f"Debates {one.short} and {two.short}", "bold"))
    for line in _how_related(compared):
        printer.passage(line)
    _differences(printer, "Settings", compared.settings, compared)
    _differences(printer, "Cast", compared.seats, compared)
    if compared.same_rules:
        printer.line()
        printer.line(("Steps", "bold"))
        _steps(printer, compared)
    printer.line()
    _outcomes(printer, one, two)
    if one.demonstration or two.demonstration:
        printer.line((DEMONSTRATION, "bold red"))


def _how_related(compared: Comparison) -> list[str]:
    one, two = compared.one, compared.two
    related = {
        "same": "It is one and the same debate.",
        "fork": f"{two.short} was branched off from {one.short}{_at(two)}.",
        "parent": f"{one.short} was branched off from {two.short}{_at(one)}.",
        "siblings": f"Both were branched off from {(one.parent or '')[:8]}:{_at(one)} and{_at(two)}.",
        "none": "Neither was branched off from the other.",
    }
    lines = [related[compared.relation]]
    if not compared.same_rules:
        lines.append(f"Their formats differ ({one.format}, {two.format}), so their steps are not compared.")
    if compared.same_question:
        return [*lines, one_line(one.topic, 200)]
    return [*lines, "Their questions differ:", *(f"{side.short}: {one_line(side.topic, 200)}" for side in (one, two))]


def _at(side: ComparedDebate) -> str:
    return f" at {side.forked_at}" if side.forked_at else ""


def _differences(printer: Printer, what: str, found: Sequence[Difference], compared: Comparison) -> None:
    if not found:
        return
    printer.line()
    rows = [(each.name, each.one, each.two) for each in found]
    _table(printer, what, (compared.one.short, compared.two.short), rows)


def _steps(printer: Printer, compared: Comparison) -> None:
    one, two = compared.one.short, compared.two.short
    counted = [f"{compared.same:,} the same"]
    counted += [f"{len(compared.changed):,} with other answers"] if compared.changed else []
    counted += [f"{len(keys):,} only in {whose}" for keys, whose in _only(compared) if keys]
    printer.passage(f"{', '.join(counted)}.")
    if compared.parting is None:
        printer.passage("They never part.")
        return
    _parting(printer, compared.parting, one, two)
    printer.line()
    first = {each.key for each in (compared.parting.one, compared.parting.two) if each is not None}
    later = [key for key in compared.changed if key not in first]
    if later:
        printer.passage(f"Answered differently later: {_listed(later)}.")
    for keys, whose in _only(compared):
        if keys:
            printer.passage(f"Only in {whose}: {_listed(keys)}.")


def _only(compared: Comparison) -> list[tuple[Sequence[str], str]]:
    return [(compared.only_one, compared.one.short), (compared.only_two, compared.two.short)]


def _parting(printer: Printer, parting: Parting, one: str, two: str) -> None:
    both = [each for each in (parting.one, parting.two) if each is not None]
    if len(both) == 2 and both[0].key == both[1].key:
        asked = "asked the same" if parting.asked_alike else "asked differently"
        printer.passage(f"They part at {both[0].key}, {asked}:")
    else:
        printer.passage("They part where each does something else:")
    for statement, whose, mark in zip((parting.one, parting.two), (one, two), MARKS, strict=True):
        printer.line()
        if statement is None:
            printer.line(f"{whose} ends here.")
            continue
        printer.line((whose, "bold"), f"  {statement.key}  {statement.name}  {statement.model}")
        printer.passage(*_marked(statement.excerpt, mark))
    in_words = {span.text for each in both for span in each.excerpt.spans}
    fields = [each for each in parting.fields if not _said(each, in_words)]
    if fields:
        printer.line()
        _table(printer, "Typed answer", (one, two), [(each.name, each.one, each.two) for each in fields])


def _said(field: Difference, spans: set[str]) -> bool:
    """Whether both values are part of the words shown above."""
    return all(isinstance(value, str) and any(value in span for span in spans) for value in (field.one, field.two))


def _marked(excerpt: Excerpt, mark: str) -> list[printers.Span]:
    spans: list[printers.Span] = [f"(the same {count(excerpt.before, 'word')}) "] if excerpt.before else []
    for at, span in enumerate(excerpt.spans):
        spans += [" "] if at else []
        spans.append((span.text, mark) if span.differs else span.text)
    if excerpt.after:
        spans.append(f" ({count(excerpt.after, 'more word')})")
    return spans or ["(said nothing)"]


def _outcomes(printer: Printer, one: ComparedDebate, two: ComparedDebate) -> None:
    facts = _facts(one), _facts(two)
    rows = [(name, facts[0][name] or "none", facts[1][name] or "none") for name in facts[0]]
    _table(printer, "Outcome", (one.short, two.short), [row for row in rows if row[1:] != ("none", "none")])
    for side in (one, two):
        if side.headline:
            printer.passage(f"{side.short}: {one_line(f'{side.headline} {side.how}')}")


def _facts(side: ComparedDebate) -> Mapping[str, str]:
    points = {seat: "none" if given is None else f"{given:g}" for seat, given in side.scores.items()}
    return {
        "status": side.status,
        "winner": side.name(side.winner) if side.winner else "",
        "scores": ", ".join(f"{side.name(seat)} {given}" for seat, given in points.items()),
        "ended by": side.ended_by,
        "decided by": side.verdict_source,
        "rounds": f"{side.rounds}",
        "steps": f"{side.turns}",
        "tokens": f"{side.tokens_in:,} in, {side.tokens_out:,} out",
        "cost": money(side.cost_usd),
        "time": duration(side.seconds),
        "rating": f"{side.user_rating} of 5" if side.user_rating else "",
    }


def _table(printer: Printer, what: str, sides: tuple[str, str], rows: Sequence[tuple[str, Any, Any]]) -> None:
    """Print the values of both debates side by side."""
    room = VALUE_CHARS if printer.width is None else max(8, (printer.width - max(len(row[0]) for row in rows)) // 2 - 2)
    table(printer, (what, *sides), [(row[0], *(_value(each, room) for each in row[1:])) for row in rows], cut=True)


def _value(value: Any, room: int) -> str:
    if value is None:
        return "none"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), room)


def _listed(keys: Sequence[str]) -> str:
    shown = ", ".join(keys[:KEYS])
    return shown if len(keys) <= KEYS else f"{shown} and {len(keys) - KEYS:,} more"
