"""What the rules of debates have produced, in PostgreSQL. Commits write it: see `debates.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.core.artifacts import ARTIFACTS, Artifact, ArtifactKind, Episode, Version
from moot.store import KnownLesson, Viewer
from moot.store.artifacts import artifact_of, intact_episode, intact_lesson
from moot.store.postgres.database import Database
from moot.store.rows import viewer_values


class PostgresArtifacts(Database):
    async def artifacts(self, debate_id: str) -> Sequence[Artifact]:
        return [each for kind in ARTIFACTS for each in await self._of(kind, debate_id)]

    async def versions(self, debate_id: str) -> Sequence[Version]:
        return await self._of("version", debate_id)

    async def recent_episodes(
        self, limit: int, *, agent: str | None = None, viewer: Viewer | None = None
    ) -> Sequence[Episode]:
        rows = await self._rows("recent_episodes", limit=limit, agent=agent, **viewer_values(viewer))
        return [each for each in map(intact_episode, rows) if each]

    async def evict_episodes(self, token: str, keep: int) -> None:
        await self._rows("evict_episodes", token=token, keep=keep)

    async def known_lessons(
        self, limit: int, *, id: str | None = None, viewer: Viewer | None = None
    ) -> Sequence[KnownLesson]:
        rows = await self._rows("known_lessons", limit=limit, id=id, **viewer_values(viewer))
        return [each for each in map(intact_lesson, rows) if each]

    async def forget_lesson(self, lesson_id: str) -> bool:
        return await self._change("forget_lesson", {"id": lesson_id}) is not None

    async def _of(self, kind: ArtifactKind, debate_id: str) -> list[Any]:
        return [artifact_of(kind, row) for row in await self._rows(f"{kind}s", id=debate_id)]
