"""The command `moot config`: every setting, and where its value comes from."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from moot.cli.commands import DONE
from moot.cli.printer import Span, make_printer, note, replace_unprintable, table
from moot.cli.session import load_config
from moot.cli.views import print_json
from moot.config import PROJECT_FILE, Entry, Files, files, shown, strays
from moot.core.types import Json
from moot.reasoning.fence import one_line

WIDEST = 60


async def config(args: Namespace) -> int:
    replace_unprintable()
    environ = dict(os.environ)
    found = files(environ)
    if args.path:
        _print_files(found)  # even if they are invalid
        return DONE
    entries = load_config(args, environ).entries()
    if args.json:
        print_json(_json(entries, found, strays(environ)), indent=2)
        return DONE
    table(make_printer(), ("NAME", "VALUE", "FROM"), [_row(entry) for entry in entries])
    for text in strays(environ):
        note(text)
    return DONE


def _print_files(found: Files) -> None:
    user = "read" if found.user.exists() else "does not exist"
    project = (str(found.project), "read") if found.project else ("", f"no {PROJECT_FILE} here or above")
    table(make_printer(), ("LAYER", "FILE", ""), [("user", str(found.user), user), ("project", *project)])


def _row(entry: Entry) -> Sequence[Span]:
    origin = entry.origin
    style = "dim" if origin.layer == "default" else ""
    return ((entry.name, "bold"), (_text(shown(entry.value)), style), (origin.source or origin.layer, style))


def _text(value: object) -> str:
    if value is None or value in ([], {}):
        return "not set"
    if isinstance(value, float):
        return f"{value:g}"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), WIDEST)


def _json(entries: Sequence[Entry], found: Files, warnings: Sequence[str]) -> Json:
    """docs/config.md describes the fields."""
    return {
        "settings": [
            {
                "name": entry.name,
                "value": shown(entry.value),
                "layer": entry.origin.layer,
                "source": entry.origin.source or None,
            }
            for entry in entries
        ],
        "files": [_file("user", found.user), _file("project", found.project)],
        "warnings": list(warnings),
    }


def _file(layer: str, path: Path | None) -> Json:
    return {"layer": layer, "path": str(path) if path else None, "exists": path is not None and path.exists()}
