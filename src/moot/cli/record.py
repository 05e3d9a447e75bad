"""The command `moot record`."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from moot.cli.commands import DONE
from moot.cli.gate import confirm
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.cli.views import print_json
from moot.client import Client
from moot.core.errors import InputError, MootError
from moot.core.types import Debate, Json
from moot.reasoning.fence import clean
from moot.records import webhook
from moot.records.files import FOLDER, Written, project_folder, write_beside, write_file, write_numbered
from moot.records.issue import draft
from moot.records.markdown import render
from moot.records.record import Record


async def record(args: Namespace) -> int:
    only_print = args.print or args.json
    if only_print and args.out is not None:
        raise InputError(f"--out writes a file and {'--json' if args.json else '--print'} does not; give one of them.")
    if args.out is not None and args.out.strip() in ("", "-"):
        raise InputError("--out needs a folder or the path of a file; --print writes to standard output.")
    async with open_client(args) as client:
        hook = None if only_print else webhook.from_environ(client.app.environ)
        made = await client.record(await client.find(args.id))
    if args.json:
        print_json(_json(made, issue=args.issue), indent=2)
    elif args.print:
        print(draft(made).render() if args.issue else render(made), end="")
    else:
        await _write_and_deliver(made, args.out, hook, issue=args.issue)
    return DONE


async def offer(client: Client, debate: Debate) -> None:
    """Offer, at the terminal, to write a recommendation down and to draft an issue that follows up on it."""
    if debate.status != "completed" or debate.outcome is None or not debate.outcome.record.recommendation:
        return
    made = await client.record(debate)
    write = await confirm(f"Write the decision to {_shown_folder()}?")
    issue = await confirm(f"Draft a follow-up issue{'' if write else ' (this writes the decision, too)'}?")
    if write or issue:
        await _write_and_deliver(made, None, webhook.from_environ(client.app.environ), issue=issue)


async def _write_and_deliver(made: Record, out: str | None, hook: webhook.Webhook | None, *, issue: bool) -> None:
    _write(made, out, issue=issue)
    if hook is not None:
        await _deliver(hook, _json(made, issue=issue), made)


def _shown_folder() -> str:
    folder = project_folder(Path.cwd()) / FOLDER
    return f"{os.path.relpath(folder)}/" if folder.is_relative_to(Path.cwd()) else f"{folder}/"


def _json(made: Record, *, issue: bool) -> Json:
    return {**made.as_json(), "issue": draft(made).as_json() if issue else None}


def _write(made: Record, given: str | None, *, issue: bool) -> None:
    project = project_folder(Path.cwd())
    out = project / FOLDER if given is None else Path(given).expanduser()
    if given is not None and out.suffix.lower() == ".md" and not out.is_dir():
        written = write_file(out, render(made))
    else:
        written = write_numbered(out, made.title, made.debate, render(made))
    _report(written)
    if issue:
        text = draft(made, written.path, _within(written.path, project)).render()
        _report(write_beside(written.path.with_suffix(".issue.md"), text))


def _report(written: Written) -> None:
    print(clean(os.path.relpath(written.path) if written.path.is_relative_to(Path.cwd()) else str(written.path)))
    if not written.same:
        note("It was written before and has been edited since, so it is left alone. Print the original with --print.")
    elif not written.new:
        note("It was written before.")


def _within(path: Path, project: Path) -> str:
    try:
        return path.resolve().relative_to(project.resolve()).as_posix()
    except ValueError:
        return path.name


async def _deliver(hook: webhook.Webhook, document: Json, made: Record) -> None:
    try:
        await webhook.deliver(hook, document)
    except MootError as error:
        raise MootError(f"{error} It is written; send it again with: moot record {made.short}") from error
    note(f"Delivered to {hook.host}.")
