"""What the rules of debates have produced, in SQLite. Commits write it: see `debates.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.core.artifacts import ARTIFACTS, Artifact, ArtifactKind, Episode, Version
from moot.store import KnownLesson, Viewer
from moot.store.artifacts import artifact_of, intact_episode, intact_lesson
from moot.store.rows import viewer_values
from moot.store.sqlite.database import Database


class SqliteArtifacts(Database):
    async def artifacts(self, debate_id: str) -> Sequence[Artifact]:
        return [each for kind in ARTIFACTS for each in await self._of(kind, debate_id)]

    async def versions(self, debate_id: str) -> Sequence[Version]:
        return await self._of("version", debate_id)

    async def recent_episodes(
        self, limit: int, *, agent: str | None = None, viewer: Viewer | None = None
    ) -> Sequence[Episode]:
        found = await self._rows("recent_episodes", intact_episode, limit=limit, agent=agent, **viewer_values(viewer))
        return [each for each in found if each]

    async def evict_episodes(self, token: str, keep: int) -> None:
        await self._change("evict_episodes", {"token": token, "keep": keep})

    async def known_lessons(
        self, limit: int, *, id: str | None = None, viewer: Viewer | None = None
    ) -> Sequence[KnownLesson]:
        found = await self._rows("known_lessons", intact_lesson, limit=limit, id=id, **viewer_values(viewer))
        return [each for each in found if each]

    async def forget_lesson(self, lesson_id: str) -> bool:
        return await self._change("forget_lesson", {"id": lesson_id}) is not None

    async def _of(self, kind: ArtifactKind, debate_id: str) -> list[Any]:
        return await self._rows(f"{kind}s", lambda row: artifact_of(kind, row), id=debate_id)
