"""The command `forge`: a debate about code, whose result is a file."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from moot.cli.commands import DONE, FAILED
from moot.cli.download import Download
from moot.cli.printer import note
from moot.cli.run import choices, drive
from moot.cli.session import open_client
from moot.cli.stdin import is_piped, read_question
from moot.client import Client
from moot.client.shorthand import settings_of
from moot.core.errors import InputError
from moot.core.types import Debate, Json
from moot.reasoning.code.requests import MAX_CODE_CHARS
from moot.reasoning.code.test_files import cases_of, line_at_fault
from moot.reasoning.fence import one_line
from moot.request import Request, merged, read_assignments, read_topic

FORMAT = "forge"


async def forge(args: Namespace) -> int:
    out = None if args.out is None else _new_file(args.out)
    download = Download()
    async with open_client(args, download) as client:
        plan = await client.plan(_requested(args, client))
        created = await client.create(plan, start=False)
        notes = [*choices(plan), (await client.estimate(plan)).words]
        code = await drive(
            client, args, created, lambda: client.go_on(created, "start"), download, notes, shows_code=False
        )
        if code == DONE:
            return _deliver(await client.find(created.id), args, out)
        return code


def _requested(args: Namespace, client: Client) -> Request:
    if args.task is None and not is_piped():
        raise InputError('What should the code do? moot forge "Write a function that …"')
    task = read_question() if args.task in (None, "-") else args.task
    if not task.strip():
        raise InputError('The task is empty. Say what the code should do: moot forge "Write a function that …"')
    repo = None if args.repo is None else str(Path(args.repo).expanduser().resolve())
    given: Json = {"language": args.lang, "preset": args.preset, "gates": args.gate or None, "repo": repo}
    flags = settings_of(
        client.app,
        FORMAT,
        given,
        model=args.model,
        judge_model=args.judge_model,
        checkpoints=not args.no_checkpoints,
        spelled=lambda name: f"--{name}",
    )
    assigned = merged(flags, read_assignments(args.assignments))
    python = assigned.get("language", "python") == "python"
    tests = {} if args.tests is None else _tests(args.tests, python=python, whole=repo is not None)
    settings = merged(tests, assigned)
    if args.no_checkpoints and settings.get("gates"):
        raise InputError("A gate asks you, and --no-checkpoints says not to ask: leave one of them out.")
    return Request(topic=read_topic(task), format=FORMAT, settings=settings)


def _tests(name: str, *, python: bool, whole: bool) -> Json:
    """The tests of a file: as cases where that is possible, else the file as it is, which is weaker evidence. `whole`:
    as it is in any case, for a repository."""
    path = Path(name).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InputError(f"The tests {path} can't be read: {why}.") from None
    if not text.strip():
        raise InputError(f"The tests {path} are empty. Write a line such as add(1, 2) == 3, or leave --tests out.")
    if len(text) > MAX_CODE_CHARS:
        raise InputError(f"The tests {path} have {len(text):,} characters; {MAX_CODE_CHARS:,} is the most.")
    if whole:
        return {"tests": text}
    cases = cases_of(text)
    wrong = line_at_fault(text) if cases is None and python else None
    if wrong is not None:
        line = one_line(text.splitlines()[wrong - 1], 100)
        raise InputError(
            f"The tests {path} can't be used: line {wrong} ({line}) is no test such as add(1, 2) == 3, and no Python."
        )
    if cases is None:
        note(f"{path.name} is run as it is, in the process of the code: that is weaker evidence than single calls.")
        return {"tests": text}
    return {"cases": [case.model_dump(mode="json") for case in cases]}


def _new_file(name: str) -> Path:
    """Raises InputError before anything is spent."""
    path = Path(name).expanduser()
    if os.path.lexists(path):  # a link that leads nowhere, too
        raise InputError(f"{path} exists already. Give --out another name: nothing is overwritten.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}. Make it first, or give --out another name.")
    try:
        path.open("x").close()
        path.unlink()
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}. Give --out another name.") from None
    return path


def _deliver(debate: Debate, args: Namespace, out: Path | None) -> int:
    """Print the report, and write or print the code that won. With --json, all that is printed is JSON. What was shown
    while it ran is not repeated. The exit code says whether there is code."""
    outcome = debate.outcome
    if outcome is None:
        return FAILED
    if not args.json:
        for section in outcome.record.sections:
            if not section.event:
                print(f"\n{section.title}")
                print("\n".join(f"  {item}" for item in section.items))
    if outcome.answer is None:
        note("There is no winner, so no code is delivered.")
        return FAILED
    if branch := outcome.facts.get("Branch"):
        note(f"The branch {branch} is in your repository; nothing else changed. See it: git diff HEAD...{branch}")
    if out is not None:
        return _write(out, outcome.answer.value, args)
    if not args.json:
        print(f"\n{outcome.answer.value}", end="", flush=True)
    return DONE


def _write(out: Path, code: str, args: Namespace) -> int:
    """Write the code to a new file. Where that fails it is printed instead, so that it is not lost."""
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(code)
    except OSError as error:
        if not args.json:
            print(f"\n{code}", end="", flush=True)
        note(f"{out} can't be written: {error.strerror}. The code is in what is printed above.")
        return FAILED
    note(f"The code is in {out}.")
    return DONE
