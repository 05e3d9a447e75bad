"""The entry point: finds the command, runs it, and turns an exception into one line and an exit code.

`moot --help` must be fast, so each command's module is imported only when it runs.
"""

from __future__ import annotations

import os
import sys

from moot import __version__
from moot.cli.commands import (
    BAD_INPUT,
    BROKEN_PIPE,
    COMMANDS,
    DONE,
    EXIT_CODES,
    FAILED,
    INTERRUPTED,
    BadUsage,
    command_of,
    nearest,
)
from moot.cli.stdin import is_piped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Coroutine, Sequence

    from moot.cli.commands import Command

_HELP = """usage: moot "QUESTION" [flags]
       moot COMMAND [flags]

Models argue a question out under rules; what remains is a decision you can audit, replay and fork.

{commands}

  moot COMMAND --help shows a command's flags; moot --version the version.
  Formats that you install can have commands, too: moot formats names them.

Exit codes: {codes}.
"""


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    _reopen_closed()
    try:
        code = _dispatch(args)
        sys.stdout.flush()
        return code
    except BadUsage as bad:
        return _complain(str(bad), BAD_INPUT)
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _explain(error)


def _reopen_closed() -> None:
    """Replace closed standard streams, which Python sets to None, by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _dispatch(args: list[str]) -> int:
    first = args[0] if args else ""
    if first in ("-h", "--help") or args == ["help"] or (not args and not is_piped()):
        width = max(map(len, COMMANDS))
        commands = "\n".join(f"  {name:<{width}}  {each.summary}" for name, each in COMMANDS.items())
        codes = [f"{code} {what}" for code, what in EXIT_CODES.items()]
        print(_HELP.format(commands=commands, codes=f"{', '.join(codes[:4])},\n{', '.join(codes[4:])}"))
        return DONE
    if first == "--version":
        print(f"moot {__version__}")
        return DONE
    if first == "help":
        args = [args[1], "--help"]
    name, command, rest = _arranged(args)
    from moot.cli.parser import parser_of

    try:
        parsed = parser_of(name, command).parse_args(rest)
    except SystemExit:  # after --help
        return DONE
    from importlib import import_module

    return _run(getattr(import_module(f"moot.cli.{command.module}"), command.function or name), parsed)


def _arranged(args: list[str]) -> tuple[str, Command, list[str]]:
    """The command with its name, and its arguments. A question, or flags without a command, mean `debate`."""
    leading: list[str] = []
    while args and args[0].partition("=")[0] == "--db":
        size = 1 if "=" in args[0] else 2
        leading, args = [*leading, *args[:size]], args[size:]
    first = args[0] if args else ""
    if first.startswith("-") or first == "" or first.endswith("?") or any(c.isspace() for c in first):
        return "debate", COMMANDS["debate"], leading + args
    if (command := command_of(first)) is not None:
        return first, command, leading + args[1:]
    close = nearest(first, list(COMMANDS))
    advice = f"Did you mean `moot {close}`?" if close else f"Commands: {', '.join(COMMANDS)}."
    raise BadUsage(f"There is no command {first!r}. {advice} A question of one word ends with a question mark.")


def _run(command: Callable[[Namespace], Coroutine[object, object, int]], parsed: Namespace) -> int:
    import asyncio

    return asyncio.run(command(parsed))


def _explain(error: Exception) -> int:
    from moot.core.errors import InputError, MootError

    if os.environ.get("MOOT_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, MootError):
        from moot.cli.words import explained

        return _complain(explained(error), BAD_INPUT if isinstance(error, InputError) else FAILED)
    return _complain(
        f"Unexpected {type(error).__name__}: {error or 'no details'}. "
        "This is a bug in moot; set MOOT_DEBUG=1 to see where it happened.",
        FAILED,
    )


def _complain(message: str, code: int) -> int:
    from moot.reasoning.fence import clean

    line = " ".join(clean(message).split())
    encoding = getattr(sys.stderr, "encoding", None) or "ascii"
    try:
        print(f"moot: {line}".encode(encoding, "replace").decode(encoding), file=sys.stderr, flush=True)
    except OSError:
        pass
    return code
