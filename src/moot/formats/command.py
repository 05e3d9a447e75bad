"""What a format says of the command that it has at the terminal. Imports nothing, so that `moot --help` is fast."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import PurePath
    from typing import Literal

    from moot.core.types import Json

    Kind = Literal["text", "number", "list", "path", "file"]
    Reader = Callable[[PurePath, str, Json], tuple[Json, str]]

# The flags that the command of every format has.
COMMON_FLAGS = (
    "--db", "--help", "--json", "--judge-model", "--model", "--no-checkpoints", "--out", "--plain", "--set",
)  # fmt: skip


class Option:
    """A flag that gives a setting."""

    def __init__(
        self,
        flag: str,
        setting: str,
        about: str,
        *,
        value: str = "NAME",
        kind: Kind = "text",
        read: Reader | None = None,
        asks: bool = False,
    ) -> None:
        """`value`: what stands for the value in the help; FILE and PATH are completed as such.

        `kind`: a text, a whole number, a list (the flag can be repeated), a path (made absolute), or a file, whose text
        is the setting. With `read`, a file gives the settings that this function makes of its path, its text and the
        settings given beside it; it returns them with a note for the user, or an empty one, and may raise InputError.

        `asks`: a person is asked because of it, so that it can't be combined with --no-checkpoints."""
        self.flag, self.setting, self.about = flag, setting, about
        self.value, self.kind, self.read, self.asks = value, kind, read, asks


class Result:
    """An answer that is delivered: printed last, or written to the file of --out. The exit code is 0 only if there is
    one."""

    def __init__(self, noun: str, about_out: str, facts: Mapping[str, str] | None = None) -> None:
        """`noun`: what it is called. `about_out`: the help of --out. `facts`: a note for each fact of the outcome that
        is worth one, with {} for its value."""
        self.noun, self.about_out, self.facts = noun, about_out, facts or {}


class FormatCommand:
    """A command with the name of its format."""

    def __init__(
        self,
        summary: str,
        *,
        topic: str,
        about: str,
        question: str,
        example: str,
        options: Sequence[Option] = (),
        about_judge_model: str = "model of the judge",
        result: Result | None = None,
    ) -> None:
        """`topic`: what stands for the debate's topic in the help, such as TASK; `about`: what it says, in words that
        follow "say"; `question`: what is asked when it is missing; `example`: one. `result`: None, if the verdict that
        is shown is all that there is to deliver."""
        self.summary, self.options, self.result = summary, tuple(options), result
        self.topic, self.about, self.question, self.example = topic, about, question, example
        self.about_judge_model = about_judge_model


def problems_of(command: FormatCommand, settings: Mapping[str, object]) -> list[str]:
    """What is wrong with a command of a format that has these settings, each in a sentence."""
    words = {each: getattr(command, each) for each in ("summary", "topic", "about", "question", "example")}
    found = [f"`{name}` of its command is empty." for name, text in words.items() if not text.strip()]
    flags = [option.flag for option in command.options]
    for option in command.options:
        if not option.flag.startswith("--") or option.flag in COMMON_FLAGS or flags.count(option.flag) > 1:
            found.append(f"The flag {option.flag!r} of its command is no flag of the form --name, or is taken already.")
        if option.setting not in settings:
            found.append(
                f"The flag {option.flag!r} of its command sets {option.setting!r}, which the settings don't have."
            )
    return found
