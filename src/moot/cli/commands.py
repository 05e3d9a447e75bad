"""The commands and the exit codes. Imports next to nothing, so that `moot --help` is fast."""

from __future__ import annotations

from moot.formats import commands as of_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moot.formats.command import FormatCommand

DONE = 0
FAILED = 1  # the debate failed, or a check found a problem
BAD_INPUT = 2  # nothing was written
STOPPED = 3  # can be resumed
CANCELED = 4
INTERRUPTED = 130  # a second Ctrl-C, or Ctrl-C in a command that drives no debate
BROKEN_PIPE = 141  # the reader of the output closed it
EXIT_CODES = {
    DONE: "done",
    FAILED: "failed or a problem was found",
    BAD_INPUT: "bad input (nothing was written)",
    STOPPED: "stopped (resume it)",
    CANCELED: "canceled",
    INTERRUPTED: "stopped at once by a second Ctrl-C",
    BROKEN_PIPE: "the output was no longer read",
}


class BadUsage(Exception):
    """The command line can't be parsed. The message is printed as it is."""


class Command:
    def __init__(self, module: str, summary: str, function: str = "", *, declared: FormatCommand | None = None) -> None:
        """The module of moot.cli is imported when the command runs. `function`: where it is not the command's name.
        `declared`: what the format of that name says of it."""
        self.module, self.summary, self.function, self.declared = module, summary, function, declared


def of_format(declared: FormatCommand) -> Command:
    return Command("format_command", declared.summary, "run", declared=declared)


COMMANDS: dict[str, Command] = {
    "debate": Command("run", "Debate a question, here and now."),
    **{name: of_format(declared) for name, declared in of_formats.COMMANDS.items()},
    "list": Command("browse", "List debates, newest first."),
    "show": Command("browse", "Print a debate's whole transcript."),
    "watch": Command("browse", "Follow a debate that runs in another terminal."),
    "stop": Command("control", "Stop a debate after the step in progress."),
    "resume": Command("run", "Go on with a debate that was stopped or whose process died."),
    "cancel": Command("control", "End a debate for good, without a verdict."),
    "retry": Command("run", "Try the open steps of a failed debate again."),
    "fork": Command("run", "Branch a debate off at a step and run the branch."),
    "diff": Command("diff", "Show where two debates part."),
    "gates": Command("gate", "List what debates ask people."),
    "answer": Command("gate", "Answer what a debate asks, and go on with it."),
    "guide": Command("control", "Say something to a debate; every participant reads it before its next answer."),
    "replay": Command("browse", "Prove that the record leads to the same transcript, byte for byte."),
    "audit": Command("browse", "Print what each step cost and how it came to be."),
    "rate": Command("control", "Say how good a completed debate was, from 1 to 5."),
    "outcome": Command("control", "Record how a decision turned out: right, wrong, or a number between."),
    "calibration": Command("calibration", "Show how often decisions were right, by how sure they were."),
    "claims": Command("claims", "Print the claims of a debate and the status of each."),
    "tally": Command("tally", "Count the votes of a debate again and compare with what is stored."),
    "eval": Command("eval", "Find out whether a debate helps, at equal cost; check recorded verdicts.", "eval_"),
    "record": Command("record", "Write the decision down as a document in your project."),
    "search": Command("search", "Find past debates by words and meaning."),
    "lessons": Command("lessons", "Show what debates have learnt, or forget a lesson."),
    "versions": Command("lessons", "List the versions of code that a debate has written, or print one."),
    "templates": Command("search", "Show the reasoning templates, or the whole of one."),
    "quarantine": Command("control", "Keep a decision from being recalled into new debates, or let it be again."),
    "private": Command("control", "Show a debate to its own token and admins only, or to every caller again."),
    "rename": Command("labels", "Give a debate a title of your own."),
    "pin": Command("labels", "Pin a debate, or let go of it again."),
    "tag": Command("labels", "Put tags on a debate, or take them off."),
    "archive": Command("labels", "Leave debates out of the list, or bring them back."),
    "share": Command("share", "Make a link that shows one debate, or write it as one HTML file."),
    "delete": Command("delete", "Delete debates and everything of them, for good."),
    "purge": Command("delete", "Delete debates that have not changed for a long time."),
    "export": Command("transfer", "Write debates into one file, for a backup or another database."),
    "import": Command("transfer", "Read debates back that `moot export` has written.", "import_"),
    "serve": Command("serve", "Serve the HTTP API until it is stopped; debates run in it."),
    "mcp": Command("mcp", "Serve an MCP client on standard input and output; debates run in it."),
    "token": Command("token", "Make, list, rotate or revoke tokens for the HTTP API."),
    "worker": Command("worker", "Drive debates from a shared PostgreSQL database until it is stopped."),
    "status": Command("status", "Show the state of debates, workers and the queue, and what needs attention."),
    "doctor": Command("check", "Check models, database, memory and formats before they are needed."),
    "models": Command("check", "Show which models can be used and which would be chosen."),
    "formats": Command("check", "Show the formats, or all settings of one."),
    "roles": Command("roles", "Show the roles that seats can take on, or the whole of one."),
    "db": Command("db", "Show the database, or bring its schema up to date."),
    "config": Command("config", "Show every setting and where its value comes from."),
    "completion": Command("completion", "Print a script that completes commands, flags and ids in your shell."),
}


def command_of(name: str) -> Command | None:
    """The command of that name: moot's own, or that of an installed format."""
    if name in COMMANDS:
        return COMMANDS[name]
    from moot.plugins import Door

    # Which formats there are can be known without importing what all formats need.
    if name not in Door("moot.formats", "format", lambda _, loaded: loaded):
        return None
    from moot import formats

    declared = formats.get(name).command
    return None if declared is None else of_format(declared)


def every_command() -> dict[str, Command]:
    """moot's own commands, then those of other formats that are installed. Imports all formats."""
    from moot import formats

    declared = {name: each.command for name, each in formats.installed().items()}
    return COMMANDS | {name: of_format(each) for name, each in declared.items() if each and name not in COMMANDS}


def nearest(word: str, known: list[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return close[0] if close else None
