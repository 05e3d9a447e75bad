"""The command `moot record`."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from moot.cli.commands import DONE
from moot.cli.door import find, opened
from moot.cli.lines import print_json
from moot.cli.paper import note
from moot.cli.words import next_step
from moot.errors import InputError, MootError, WrongStatus
from moot.reasoning.fence import clean
from moot.records import webhook
from moot.records.files import FOLDER, Written, project_folder, write_beside, write_file, write_numbered
from moot.records.issue import draft
from moot.records.markdown import render
from moot.records.record import Record
from moot.types import Json


async def record(args: Namespace) -> int:
    only_print = args.print or args.json
    if only_print and args.out is not None:
        raise InputError(f"--out writes a file and {'--json' if args.json else '--print'} does not; give one of them.")
    if args.out is not None and args.out.strip() in ("", "-"):
        raise InputError("--out needs a folder or the path of a file; --print writes to standard output.")
    async with opened(args) as app:
        hook = None if only_print else webhook.configured(app.environ)
        found = await find(app, args.id)
        if found.status != "completed":
            raise WrongStatus(f"Debate {found.short} is {found.status}: it has no decision yet. {next_step(found)}")
        made = await app.record(found.id)
    if args.json:
        print_json(_json(made, issue=args.issue), indent=2)
    elif args.print:
        print(draft(made).render() if args.issue else render(made), end="")
    else:
        _write(args, made)
        if hook is not None:
            await _deliver(hook, _json(made, issue=args.issue), made)
    return DONE


def _json(made: Record, *, issue: bool) -> Json:
    return {**made.as_json(), "issue": draft(made).as_json() if issue else None}


def _write(args: Namespace, made: Record) -> None:
    project = project_folder(Path.cwd())
    out = project / FOLDER if args.out is None else Path(args.out).expanduser()
    if args.out is not None and out.suffix.lower() == ".md" and not out.is_dir():
        written = write_file(out, render(made))
    else:
        written = write_numbered(out, made.title, made.debate, render(made))
    _tell(written)
    if args.issue:
        issue = draft(made, written.path, _within(written.path, project))
        _tell(write_beside(written.path.with_suffix(".issue.md"), issue.render()))


def _tell(written: Written) -> None:
    print(clean(os.path.relpath(written.path) if written.path.is_relative_to(Path.cwd()) else str(written.path)))
    if not written.same:
        note("It was written before and has changed since, so it is left alone. See the original with --print.")
    elif not written.new:
        note("It was written before.")


def _within(path: Path, project: Path) -> str:
    try:
        return path.resolve().relative_to(project.resolve()).as_posix()
    except ValueError:
        return path.name


async def _deliver(hook: webhook.Hook, document: Json, made: Record) -> None:
    try:
        await webhook.deliver(hook, document)
    except MootError as error:
        raise MootError(f"{error} It is written; send it again with: moot record {made.short}") from error
    note(f"Delivered to {hook.host}.")
