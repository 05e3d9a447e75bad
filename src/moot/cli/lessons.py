"""The commands `moot lessons` and `moot versions`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

from moot.cli.commands import DONE
from moot.cli.printer import Printer, Span, table
from moot.cli.session import open_client
from moot.cli.views import print_json, printer_of
from moot.core.artifacts import Version
from moot.core.errors import InputError
from moot.core.types import Debate, Json
from moot.memory.learned import Found, lesson_source
from moot.reasoning.fence import clean, one_line
from moot.store import KnownLesson

MOST = 100


async def lessons(args: Namespace) -> int:
    async with open_client(args) as client:
        if args.action is not None:
            if args.id is None:
                raise InputError(f"Say which lesson: moot lessons {args.action} ID (`moot lessons` has the ids).")
            known = await client.lessons.find(args.id)
            await client.lessons.forget(known)
            print(f"Lesson {known.lesson.id[:8]} is forgotten.")
            return DONE
        if not 1 <= args.limit <= MOST:
            raise InputError(f"--limit is {args.limit}; it can be 1 to {MOST}.")
        found = await client.lessons.search(args.search or "", args.limit)
    if args.json:
        print_json({"lessons": [_json(known, score) for known, score in found.found], "by": found.by}, indent=2)
    else:
        _print(printer_of(args), found)
    return DONE


async def versions(args: Namespace) -> int:
    async with open_client(args) as client:
        debate = await client.find(args.id)
        if args.number is None:
            found = await client.versions(debate)
            if args.json:
                print_json([version_json(each, code=False) for each in found], indent=2)
            else:
                _print_versions(printer_of(args), debate, found)
            return DONE
        version = await client.version(debate, args.number)
    if args.json:
        print_json(version_json(version, code=True), indent=2)
    elif args.diff:
        print(clean(version.diff_from_previous), end="")
    else:
        print(clean(version.code), end="" if version.code.endswith("\n") else "\n")
    return DONE


def _print(out: Printer, found: Found[KnownLesson]) -> None:
    rows: list[Sequence[Span]] = []
    for known, _ in found.found:
        lesson = known.lesson
        rows.append(((lesson.id[:8], "bold"), (one_line(lesson.text, 300), "bold")))
        if lesson.applies_when:
            rows.append(("", f"Applies when: {one_line(lesson.applies_when, 300)}"))
        rows.append(("", f"{'(demonstration) ' if lesson.demonstration else ''}{lesson_source(known)}"))
    if rows:
        table(out, ("ID", "LESSON"), rows)
    else:
        out.note("No lesson here. Debates that learn from their attempts leave some.")
    if found.note:
        out.note(found.note)


def _json(known: KnownLesson, score: float) -> Json:
    """docs/cli.md describes the fields."""
    lesson = known.lesson
    return {
        "id": lesson.id,
        "text": lesson.text,
        "applies_when": lesson.applies_when,
        "debate": lesson.debate_id,
        "episodes": list(lesson.episodes),
        "model": lesson.model,
        "confirmed": known.confirmed,
        "contradicted": known.contradicted,
        "demonstration": lesson.demonstration,
        "score": round(score, 4),
        "created_at": lesson.created_at,
    }


def version_json(version: Version, *, code: bool) -> Json:
    """A version's fields, with its code if asked for. docs/cli.md describes them."""
    values = asdict(version)
    del values["debate_id"]
    return values if code else {name: value for name, value in values.items() if name != "code"}


def _print_versions(out: Printer, debate: Debate, found: Sequence[Version]) -> None:
    names = debate.names
    rows = [
        (
            (str(each.number), "bold"),
            names.get(each.author, each.author),
            each.language,
            _share(each.test_pass_rate),
            _share(each.quality_score),
            _changed(each),
            one_line(each.label, 60),
        )
        for each in found
    ]
    if rows:
        table(out, ("VERSION", "AUTHOR", "LANGUAGE", "PASS", "QUALITY", "DIFF", "LABEL"), rows)
        out.note(f"Print the code of one with: moot versions {debate.short} {found[-1].number}")
    else:
        out.note(f"Debate {debate.short} has no versions of code.")


def _share(value: float | None) -> str:
    return "not run" if value is None else f"{value:.0%}"


def _changed(version: Version) -> str:
    lines = version.diff_from_previous.splitlines()[2:]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"+{added} -{removed}" if lines else ""
