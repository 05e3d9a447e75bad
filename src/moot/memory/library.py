"""Reasoning templates: Markdown files with front matter, built in or in the user's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Annotated

from pydantic import Field, StringConstraints

from moot.core.errors import InputError, UnknownName
from moot.core.settings import read
from moot.core.types import Frozen, record
from moot.plugins import Door
from moot.reasoning.fence import clean
from moot.yamlfile import parse_mapping, read_some

MAX_BYTES = 200_000
FENCE = "---"

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Lines = Annotated[tuple[Line, ...], Field(max_length=100)]
TemplateId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]


class Front(Frozen):
    """The front matter of a template. The lists only help to find it."""

    id: TemplateId
    name: Line
    summary: Line
    domains: Lines = ()
    keywords: Lines = ()  # words of questions that it suits
    questions: Lines = ()  # examples of such questions


@record
class Template:
    front: Front
    text: str  # the Markdown below the front matter
    file: Path | None = None  # the user's own; None: it comes with a package
    package: str = ""  # of a plug-in, with its version

    @property
    def id(self) -> str:
        return self.front.id


@record
class Library:
    templates: Sequence[Template]  # sorted by id
    problems: Sequence[str] = ()  # why files of the user can't be used, and what to do

    def get(self, name: str) -> Template:
        """A template by id or name. Raises UnknownName, or InputError if its file is invalid."""
        for template in self.templates:
            if name.casefold() in (template.id, template.front.name.casefold()):
                return template
        for problem in self.problems:
            if f"{name}.md" in problem:
                raise InputError(problem)
        raise UnknownName("template", name, [template.id for template in self.templates])


def library(folder: Path | None) -> Library:
    """The templates that are installed, and those in the user's folder, which replace others of the same id. Invalid
    files are left out and listed in `problems`."""
    found = {
        template.id: replace(template, package=DOOR.package(name))
        for name, collection in DOOR.installed().items()
        for template in collection
    }
    problems: list[str] = []
    try:
        # `glob` would ignore a folder that is missing or unreadable.
        names = os.listdir(folder) if folder is not None else []
    except OSError as error:
        names = []
        problems.append(
            f"The templates folder {folder} can't be read: {error.strerror}. Check it, or the setting templates_dir."
        )
    paths = [Path(folder or "", name) for name in sorted(names) if name.endswith(".md")]
    for path in paths:
        try:
            template = _read(path)
            first = found[template.id].file if template.id in found else None
            if first is not None:
                raise InputError(f"The template {path} has the id {template.id!r}, as {first} has. Change one of them.")
            found[template.id] = template
        except InputError as error:
            problems.append(str(error))
    return Library(templates=sorted(found.values(), key=lambda each: each.id), problems=problems)


def _collection(name: str, package: object) -> tuple[Template, ...]:
    """The templates of all Markdown files in a package."""
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        raise InputError("It is not a package that holds Markdown files.")
    found = sorted((file for file in files(package).iterdir() if file.name.endswith(".md")), key=lambda each: each.name)
    if not found:
        raise InputError("The package holds no Markdown file.")
    return tuple(parse(file.read_bytes(), Path(file.name)) for file in found)


DOOR = Door(
    "moot.templates",
    "collection of templates",
    _collection,
    items=lambda collection: [template.id for template in collection],
    item="template",
)


def parse(text: bytes, path: Path, *, file: Path | None = None) -> Template:
    """Parse a template. Raises InputError that names the file and what to change."""
    parted = re.match(rb"(?:\xef\xbb\xbf)?\s*---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)(.*)", text, re.DOTALL)
    if parted is None:
        raise InputError(
            f"The template {path} has no front matter. Begin it with a line {FENCE}, then id:, name: and summary:, "
            f"then another line {FENCE}, then the text."
        )
    above = text.count(b"\n", 0, parted.start(1))
    what, example = "front matter of the template", "id:, name: and summary:"
    given = parse_mapping(parted[1], path, what, example, first_line=above + 1)
    try:
        front = read(Front, given, "field")
    except InputError as error:
        raise InputError(f"The template {path}: {error}") from None
    try:
        words = clean(parted[2].decode("utf-8")).strip()
    except UnicodeDecodeError:
        raise InputError(f"The template {path} is not UTF-8 text. Save it as UTF-8.") from None
    if not words:
        raise InputError(f"The template {path} has no text below its front matter. Write how to go about it there.")
    return Template(front=front, text=words, file=file)


def _read(path: Path) -> Template:
    try:
        text = read_some(path, MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"The template {path} can't be read: {error.strerror}. Check its permissions.") from None
    if len(text) > MAX_BYTES:
        raise InputError(f"The template {path} has more than {MAX_BYTES:,} bytes, which is the most. Shorten it.")
    return parse(text, path, file=path)
