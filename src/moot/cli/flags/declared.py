"""Flags of the command that a format declares."""

from __future__ import annotations

from moot.cli.flags.common import add_output, add_settings, verbatim, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Any

    from moot.formats.command import FormatCommand, Option

_GIVEN: dict[str, Any] = {"list": {"action": "append", "default": []}, "number": {"type": whole_number}}


def add_declared(parser: ArgumentParser, name: str, declared: FormatCommand) -> None:
    parser.add_argument(
        "topic", nargs="?", metavar=declared.topic,
        help=verbatim(f"{declared.about}; `-`, or nothing, reads it from standard input"),
    )  # fmt: skip
    for option in declared.options:
        parser.add_argument(
            option.flag,
            dest=option_dest(option),
            metavar=option.value,
            help=verbatim(option.about),
            **_GIVEN.get(option.kind, {}),
        )
    if declared.result is not None:
        parser.add_argument("--out", metavar="FILE", help=verbatim(declared.result.about_out))
    parser.add_argument("--model", metavar="SPEC", help="model of all participants (default: see `moot models`)")
    parser.add_argument("--judge-model", metavar="SPEC", help=verbatim(declared.about_judge_model))
    parser.add_argument("--no-checkpoints", action="store_true", help="run to the end without asking you anything")
    add_settings(parser)
    add_output(parser)
    parser.set_defaults(format=name, declared=declared)


def option_dest(option: Option) -> str:
    """The attribute with the value of a format's option, which no flag of every format has."""
    return f"setting_{option.flag.strip('-')}"
