"""Artifacts as rows: which table and columns each kind has. All backends have the same ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from moot.core.artifacts import ARTIFACTS, Artifact, ArtifactKind, Episode, Lesson, LessonUse, Version
from moot.core.errors import DamagedDebate
from moot.core.types import Json, record
from moot.store.columns import Row
from moot.store.rows import UNREADABLE
from moot.store.values import KnownLesson

# Columns that have another name than their field.
_RENAMED = {"debate_id": "session_id", "turn_key": "turn_id", "parent": "parent_id"}
_FLAGS = ("passed", "confirmed", "demonstration", "held")  # 0 or 1 in every backend, so that copies have the same bytes
_JSON = ("metrics", "test_results", "episodes")
# ASCII: JSON columns can then hold any text.
_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


@record
class Table:
    """Where a kind of artifact is stored."""

    type: type[Artifact]
    columns: Mapping[str, str]  # by field


def _table(type_: type[Artifact], **renamed: str) -> Table:
    names = {**_RENAMED, **renamed}
    return Table(type=type_, columns={each.name: names.get(each.name, each.name) for each in fields(type_)})


TABLES: Mapping[ArtifactKind, Table] = {
    "version": _table(Version, number="version_number"),
    "episode": _table(Episode, code="code_sha256"),
    "lesson": _table(Lesson),
    "use": _table(LessonUse, lesson="lesson_id"),
}


def columns_of(kind: ArtifactKind) -> tuple[str, ...]:
    return tuple(TABLES[kind].columns.values())


def artifact_values(artifact: Artifact) -> dict[str, Any]:
    """The values of its row, by column and in their order."""
    columns = TABLES[artifact.kind].columns
    return {column: _stored(name, getattr(artifact, name)) for name, column in columns.items()}


def artifact_of(kind: ArtifactKind, row: Row) -> Any:
    """Raises DamagedDebate."""
    table = TABLES[kind]
    try:
        return table.type(**{name: _read(name, row[column]) for name, column in table.columns.items()})
    except UNREADABLE:
        raise DamagedDebate(row["session_id"], f"the {kind} {row['id']}") from None


def lesson_of(row: Row) -> KnownLesson:
    """Raises DamagedDebate."""
    return KnownLesson(
        lesson=artifact_of("lesson", row),
        confirmed=row["times_confirmed"],
        contradicted=row["times_contradicted"],
    )


def intact_episode(row: Row) -> Episode | None:
    """The episode of a row; None if it can't be read, so that it keeps no other from being found."""
    try:
        return artifact_of("episode", row)
    except DamagedDebate:
        return None


def intact_lesson(row: Row) -> KnownLesson | None:
    """The lesson of a row; None if it can't be read, so that it keeps no other from being found."""
    try:
        return lesson_of(row)
    except DamagedDebate:
        return None


def by_kind(artifacts: Sequence[Artifact]) -> dict[ArtifactKind, list[Json]]:
    """Rows of artifacts, for each kind."""
    return {kind: [artifact_values(each) for each in artifacts if each.kind == kind] for kind in ARTIFACTS}


def _stored(name: str, value: Any) -> Any:
    if name in _JSON:
        return _dumps(value)
    if name in _FLAGS and value is not None:
        return int(value)
    return None if name == "turn_key" and not value else value  # a reference, if there is a turn


def _read(name: str, value: Any) -> Any:
    if name in _JSON:
        read = json.loads(value)
        if isinstance(read, list) != (name == "episodes"):
            raise ValueError("not of this column")
        return tuple(read) if name == "episodes" else read  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if name in _FLAGS and value is not None:
        return bool(value)
    return "" if name == "turn_key" and value is None else value
