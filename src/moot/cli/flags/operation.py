"""Flags of the commands that serve, check and configure moot."""

from __future__ import annotations

from argparse import ArgumentParser

from moot.cli.flags.common import add_ceiling, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _mcp(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scope", metavar="SCOPES", default="read,run",
        help="what the client may do, comma-separated: read, run, decide, admin (default: read,run)",
    )  # fmt: skip
    add_ceiling(parser)


def _worker(parser: ArgumentParser) -> None:
    add_ceiling(parser)
    parser.add_argument(
        "--debates", metavar="N", type=whole_number, help="how many at once (default: see `moot config`)"
    )
    parser.add_argument(
        "--metrics-port",
        metavar="N",
        type=whole_number,
        help="show metrics for Prometheus on this port; 0: any that is free",
    )


def _status(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _doctor(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="SPEC", action="append", default=[], help="check this model; can be repeated"
    )


def _models(parser: ArgumentParser) -> None:
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="list the models that this provider has")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _formats(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="show the settings of this format")


def _roles(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="show what a seat with this role is told")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _db(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("status", "migrate"), metavar="ACTION", help="`status`, or `migrate`: the schema"
    )
    parser.add_argument("--json", action="store_true", help="`status` as one JSON document")


def _serve(parser: ArgumentParser) -> None:
    parser.add_argument("--host", metavar="HOST", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", metavar="PORT", type=whole_number, help="the port; 0 takes any that is free (default: 8421)"
    )
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    add_ceiling(parser)
    parser.add_argument(
        "--no-resume", action="store_true", help="leave interrupted debates as they are until someone resumes them"
    )


def _token(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("create", "list", "rotate", "revoke"),
        metavar="ACTION",
        help="create, list, rotate or revoke",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="the token's name: the person or program that uses it")
    parser.add_argument(
        "--scope", metavar="SCOPES", default="read,run,decide",
        help="comma-separated: read, run, decide, admin (default: read,run,decide)",
    )  # fmt: skip
    parser.add_argument("--expires", metavar="AGE", help="when it ends, such as 90d or 12h (default: never)")
    parser.add_argument(
        "--grace",
        metavar="AGE",
        help="how long the old secret of a rotated token stays valid, such as 1h (default: not)",
    )


def _config(parser: ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON document")
    how.add_argument("--path", action="store_true", help="only show which files are read, and whether they exist")


def _completion(parser: ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=("bash", "zsh", "fish", "ids"), metavar="SHELL",
        help="bash, zsh or fish; or `ids`: the newest debates, as the script asks for them",
    )  # fmt: skip


FLAGS: dict[str, Callable[[ArgumentParser], None]] = {
    "serve": _serve,
    "mcp": _mcp,
    "token": _token,
    "worker": _worker,
    "status": _status,
    "doctor": _doctor,
    "formats": _formats,
    "roles": _roles,
    "models": _models,
    "db": _db,
    "config": _config,
    "completion": _completion,
}
