"""Lists in which pinned debates come first."""

from __future__ import annotations

from typing import Any

from moot.client.client import Client
from moot.store.values import Page

_PINNED = "pinned:"  # marks the place in a list whose pinned debates were not all shown yet
_OTHERS = f"{_PINNED}all"  # all of them were, and nothing else


async def pinned_first(client: Client, *, limit: int, after: str | None = None, **filters: Any) -> Page:
    """A page of debates: those that are pinned, then the others, each newest first. `after`: `next` of the page
    before; `filters`: those of `Client.page` but `pinned`."""
    pinned = Page(debates=())
    if after is None or (after.startswith(_PINNED) and after != _OTHERS):
        mark = after and after.removeprefix(_PINNED)
        pinned = await client.page(**filters, pinned=True, limit=limit, after=mark)
        if pinned.next:
            return Page(debates=pinned.debates, next=f"{_PINNED}{pinned.next}")
        after = None
    room = limit - len(pinned.debates)
    others = await client.page(**filters, pinned=False, limit=max(1, room), after=None if after == _OTHERS else after)
    if not room:
        return Page(debates=pinned.debates, next=_OTHERS if others.debates else None)
    return Page(debates=(*pinned.debates, *others.debates), next=others.next)
