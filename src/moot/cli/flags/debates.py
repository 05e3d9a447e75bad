"""Flags of the commands that start debates, drive them and show them."""

from __future__ import annotations

from argparse import ArgumentParser

from moot.cli.flags.common import (
    ABOUT_IDS,
    add_detach,
    add_id,
    add_json_or_plain,
    add_output,
    add_settings,
    whole_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _debate(parser: ArgumentParser) -> None:
    parser.add_argument(
        "question", nargs="?", metavar="QUESTION",
        help="what to debate; `-`, or nothing when something is piped in, reads it from standard input",
    )  # fmt: skip
    add_debate(parser)


def add_debate(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--format", metavar="NAME", help="the rules, or a preset (see `moot formats`; default: what suits the question)"
    )
    parser.add_argument("--effort", metavar="HOW", help="quick, standard or thorough: how much is asked and checked")
    parser.add_argument("--model", metavar="SPEC", help="model of all participants (default: see `moot models`)")
    parser.add_argument("--judge-model", metavar="SPEC", help="model of the judge")
    parser.add_argument(
        "--rounds", "--max-rounds", metavar="N", type=whole_number, help="rounds, in formats that have them"
    )
    parser.add_argument(
        "--perspectives",
        metavar="N",
        type=whole_number,
        help="how many perspectives are heard, in formats that have them",
    )
    parser.add_argument(
        "--no-checkpoints", action="store_true", help="run to the end without asking you between rounds"
    )
    parser.add_argument(
        "--turns", metavar="N", type=whole_number, help="statements in all, in formats that count those"
    )
    parser.add_argument(
        "--stance", choices=("pro", "con"), help="what the first debater argues, in formats with two stances"
    )
    parser.add_argument(
        "--sides", metavar="SIDE", nargs=2, help="what the two sides stand for (default: what the question offers)"
    )
    add_settings(parser)
    parser.add_argument(
        "--private", action="store_true", help="over HTTP, chat and MCP, show it to its own token and admins only"
    )
    parser.add_argument(
        "--follows", metavar="ID", help="ask it after a debate that has an answer; every seat is told what it came to"
    )
    parser.add_argument("--file", metavar="SPEC.YAML", help="a YAML file with topic, format and settings")
    add_detach(parser)
    parser.add_argument("--resume", metavar="ID", help="the same as `moot resume ID`")
    parser.add_argument("--list", action="store_true", help="the same as `moot list`")
    add_output(parser)


def _list(parser: ArgumentParser) -> None:
    parser.add_argument("--status", metavar="STATUS", help="only debates with this status")
    parser.add_argument("--format", metavar="NAME", help="only debates of this format")
    parser.add_argument("--contains", metavar="TEXT", help="only questions or titles with this text, in any case")
    parser.add_argument("--parent", metavar="ID", help="only forks of this debate")
    parser.add_argument("--follows", metavar="ID", help="only debates that were asked after this one")
    parser.add_argument("--tag", metavar="TAG", help="only debates with this tag")
    parser.add_argument("--pinned", action="store_true", help="only debates that are pinned")
    parser.add_argument("--archived", action="store_true", help="what is in the archive, instead of all others")
    parser.add_argument("--limit", metavar="N", type=whole_number, default=20, help="how many (default: 20)")
    parser.add_argument("--after", metavar="MARK", help="continue after the page before")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _show(parser: ArgumentParser) -> None:
    add_id(parser)
    add_output(parser)


def _resume(parser: ArgumentParser) -> None:
    add_id(parser, optional=True)
    parser.add_argument("--all", action="store_true", help="every debate whose process died")
    add_detach(parser)
    _add_out(parser)
    add_output(parser)


def _retry(parser: ArgumentParser) -> None:
    add_id(parser)
    _add_out(parser)
    add_output(parser)


def _add_out(parser: ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", help="of a forge: write the winning code there (default: print it)")


def _fork(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--at", metavar="KEY", help="the step to ask anew; `moot show ID` has each step's key")
    parser.add_argument("--guide", metavar="WORDS", help="guidance for the step asked anew and all after it")
    add_settings(parser)
    parser.add_argument("--no-run", action="store_true", help="only create it")
    _add_out(parser)
    add_output(parser)


def _diff(parser: ArgumentParser) -> None:
    parser.add_argument("one", metavar="A", help="a debate's id, or the beginning of it")
    parser.add_argument("two", metavar="B", help="the other's")
    parser.epilog = ABOUT_IDS
    add_json_or_plain(parser)


def _gates(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="only of this debate")


def _answer(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("words", nargs="*", metavar="WORDS", help="a choice, a choice and words, or just words")
    parser.add_argument("--key", metavar="KEY", help="which question, when several are open")
    parser.add_argument("--no-run", action="store_true", help="only answer; continue with `moot resume`")
    _add_out(parser)
    add_output(parser)


def _guide(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("words", nargs="+", metavar="WORDS", help="your guidance")


FLAGS: dict[str, Callable[[ArgumentParser], None]] = {
    "debate": _debate,
    "list": _list,
    "show": _show,
    "watch": _show,
    "stop": add_id,
    "resume": _resume,
    "cancel": add_id,
    "retry": _retry,
    "fork": _fork,
    "diff": _diff,
    "gates": _gates,
    "answer": _answer,
    "guide": _guide,
    "replay": add_id,
}
