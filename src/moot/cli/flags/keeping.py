"""Flags of the commands that label debates, show them to others, move and delete them."""

from __future__ import annotations

from argparse import ArgumentParser

from moot.cli.flags.common import add_id, add_ids, add_yes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _quarantine(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--off", action="store_true", help="let the decision be recalled again")


def _private(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--off", action="store_true", help="let every caller see it")


def _rename(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("words", nargs="*", metavar="TITLE", help="the title; without one, its question is its title")


def _pin(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--off", action="store_true", help="let go of it again")


def _tag(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("tags", nargs="*", metavar="TAG", help="a tag; without one, those that it has are printed")
    parser.add_argument("--remove", action="store_true", help="take these tags off")


def _archive(parser: ArgumentParser) -> None:
    add_ids(parser)
    parser.add_argument("--off", action="store_true", help="bring them back into the list")


def _share(parser: ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--expires", metavar="AGE", help="when the link ends, such as 7d or 12h (default: never)")
    parser.add_argument("--list", action="store_true", help="show the links that are valid")
    parser.add_argument("--revoke", metavar="LINK", help="make a link invalid: its id, or `all`")
    parser.add_argument("--html", metavar="FILE", help="write answer, record and transcript as one HTML file instead")


def _delete(parser: ArgumentParser) -> None:
    add_ids(parser)
    add_yes(parser)


def _purge(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--older-than", metavar="TIME", required=True, help="how long ago it last changed: 90d, 12w or 36h"
    )
    parser.add_argument(
        "--status", metavar="STATUS", action="append", default=[],
        help="only debates with this status; can be repeated (default: completed, canceled and failed)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    add_yes(parser)


def _export(parser: ArgumentParser) -> None:
    add_ids(parser, optional=True)
    parser.add_argument("--all", action="store_true", help="every debate")
    parser.add_argument(
        "--out", metavar="FILE", help="the file; compressed when it ends with .gz (default: standard output)"
    )


def _import(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what `moot export` has written; `-` reads standard input")


FLAGS: dict[str, Callable[[ArgumentParser], None]] = {
    "quarantine": _quarantine,
    "private": _private,
    "rename": _rename,
    "pin": _pin,
    "tag": _tag,
    "archive": _archive,
    "share": _share,
    "delete": _delete,
    "purge": _purge,
    "export": _export,
    "import": _import,
}
