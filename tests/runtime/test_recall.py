"""Recall steps: memory is asked in steps of its own, and its answers are turns."""

from __future__ import annotations

import pytest

from moot.core.script import Stage, together
from moot.core.settings import DebateSettings
from moot.core.types import Likeness, Outcome, Recalled, Recollection, Usage
from moot.runtime.replay import rerun
from tests.runtime.small import a_format, a_runtime, outcome, run


async def recalls(stage: Stage, settings: DebateSettings) -> Outcome:
    found, alike = await together(
        stage.recall("rag", "What is it like?", corpus="templates", k=2, shows="RAG"),
        stage.compare("compare", [("one", "two")]),
    )
    titles = [each.title for each in found.found]
    return outcome("tie", f"{titles} {alike.scores} {found.note}")


RECALLS = a_format(recalls, events=("RAG",))


class FakeMemory:
    async def recall(self, query, corpus, k, asker, /):
        found = tuple(Recalled(id=str(n), title=f"{corpus} {n}", text=query, score=1 / (n + 1)) for n in range(k))
        return Recollection(found=found, by="bm25"), Usage(tokens_in=7, cost_usd=0.5)

    async def compare(self, pairs, asker, /):
        return Likeness(scores=tuple(0.5 for _ in pairs), by="e"), Usage()

    def most_usd(self, texts, /):
        return 0.0


@pytest.mark.parametrize(
    ("memory", "headline"),
    [(FakeMemory(), "['templates 0', 'templates 1'] (0.5,) "), (None, "[] () This process has no memory.")],
)
async def test_memory_is_asked_in_steps_of_its_own(tmp_path, memory, headline):
    async with a_runtime(tmp_path, RECALLS, memory=memory) as runtime:
        done = await run(runtime, RECALLS)
        assert done.outcome is not None
        assert done.outcome.headline == headline
        turns = {turn.key: turn for turn in await runtime.store.turns(done.id)}
        assert set(turns) == {"0/rag/memory", "0/compare/memory"}
        assert {turn.kind for turn in turns.values()} == {"recall"}
        rag = turns["0/rag/memory"]
        assert (rag.tokens_in, rag.cost_usd) == ((7, 0.5) if memory else (0, 0.0))
        assert (await runtime.store.today("")).all.cost_usd == 0.0, "memory books what it spends, when it does"
        assert rerun(RECALLS, done, list(turns.values())).outcome == done.outcome
