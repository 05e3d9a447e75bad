"""A debate goes on without a model that can't be had, as far as its rules allow."""

from __future__ import annotations

import socket

from moot.core.script import Stage, ask_each
from moot.core.settings import DebateSettings, Settings
from moot.core.types import Outcome, Prompt
from moot.formats import Format, Part
from moot.models.registry import ModelRegistry
from moot.runtime.replay import prove
from tests.runtime.small import a_format, a_runtime, outcome, run


async def polling(stage: Stage, settings: DebateSettings) -> Outcome:
    answers = await ask_each(
        stage.seats, "answer", lambda seat: Prompt(name="test/poll", text=f"{seat.name}?"), round=1, shows="TURN"
    )
    return outcome("tie", f"{', '.join(answers.given)} answered; {', '.join(answers.failed) or 'none'} did not.")


def polling_of(*models: str) -> Format:
    seats = [Part(id=f"m{n}", name=f"M{n}", role="member", model=model) for n, model in enumerate(models, 1)]
    return a_format(polling, parts=lambda _: seats)


async def test_a_debate_goes_on_without_a_model_that_is_gone_and_says_so(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"openai:x@http://127.0.0.1:{free.getsockname()[1]}/v1"
    format_, models = polling_of("sim:", nowhere, "sim:?seed=2"), ModelRegistry(Settings(backoff_tries=0), environ={})
    async with a_runtime(tmp_path, format_, models=models) as runtime:
        done = await run(runtime, format_)
        assert done.outcome is not None, done.error
        assert done.outcome.headline == "m1, m3 answered; m2 did not."
        turns, events = await runtime.store.turns(done.id), await runtime.store.events(done.id)
        absent = next(turn for turn in turns if turn.key == "1/answer/m2")
        assert absent.failure is not None
        assert (absent.failure.kind, absent.finish_reason, absent.tokens_out) == ("unreachable", "failed", 0)
        notices = [event.data["text"] for event in events if event.type == "notice"]
        assert any(
            text.startswith("M2 got no answer, and the debate goes on without it (1/answer/m2): ") for text in notices
        )
        assert sorted(event.key for event in events if event.type == "TURN") == ["1/answer/m1", "1/answer/m3"]
        assert prove(format_, done, turns, events).same
