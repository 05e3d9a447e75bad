"""`scripted:FILE` answers from a YAML file: demonstrations, tests and offline drafts of a debate.

answers:
  1/think/a: Start with the budget.          # the exact key of a step
  "*/score/*": {reasoning: Fair., score: 7}  # or a pattern; a mapping is written as JSON
  2/say/b:                                   # a list: one after the other, the last again and again
    - {fail: overloaded, message: try later} # timeout, overloaded, unavailable or invalid
    - "{seat} answers at {key}."
default: Nothing to add.
delay_ms: 20                                 # before each answer
log: calls.log                               # "key, seat, n" when a call starts, "done key" when it ends
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from moot.errors import BadOutput, InputError, ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable, UnknownName
from moot.models.books import append, chars_in, tokens_of
from moot.types import CHARS_PER_TOKEN, Call, Hear, Json, Model, Reply, Usage
from moot.yamlfile import kind, read_mapping

_FIELDS = ("answers", "default", "delay_ms", "log")
_FAILURES: Mapping[str, type[ModelError]] = {
    "timeout": ModelTimeout,
    "overloaded": ModelOverloaded,
    "unavailable": ModelUnavailable,
    "invalid": BadOutput,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """A script file that was read and found to be right."""

    path: Path
    answers: Mapping[str, tuple[Any, ...]]  # by key or pattern; each item a text, a mapping, or a failure
    default: tuple[Any, ...] | None
    delay_ms: float
    log: Path | None

    def find(self, key: str) -> str | None:
        """The entry for a key: its own, else the first pattern that fits it."""
        if key in self.answers:
            return key
        return next((pattern for pattern in self.answers if fnmatch.fnmatchcase(key, pattern)), None)


def load(file: str) -> Sheet:
    """Raises InputError that says what is wrong and where."""
    path = Path(file).expanduser()
    return _sheet(path, read_mapping(path, "script file", "`answers:`"))


def scripted_model(sheet: Sheet) -> Model:
    name = f"scripted:{sheet.path}"
    served: Counter[str] = Counter()
    calls: Counter[str] = Counter()

    def next_item(key: str) -> Any:
        entry = sheet.find(key)
        items = sheet.answers[entry] if entry is not None else sheet.default
        if items is None:
            raise ModelUnavailable(
                f"{sheet.path} has no answer for {key!r}. Add it under `answers:`, or add a `default:`.", model=name
            )
        counted = entry if entry is not None else "default:"
        served[counted] += 1
        return items[min(served[counted], len(items)) - 1]

    async def scripted(call: Call, hear: Hear) -> Reply:
        calls[call.key] += 1
        _note(sheet.log, f"{call.key}\t{call.seat}\t{calls[call.key]}\n")
        item = next_item(call.key)
        if sheet.delay_ms:
            await asyncio.sleep(sheet.delay_ms / 1000)
        if _is_failure(item):
            _note(sheet.log, f"done {call.key}\n")
            raise _failure(item, call, name)
        item = _fill(item, call)
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)
        cut = tokens_of(len(text)) > call.max_tokens
        text = text[: call.max_tokens * CHARS_PER_TOKEN] if cut else text
        for word in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text):
            hear(word)
        _note(sheet.log, f"done {call.key}\n")
        return Reply(
            text=text,
            model=name,
            provider="scripted",
            usage=Usage(tokens_in=tokens_of(chars_in(call.messages)), tokens_out=tokens_of(len(text))),
            finish_reason="length" if cut else "stop",
            first_token_ms=round(sheet.delay_ms),
        )

    return scripted


def _sheet(path: Path, content: Json) -> Sheet:
    for name in content:
        if name not in _FIELDS:
            raise UnknownName("field", str(name), _FIELDS, hint=f"{path} may have: {', '.join(_FIELDS)}.")
    answers: Any = content.get("answers") or {}
    if not isinstance(answers, dict):
        raise InputError(f"{path}: `answers:` should map keys of steps to answers, not be {kind(answers)}.")
    delay = content.get("delay_ms", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float) or delay < 0:
        raise InputError(f"{path}: `delay_ms:` should be a number of milliseconds, not {delay!r}.")
    log = content.get("log")
    if log is not None and not isinstance(log, str):
        raise InputError(f"{path}: `log:` should be the name of a file, not {kind(log)}.")
    if not answers and content.get("default") is None:
        raise InputError(f"{path} has neither `answers:` nor a `default:`, so it can answer nothing.")
    entries = cast("dict[Any, Any]", answers)
    return Sheet(
        path=path,
        answers={str(key): _items(value, f"{path}: answers[{str(key)!r}]") for key, value in entries.items()},
        default=None if content.get("default") is None else _items(content["default"], f"{path}: default"),
        delay_ms=delay,
        log=None if log is None else path.parent / log,
    )


def _items(value: Any, where: str) -> tuple[Any, ...]:
    items = tuple(cast("list[Any]", value)) if isinstance(value, list) else (value,)
    if not items:
        raise InputError(f"{where} is an empty list; give at least one answer.")
    for item in items:
        if not isinstance(item, str | dict):
            raise InputError(f"{where} should be a text, a mapping or a list of those, not {kind(item)}; use quotes.")
        failure = cast(Json, item)["fail"] if _is_failure(item) else None
        if failure is not None and failure not in _FAILURES:
            raise InputError(f"{where}: there is no failure {failure!r}; write one of {', '.join(_FAILURES)}.")
    return items


def _is_failure(item: Any) -> bool:
    return isinstance(item, dict) and "fail" in item and set(cast(Json, item)) <= {"fail", "message"}


def _failure(item: Json, call: Call, name: str) -> ModelError:
    said = _fill(str(item.get("message") or f"The script says that {call.key} fails."), call)
    return _FAILURES[item["fail"]](said, model=name)


def _fill(value: Any, call: Call) -> Any:
    # Not str.format: a script's text may hold any other braces.
    return _map_text(value, lambda text: text.replace("{key}", call.key).replace("{seat}", call.seat))


def _map_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {str(name): _map_text(inner, change) for name, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_map_text(inner, change) for inner in cast("list[Any]", value)]
    return value


def _note(log: Path | None, line: str) -> None:
    if log is not None:
        append(log, line)
