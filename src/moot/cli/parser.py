"""The parser of each command. Imports little more than argparse, so that `moot COMMAND --help` is fast."""

from __future__ import annotations

import argparse

from moot.cli.commands import BadUsage, Command, nearest
from moot.cli.flags import debates, decisions, evaluation, keeping, operation
from moot.cli.flags.common import add_database, verbatim
from moot.cli.flags.declared import add_declared

TYPE_CHECKING = False  # `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

_FLAGS = debates.FLAGS | decisions.FLAGS | keeping.FLAGS | operation.FLAGS | evaluation.FLAGS


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{_reworded(message, self.flags())} See `{self.prog} --help`.")

    def flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]


def parser_of(name: str, command: Command) -> Parser:
    parser = Parser(prog=f"moot {name}", description=command.summary, allow_abbrev=False)
    _add_flags(parser, name, command)
    return parser


def whole_parser(commands: Mapping[str, Command]) -> Parser:
    """One parser with every command, for completion, which describes them all. At its top are the flags of `debate`,
    which can be left out before a question."""
    whole = Parser(prog="moot", allow_abbrev=False)
    within = whole.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name, command in commands.items():
        parser = within.add_parser(name, help=verbatim(command.summary), description=command.summary)
        _add_flags(parser, name, command)
    debates.add_debate(whole)
    add_database(whole)
    whole.add_argument("--version", action="store_true", help="print the version")
    return whole


def _add_flags(parser: Parser, name: str, command: Command) -> None:
    if command.declared is not None:
        add_declared(parser, name, command.declared)
    elif name in _FLAGS:
        _FLAGS[name](parser)
    add_database(parser)


def _reworded(message: str, flags: list[str]) -> str:
    kind, _, rest = message.partition(": ")
    if kind == "unrecognized arguments":
        first = rest.split()[0]
        if not first.startswith("-"):
            return f"{first!r} is one argument too many; put a question in quotes."
        close = nearest(first.partition("=")[0], flags)
        return f"There is no flag {first!r}." + (f" Did you mean {close!r}?" if close else "")
    if kind == "the following arguments are required":
        return f"Missing: {rest}."
    return f"{message[:1].upper()}{message[1:]}."
