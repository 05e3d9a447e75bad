"""What debates have learnt: searched, found, forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from moot.app import App
from moot.caller import Caller
from moot.client.reading import FULL_ID, MOST_FOUND, check_limit, opened
from moot.core.errors import InputError, UnknownName
from moot.core.types import Usage
from moot.memory.embedder_session import BY_WORDS
from moot.memory.learned import MOST_LESSONS, Found
from moot.memory.paying import Payer
from moot.store import KnownLesson


class Lessons:
    """Lessons of the debates that a caller may see. What the caller may not do raises ScopeMissing."""

    def __init__(self, app: App, caller: Caller) -> None:
        self.app, self.caller = app, caller
        self.viewer = caller.viewer(app.settings)

    async def search(self, query: str = "", limit: int = 20) -> Found[KnownLesson]:
        """What debates have learnt: the lessons about something, best first, or without a query the newest."""
        self.caller.need("read")
        check_limit(limit, MOST_FOUND)
        words = " ".join(query.split())
        if not await opened(self.app):
            return Found(found=(), by=BY_WORDS, usage=Usage())
        if words:
            return await self.app.memory.lessons.lessons(
                words, limit, viewer=self.viewer, payer=Payer(token_id=self.caller.identity)
            )
        newest = await self.app.runtime.store.known_lessons(limit, viewer=self.viewer)
        return Found(found=[(each, 0.0) for each in newest], by="age", usage=Usage())

    async def find(self, lesson_id: str) -> KnownLesson:
        """The lesson with this id, or the only one whose id begins so. Raises UnknownName if there is none, and
        InputError if there are several."""
        self.caller.need("read")
        given = lesson_id.strip().lower()
        found: Sequence[KnownLesson] = ()
        if given and await opened(self.app):
            exact = given if len(given) == FULL_ID else None
            known = await self.app.runtime.store.known_lessons(MOST_LESSONS, id=exact, viewer=self.viewer)
            found = [each for each in known if each.lesson.id.startswith(given)]
        if not found:
            raise UnknownName("lesson", lesson_id[:FULL_ID], (), hint="Look it up in the list of lessons.")
        if len(found) > 1:
            raise InputError(f"{len(found)} lessons have an id that begins with {given!r}. Give more of it.")
        return found[0]

    async def forget(self, known: KnownLesson) -> None:
        """Delete a lesson. The turns of its debate stay."""
        self.caller.need("admin")
        await self.app.runtime.store.forget_lesson(known.lesson.id)
