"""Flags that several commands have."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

ABOUT_IDS = 'Ids can be shortened as long as only one debate fits: "moot show 3f2a".'


def add_database(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--db", metavar="PATH", help="the database: an SQLite file, or postgresql://… (default: in your data folder)"
    )


def add_id(parser: ArgumentParser, *, optional: bool = False) -> None:
    """One debate's id, as `id`."""
    given = "?" if optional else None
    parser.add_argument("id", nargs=given, metavar="ID", help="the debate's id, or the beginning of it")
    parser.epilog = ABOUT_IDS


def add_ids(parser: ArgumentParser, *, optional: bool = False) -> None:
    """Several debates' ids, as `ids`."""
    given = "*" if optional else "+"
    parser.add_argument("ids", nargs=given, metavar="ID", help="a debate's id, or the beginning of it")
    parser.epilog = ABOUT_IDS


def add_output(parser: ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON event per line")
    how.add_argument("--plain", action="store_true", help="plain text, no colours, nothing that moves")


def add_json_or_plain(parser: ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON document")
    how.add_argument("--plain", action="store_true", help="plain text, no colours")


def add_settings(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="assignments",
        help="any setting of the format, dotted where nested; can be repeated (see `moot formats NAME`)",
    )  # fmt: skip


def add_detach(parser: ArgumentParser) -> None:
    parser.add_argument("--detach", action="store_true", help="leave it to the workers; only its id is printed")


def add_yes(parser: ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def add_ceiling(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--ceiling", metavar="NAME=VALUE", action="append", default=[],
        help="what debates may use at most, such as day_usd=20; can be repeated (see docs/config.md)",
    )  # fmt: skip


def whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"it takes a whole number, not {text[:50]!r}") from None


def counting_number(text: str) -> int:
    """A whole number of 1 or more."""
    if (number := whole_number(text)) < 1:
        raise ArgumentTypeError(f"it takes a whole number of 1 or more, not {text[:50]!r}")
    return number


def dollars(text: str) -> float:
    """An amount of US dollars: finite, and 0 or more."""
    try:
        usd = float(text)
    except ValueError:
        usd = -1.0
    if not 0 <= usd < float("inf"):
        raise ArgumentTypeError(f"it takes an amount of US dollars such as 5 or 0.50, not {text[:50]!r}")
    return usd


def verbatim(text: str) -> str:
    """Text of which argparse expands nothing."""
    return text.replace("%", "%%")
