"""MMLU and GSM8K from the files in which they are published. moot brings neither, and downloads nothing."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple, cast

from moot.core.errors import InputError
from moot.yamlfile import read_some

MAX_ITEMS_BYTES = 100_000_000  # of all files of a task
TESTS = "_test.csv"  # how MMLU's own files end
OWN = "or put your items into a task file (docs/evaluation.md)"
_RESULT = re.compile(r"####\s*\$?([-+]?\$?\d[\d,]*(?:\.\d+)?|[-+]?\.\d+)\s*$")

Rows = Iterator[dict[str, Any]]


class _Unfit(Exception):
    """A line that is no item."""

    def __init__(self, line: int, said: str) -> None:
        super().__init__(said)
        self.line, self.said = line, said


class GivenFiles(NamedTuple):
    """How the files of a task are read."""

    kind: Literal["choice", "number"]
    files: str  # what to give, in words
    read: Callable[[Path, str], Rows]  # the items of one file


class Found(NamedTuple):
    items: list[dict[str, Any]]
    sha256: str  # of all files, with their names


def given_items(task: str, path: Path, seed: int, limit: int) -> Found:
    """So many items of a task's files, chosen and ordered by the seed. Raises InputError."""
    known = GIVEN[task]
    listed = _listed(path, known)
    hashed, items, size = hashlib.sha256(), list[dict[str, Any]](), 0
    for file in listed:
        try:
            content = read_some(file, MAX_ITEMS_BYTES + 1)
        except OSError as error:
            raise InputError(f"{file} can't be read: {error.strerror}. Check the path given with --items.") from None
        size += len(content)
        if size > MAX_ITEMS_BYTES:
            raise InputError(f"{path} has more than {MAX_ITEMS_BYTES:,} bytes, which is the most. Give fewer files.")
        name = file.name if len(listed) > 1 else ""  # a file that is renamed is the same
        hashed.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(f"Line {line} of {file} is no UTF-8 text. Give {known.files}, {OWN}.") from None
        try:
            items += known.read(file, text)
        except _Unfit as unfit:
            raise InputError(f"Line {unfit.line} of {file} {unfit.said}. Give {known.files}, {OWN}.") from None
    if not items:
        raise InputError(f"There are no items in {path}. Give {known.files}, {OWN}.")
    return Found(Random(seed).sample(items, min(limit, len(items))), hashed.hexdigest())


def _listed(path: Path, known: GivenFiles) -> list[Path]:
    if not path.exists():
        raise InputError(f"There is no {path}, which --items names. Give {known.files}.")
    if not path.is_dir():
        return [path]
    for folder in (path, path / "test"):
        if known.read is _mmlu and (found := sorted(folder.glob(f"*{TESTS}"))):
            return found
    raise InputError(f"The folder {path} has no files that can be read. Give {known.files}.")


def _mmlu(file: Path, text: str) -> Rows:
    lines = _mmlu_csv(file, text) if file.suffix.lower() == ".csv" else _mmlu_jsonl(file, text)
    for line, question, choices, answer, subject in lines:
        if len(choices) < 2 or len(choices) > len(ascii_uppercase):
            raise _Unfit(line, f"has {len(choices)} choices, not 2 to {len(ascii_uppercase)}")
        letters = ascii_uppercase[: len(choices)]
        if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(choices):
            target = letters[answer]
        elif isinstance(answer, str) and len(answer.strip()) == 1 and answer.strip().upper() in letters:
            target = answer.strip().upper()
        else:
            said = (
                f"has the answer {answer!r:.40}, not a letter, A to {letters[-1]}, or an index, 0 to {len(letters) - 1}"
            )
            raise _Unfit(line, said)
        shown = "\n".join(f"{letter}. {choice}" for letter, choice in zip(letters, choices, strict=True))
        yield {
            "id": f"{subject}/{line}",
            "question": f"{question}\n\n{shown}",
            "options": tuple(letters),
            "target": target,
        }


class _Line(NamedTuple):
    number: int
    question: str
    choices: list[str]
    answer: Any
    subject: str


def _mmlu_csv(file: Path, text: str) -> Iterator[_Line]:
    """Rows of question, choices and answer, as in MMLU's own files, which have no head."""
    subject, read, began = file.name.removesuffix(".csv").removesuffix("_test"), csv.reader(io.StringIO(text)), 1
    try:
        for row in read:
            line, began = began, read.line_num + 1
            cells = [cell.strip() for cell in row]
            if not any(cells) or (line == 1 and cells[-1].casefold() == "answer"):
                continue
            if len(cells) < 4 or not all(cells):
                raise _Unfit(line, "has no question, choices and answer, with nothing empty among them")
            yield _Line(line, cells[0], cells[1:-1], cells[-1], subject)
    except csv.Error as error:
        raise _Unfit(began, f"can't be read as CSV ({error})") from None


def _mmlu_jsonl(file: Path, text: str) -> Iterator[_Line]:
    for line, item in _objects(text):
        choices: Any = item.get("choices")
        if not isinstance(choices, list) or not all(
            isinstance(each, str | int | float) for each in cast("Any", choices)
        ):
            raise _Unfit(line, "has no `choices`, a list of texts")
        listed = [str(each).strip() for each in cast("list[Any]", choices)]
        question, subject = _text(item, "question", line), item.get("subject")
        yield _Line(line, question, listed, item.get("answer"), str(subject) if subject else file.stem)


def _gsm8k(file: Path, text: str) -> Rows:
    for line, item in _objects(text):
        question, answer = (_text(item, name, line) for name in ("question", "answer"))
        found = _RESULT.search(answer)
        if found is None:
            raise _Unfit(line, "has an `answer` that does not end with `#### ` and a number")
        target = re.sub(r"[$,]", "", found[1])
        yield {"id": f"{file.stem}/{line}", "question": question, "target": target}


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            item: Any = json.loads(line)
        except (ValueError, RecursionError):
            item = None
        if not isinstance(item, dict):
            raise _Unfit(number, "is no JSON object")
        yield number, cast("dict[str, Any]", item)


def _text(item: dict[str, Any], name: str, line: int) -> str:
    value = item.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _Unfit(line, f"has no `{name}`, a text")
    return value.strip()


GIVEN: Mapping[str, GivenFiles] = {
    "mmlu": GivenFiles(
        kind="choice",
        files=f"MMLU's folder of files *{TESTS}, one of them, or JSONL with question, choices, answer and subject",
        read=_mmlu,
    ),
    "gsm8k": GivenFiles(
        kind="number", files="GSM8K's JSONL, such as test.jsonl, with question and answer", read=_gsm8k
    ),
}
