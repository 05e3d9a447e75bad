"""Forks: the turns that a fork takes over, and whether its settings leave them as they were."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.errors import InputError, ScriptChanged, UnknownName
from moot.core.types import Debate, Turn
from moot.formats import Format
from moot.runtime.threads import replayed


def turns_before(turns: Sequence[Turn], at: str | None, parent: Debate) -> list[Turn]:
    """The turns before the step `at`; all of them if it is open, or None. Raises UnknownName."""
    if at is None or at in parent.cursor.open:
        return list(turns)
    for position, turn in enumerate(turns):
        if turn.key == at:
            return list(turns[:position])
    raise UnknownName("step", at, [turn.key for turn in turns])


async def check_fork(format_: Format, fork: Debate, copied: Sequence[Turn]) -> None:
    """Raises InputError when the fork's settings would have changed one of the turns that it takes over."""
    script = format_.script(fork)
    try:
        await replayed(lambda: script.replay(copied), copied)
    except ScriptChanged as changed:
        raise InputError(
            f"These settings change what was asked at {changed.key!r}, before the fork at {fork.forked_at!r}. "
            f"Fork at {changed.key!r} or earlier, or leave those settings as they were."
        ) from None
    finally:
        script.close()
