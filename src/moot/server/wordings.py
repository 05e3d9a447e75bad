"""The words for one debate: its format's vocabulary, with the names that its seats were given while it ran."""

from __future__ import annotations

from moot.core.stage import CAST
from moot.core.types import Debate
from moot.formats import wording_of
from moot.formats.wording import Wording
from moot.store import Debates

PAGE = 50


async def wording_after(store: Debates, debate: Debate, after: int) -> Wording:
    """The words for the events that follow event `after`."""
    wording = wording_of(debate)
    await hear_names(store, debate, wording, until=after)
    return wording


async def hear_names(store: Debates, debate: Debate, wording: Wording, *, until: int) -> None:
    """Let `wording` hear the stored events up to event `until`, or to the one that names the seats.

    Reads nothing where the names are known already: an outcome has them, and most formats name their seats beforehand.
    """
    if debate.outcome is not None or not any(seat.optional for seat in debate.cast):
        return
    seq = 0
    while seq < until:
        events = await store.events(debate.id, seq, min(PAGE, until - seq))
        if not events:
            return
        for event in events:
            wording.hear(event)
            if event.type == CAST:
                return
        seq = events[-1].seq
