"""The flags of each command. Imports little more than argparse, so that `moot COMMAND --help` is fast."""

from __future__ import annotations

import argparse

from moot.cli.commands import COMMANDS, BadUsage, nearest

TYPE_CHECKING = False  # `typing` takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

EPILOG = 'Ids can be shortened as long as only one debate fits: "moot show 3f2a".'


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{_reworded(message, self.flags())} See `{self.prog} --help`.")

    def flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]


def parser_of(name: str) -> Parser:
    add = _FLAGS.get(name, _nothing)
    parser = Parser(
        prog=f"moot {name}",
        description=COMMANDS[name].summary,
        epilog=EPILOG if add in _WITH_ID else None,
        allow_abbrev=False,
    )
    add(parser)
    _database(parser)
    return parser


def whole_parser() -> Parser:
    """One parser with every command, for what describes them all: completion and the manual page. At its top are the
    flags of `debate`, which can be left out before a question."""
    whole = Parser(prog="moot", allow_abbrev=False)
    commands = whole.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        parser = commands.add_parser(name, help=command.summary, description=command.summary)
        _FLAGS.get(name, _nothing)(parser)
        _database(parser)
    _debate_flags(whole)
    _database(whole)
    whole.add_argument("--version", action="store_true", help="print the version")
    return whole


def _database(parser: Parser) -> None:
    parser.add_argument(
        "--db", metavar="PATH", help="the database: an SQLite file, or postgresql://… (default: in your data folder)"
    )


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


def _output(parser: Parser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON event per line")
    how.add_argument("--plain", action="store_true", help="plain text, no colours, nothing that moves")


def _settings(parser: Parser) -> None:
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="assignments",
        help="any setting of the format, dotted where nested; can be repeated (see `moot formats NAME`)",
    )  # fmt: skip


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"it takes a whole number, not {text[:50]!r}") from None


def _json_or_plain(parser: Parser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON document")
    how.add_argument("--plain", action="store_true", help="plain text, no colours")


def _id(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help="the debate's id, or the beginning of it")


def _debate(parser: Parser) -> None:
    parser.add_argument(
        "question", nargs="?", metavar="QUESTION",
        help="what to debate; `-`, or nothing when something is piped in, reads it from standard input",
    )  # fmt: skip
    _debate_flags(parser)


def _debate_flags(parser: Parser) -> None:
    parser.add_argument(
        "--format", metavar="NAME", help="the rules, or a preset (see `moot formats`; default: what suits the question)"
    )
    parser.add_argument("--effort", metavar="HOW", help="quick, standard or thorough: how much is asked and checked")
    parser.add_argument("--model", metavar="SPEC", help="model of all participants (default: see `moot models`)")
    parser.add_argument("--judge-model", metavar="SPEC", help="model of the judge")
    parser.add_argument("--rounds", "--max-rounds", metavar="N", type=_whole, help="rounds, in formats that have them")
    parser.add_argument(
        "--perspectives", metavar="N", type=_whole, help="how many perspectives are heard, in formats that have them"
    )
    parser.add_argument(
        "--no-checkpoints", action="store_true", help="run to the end without asking you between rounds"
    )
    parser.add_argument("--turns", metavar="N", type=_whole, help="statements in all, in formats that count those")
    parser.add_argument(
        "--stance", choices=("pro", "con"), help="what the first debater argues, in formats with two stances"
    )
    parser.add_argument(
        "--sides", metavar="SIDE", nargs=2, help="what the two sides stand for (default: what the question offers)"
    )
    _settings(parser)
    parser.add_argument(
        "--private", action="store_true", help="over HTTP, chat and MCP, show it to its own token and admins only"
    )
    parser.add_argument(
        "--follows", metavar="ID", help="ask it after a debate that has an answer; every seat is told what it came to"
    )
    parser.add_argument("--file", metavar="SPEC.YAML", help="a YAML file with topic, format and settings")
    _detach(parser)
    parser.add_argument("--resume", metavar="ID", help="the same as `moot resume ID`")
    parser.add_argument("--list", action="store_true", help="the same as `moot list`")
    _output(parser)


def _forge(parser: Parser) -> None:
    parser.add_argument(
        "task", nargs="?", metavar="TASK", help="what the code should do; `-`, or nothing, reads it from standard input"
    )
    parser.add_argument("--lang", metavar="NAME", help="the language: python or javascript (default: python)")
    parser.add_argument(
        "--tests", metavar="FILE",
        help="tests that it must pass: lines such as add(1, 2) == 3, or a file for pytest that imports `solution`",
    )  # fmt: skip
    parser.add_argument(
        "--repo", metavar="PATH",
        help="change this git repository: its tests must pass, and the result is a branch in it, debate/ID",
    )  # fmt: skip
    parser.add_argument("--preset", metavar="NAME", help="quick: fewer seats and phases, 12 calls at most")
    parser.add_argument(
        "--gate", metavar="PHASE", action="append", default=[],
        help="ask you to approve after this phase; can be repeated",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="write the winning code or patch there (default: print it)")
    parser.add_argument("--model", metavar="SPEC", help="model of all participants (default: see `moot models`)")
    parser.add_argument("--judge-model", metavar="SPEC", help="model of those who don't write code")
    parser.add_argument("--no-checkpoints", action="store_true", help="run to the end without asking you anything")
    _settings(parser)
    _output(parser)


def _detach(parser: Parser) -> None:
    parser.add_argument("--detach", action="store_true", help="leave it to the workers; only its id is printed")


def _list(parser: Parser) -> None:
    parser.add_argument("--status", metavar="STATUS", help="only debates with this status")
    parser.add_argument("--format", metavar="NAME", help="only debates of this format")
    parser.add_argument("--contains", metavar="TEXT", help="only questions or titles with this text, in any case")
    parser.add_argument("--parent", metavar="ID", help="only forks of this debate")
    parser.add_argument("--follows", metavar="ID", help="only debates that were asked after this one")
    parser.add_argument("--tag", metavar="TAG", help="only debates with this tag")
    parser.add_argument("--pinned", action="store_true", help="only debates that are pinned")
    parser.add_argument("--archived", action="store_true", help="what is in the archive, instead of all others")
    parser.add_argument("--limit", metavar="N", type=_whole, default=20, help="how many (default: 20)")
    parser.add_argument("--after", metavar="MARK", help="continue after the page before")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _show(parser: Parser) -> None:
    _id(parser)
    _output(parser)


def _resume(parser: Parser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="the debate's id, or the beginning of it")
    parser.add_argument("--all", action="store_true", help="every debate whose process died")
    _detach(parser)
    _output(parser)


def _fork(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--at", metavar="KEY", help="the step to ask anew; `moot show ID` has each step's key")
    parser.add_argument("--guide", metavar="WORDS", help="guidance for the step asked anew and all after it")
    _settings(parser)
    parser.add_argument("--no-run", action="store_true", help="only create it")
    _output(parser)


def _diff(parser: Parser) -> None:
    parser.add_argument("one", metavar="A", help="a debate's id, or the beginning of it")
    parser.add_argument("two", metavar="B", help="the other's")
    _json_or_plain(parser)


def _gates(parser: Parser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="only of this debate")


def _answer(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("words", nargs="*", metavar="WORDS", help="a choice, a choice and words, or just words")
    parser.add_argument("--key", metavar="KEY", help="which question, when several are open")
    parser.add_argument("--no-run", action="store_true", help="only answer; continue with `moot resume`")
    _output(parser)


def _guide(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("words", nargs="+", metavar="WORDS", help="your guidance")


def _audit(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--json", action="store_true", help="everything, with each word that was sent to a model")


def _rate(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("rating", metavar="RATING", type=_whole, help="1 (poor) to 5 (very good); can be changed later")


def _outcome(parser: Parser) -> None:
    _id(parser)
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
        raise argparse.ArgumentTypeError(
            f"it takes right, wrong, unknown, or a number from 0 (wrong) to 1 (right), not {text[:50]!r}"
        )
    return given


def _calibration(parser: Parser) -> None:
    parser.add_argument("--by", choices=("model", "format", "person"), help="figures for each of them")
    _json_or_plain(parser)


def _claims(parser: Parser) -> None:
    _id(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON document")
    how.add_argument("--mermaid", action="store_true", help="the argument map, as a Mermaid flowchart")
    how.add_argument("--plain", action="store_true", help="plain text, no colours")


def _tally(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--method", metavar="NAME", help="what another voting method would have given, such as schulze")
    _json_or_plain(parser)


def _record(parser: Parser) -> None:
    _id(parser)
    parser.add_argument(
        "--out", metavar="PATH", help="a folder, or a file that ends with .md (default: docs/decisions of your project)"
    )
    parser.add_argument("--issue", action="store_true", help="also draft an issue that follows up on the decision")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--print", action="store_true", help="print the Markdown and write nothing")
    how.add_argument("--json", action="store_true", help="print one JSON document and write nothing")


def _search(parser: Parser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORDS", help="words, or a whole question")
    parser.add_argument("--limit", metavar="N", type=_whole, default=10, help="how many (default: 10)")
    _json_or_plain(parser)


def _lessons(parser: Parser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("forget", "quarantine"),
        metavar="ACTION",
        help="`forget`: delete a lesson; `quarantine`: keep it from being recalled",
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="the lesson's id, or the beginning of it")
    parser.add_argument("--search", metavar="WORDS", help="those about something, best first")
    parser.add_argument("--limit", metavar="N", type=_whole, default=20, help="how many (default: 20)")
    parser.add_argument("--off", action="store_true", help="with `quarantine`: let it be recalled again")
    _json_or_plain(parser)


def _versions(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("number", nargs="?", type=_whole, metavar="NUMBER", help="print the code of this one")
    parser.add_argument("--diff", action="store_true", help="with NUMBER: print what it changes instead of its code")
    _json_or_plain(parser)


def _templates(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this one")


def _quarantine(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--off", action="store_true", help="let the decision be recalled again")


def _private(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--off", action="store_true", help="let every caller see it")


def _rename(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("words", nargs="*", metavar="TITLE", help="the title; without one, its question is its title")


def _pin(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--off", action="store_true", help="let go of it again")


def _tag(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("tags", nargs="*", metavar="TAG", help="a tag; without one, those that it has are printed")
    parser.add_argument("--remove", action="store_true", help="take these tags off")


def _archive(parser: Parser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="a debate's id, or the beginning of it")
    parser.add_argument("--off", action="store_true", help="bring them back into the list")


def _share(parser: Parser) -> None:
    _id(parser)
    parser.add_argument("--expires", metavar="AGE", help="when the link ends, such as 7d or 12h (default: never)")
    parser.add_argument("--list", action="store_true", help="show the links that are valid")
    parser.add_argument("--revoke", metavar="LINK", help="make a link invalid: its id, or `all`")
    parser.add_argument("--html", metavar="FILE", help="write answer, record and transcript as one HTML file instead")


def _yes(parser: Parser) -> None:
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def _delete(parser: Parser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="a debate's id, or the beginning of it")
    _yes(parser)


def _purge(parser: Parser) -> None:
    parser.add_argument(
        "--older-than", metavar="TIME", required=True, help="how long ago it last changed: 90d, 12w or 36h"
    )
    parser.add_argument(
        "--status", metavar="STATUS", action="append", default=[],
        help="only debates with this status; can be repeated (default: completed, canceled and failed)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    _yes(parser)


def _export(parser: Parser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="a debate's id, or the beginning of it")
    parser.add_argument("--all", action="store_true", help="every debate")
    parser.add_argument(
        "--out", metavar="FILE", help="the file; compressed when it ends with .gz (default: standard output)"
    )


def _import(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="what `moot export` has written; `-` reads standard input")


def _ceiling(parser: Parser) -> None:
    parser.add_argument(
        "--ceiling", metavar="NAME=VALUE", action="append", default=[],
        help="what debates may use at most, such as day_usd=20; can be repeated (see docs/config.md)",
    )  # fmt: skip


def _mcp(parser: Parser) -> None:
    parser.add_argument(
        "--scope", metavar="SCOPES", default="read,run",
        help="what the client may do, comma-separated: read, run, decide, admin (default: read,run)",
    )  # fmt: skip
    _ceiling(parser)


def _worker(parser: Parser) -> None:
    _ceiling(parser)
    parser.add_argument("--debates", metavar="N", type=_whole, help="how many at once (default: see `moot config`)")
    parser.add_argument(
        "--metrics-port", metavar="N", type=_whole, help="show metrics for Prometheus on this port; 0: any that is free"
    )


def _status(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _doctor(parser: Parser) -> None:
    parser.add_argument(
        "--model", metavar="SPEC", action="append", default=[], help="check this model; can be repeated"
    )


def _models(parser: Parser) -> None:
    parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="list the models that this provider has")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _formats(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="show the settings of this format")


def _roles(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="show what a seat with this role is told")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _db(parser: Parser) -> None:
    parser.add_argument(
        "action", choices=("status", "migrate"), metavar="ACTION", help="`status`, or `migrate`: the schema"
    )
    parser.add_argument("--json", action="store_true", help="`status` as one JSON document")


def _serve(parser: Parser) -> None:
    parser.add_argument("--host", metavar="HOST", help="the address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", metavar="PORT", type=_whole, help="the port; 0 takes any that is free (default: 8421)"
    )
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    _ceiling(parser)
    parser.add_argument(
        "--no-resume", action="store_true", help="leave interrupted debates as they are until someone resumes them"
    )


def _token(parser: Parser) -> None:
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


def _eval(parser: Parser) -> None:
    actions = (
        "plan",
        "run",
        "resume",
        "stop",
        "show",
        "report",
        "replay",
        "compare",
        "export",
        "judge",
        "audit",
        "validate",
    )
    parser.add_argument("action", choices=actions, metavar="ACTION", help=", ".join(actions))
    parser.add_argument(
        "what", nargs="*", metavar="WHAT",
        help="of plan and run: a task file, or a built-in task (default: reasoning); of the others: ids",
    )  # fmt: skip
    parser.add_argument(
        "--arms", metavar="A,B", help="single, self-consistency, majority, best-of, reflect, or formats"
    )
    parser.add_argument("--model", metavar="SPEC", help="the model of all participants")
    parser.add_argument("--models", metavar="A,B", help="models that take turns in the arm majority")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="the first N items; of built-in tasks, how many are made"
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="how often each item is asked")
    parser.add_argument(
        "--pool", type=int, metavar="K", help="samples for the baselines (default: what a debate costs)"
    )
    parser.add_argument("--match", choices=("usd", "tokens"), default="usd", help="what equal cost means")
    parser.add_argument("--max-cost-usd", type=float, metavar="USD", help="never spend more")
    parser.add_argument("--max-output-tokens", type=int, metavar="N", help="never write more, by whole items")
    parser.add_argument("--set", action="append", metavar="ARM.NAME=VALUE", help="a setting of one arm")
    parser.add_argument("--at-once", type=int, metavar="N", help="items under way at once")
    parser.add_argument("--workers", action="store_true", help="let the workers of a PostgreSQL database run the cells")
    parser.add_argument("--html", metavar="FILE", help="write the report as one page, too")
    parser.add_argument("--out", metavar="FILE", help="write the report as JSON, too")
    parser.add_argument(
        "--inspect", metavar="PATH",
        help="write logs for Inspect: the folder of those of a report, or the file of `export`, ending with .eval",
    )  # fmt: skip
    parser.add_argument("-k", dest="readers", type=_whole, metavar="N", help="readers of `judge`, 1 to 25 (default: 5)")
    parser.add_argument(
        "--judge", metavar="SPEC", help="the model that grades the answers of a task with `score: graded`"
    )
    parser.add_argument("--judges", metavar="MODELS", help="models of the readers, in turn (default: the judge's own)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the items, the samples and `validate` (default: 1)")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def _config(parser: Parser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON document")
    how.add_argument("--path", action="store_true", help="only show which files are read, and whether they exist")


def _completion(parser: Parser) -> None:
    parser.add_argument(
        "what", choices=("bash", "zsh", "fish", "ids"), metavar="SHELL",
        help="bash, zsh or fish; or `ids`: the newest debates, as the script asks for them",
    )  # fmt: skip


def _nothing(parser: Parser) -> None:
    pass


_WITH_ID = (
    _show, _id, _resume, _fork, _diff, _answer, _guide, _audit, _rate, _outcome, _claims, _tally, _record, _quarantine,
    _private, _rename, _pin, _tag, _archive, _share, _delete, _export, _versions,
)  # fmt: skip
_FLAGS: dict[str, Callable[[Parser], None]] = {
    "debate": _debate,
    "forge": _forge,
    "list": _list,
    "show": _show,
    "watch": _show,
    "stop": _id,
    "resume": _resume,
    "cancel": _id,
    "retry": _show,
    "fork": _fork,
    "diff": _diff,
    "gates": _gates,
    "answer": _answer,
    "guide": _guide,
    "replay": _id,
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
    "serve": _serve,
    "mcp": _mcp,
    "eval": _eval,
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
