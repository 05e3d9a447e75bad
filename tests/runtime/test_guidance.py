"""What a person says between steps: heard by whoever is asked next, kept like any turn, never by a step under way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.errors import InputError, WrongStatus
from moot.formats import Format, Part
from moot.runtime.replay import rerun
from moot.runtime.runtime import Runtime
from moot.script import Stage, together
from moot.settings import DebateSettings
from moot.store.sqlite import SqliteStore
from moot.types import Call, Hear, Likeness, Outcome, Prompt, Recalled, Recollection, Reply, SeatSpec, Usage
from tests.running import an_app, answers_file, new_debate, run_to_rest, until

WORDS = "Look at what it costs to run."


class Held:
    """A model whose calls end when they are let go."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self.go: dict[str, asyncio.Event] = {}

    def open(self, spec: str) -> Any:
        async def model(call: Call, hear: Hear, /) -> Reply:
            self.calls[call.key] = call
            await self.go.setdefault(call.key, asyncio.Event()).wait()
            return Reply(text=f"Said at {call.key}.", model="held", provider="test")

        return model

    def check(self, spec: str) -> None: ...

    def price(self, spec: str) -> None: ...

    def let(self, key: str) -> None:
        self.go.setdefault(key, asyncio.Event()).set()

    def asked(self, key: str) -> str:
        return self.calls[key].messages[-1].text


async def play(stage: Stage, settings: DebateSettings) -> Outcome:
    a, b = stage.seat("a"), stage.seat("b")
    for round in (1, 2, 3):
        await together(*(seat.ask("speak", Prompt(name="t", text="Speak."), round=round) for seat in (a, b)))
    return Outcome(winner="tie", headline="Done.", ended_by="rules", verdict_source="judge")


TALK = Format(
    name="talk",
    version=1,
    summary="For tests.",
    settings=DebateSettings,
    parts=lambda _: [Part(id="a", name="A", role="debater"), Part(id="b", name="B", role="debater")],
    play=play,
)


def a_runtime(folder: Path, models: Any, **more: Any) -> Runtime:
    return Runtime(
        SqliteStore(folder / "moot.db"), models, {"talk": TALK}, lease_seconds=15, pulse_seconds=0.02, **more
    )


async def begun(runtime: Runtime) -> str:
    cast = [SeatSpec(id=part.id, name=part.name, role=part.role, model="m", max_tokens=50) for part in TALK.parts(None)]
    made = await runtime.create(topic="t", format=TALK, config={}, cast=cast)
    return made.id


def test_guidance_from_another_process_reaches_every_seat_once_and_no_step_under_way(tmp_path):
    async def main():
        models = Held()
        runtime, elsewhere = a_runtime(tmp_path, models), a_runtime(tmp_path, models)
        debate_id = await begun(runtime)
        await runtime.start(debate_id)
        await until(lambda: len(models.calls) == 2)
        await elsewhere.guide(debate_id, WORDS, by="ann")
        models.let("1/speak/a")
        while not [turn for turn in await elsewhere.store.turns(debate_id) if turn.kind == "guidance"]:
            await asyncio.sleep(0.005)
        for key in ("1/speak/b", "2/speak/a", "2/speak/b", "3/speak/a", "3/speak/b"):
            models.let(key)
        done = await runtime.wait(debate_id)
        assert done.status == "completed"
        for seat in "ab":
            assert WORDS not in models.asked(f"1/speak/{seat}")
            assert models.asked(f"2/speak/{seat}").endswith(f"adds: {WORDS}")
            assert WORDS not in models.asked(f"3/speak/{seat}")  # it is in their history, once
            assert sum(WORDS in message.text for message in models.calls[f"3/speak/{seat}"].messages) == 1
        turns = await runtime.store.turns(debate_id)
        (said,) = [turn for turn in turns if turn.kind == "guidance"]
        assert (said.content, said.metadata["by"], said.seat) == (WORDS, "ann", "you")
        shown = [event for event in await runtime.store.events(debate_id) if event.type == "PERSON"]
        assert [event.turn.content for event in shown] == [WORDS]
        assert rerun(TALK, done, turns).outcome == done.outcome
        await runtime.close()
        await elsewhere.close()

    asyncio.run(main())


def test_a_stopped_debate_hears_it_in_the_very_steps_that_were_open(tmp_path):
    async def main():
        models = Held()
        first = a_runtime(tmp_path, models)
        debate_id = await begun(first)
        await first.start(debate_id)
        await until(lambda: len(models.calls) == 2)
        models.let("1/speak/a")
        while len(await first.store.turns(debate_id)) < 1:
            await asyncio.sleep(0.005)
        await first.close()  # the call of b is cut off
        assert "1/speak/b" in models.calls
        models.calls.clear()
        second = a_runtime(tmp_path, models)
        await second.guide(debate_id, WORDS, by="ann")
        for round in (1, 2, 3):
            models.let(f"{round}/speak/a")
            models.let(f"{round}/speak/b")
        await second.resume(debate_id)
        done = await second.wait(debate_id)
        assert done.status == "completed"
        assert models.asked("1/speak/b").endswith(WORDS)
        assert models.asked("2/speak/a").endswith(WORDS)
        assert not models.asked("2/speak/b").endswith(WORDS)
        (said,) = [turn for turn in await second.store.turns(debate_id) if turn.kind == "guidance"]
        assert said.metadata["reaches"] == ["1/speak/b"]
        await second.close()

    asyncio.run(main())


def test_a_fork_with_other_guidance_asks_the_step_anew_with_it(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            parent = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=4))
            before = await app.audit(parent.id)
            fork = await app.fork(parent.id, "2/speak/b", {}, guidance=WORDS)
            done = await run_to_rest(app, fork)
            assert done.status == "completed"
            audit = await app.audit(done.id)
            heard = {turn["key"]: turn["messages"][-1]["text"] for turn in audit["turns"] if turn["kind"] == "ask"}
            assert heard["2/speak/b"].endswith(WORDS)
            assert (await app.prove(done.id)).same
            again = await app.fork(done.id, "3/speak/a", {}, guidance="And at who runs it.")
            assert again.guided == 1  # what the parent heard is in its turns
            assert (await run_to_rest(app, again)).status == "completed"
            assert await app.audit(parent.id) == before

    asyncio.run(main())


def test_what_cant_be_heard_is_refused_and_says_why(tmp_path):
    async def main():
        async with an_app(tmp_path) as app:
            debate = await new_debate(app, answers_file(tmp_path), turns=2)
            for empty in ("", "  \n", "\u200b"):
                with pytest.raises(InputError, match="needs words"):
                    await app.runtime.guide(debate.id, empty, by="ann")
            with pytest.raises(InputError, match="20,001 characters"):
                await app.runtime.guide(debate.id, "x" * 20_001, by="ann")
            done = await run_to_rest(app, debate)
            with pytest.raises(WrongStatus, match="is completed; it can't be guided"):
                await app.runtime.guide(done.id, WORDS, by="ann")
            with pytest.raises(InputError, match="needs words"):
                await app.fork(done.id, "1/speak/a", {}, guidance="")
            assert len((await app.runtime.store.page()).debates) == 1  # the fork was not made

    asyncio.run(main())


async def recalls(stage: Stage, settings: DebateSettings) -> Outcome:
    found, alike = await together(
        stage.recall("rag", "What is it like?", corpus="templates", k=2, shows="RAG"),
        stage.compare("compare", [("one", "two")]),
    )
    titles = [each.title for each in found.found]
    return Outcome(
        winner="tie", headline=f"{titles} {alike.scores} {found.note}", ended_by="rules", verdict_source="judge"
    )


RECALLS = Format(
    name="talk", version=1, summary="For tests.", settings=DebateSettings, parts=lambda _: [], play=recalls
)


class Shelf:
    async def recall(self, query, corpus, k, /):
        found = tuple(Recalled(id=str(n), title=f"{corpus} {n}", text=query, score=1 / (n + 1)) for n in range(k))
        return Recollection(found=found, by="bm25"), Usage(tokens_in=7, cost_usd=0.5)

    async def compare(self, pairs, /):
        return Likeness(scores=tuple(0.5 for _ in pairs), by="e"), Usage()


@pytest.mark.parametrize(
    ("memory", "headline"),
    [(Shelf(), "['templates 0', 'templates 1'] (0.5,) "), (None, "[] () This process has no memory.")],
)
def test_memory_is_asked_in_steps_of_its_own(tmp_path, memory, headline):
    async def main():
        runtime = Runtime(
            SqliteStore(tmp_path / "moot.db"), Held(), {"talk": RECALLS}, lease_seconds=15, pulse_seconds=1,
            memory=memory,
        )  # fmt: skip
        made = await runtime.create(topic="t", format=RECALLS, config={}, cast=[])
        await runtime.start(made.id)
        done = await runtime.wait(made.id)
        assert done.outcome is not None
        assert done.outcome["headline"] == headline
        turns = {turn.key: turn for turn in await runtime.store.turns(done.id)}
        assert set(turns) == {"0/rag/memory", "0/compare/memory"}
        assert {turn.kind for turn in turns.values()} == {"recall"}
        rag = turns["0/rag/memory"]
        assert (rag.tokens_in, rag.cost_usd) == ((7, 0.5) if memory else (0, 0.0))
        assert rerun(RECALLS, done, list(turns.values())).outcome == done.outcome
        await runtime.close()

    asyncio.run(main())
