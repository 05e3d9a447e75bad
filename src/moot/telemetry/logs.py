"""Logging as text or JSON lines. Each line names its debate and step; none contains a key, or text that a model read or
wrote."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Collection, Mapping
from typing import IO, Any, Literal

from moot.telemetry import task_context

Form = Literal["text", "json"]

SECRET_ENDINGS = ("_KEY", "_SECRET", "_TOKEN", "_PASSWORD")
_SHORTEST_SECRET = 6  # a shorter one would mask ordinary words


def configure(form: Form, level: str, *, secrets: Collection[str] = (), stream: IO[str] | None = None) -> None:
    """Configure logging for the process. Other libraries only log warnings: below that, some quote requests."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines(secrets) if form == "json" else TextLines(secrets))
    root = logging.getLogger()
    for before in root.handlers[:]:
        root.removeHandler(before)
        before.close()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("moot").setLevel(level.upper())
    logging.captureWarnings(True)


def secrets_in(environ: Mapping[str, str]) -> set[str]:
    """Values of variables that hold secrets, to mask in the log."""
    return {
        value
        for name, value in environ.items()
        if name.upper().endswith(SECRET_ENDINGS) and len(value) >= _SHORTEST_SECRET
    }


class _Lines(logging.Formatter):
    def __init__(self, secrets: Collection[str]) -> None:
        super().__init__()
        self._secrets = sorted((each for each in secrets if len(each) >= _SHORTEST_SECRET), key=len, reverse=True)

    def masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


class JsonLines(_Lines):
    """One object a line; docs/operations.md describes the fields."""

    def format(self, record: logging.LogRecord) -> str:
        here, key = task_context.get(), _step(record)
        fields: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.masked(record.getMessage()),
            "debate": here.debate_id if here else None,
            "epoch": here.epoch if here else None,
            "step": key or None,
        }
        if record.exc_info and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
            fields["traceback"] = _frames(record)
        return json.dumps(fields)


class TextLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        here, key = task_context.get(), _step(record)
        about = "" if here is None else f" [{here.debate_id}/{here.epoch}{f' {key}' if key else ''}]"
        message = " ".join(self.masked(record.getMessage()).split())
        line = f"{_time(record.created)} {record.levelname:<7} {record.name}{about} {message}"
        if record.exc_info and record.exc_info[0] is not None:
            line += f" ({record.exc_info[0].__name__})\n{_frames(record)}".rstrip()
        return line


def _step(record: logging.LogRecord) -> str:
    """The step that the line names, or in which it is logged."""
    here = task_context.get()
    return getattr(record, "step", "") or (here.key if here else "")


def _frames(record: logging.LogRecord) -> str:
    """The traceback without the error's message, which may quote anything."""
    return "" if record.exc_info is None else "".join(traceback.format_tb(record.exc_info[2]))


def _time(seconds: float) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1000):03}Z"
