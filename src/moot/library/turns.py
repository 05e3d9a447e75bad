"""The turns of a debate, as a sequence and as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, overload

from moot.core.amounts import count
from moot.core.types import Turn


class Turns(Sequence[Turn]):
    """The turns of a debate, in the order in which they were stored. `pandas.DataFrame(debate.turns.records)` has a row
    for each."""

    def __init__(self, turns: Sequence[Turn], names: Mapping[str, str]) -> None:
        self._turns, self._names = tuple(turns), names

    @overload
    def __getitem__(self, index: int) -> Turn: ...

    @overload
    def __getitem__(self, index: slice) -> Turns: ...

    def __getitem__(self, index: int | slice) -> Turn | Turns:
        return Turns(self._turns[index], self._names) if isinstance(index, slice) else self._turns[index]

    def __len__(self) -> int:
        return len(self._turns)

    def __repr__(self) -> str:
        return (
            f"<{count(len(self), 'turn')}: {', '.join(turn.key for turn in self._turns[:4])}{', …' * (len(self) > 4)}>"
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        """A flat dict for each turn: every field of `Turn`, the seat's name, and a failure as its message."""
        return [
            {
                **{field.name: getattr(turn, field.name) for field in fields(turn)},
                "name": self._names.get(turn.seat, turn.seat),
                "failure": None if turn.failure is None else turn.failure.message,
            }
            for turn in self._turns
        ]
