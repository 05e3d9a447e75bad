"""Share of each prompt that a provider's prompt cache can hold from the same seat's previous call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from moot.core.types import Call, Message
from perf.rig import TOKENS, play_duel, run
from perf.table import Goal, Row


def measure(folder: Path, *, tokens: int = TOKENS) -> list[Row]:
    played = run(play_duel(folder, tokens=tokens))
    goal = Goal(sign=">", bound=0.9)
    basis = f"bytes; a duel of 6 turns, simulated statements of {tokens} tokens, every call but the first of each seat"
    return [
        _row("prompts that repeat the seat's previous call", played.calls, answers=True, goal=goal, note=basis),
        _row("… what that call read, without its answer", played.calls, answers=False, goal=None, note=""),
    ]


def _row(name: str, calls: Sequence[Call], *, answers: bool, goal: Goal | None, note: str) -> Row:
    same, whole = shared(calls, answers=answers)
    return Row(
        name=name,
        value=same / 1024,
        unit="KiB",
        reference=whole / 1024,
        against=f"{whole / 1024:.0f} KiB of prompts",
        goal=goal,
        note=note,
    )


def shared(calls: Sequence[Call], *, answers: bool) -> tuple[int, int]:
    """Bytes of prompts that are an unchanged prefix of the same seat's previous call, and bytes in all.

    With `answers`, the answer to that call counts as cached, too, as on servers that cache what they generate.
    """
    previous: dict[str, Sequence[Message]] = {}
    same = whole = 0
    for call in calls:
        if call.seat in previous:
            common = _common(previous[call.seat], call.messages)
            own = call.messages[common : common + 1]
            answered = common == len(previous[call.seat]) and bool(own) and own[0].role == "assistant"
            same += _size(call.messages[: common + 1] if answers and answered else call.messages[:common])
            whole += _size(call.messages)
        previous[call.seat] = call.messages
    return same, whole


def _common(one: Sequence[Message], two: Sequence[Message]) -> int:
    """Number of equal messages at the start of both."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(two)))


def _size(messages: Sequence[Message]) -> int:
    return sum(len(message.text.encode()) for message in messages)
