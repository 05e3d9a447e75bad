"""Debates, turns and a clock for tests of stores and queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from moot.core.artifacts import Artifact, Artifacts, Episode, Lesson, LessonUse, Version, placed
from moot.core.types import Debate, Outcome, Sampling, SeatSpec, Turn
from moot.store import Commit, MemoryEntry, Store

GATES = ("1/checkpoint", "2/checkpoint")
CAST = (SeatSpec(id="a", name="Ada", role="debater", model="sim:", max_tokens=600, sampling=Sampling(temperature=0.7)),)
OUTCOME = Outcome(winner="a", headline="Ada wins.", ended_by="rounds", verdict_source="judge")


def debate(n: int = 0, **changes: Any) -> Debate:
    base = Debate(
        id=f"{n:08x}-0000-4000-8000-000000000000",
        topic='Is "this" — 你好 — fine?',
        format="duel",
        format_version=1,
        status="pending",
        config={"turns": 6, "nested": {"x": [1, None]}},
        cast=CAST,
        initiated_by="someone",
        metadata={"k": "v"},
    )
    return replace(base, **changes)


def turn(key: str = "1/speak/a", seq: int = 1, **changes: Any) -> Turn:
    base = Turn(
        key=key,
        seq=seq,
        kind="ask",
        round=1,
        phase="speak",
        seat="a",
        role="debater",
        content="Words — 你好 kept",
        raw="raw words",
        data={"score": 7, "nested": {"x": [1.5, None, "é"]}},
        tool_calls=[{"tool": "cases", "exit": "ended", "limits": None}],
        test_results=[{"case": "f('你')", "outcome": "returned", "got": "1"}],
        reflections=[{"root_cause": "é", "confidence": 0.5}],
        failure=None,
        model="m",
        provider="p",
        tokens_in=100,
        tokens_out=20,
        tokens_cached=50,
        cost_usd=0.25,
        finish_reason="stop",
        duration_ms=1234,
        response_time_ms=56,
        prompt="duel/open",
        prompt_hash="abcdef0123456789",
        started_at=1000.25,
        created_at=1001.5,
        metadata={"attempts": ["x"]},
    )
    return replace(base, **changes)


def produced(debate: Debate, said: Turn | None = None) -> list[Artifact]:
    """Two versions, two episodes, a lesson and a use of one, as rules would produce them after the turn."""
    made, after = Artifacts(), said or turn()
    first = made.add(Version(author="a", language="python", code="def f():\n    return 1\n", test_pass_rate=0.5), after)
    made.add(
        Version(author="a", language="python", code="def f():\n    return '你'\n", parent=first.id, label="b"), after
    )
    failed = made.add(Episode(agent="a", task="f", passed=False, test_results={"x": [1, None]}, confidence=0.25), after)
    made.add(Episode(agent="a", task="f", attempt=2, passed=True), after)
    made.add(Lesson(text="Return what is asked for.", applies_when="always", episodes=(failed.id,)), after)
    made.add(LessonUse(lesson="ffffffff-0000-8000-8000-000000000000", held=True, note="it did"), after)
    return [placed(each, debate) for each in made.made]


async def claimed(store: Store, n: int = 1, **changes: Any) -> Debate:
    """A new debate that `me` drives, in epoch 1."""
    made = await store.create(debate(n, **changes))
    taken = await store.claim(made.id, "me", 10, expect=["pending"])
    assert taken is not None
    return taken


async def completed(store: Store, n: int = 1, **changes: Any) -> Debate:
    made = await claimed(store, n, **changes)
    end = Commit(debate_id=made.id, epoch=1, status="completed", outcome=OUTCOME, release=True)
    assert await store.commit(end) is not None
    return await store.get(made.id)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def entry(n: int, words: Sequence[str] = ("word",), **more: Any) -> MemoryEntry:
    return MemoryEntry(**{"debate_id": debate(n).id, "words": words, "decided": True, "demonstration": False, **more})
