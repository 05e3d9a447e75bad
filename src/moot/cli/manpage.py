"""The manual page, written from the commands and flags. Imports nothing that a build of the package lacks."""

from __future__ import annotations

import re
from argparse import Action, Namespace
from collections.abc import Iterator, Mapping

from moot import __doc__ as about
from moot import __version__
from moot.cli.commands import COMMANDS, DONE, EXIT_CODES, Command, every_command
from moot.cli.flags.common import ABOUT_IDS
from moot.cli.parser import Parser, parser_of

DESCRIPTION = (
    'moot "QUESTION" debates a question here and now: a question, or flags without a command, mean `moot debate`. '
    "Without a question, it is read from standard input when something is piped in.",
    "Standard output has the debate; standard error has notes for the person at the keyboard, and errors.",
    "Every command takes `--db` PATH: the database, an SQLite file or the address of a PostgreSQL database.",
    ABOUT_IDS,
)
ENVIRONMENT = {
    "MOOT_CONFIG": "the user's config file, instead of the one in the platform's config folder",
    "MOOT_MODEL, MOOT_DATABASE_URL, …": "settings: MOOT_ and the name that `moot config` shows, in capitals",
    "MOOT_DEBUG": "when set, an error comes with its traceback",
    "NO_COLOR": "when set, nothing is coloured; so does CLICOLOR=0",
    "FORCE_COLOR": "when set, output is coloured even in a pipe or a file; so does CLICOLOR_FORCE=1",
}


async def man(args: Namespace) -> int:
    print(page(every_command()), end="")
    return DONE


def page(commands: Mapping[str, Command] = COMMANDS) -> str:
    """The page in the language of man: see man(7)."""
    return "\n".join(_lines(commands)) + "\n"


def _lines(commands: Mapping[str, Command]) -> Iterator[str]:
    yield f'.TH MOOT 1 "" "moot {__version__}" "User Commands"'
    yield from (".SH NAME", f"moot \\- {_text((about or '').partition(chr(10))[0].rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B moot", _text('"QUESTION" [flags]'), ".br", ".B moot", _text("COMMAND [flags]"))
    yield ".SH DESCRIPTION"
    for paragraph in DESCRIPTION:
        yield from (".PP", _text(paragraph))
    yield ".SH COMMANDS"
    for name, command in commands.items():
        yield from _command(parser_of(name, command))
    yield ".SH EXIT STATUS"
    yield from _list({str(code): what for code, what in EXIT_CODES.items()})
    yield ".SH ENVIRONMENT"
    yield from _list(ENVIRONMENT)


def _command(parser: Parser) -> Iterator[str]:
    actions = parser._actions  # pyright: ignore[reportPrivateUsage]
    arguments = [_text(_argument(action)) for action in actions if not action.option_strings]
    yield f'.SS "{" ".join([_text(parser.prog), *arguments])}"'
    yield _text(parser.description or "")
    described = {_name(action): action.help or "" for action in actions if action.dest not in ("help", "db")}
    yield from _list({name: text.replace("%%", "%") for name, text in described.items()})


def _argument(action: Action) -> str:
    shown = f"{action.metavar}…" if action.nargs in ("*", "+") else f"{action.metavar}"
    return f"[{shown}]" if action.nargs in ("?", "*") else shown


def _name(action: Action) -> str:
    value = action.metavar or ("|".join(action.choices) if action.choices else "")
    values = " ".join([f"{value}"] * (action.nargs if isinstance(action.nargs, int) else 1)).strip()
    return f"{', '.join(action.option_strings)} {values}".strip()


def _list(items: Mapping[str, str]) -> Iterator[str]:
    for term, text in items.items():
        yield from (".TP", f"\\fB{_text(term)}\\fR", _text(text))


def _text(text: str) -> str:
    """Text with what man would take for its own escaped, and with what is in backticks bold."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("'", "\\(aq")
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fR", f"\\&{plain}" if plain.startswith(".") else plain)
