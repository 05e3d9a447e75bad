"""Debates as one file, for a backup or another database."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing

from moot.app import App
from moot.caller import Caller
from moot.client import importing
from moot.core.types import Debate
from moot.runtime.transfer import Imported, adopt_all, check_header, export


class Transfer:
    """Writes debates into a file and reads them back. What the caller may not do raises ScopeMissing."""

    def __init__(self, app: App, caller: Caller) -> None:
        self.app, self.caller = app, caller

    async def export(self, debates: Sequence[Debate] | None = None) -> AsyncGenerator[bytes, None]:
        """Debates as lines of one file that `adopt` reads back; None: all of them."""
        self.caller.need("admin")
        await self.app.open()
        ids = None if debates is None else [debate.id for debate in debates]
        async with aclosing(export(self.app.runtime.store, ids, self.app.runtime.now())) as lines:
            async for line in lines:
                yield line

    async def adopt(self, chunks: AsyncIterable[bytes], *, most: int | None = None) -> AsyncGenerator[Imported, None]:
        """Store the debates of an export that comes in pieces, packed by gzip or not, and yield what became of each.
        What comes after `most` bytes, unpacked, is refused. Raises InputError, with nothing stored, if it is no
        export."""
        self.caller.need("admin")
        async with aclosing(importing.lines_of(chunks, most)) as all_lines:
            first, rest = await importing.first_line(all_lines)
            check_header(first)
            await self.app.open()
            async with aclosing(adopt_all(self.app.runtime.store, importing.after(rest, all_lines))) as adopted:
                async for each in adopted:
                    yield each
