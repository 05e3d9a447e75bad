"""`scripted:FILE` answers from a YAML file, for demonstrations, tests and offline drafts of a debate.

answers:
  1/think/a: Start with the budget.          # the exact key of a step
  "*/score/*": {reasoning: Fair., score: 7}  # or a pattern; a mapping is written as JSON, or as its text
  2/say/b:                                   # a list: one after the other, the last again and again
    - {fail: overloaded, message: try later} # timeout, overloaded, unavailable or invalid
    - "{seat} answers at {key}."
default: Nothing to add.
delay_ms: 20                                 # before each answer
hold: go                                     # answers wait until this file exists; {key} in it: a file for each step
log: calls.log                               # "key, seat, n" when a call starts, "done key" when it ends
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from moot.core.errors import (
    BadOutput,
    InputError,
    ModelError,
    ModelOverloaded,
    ModelTimeout,
    ModelUnavailable,
    UnknownModel,
    UnknownName,
)
from moot.core.types import CHARS_PER_TOKEN, Call, Hear, Json, Model, Reply, TextAnswer, Usage
from moot.models import call_log
from moot.models.providers.provider import EVERY_SETTING, FREE, ModelSpec, Opened, Opening, Provider
from moot.models.usage import count_chars, estimate_tokens
from moot.yamlfile import kind, read_mapping

_FIELDS = ("answers", "default", "delay_ms", "hold", "log")
_HOLD_POLL = 0.01  # seconds
_FAILURES: Mapping[str, type[ModelError]] = {
    "timeout": ModelTimeout,
    "overloaded": ModelOverloaded,
    "unavailable": ModelUnavailable,
    "invalid": BadOutput,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptFile:
    """A script file, validated."""

    path: Path
    answers: Mapping[str, tuple[Any, ...]]  # by key or pattern; each item a text, a mapping, or a failure
    default: tuple[Any, ...] | None
    delay_ms: float
    hold: Path | None
    log: Path | None

    def find(self, key: str) -> str | None:
        """Return the name of the entry for a key: the key itself, else the first pattern that matches."""
        if key in self.answers:
            return key
        return next((pattern for pattern in self.answers if fnmatch.fnmatchcase(key, pattern)), None)


def load(file: str) -> ScriptFile:
    """Read a script file. Raises InputError that says what is wrong and where."""
    path = Path(file).expanduser()
    return _script_file(path, read_mapping(path, "script file", "`answers:`"))


def scripted_model(script: ScriptFile) -> Model:
    name = f"scripted:{script.path}"
    served: Counter[str] = Counter()
    calls: Counter[str] = Counter()

    def next_item(key: str) -> Any:
        entry = script.find(key)
        items = script.answers[entry] if entry is not None else script.default
        if items is None:
            raise ModelUnavailable(
                f"{script.path} has no answer for {key!r}. Add it under `answers:`, or add a `default:`.", model=name
            )
        counted = entry if entry is not None else "default:"
        served[counted] += 1
        return items[min(served[counted], len(items)) - 1]

    async def scripted(call: Call, hear: Hear) -> Reply:
        calls[call.key] += 1
        _log(script.log, f"{call.key}\t{call.seat}\t{calls[call.key]}\n")
        item = next_item(call.key)
        if script.delay_ms:
            await asyncio.sleep(script.delay_ms / 1000)
        hold = None if script.hold is None else Path(_fill(str(script.hold), call))
        while hold is not None and not hold.exists():  # noqa: ASYNC110 (a file has no event to await)
            await asyncio.sleep(_HOLD_POLL)
        if _is_failure(item):
            _log(script.log, f"done {call.key}\n")
            raise _failure(item, call, name)
        item = _fill(item, call)
        text = item if isinstance(item, str) else _written(item, call)
        cut = estimate_tokens(len(text)) > call.max_tokens
        text = text[: call.max_tokens * CHARS_PER_TOKEN] if cut else text
        for word in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text):
            hear(word)
        _log(script.log, f"done {call.key}\n")
        return Reply(
            text=text,
            model=name,
            provider="scripted",
            usage=Usage(tokens_in=estimate_tokens(count_chars(call.messages)), tokens_out=estimate_tokens(len(text))),
            finish_reason="length" if cut else "stop",
            first_token_ms=round(script.delay_ms),
        )

    return scripted


def _script_file(path: Path, content: Json) -> ScriptFile:
    for name in content:
        if name not in _FIELDS:
            raise UnknownName("field", str(name), _FIELDS, hint=f"{path} may have: {', '.join(_FIELDS)}.")
    answers: Any = content.get("answers") or {}
    if not isinstance(answers, dict):
        raise InputError(f"{path}: `answers:` should map keys of steps to answers, not be {kind(answers)}.")
    delay = content.get("delay_ms", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float) or delay < 0:
        raise InputError(f"{path}: `delay_ms:` should be a number of milliseconds, not {delay!r}.")
    files = {name: content.get(name) for name in ("hold", "log")}
    for name, file in files.items():
        if file is not None and not isinstance(file, str):
            raise InputError(f"{path}: `{name}:` should be the name of a file, not {kind(file)}.")
    if not answers and content.get("default") is None:
        raise InputError(f"{path} has neither `answers:` nor a `default:`, so it can answer nothing.")
    entries = cast("dict[Any, Any]", answers)
    return ScriptFile(
        path=path,
        answers={str(key): _items(value, f"{path}: answers[{str(key)!r}]") for key, value in entries.items()},
        default=None if content.get("default") is None else _items(content["default"], f"{path}: default"),
        delay_ms=delay,
        **{name: None if file is None else path.parent / file for name, file in files.items()},
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


def _written(item: Any, call: Call) -> str:
    """A mapping as the call's shape is written: as JSON, or as the text that it reads."""
    if call.returns is not None and issubclass(call.returns, TextAnswer):
        with suppress(ValueError):  # it is written as JSON then, and refused as any other wrong text
            return call.returns.model_validate(item).as_text()
    return json.dumps(item, ensure_ascii=False, default=str)


def _is_failure(item: Any) -> bool:
    return isinstance(item, dict) and "fail" in item and set(cast(Json, item)) <= {"fail", "message"}


def _failure(item: Json, call: Call, name: str) -> ModelError:
    said = _fill(str(item.get("message") or f"The script says that {call.key} fails."), call)
    return _FAILURES[item["fail"]](said, model=name)


def _fill(value: Any, call: Call) -> Any:
    # Not str.format: texts may contain other braces.
    return _map_text(value, lambda text: text.replace("{key}", call.key).replace("{seat}", call.seat))


def _map_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {str(name): _map_text(inner, change) for name, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_map_text(inner, change) for inner in cast("list[Any]", value)]
    return value


def _log(log: Path | None, line: str) -> None:
    if log is not None:
        call_log.append(log, line)


def _read(rest: str, text: str) -> ModelSpec:
    if not rest:
        raise UnknownModel("'scripted' needs a YAML file: scripted:answers.yaml.")
    return ModelSpec(provider="scripted", model=rest)


def _open(spec: ModelSpec, opening: Opening) -> Opened:
    return Opened(model=scripted_model(load(spec.model)), priced=False)


def _check(spec: ModelSpec, opening: Opening) -> None:
    load(spec.model)


PROVIDER = Provider(
    name="scripted",
    example="scripted:answers.yaml",
    about="answers from a YAML file, for tests and drafts",
    open=_open,
    read=_read,
    check=_check,
    rank=32,
    sampling=EVERY_SETTING,  # no model is called, so none is refused
    price=lambda spec: FREE,
)
