"""The command that a format declares: a debate with its rules, whose result may be a file."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from moot.cli.commands import DONE, FAILED
from moot.cli.download import Download
from moot.cli.flags.declared import option_dest
from moot.cli.printer import note
from moot.cli.run import choices, drive
from moot.cli.session import open_client
from moot.cli.stdin import is_piped, read_question
from moot.client import Client
from moot.client.shorthand import settings_of
from moot.core.errors import InputError
from moot.core.types import Debate, Json
from moot.formats.command import FormatCommand, Option, Result
from moot.request import Request, merged, read_assignments, read_topic


async def run(args: Namespace) -> int:
    """`args.declared` is what the format `args.format` says of its command."""
    declared: FormatCommand = args.declared
    result = declared.result
    out = None if result is None or args.out is None else _new_file(args.out)
    download = Download()
    async with open_client(args, download) as client:
        plan = await client.plan(_requested(args, declared, client))
        created = await client.create(plan, start=False)
        notes = [*choices(plan), (await client.estimate(plan)).words]
        code = await drive(
            client, args, created, lambda: client.go_on(created, "start"), download, notes, shows_code=result is None
        )
        if code == DONE and result is not None:
            return _deliver(await client.find(created.id), result, out, as_json=args.json)
        return code


def _requested(args: Namespace, declared: FormatCommand, client: Client) -> Request:
    topic = _topic(args, declared)
    flags = settings_of(
        client.app,
        args.format,
        {option.setting: _value(args, option) for option in declared.options if option.kind != "file"},
        model=args.model,
        judge_model=args.judge_model,
        checkpoints=not args.no_checkpoints,
        spelled=lambda name: f"--{name.replace('_', '-')}",
    )
    settings = merged(flags, read_assignments(args.assignments))
    for option in declared.options:
        if option.kind == "file" and (name := _value(args, option)) is not None:
            settings = merged(_read(option, Path(name).expanduser(), settings), settings)
    for option in declared.options:
        if option.asks and args.no_checkpoints and (_value(args, option) or settings.get(option.setting)):
            raise InputError(
                f"A {option.flag.strip('-')} asks you, and --no-checkpoints says not to ask: leave one of them out."
            )
    return Request(topic=topic, format=args.format, settings=settings)


def _topic(args: Namespace, declared: FormatCommand) -> str:
    example = f'moot {args.format} "{declared.example}"'
    if args.topic is None and not is_piped():
        raise InputError(f"{declared.question} {example}")
    topic = read_question() if args.topic in (None, "-") else args.topic
    if not topic.strip():
        raise InputError(f"The {declared.topic.lower()} is empty. Say {declared.about}: {example}")
    return read_topic(topic)


def _value(args: Namespace, option: Option) -> Any:
    given = getattr(args, option_dest(option))
    if option.kind == "path" and given is not None:
        return str(Path(given).expanduser().resolve())
    return given or None if option.kind == "list" else given


def _read(option: Option, path: Path, settings: Json) -> Json:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InputError(f"The {option.flag.strip('-')} {path} can't be read: {why}.") from None
    if option.read is None:
        return {option.setting: text}
    read, remark = option.read(path, text, settings)
    if remark:
        note(remark)
    return read


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


def _deliver(debate: Debate, result: Result, out: Path | None, *, as_json: bool) -> int:
    """Print the report, and write or print the answer. With --json, all that is printed is JSON. What was shown while
    it ran is not repeated. The exit code says whether there is an answer."""
    outcome = debate.outcome
    if outcome is None:
        return FAILED
    if not as_json:
        for section in outcome.record.sections:
            if not section.event:
                print(f"\n{section.title}")
                print("\n".join(f"  {item}" for item in section.items))
    if outcome.answer is None:
        note(f"There is no winner, so no {result.noun} is delivered.")
        return FAILED
    for name, words in result.facts.items():
        if fact := outcome.facts.get(name):
            note(words.replace("{}", fact))
    if out is not None:
        return write(out, outcome.answer.value, result, as_json=as_json)
    if not as_json:
        print(f"\n{outcome.answer.value}", end="", flush=True)
    return DONE


def write(out: Path, answer: str, result: Result, *, as_json: bool) -> int:
    """Write the answer to a new file. Where that fails it is printed instead, so that it is not lost."""
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(answer)
    except OSError as error:
        if not as_json:
            print(f"\n{answer}", end="", flush=True)
        note(f"{out} can't be written: {error.strerror}. The {result.noun} is in what is printed above.")
        return FAILED
    note(f"The {result.noun} is in {out}.")
    return DONE
