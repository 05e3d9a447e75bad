"""docs/forge.md lists every setting of its own, with its default. `python -m tests.formats.forge.test_docs` writes the
lists anew."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.formats.forge.settings import PRESETS, ForgeSettings
from moot.store import sqlite

DOCS = Path(__file__).parents[3] / "docs"


def forge_table() -> str:
    rows = ["| setting | default | what |", "|---|---|---|"]
    for name in ForgeSettings.__annotations__:
        info = ForgeSettings.model_fields[name]
        default = info.default if not isinstance(info.default, tuple) else list(info.default)
        shown = "" if default in (None, "", []) else f"`{default if isinstance(default, str) else json.dumps(default)}`"
        rows.append(f"| `{name}` | {shown} | {info.description or ''} |")
    return "\n".join(rows)


def quick_list() -> str:
    return "\n".join(f"- `{name}={json.dumps(value).strip(chr(34))}`" for name, value in PRESETS["quick"].items())


PARTS: dict[str, Callable[[], str]] = {"forge": forge_table, "quick": quick_list}


@pytest.mark.parametrize("name", PARTS)
def test_every_setting_and_what_the_preset_changes_is_listed(name: str):
    found = re.search(rf"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", (DOCS / "forge.md").read_text(), re.DOTALL)
    assert found is not None
    assert found[1] == PARTS[name]()


def test_the_queries_of_the_docs_can_be_run():
    schema = (Path(sqlite.__file__).parent / "migrations" / "0001_initial.sql").read_text()
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema)
    section = (DOCS / "database.md").read_text().partition("### Queries")[2].partition("###")[0]
    queries = [each for each in re.findall(r"```sql\n(.*?)```", section, re.DOTALL)[0].split(";") if each.strip()]
    assert len(queries) == 6
    for query in queries:
        assert connection.execute(query).fetchall() == []


if __name__ == "__main__":
    text = (DOCS / "forge.md").read_text()
    for part, made in PARTS.items():
        text = re.sub(
            rf"(<!-- {part} -->\n).*?\n?(<!-- /{part} -->)",
            lambda found, made=made: f"{found[1]}{made()}\n{found[2]}",
            text,
            flags=re.DOTALL,
        )
    (DOCS / "forge.md").write_text(text)
