"""Flags of the commands that ask what debates came to, and what was learnt from them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from moot.cli.flags.common import add_id, add_json_or_plain, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _audit(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--json", action="store_true", help="everything, with each word that was sent to a model")


def _rate(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument(
        "rating", metavar="RATING", type=whole_number, help="1 (poor) to 5 (very good); can be changed later"
    )


def _outcome(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument(
        "right", metavar="right|wrong|0.7", type=_rightness,
        help="how the decision turned out; a number goes from 0 (wrong) to 1 (right), and `unknown` takes it back",
    )  # fmt: skip
    parser.add_argument("--note", default="", metavar="TEXT", help="what happened")


def _rightness(text: str) -> float | None:
    words = {"right": 1.0, "wrong": 0.0, "unknown": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        given = float(text)
    except ValueError:
        given = -1.0
    if not 0 <= given <= 1:
        raise ArgumentTypeError(
            f"it takes right, wrong, unknown, or a number from 0 (wrong) to 1 (right), not {text[:50]!r}"
        )
    return given


def _calibration(parser: ArgumentParser) -> None:
    parser.add_argument("--by", choices=("model", "format", "person"), help="figures for each of them")
    add_json_or_plain(parser)


def _claims(parser: ArgumentParser) -> None:
    add_id(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON document")
    how.add_argument("--mermaid", action="store_true", help="the argument map, as a Mermaid flowchart")
    how.add_argument("--plain", action="store_true", help="plain text, no colours")


def _tally(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--method", metavar="NAME", help="what another voting method would have given, such as schulze")
    add_json_or_plain(parser)


def _record(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument(
        "--out", metavar="PATH", help="a folder, or a file that ends with .md (default: docs/decisions of your project)"
    )
    parser.add_argument("--issue", action="store_true", help="also draft an issue that follows up on the decision")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--print", action="store_true", help="print the Markdown and write nothing")
    how.add_argument("--json", action="store_true", help="print one JSON document and write nothing")


def _search(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="words, or a whole question")
    parser.add_argument("--limit", metavar="N", type=whole_number, default=10, help="how many (default: 10)")
    add_json_or_plain(parser)


def _lessons(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("forget",),
        metavar="ACTION",
        help="`forget`: delete a lesson",
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="the lesson's id, or the beginning of it")
    parser.add_argument("--search", metavar="WORDS", help="those about something, best first")
    parser.add_argument("--limit", metavar="N", type=whole_number, default=20, help="how many (default: 20)")
    add_json_or_plain(parser)


def _versions(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("number", nargs="?", type=whole_number, metavar="NUMBER", help="print the code of this one")
    parser.add_argument("--diff", action="store_true", help="with NUMBER: print what it changes instead of its code")
    add_json_or_plain(parser)


def _templates(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this one")


FLAGS: dict[str, Callable[[ArgumentParser], None]] = {
    "audit": _audit,
    "rate": _rate,
    "outcome": _outcome,
    "calibration": _calibration,
    "claims": _claims,
    "tally": _tally,
    "record": _record,
    "search": _search,
    "lessons": _lessons,
    "versions": _versions,
    "templates": _templates,
}
