"""The commands and the exit codes. `moot --help` needs no more than this, so nothing is imported here."""

from __future__ import annotations

DONE = 0
FAILED = 1  # the debate failed, or a check found a problem
BAD_INPUT = 2  # nothing was written
STOPPED = 3  # can be resumed
CANCELED = 4
INTERRUPTED = 130  # a second Ctrl-C, or Ctrl-C while only looking
NOBODY_READS = 141  # whoever read our output went away


class BadUsage(Exception):
    """The command line can't be read; the message is for the person who typed it."""


class Command:
    def __init__(self, module: str, summary: str) -> None:
        self.module, self.summary = module, summary  # the module of moot.cli is imported when the command runs


COMMANDS: dict[str, Command] = {
    "debate": Command("run", "Debate a question, here and now."),
    "list": Command("look", "List debates, newest first."),
    "show": Command("look", "Print a debate's whole transcript."),
    "watch": Command("look", "Follow a debate that runs in another terminal."),
    "stop": Command("tell", "Stop a debate after the step in progress."),
    "resume": Command("run", "Go on with a debate that was stopped or whose process died."),
    "cancel": Command("tell", "End a debate for good, without a verdict."),
    "retry": Command("run", "Try the open steps of a failed debate again."),
    "fork": Command("run", "Branch a debate off at a step and run the branch."),
    "diff": Command("diff", "Show where two debates part."),
    "gates": Command("gate", "List what debates ask people."),
    "answer": Command("gate", "Answer what a debate asks, and go on with it."),
    "guide": Command("tell", "Say something to a debate while it runs or rests; whoever is asked next hears it."),
    "replay": Command("look", "Prove that the record leads to the same transcript, byte for byte."),
    "audit": Command("look", "Print what each step cost and how it came to be."),
    "rate": Command("tell", "Say how good a completed debate was, from 1 to 5."),
    "claims": Command("claims", "Print the claims of a debate and how each of them stands."),
    "record": Command("record", "Write the decision down as a document in your project."),
    "search": Command("search", "Find past debates by words and meaning."),
    "templates": Command("search", "Show the reasoning templates, or the whole of one."),
    "serve": Command("serve", "Serve the HTTP API until told to end; debates run in it."),
    "mcp": Command("mcp", "Serve an MCP client on standard input and output; debates run in it."),
    "token": Command("token", "Make, list or revoke tokens for the HTTP API."),
    "worker": Command("worker", "Drive debates from a shared PostgreSQL database until told to end."),
    "status": Command("status", "Show how debates, workers and the queue stand, and what needs a hand."),
    "doctor": Command("check", "Check models and database before they are needed."),
    "models": Command("check", "Show which models can be used and which would be chosen."),
    "formats": Command("check", "Show the formats, or all settings of one."),
    "db": Command("db", "Show how the database is, or bring its schema up to date."),
    "config": Command("config", "Show every setting and where its value comes from."),
}


def nearest(word: str, known: list[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return close[0] if close else None
