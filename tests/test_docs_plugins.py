"""docs/plugins.md shows the package that tests/plugins/test_workshop.py installs and uses, file by file."""

from __future__ import annotations

import re
from pathlib import Path

from moot.doors import DOORS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "plugins.md").read_text()
FILE = re.compile(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples_are_the_files_of_the_package():
    package = ROOT / "tests" / "plugins" / "workshop"
    files = {
        str(path.relative_to(package)): path.read_text()
        for path in package.rglob("*")
        if path.is_file() and path.name != "README.md" and path.suffix != ".pyc" and path.read_text()
    }
    assert dict(FILE.findall(TEXT)) == files


def test_every_door_has_a_section_and_a_line_in_the_table():
    table = re.findall(r"^\| \[`(moot\.\w+)`\]\(#([\w-]+)\) \|", TEXT, re.MULTILINE)
    assert sorted(group for group, _ in table) == sorted(door.group for door in DOORS)
    sections = {line.lower().replace(" ", "-") for line in re.findall(r"^## (.*)", TEXT, re.MULTILINE)}
    assert {anchor for _, anchor in table} <= sections
