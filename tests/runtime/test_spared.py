"""A debate goes on without a model that can't be had, as far as its rules allow."""

from __future__ import annotations

import asyncio
import socket

from moot.core.script import Stage, ask_each
from moot.core.settings import DebateSettings, Settings
from moot.core.types import Outcome, Prompt
from moot.formats import Part
from moot.models.registry import ModelRegistry
from moot.runtime.replay import prove
from tests.runtime.small import a_format, a_runtime, outcome, run


class PollSettings(DebateSettings):
    models: tuple[str, ...] = ()


async def polling(stage: Stage, settings: PollSettings) -> Outcome:
    answers = await ask_each(
        stage.seats, "answer", lambda seat: Prompt(name="test/poll", text=f"{seat.name}?"), round=1, shows="TURN"
    )
    return outcome("tie", f"{', '.join(answers.given)} answered; {', '.join(answers.failed) or 'none'} did not.")


POLLING = a_format(
    polling,
    settings=PollSettings,
    parts=lambda settings: [
        Part(id=f"m{n}", name=f"M{n}", role="member", tier="debater", model=model)
        for n, model in enumerate(settings.models, 1)
    ],
)


def dead_model() -> str:
    """A model at an address where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"openai:x@http://127.0.0.1:{free.getsockname()[1]}/v1"


def impatient() -> ModelRegistry:
    return ModelRegistry(Settings(backoff_tries=0), environ={})


def test_a_debate_goes_on_without_a_model_that_is_gone_and_says_so(tmp_path):
    async def main():
        async with a_runtime(tmp_path, POLLING, models=impatient()) as runtime:
            done = await run(runtime, POLLING, models=("sim:", dead_model(), "sim:?seed=2"))
            assert done.outcome is not None, done.error
            assert done.outcome.headline == "m1, m3 answered; m2 did not."
            turns, events = await runtime.store.turns(done.id), await runtime.store.events(done.id)
            absent = next(turn for turn in turns if turn.key == "1/answer/m2")
            assert absent.failure is not None
            assert (absent.failure.kind, absent.finish_reason, absent.tokens_out) == ("unreachable", "failed", 0)
            notices = [event.data["text"] for event in events if event.type == "notice"]
            assert any(
                text.startswith("M2 got no answer, and the debate goes on without it (1/answer/m2): ")
                for text in notices
            )
            assert sorted(event.key for event in events if event.type == "TURN") == ["1/answer/m1", "1/answer/m3"]
            assert prove(POLLING, done, turns, events).same

    asyncio.run(main())


def test_when_every_model_is_gone_the_debate_fails_and_can_be_retried(tmp_path):
    async def main():
        async with a_runtime(tmp_path, POLLING, models=impatient()) as runtime:
            failed = await run(runtime, POLLING, models=(dead_model(), dead_model()))
            assert failed.status == "failed"
            assert failed.error is not None
            assert failed.error.kind == "unreachable"
            assert set(failed.cursor.open) == {"1/answer-again/m1", "1/answer-again/m2"}
            await runtime.retry(failed.id)
            again = await runtime.wait(failed.id)
            assert (again.status, again.turn_count) == ("failed", failed.turn_count)

    asyncio.run(main())
