"""Tasks: questions with known answers, from files or built in. Everything is checked before anything is spent."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self, cast

from pydantic import Field, ValidationError, model_validator

from moot.core import patterns
from moot.core.answers import AnswerKind, AnswerSpec, number_in, same_as
from moot.core.errors import InputError, UnknownName
from moot.core.explaining import Details, found_in
from moot.core.values import Frozen, NonEmpty
from moot.corpus.repository import shown_with_files
from moot.evaluate.generated import reasoning_items, sim_choice_items, sim_code_items, swe_mini_items
from moot.evaluate.given import GIVEN, MAX_ITEMS_BYTES, given_items
from moot.evaluate.human_eval import human_eval_items
from moot.reasoning.code.requests import MAX_CODE_CHARS, FilePath
from moot.reasoning.code.test_files import cases_of, flaw_of, modules_of
from moot.reasoning.fence import clean
from moot.yamlfile import read_mapping, read_some

Score = Literal["exact", "number", "regex", "tests", "patch", "graded"]
RUN: Mapping[AnswerKind, Score] = {"code": "tests", "patch": "patch"}  # kinds of answers that are run to be scored
NOT_HERE = {
    "swe": "it needs container images and a network",
    "swe_bench": "it needs container images and a network",
}
DEFAULT_TASK = "reasoning"
MOST_ITEMS = 100_000
MADE_ITEMS = 50  # of a built-in task, unless asked for
MOST_EPOCHS = 100
RUBRIC = (
    "it is right if it says what the target says, in whatever words, and nothing that contradicts it; what it says "
    "beyond that does not count."
)
TOLERANCE = 1e-6  # relative, of numbers


class Item(Frozen):
    """One question with its answer."""

    id: NonEmpty
    question: NonEmpty
    target: str = ""  # of the score `regex`: a pattern that the whole answer must match
    tests: str = Field(default="", max_length=MAX_CODE_CHARS)  # a test file for code or a patch, which no arm sees
    files: dict[FilePath, str] = Field(default_factory=dict)  # of the repository that a patch is to change
    before: str = Field(default="", max_length=MAX_CODE_CHARS)  # code that stands before an answer when it is tested
    options: tuple[NonEmpty, ...] = ()
    cluster: str = ""  # items of one cluster are related: they count as less than so many

    @property
    def topic(self) -> str:
        """The question as it is asked: with its files, or its options, unless it names them."""
        if self.files:
            return shown_with_files(self.question, self.files)
        if not self.options or all(each.casefold() in self.question.casefold() for each in self.options):
            return self.question
        return f"{self.question}\n\nOptions: {'; '.join(self.options)}."


class Task(Frozen):
    name: NonEmpty
    kind: AnswerKind
    score: Score = "exact"
    items: tuple[Item, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    epochs: int = Field(default=1, ge=1, le=MOST_EPOCHS)
    judge: str = ""  # of the score `graded`: the model that grades
    rubric: NonEmpty = Field(default=RUBRIC, max_length=4000)  # what it is told about how to grade
    files_sha256: str = ""  # of the files that were given with --items; empty: there were none

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for kind, score in RUN.items():
            if (self.kind == kind) != (self.score == score):
                raise ValueError(
                    f"answers of the kind {kind!r} are scored by {score}, and no others: give both, or neither"
                )
        if self.by_model and self.kind != "text":
            raise ValueError(f"the score graded is for answers of the kind 'text', not {self.kind!r}")
        if not self.by_model and (self.judge or self.rubric != RUBRIC):
            raise ValueError(f"judge and rubric belong to the score graded, not to {self.score}")
        seen = set[str]()
        for item in self.items:
            if item.id in seen:
                raise ValueError(f"two items have the id {item.id!r}; give each an id of its own")
            seen.add(item.id)
            _check(item, self)
        return self

    def answer(self, item: Item) -> AnswerSpec:
        return _spec(self.kind, item.options if self.kind == "choice" else ())

    @property
    def tested(self) -> bool:
        """Whether answers are run to be scored."""
        return self.kind in RUN

    @property
    def by_model(self) -> bool:
        """Whether a model grades answers. Figures of such a task are no findings."""
        return self.score == "graded"

    @property
    def graded(self) -> bool:
        """Whether answers have grades, which are made after the debates have ended."""
        return self.tested or self.by_model

    def right(self, item: Item, value: str | None) -> bool:
        """Whether an answer is the item's; none is wrong. Not for answers that are graded."""
        if value is None:
            return False
        spec = self.answer(item)
        if self.score == "regex":
            return patterns.found_in(patterns.whole(item.target), value.strip())
        if self.score == "number" or self.kind == "number":
            given, wanted = number_in(value), number_in(item.target)
            return given is not None and wanted is not None and abs(given - wanted) <= TOLERANCE * max(1, abs(wanted))
        return same_as(value, spec) == same_as(item.target, spec)

    @property
    def sha256(self) -> str:
        """Of all items: an evaluation belongs to exactly these."""
        listed = [item.model_dump(mode="json") for item in self.items]
        given = json.dumps([self.kind, self.score, listed, self.rubric], ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(given.encode()).hexdigest()


@lru_cache(maxsize=1024)
def _spec(kind: AnswerKind, options: tuple[str, ...]) -> AnswerSpec:
    return AnswerSpec(kind=kind, options=options)


def _check(item: Item, task: Task) -> None:
    if task.tested != bool(item.tests.strip()):
        has = "has no `tests`" if task.tested else f"has `tests`, but the task's score is {task.score!r}, not tests"
        raise ValueError(f"item {item.id!r} {has}")
    if bool(item.files) != (task.kind == "patch"):
        has = "has no `files`" if not item.files else f"has `files`, but the task's kind is {task.kind!r}, not patch"
        raise ValueError(f"item {item.id!r} {has}")
    if unseen := [path for path, text in item.files.items() if clean(text) != text]:
        raise ValueError(
            f"{unseen[0]} of item {item.id!r} has characters that no prompt shows, such as carriage returns"
        )
    if task.tested:
        flaw = flaw_of(item.tests, "python", modules_of(item.files)) if item.files else _flaw(item.tests)
        if flaw:
            raise ValueError(f"the tests of item {item.id!r} can't be used: {flaw}")
        return
    if not item.target.strip():
        raise ValueError(f"item {item.id!r} has no target")
    if task.kind == "choice":
        try:
            spec = task.answer(item)
        except ValidationError:
            raise ValueError(f"the options of item {item.id!r} are no choice: it takes two that differ") from None
        if task.score == "exact" and same_as(item.target, spec) not in spec.options:
            raise ValueError(f"the target {item.target!r} of item {item.id!r} is none of its options")
    elif item.options:
        raise ValueError(f"item {item.id!r} has options, but the task's kind is {task.kind!r}, not choice")
    if (task.kind == "number" or task.score == "number") and number_in(item.target) is None:
        raise ValueError(f"the target {item.target!r} of item {item.id!r} is no number")
    if task.score == "regex":
        try:
            re.compile(item.target)
        except re.error as error:
            raise ValueError(f"the target of item {item.id!r} is no pattern: {error}") from None
        if not patterns.usable(patterns.whole(item.target)):
            raise ValueError(
                f"the pattern of item {item.id!r} can't be matched in linear time: it looks around, refers back to a "
                "group, or repeats too much"
            )


def _flaw(tests: str) -> str:
    return "" if cases_of(tests) else flaw_of(tests, "python")


BUILT_IN: Mapping[str, Callable[[int, int], Task]] = {
    "human_eval": lambda seed, limit: Task(
        name="human_eval", kind="code", score="tests", items=_made(human_eval_items(seed, limit))
    ),
    "reasoning": lambda seed, limit: Task(name="reasoning", kind="number", items=_made(reasoning_items(seed, limit))),
    "sim_choice": lambda seed, limit: Task(
        name="sim_choice", kind="choice", items=_made(sim_choice_items(seed, limit))
    ),
    "sim_code": lambda seed, limit: Task(
        name="sim_code", kind="code", score="tests", items=_made(sim_code_items(seed, limit))
    ),
    "swe_mini": lambda seed, limit: Task(
        name="swe_mini", kind="patch", score="patch", items=_made(swe_mini_items(seed, limit))
    ),
}


def _made(items: list[dict[str, Any]]) -> tuple[Item, ...]:
    return tuple(Item(**each) for each in items)


def load_task(name: str, *, seed: int, limit: int | None, items: str | None = None) -> Task:
    """A built-in task, or one from a file; its first `limit` items. `items`: the files of a task whose questions are
    given. Raises InputError, or UnknownName."""
    if limit is not None and not 1 <= limit <= MOST_ITEMS:
        raise InputError(f"An evaluation has 1 to {MOST_ITEMS:,} items; --limit {limit} can't be met.")
    if name in GIVEN:
        return _given(name, items, seed, MADE_ITEMS if limit is None else limit)
    if items is not None:
        raise InputError(
            f"--items takes the files of {' or '.join(GIVEN)}; the task {name!r} has its own. Leave it out."
        )
    if name in BUILT_IN:
        return BUILT_IN[name](seed, MADE_ITEMS if limit is None else limit)
    if name in NOT_HERE:
        raise InputError(
            f"The task {name!r} can't be had: {NOT_HERE[name]}. Give your own items in a task file "
            "(docs/evaluation.md), or take one that is built in: " + ", ".join(BUILT_IN) + "."
        )
    path = Path(name).expanduser()
    if not path.exists():
        if path.suffix:
            raise InputError(
                f"There is no task file {name}. Check the path; docs/evaluation.md says what is in one. Built in: "
                f"{', '.join(BUILT_IN)}."
            )
        raise UnknownName("task", name, tuple(BUILT_IN))
    task = _read(path)
    return task if limit is None else task.model_copy(update={"items": task.items[:limit]})


def _given(name: str, items: str | None, seed: int, limit: int) -> Task:
    if items is None:
        raise InputError(
            f"The questions of {name!r} are not part of moot and not downloaded. Give {GIVEN[name].files}: moot eval "
            f"run {name} --items PATH."
        )
    found = given_items(name, Path(items).expanduser(), seed, limit)
    return Task(name=name, kind=GIVEN[name].kind, items=_made(found.items), files_sha256=found.sha256)


def _read(path: Path) -> Task:
    given = read_mapping(path, "task file", "`name:`, `kind:` and `items:`")
    items, wanted = given.pop("items", None), given.pop("sha256", None)
    if "files_sha256" in given:
        raise InputError(f"In the task file {path}, the hash of the items is called `sha256`, not `files_sha256`.")
    if not isinstance(items, str):
        raise InputError(f"In the task file {path}, `items` must name a file with one JSON object a line.")
    file = (path.parent / items).resolve()
    try:
        content = read_some(file, MAX_ITEMS_BYTES + 1)
    except OSError as error:
        raise InputError(f"The items of {path} can't be read: {file}: {error.strerror}.") from None
    if len(content) > MAX_ITEMS_BYTES:
        raise InputError(f"The items of {path} have more than {MAX_ITEMS_BYTES:,} bytes, which is the most.")
    found = hashlib.sha256(content).hexdigest()
    if wanted is not None and wanted != found:
        raise InputError(
            f"The items of {path} have changed: sha256 is {found}, and the task file says {wanted}. "
            "Use the items that it was written for, or give it the new sha256."
        )
    given.setdefault("name", path.stem)
    related = given.pop("cluster", None)
    if related is not None and (not isinstance(related, str) or not related.strip()):
        raise InputError(f"In the task file {path}, `cluster` must name a field of the items, such as `topic`.")
    lines = {
        n: _item(line, n, file, related)
        for n, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1)  # JSON may have other separators
        if line.strip()
    }
    given["items"] = [*lines.values()]
    try:
        return Task.model_validate(given)
    except ValidationError as invalid:
        errors = cast("list[Details]", invalid.errors())
        problem = found_in(Task, errors)[0].text.removeprefix("it: ")
        match errors[0]["loc"]:
            case ("items", int(at), *_):
                line = [*lines][at]
                where = f"line {line} of {file} (item {lines[line]['id']!r}): "
                problem = where + problem.removeprefix(f"items.{at}.")
            case _:
                pass
        raise InputError(f"The task {path} can't be used: {problem}.") from None


def _item(line: str, number: int, file: Path, related: str | None) -> dict[str, Any]:
    """`related`: the field whose value tells which items belong together."""
    try:
        item: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"Line {number} of {file} is no JSON object.") from None
    if not isinstance(item, dict):
        raise InputError(f"Line {number} of {file} is no JSON object.")
    own = cast("dict[str, Any]", item)
    needed = ("id", "question", "tests" if own.get("tests") else "target")
    for name in needed:
        if own.get(name) in (None, ""):
            raise InputError(
                f"Line {number} of {file} has no `{name}`. Every item needs id, question, and target or tests."
            )
    if related is not None:
        own = _clustered(own, number, file, related)
    return {**own, **{name: _as_text(own, name, number, file) for name in ("id", "target") if name in own}}


def _as_text(item: dict[str, Any], name: str, number: int, file: Path) -> str:
    """The id or the target of an item, which may be written as a number."""
    value: object = item[name]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return ""  # of an item with tests, which needs no target
    kind = str(value).lower() if isinstance(value, bool) else "a list" if isinstance(value, list) else "an object"
    which = "" if name == "id" else f" (item {item['id']!r})"
    instead = f'"q{number}"' if name == "id" else '"true" or "amber, dune"'
    raise InputError(
        f"Line {number} of {file}{which} has {kind} as its `{name}`. Write a text in quotation marks, such as "
        f"{instead}, or a number."
    )


def _clustered(item: dict[str, Any], number: int, file: Path, field: str) -> dict[str, Any]:
    value, where = item.get(field), f"Line {number} of {file}"
    if not isinstance(value, str | int | float) or not str(value).strip():
        raise InputError(
            f"{where} has no `{field}` with a text or a number, by which the task's `cluster` relates items. Give it "
            "to every item, or leave `cluster` out of the task file."
        )
    if field != "cluster" and "cluster" in item:
        raise InputError(f"{where} has a `cluster` of its own, and the task relates items by `{field}`. Leave one out.")
    kept = {name: each for name, each in item.items() if name != field or name in Item.model_fields}
    return {**kept, "cluster": str(value)}
