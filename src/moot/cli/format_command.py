"""The command that a format declares: a debate with its rules, whose result may be a file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from moot.cli.delivery import Delivery, new_file
from moot.cli.download import Download
from moot.cli.flags.declared import option_dest
from moot.cli.printer import note
from moot.cli.run import choices, drive
from moot.cli.session import open_client
from moot.cli.stdin import is_piped, read_question
from moot.client import Client
from moot.client.shorthand import settings_of
from moot.core.errors import InputError
from moot.core.types import Json
from moot.formats.command import FormatCommand, Option
from moot.request import Request, merged, read_assignments, read_topic


async def run(args: Namespace) -> int:
    """`args.declared` is what the format `args.format` says of its command."""
    declared: FormatCommand = args.declared
    result = declared.result
    out = None if result is None or args.out is None else new_file(args.out)
    delivery = None if result is None else Delivery(result, out, as_json=args.json)
    download = Download()
    async with open_client(args, download) as client:
        plan = await client.plan(_requested(args, declared, client))
        created = await client.create(plan, start=False)
        notes = [*choices(plan), (await client.estimate(plan)).words]
        return await drive(
            client, args, created, lambda: client.go_on(created, "start"), download, notes, delivery=delivery
        )


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
