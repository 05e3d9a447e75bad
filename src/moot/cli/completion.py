"""The command `completion`: scripts for shells, and the ids that they ask for while someone types."""

from __future__ import annotations

from argparse import Action, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import shtab

from moot import formats
from moot.cli.commands import DONE, every_command
from moot.cli.parser import Parser, whole_parser
from moot.cli.session import open_client
from moot.core.types import STATUSES
from moot.formats.format import EFFORTS
from moot.formats.shared import roles
from moot.models import providers
from moot.reasoning.fence import clean, one_line

MOST_IDS = 100
EMBEDDED = ("local", "local:small")

# Each line of `moot completion ids` is an id, a tab and a description, which fish takes as it is.
_IDS = {
    "bash": "_moot_ids",
    "zsh": "_moot_ids",
    "fish": "(moot completion ids 2>/dev/null)",
    "preamble": {
        "bash": '_moot_ids() {\n  compgen -W "$(moot completion ids 2>/dev/null | cut -f1)" -- "$1"\n}',
        "zsh": "_moot_ids() {\n  local -a debates\n"
        '  debates=(${(f)"$(moot completion ids 2>/dev/null | tr "\\t" ":")"})\n'
        "  _describe debate debates\n}",
    },
}


async def completion(args: Namespace) -> int:
    if args.what == "ids":
        return await _print_ids(args)
    print(script(args.what))
    return DONE


def script(shell: str) -> str:
    """The completion script for bash, zsh or fish."""
    known = providers.ranked()
    models = [*EMBEDDED, *(f"{each.name}:{model}" for each in known for model in dict.fromkeys(each.models.values()))]
    words: Mapping[str, Sequence[str]] = {
        "--effort": EFFORTS,
        "--format": [*formats.installed(), formats.AUTO],
        "--judge-model": models,
        "--model": models,
        "--status": STATUSES,
        "moot formats NAME": [*formats.installed()],
        "moot roles NAME": [role.name for role, _ in roles.installed()],
        "moot models PROVIDER": [each.name for each in known if each.remote],
    }
    values = {"A": _IDS, "B": _IDS, "FILE": shtab.FILE, "ID": _IDS, "PATH": shtab.FILE, "SPEC.YAML": _YAML}
    whole = whole_parser(every_command())
    for place, action in _actions(whole):
        if place in words:
            action.choices = words[place]
        elif action.metavar in values:
            setattr(action, "complete", values[action.metavar])  # noqa: B010  (shtab reads it)
    return shtab.complete(whole, shell)


def _actions(parser: Parser) -> Iterator[tuple[str, Action]]:
    """Every flag under its name, and every other argument under its command and name."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        yield next(iter(action.option_strings), f"{parser.prog} {action.metavar}"), action
        commands: object = action.choices
        if isinstance(commands, dict):
            for inner in cast("dict[str, Parser]", commands).values():
                yield from _actions(inner)


async def _print_ids(args: Namespace) -> int:
    async with open_client(args) as client:
        if client.app.has_database:
            page = await client.page(limit=MOST_IDS)
            for each in page.debates:
                print(f"{each.short}\t{clean(one_line(each.topic, 60))} ({each.status})")
    return DONE


_YAML = shtab.glob("*.yaml", "*.yml")
