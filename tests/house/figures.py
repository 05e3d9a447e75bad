"""How large the code is: figures of each room, a room being the first folder of a package, and of the whole.

`make house` prints them, `make house ARGS=--accept` stores them in figures.toml, and a test fails where the two differ.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise, product
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("figures.toml")

LINES = 50  # lines of a room are counted in fifties, so that small changes don't touch what is stored
WORDS = 500
OF_A_ROOM = ("files", "lines", "SQL files", "ways round the client")

# These serve callers and have a client for it. They go round it by what belongs to the app and the store behind it.
WAYS_IN = {"moot/cli", "moot/evaluate", "moot/library", "moot/mcp", "moot/server", "moot_eval"}
BEHIND = {
    *product(("client", "_client", "context", "service"), ("app", "store", "runtime")),
    *product(("app", "_app"), ("open", "runtime")),
    *product(("self", "runtime", "_runtime"), ("store",)),
}
SAME_EVERYWHERE = {"__init__", "__main__", "rules", "settings"}  # modules that many folders have on purpose

ADVICE = {
    "ways round the client": "Give `Client` a method for it",
    "classes": "Find a name that says which",
    "modules": "Find a name that says which",
}
ACCEPT = "`make house ARGS=--accept`"


@dataclass(frozen=True, kw_only=True)
class Figures:
    rooms: Mapping[str, Mapping[str, int]]
    whole: Mapping[str, int]
    classes: Mapping[str, int]  # how many have that name, where it is more than one
    modules: Mapping[str, int]
    places: Mapping[str, Mapping[str, Sequence[str]]] = field(
        default_factory=dict[str, Mapping[str, Sequence[str]]]
    )  # where the classes and modules of a name are; not stored

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        """Where, what and how many, for each figure."""
        for room, figures in self.rooms.items():
            yield from ((room, what, count) for what, count in figures.items())
        for where in ("whole", "classes", "modules"):
            yield from ((where, what, count) for what, count in getattr(self, where).items())


def measured(root: Path, declared: Mapping[str, int]) -> Figures:
    """The figures of the files below `root`. `declared`: those that are counted in what the code declares."""
    rooms = defaultdict[str, Counter[str]](Counter)
    places = {"classes": defaultdict[str, list[str]](list), "modules": defaultdict[str, list[str]](list)}
    for package in sorted([*root.glob("src/*"), *root.glob("packages/*/src/*")]):
        for path in sorted([*package.rglob("*.py"), *package.rglob("*.sql")]):
            name = "/".join([package.name, *path.relative_to(package).parts[:-1][:1]])
            room, text, place = rooms[name], path.read_text(), str(path.relative_to(root))
            if path.suffix == ".sql":
                room["SQL files"] += 1
                continue
            room["files"] += 1
            room["lines"] += text.count("\n")
            if WAYS_IN & {package.name, name}:
                room["ways round the client"] += ways_round(text)
            for found in re.findall(r"^[ \t]*class (\w+)", text, re.MULTILINE):
                places["classes"][found].append(place)
            if path.stem not in SAME_EVERYWHERE:
                places["modules"][path.stem].append(place)
    for room in rooms.values():
        room["lines"] = _up(room["lines"], LINES)
    documents = [root / "README.md", *(root / "docs").glob("*.md")]
    words = sum(len(path.read_text().split()) for path in documents if path.exists())
    return Figures(
        rooms={name: {what: room[what] for what in OF_A_ROOM if room[what]} for name, room in rooms.items()},
        whole={**declared, "words of documents": _up(words, WORDS)},
        classes={name: len(found) for name, found in places["classes"].items() if len(found) > 1},
        modules={name: len(found) for name, found in places["modules"].items() if len(found) > 1},
        places=places,
    )


def declared() -> dict[str, int]:
    """What the code declares: a setting or a command is one wherever its lines stand. The kinds of step of a format are
    the phases that it has words for, which are exactly those that its rules ask (tests/formats/test_format.py)."""
    from moot.cli.commands import COMMANDS
    from moot.core.settings import Settings
    from moot.formats.forge import FORMAT as FORGE
    from moot.formats.format import Format

    return {
        "commands": len(COMMANDS),
        "operator settings": len(Settings.model_fields),
        "fields of Format": len(fields(Format)),
        "kinds of step in forge": len(FORGE.phases),
    }


def ways_round(source: str) -> int:
    """How often code of a way in uses what is behind its client: `context.store.get(…)` is one."""
    if not re.search(r"\.(app|store|runtime|open|dispatcher)\b", source):
        return 0  # most files; parsing takes longer
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    within = {id(node.value) for node in found}
    return sum(_goes_round(node) for node in found if id(node) not in within and isinstance(node.ctx, ast.Load))


def _goes_round(node: ast.Attribute) -> bool:
    names, value = list[str](), node
    while isinstance(value, ast.Attribute):
        names.insert(0, value.attr)
        value = value.value
    if isinstance(value, ast.Name):
        names.insert(0, value.id)
    return "dispatcher" in names[1:] or any(pair in BEHIND for pair in pairwise(names))


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def differences(stored: Figures, found: Figures) -> list[str]:
    """A sentence for each figure that is not what is stored, and what to do about it."""
    before = {(where, what): count for where, what, count in stored}
    now = {(where, what): count for where, what, count in found}
    made = list[str]()
    for where, what in sorted({*before, *now}):
        least = 1 if where in found.places else 0  # a name that only one has is not stored
        was, count = before.get((where, what), least), now.get((where, what), least)
        if was != count:
            made.append(_difference(where, what, was, count, found.places.get(where, {}).get(what, ())))
    return made


def _difference(where: str, what: str, stored: int, found: int, places: Sequence[str]) -> str:
    told = f"{where}: {what} {found}, stored {stored}"
    if found < stored:
        return f"{told}. Run {ACCEPT} to keep the gain."
    told += f" ({', '.join(places)})" if places else ""
    better = ADVICE.get(where) or ADVICE.get(what) or "Make it smaller"
    return f"{told}. {better}, or run {ACCEPT} and say in the message of the same commit what for."


def read(path: Path) -> Figures:
    return Figures(**tomllib.loads(path.read_text()))


def write(figures: Figures, path: Path) -> None:
    rows = ["# The figures of `make house`; `make house ARGS=--accept` writes them.", "", "[rooms]"]
    for room, counts in sorted(figures.rooms.items()):
        row = ", ".join(f"{_key(what)} = {count}" for what, count in counts.items())
        rows.append(f"{_key(room)} = {{ {row} }}")
    for table in ("whole", "classes", "modules"):
        counts: Mapping[str, int] = getattr(figures, table)
        rows += ["", f"[{table}]", *(f"{_key(what)} = {count}" for what, count in sorted(counts.items()))]
    path.write_text("\n".join(rows) + "\n")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name) else f'"{name}"'


def table(stored: Figures, found: Figures) -> str:
    """The figures, with the stored ones in brackets where they differ."""
    before = {(where, what): count for where, what, count in stored}

    def told(where: str, what: str, count: int) -> str:
        was = before.get((where, what), 0)
        return f"{count:,}" if was == count else f"{count:,} ({was:,})"

    rows = [("", *OF_A_ROOM)]
    for room, counts in sorted(found.rooms.items(), key=lambda each: -each[1].get("lines", 0)):
        rows.append((room, *(told(room, what, counts.get(what, 0)) for what in OF_A_ROOM)))
    sums = [sum(counts.get(what, 0) for counts in found.rooms.values()) for what in OF_A_ROOM]
    rows.append(("all", *(f"{total:,}" for total in sums)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{row[0]:{widths[0]}}" + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    lines += ["", *(f"{what}: {told('whole', what, count)}" for what, count in found.whole.items())]
    for kind in ("classes", "modules"):
        names: Mapping[str, int] = getattr(found, kind)
        most = [f"{name} ×{count}" for name, count in sorted(names.items(), key=lambda each: -each[1]) if count > 2]
        lines.append(f"{kind} with the name of another: {len(names)}" + (f" ({', '.join(most)})" if most else ""))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make house", description="How large the code is, room by room.")
    parser.add_argument("--accept", action="store_true", help="store today's figures")
    found = measured(ROOT, declared())
    if parser.parse_args(argv).accept:
        write(found, STORED)
    stored = read(STORED)
    print(table(stored, found))
    print(*["", *differences(stored, found)], sep="\n")


if __name__ == "__main__":
    main()
