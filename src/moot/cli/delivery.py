"""What a debate delivers when it ends: the report, and the answer, printed or written to the file of --out."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from pathlib import Path

from moot import formats
from moot.cli.commands import DONE, FAILED
from moot.cli.printer import note
from moot.core.errors import InputError
from moot.core.types import Debate
from moot.formats.command import Result

GO_ON = ("waiting", "stopped", "failed")  # a command can lead it to its end


class Delivery:
    def __init__(self, result: Result, out: Path | None, *, as_json: bool) -> None:
        self.result, self.out, self.as_json = result, out, as_json

    def deliver(self, debate: Debate) -> int:
        """Print the report, and write or print the answer. With --json, all that is printed is JSON. What was shown
        while it ran is not repeated. The exit code says whether there is an answer."""
        outcome = debate.outcome
        if outcome is None:
            return FAILED
        if not self.as_json:
            for section in outcome.record.sections:
                if not section.event:
                    print(f"\n{section.title}")
                    print("\n".join(f"  {item}" for item in section.items))
        if outcome.answer is None:
            note(f"There is no winner, so no {self.result.noun} is delivered.")
            return FAILED
        for name, words in self.result.facts.items():
            if fact := outcome.facts.get(name):
                note(words.replace("{}", fact))
        if self.out is not None:
            return self.write(self.out, outcome.answer.value)
        if not self.as_json:
            print(f"\n{outcome.answer.value}", end="", flush=True)
        return DONE

    def write(self, out: Path, answer: str) -> int:
        """Write the answer to a new file. Where that fails it is printed instead, so that it is not lost."""
        try:
            with out.open("x", encoding="utf-8") as file:
                file.write(answer)
        except OSError as error:
            if not self.as_json:
                print(f"\n{answer}", end="", flush=True)
            note(f"{out} can't be written: {error.strerror}. The {self.result.noun} is in what is printed above.")
            return FAILED
        note(f"The {self.result.noun} is in {out}.")
        return DONE

    def postpone(self, debate: Debate) -> None:
        """Say, of a debate that rests before its end, that the file is not written yet, and how to get it."""
        if self.out is not None and debate.status in GO_ON:
            note(f"{self.out} is not written yet: add --out {shlex.quote(str(self.out))} to that command.")


def delivery_of(args: Namespace, debate: Debate) -> Delivery | None:
    """What a debate that goes on delivers; None if the verdict that is shown is all. Raises InputError before anything
    is spent."""
    out: str | None = getattr(args, "out", None)
    command = formats.get(debate.format).command
    result = None if command is None else command.result
    if result is None:
        if out is not None:
            raise InputError(f"Debate {debate.short} ({debate.format}) delivers no file. Leave --out away.")
        return None
    return Delivery(result, None if out is None else new_file(out), as_json=args.json)


def refuse_out(args: Namespace, because: str) -> None:
    """Raise InputError if --out is given, though the debate does not end in this process."""
    if getattr(args, "out", None) is not None:
        raise InputError(f"--out writes a file when the debate ends here, and {because}: leave one of them away.")


def new_file(name: str) -> Path:
    """Raises InputError before anything is spent."""
    path = Path(name).expanduser()
    if os.path.lexists(path):  # a link that leads nowhere, too
        raise InputError(f"{path} exists already. Give --out another name: nothing is overwritten.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}. Make it first, or give --out another name.")
    try:
        path.open("x").close()
        path.unlink()
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}. Give --out another name.") from None
    return path
