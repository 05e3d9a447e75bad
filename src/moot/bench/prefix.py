"""How much of each prompt a provider's cache can already hold: what the seat's previous call read and wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from moot.bench.rig import TOKENS, run, whole_duel
from moot.bench.table import Goal, Row
from moot.types import Call, Message


def measure(folder: Path, *, tokens: int = TOKENS) -> list[Row]:
    played = run(whole_duel(tokens=tokens))
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
    """Bytes that the seat's previous call began with, and bytes in all. With `answers`, what the seat answered to that
    call counts as known, too: servers that keep the cache of what they generate have it."""
    before: dict[str, Sequence[Message]] = {}
    same = whole = 0
    for call in calls:
        if call.seat in before:
            common = _common(before[call.seat], call.messages)
            own = call.messages[common : common + 1]
            answered = common == len(before[call.seat]) and bool(own) and own[0].role == "assistant"
            same += _size(call.messages[: common + 1] if answers and answered else call.messages[:common])
            whole += _size(call.messages)
        before[call.seat] = call.messages
    return same, whole


def _common(one: Sequence[Message], two: Sequence[Message]) -> int:
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(two)))


def _size(messages: Sequence[Message]) -> int:
    return sum(len(message.text.encode()) for message in messages)
