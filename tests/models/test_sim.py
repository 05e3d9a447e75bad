from __future__ import annotations

import asyncio
import os
from contextlib import closing
from random import Random
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from moot.core.errors import InputError, ModelOverloaded
from moot.core.types import Answer, Message, Reply, Sampling
from moot.models.providers.sim import sim_model
from moot.models.spec import parse
from tests.models.calls import Listener, Score, call
from tests.simulation.loop import VirtualLoop


class Point(BaseModel):
    text: Annotated[str, Field(max_length=20)]
    weight: Annotated[float, Field(gt=0, lt=1)]
    strength: Literal["weak", "strong"]


class Everything(Answer):
    kind: Literal["only"]
    score: Annotated[int, Field(ge=-5, le=-3)]
    share: Annotated[float, Field(ge=0, le=1)]
    long: Annotated[str, Field(min_length=200)]
    sure: bool
    points: Annotated[list[Point], Field(min_length=2, max_length=2)]
    maybe: Point | None
    pair: tuple[int, str]
    plain: int
    above: Annotated[int, Field(gt=100)]


def ask(spec: str, **more: object) -> Reply:
    return asyncio.run(sim_model(parse(spec)[0])(call(**more), Listener()))


def test_the_same_seed_step_and_seat_give_the_same_words() -> None:
    one = ask("sim:?seed=1")
    assert ask("sim:?seed=1", messages=(Message(role="user", text="Something else."),)).text == one.text
    assert len({one.text, ask("sim:?seed=2").text, ask("sim:?seed=1", key="2").text, ask("sim:", seat="b").text}) == 4


def test_the_seed_of_a_call_is_mixed_with_its_own() -> None:
    def text(spec: str, seed: int | None) -> str:
        return ask(spec, sampling=Sampling(seed=seed)).text

    assert text("sim:?seed=1", None) == ask("sim:?seed=1").text
    assert text("sim:?seed=1", 5) == text("sim:?seed=1", 5)
    texts = [text("sim:?seed=1", None), text("sim:?seed=1", 5), text("sim:?seed=1", 6), text("sim:?seed=2", 5)]
    assert len(set(texts)) == 4


def test_the_text_ends_before_the_first_stop_sequence() -> None:
    whole = ask("sim:")
    words = whole.text.split()
    listener = Listener()
    sampling = Sampling(stop=("not in the text", words[7], words[3]))
    reply = asyncio.run(sim_model(parse("sim:")[0])(call(sampling=sampling), listener))
    assert reply.text == listener.text == whole.text[: min(whole.text.index(words[7]), whole.text.index(words[3]))]
    assert 0 < len(reply.text) < len(whole.text)
    assert reply.finish_reason == "stop"
    assert reply.usage.tokens_out == -(-len(reply.text) // 4) < whole.usage.tokens_out
    assert ask("sim:", sampling=Sampling(stop=("not in the text",))) == whole


def test_it_writes_about_as_many_tokens_as_asked() -> None:
    assert ask("sim:?tokens=40").usage.tokens_out in range(35, 41)
    cut = ask("sim:?tokens=400", max_tokens=30)
    assert (cut.usage.tokens_out, len(cut.text), cut.finish_reason) == (30, 120, "length")


@pytest.mark.parametrize("seed", range(10))
def test_any_schema_is_met(seed: int) -> None:
    Everything.model_validate_json(ask(f"sim:?seed={seed}", returns=Everything, max_tokens=10_000).text)
    Score.model_validate_json(ask(f"sim:?seed={seed}", returns=Score).text)


def test_failure_and_garbage_rates() -> None:
    model = sim_model(parse("sim:?fail=0.3&garbage=0.3")[0])

    async def main() -> tuple[int, int]:
        failed = garbled = 0
        for step in range(500):
            try:
                reply = await model(call(key=str(step), returns=Score), Listener())
                garbled += not reply.text.startswith("{")
            except ModelOverloaded:
                failed += 1
        return failed, garbled

    failed, garbled = asyncio.run(main())
    assert failed in range(110, 190)
    assert garbled in range(60, 150)


def test_latency_and_speed_options() -> None:
    listener = Listener()
    model = sim_model(parse("sim:?latency_ms=50&tps=400&tokens=40")[0])
    with closing(VirtualLoop(Random(1))) as loop:
        reply = loop.run_until_complete(model(call(), listener))
        assert loop.time() >= 0.05 + 39 / 400
    assert len(listener.heard) > 2
    assert listener.text == reply.text
    assert reply.first_token_ms == 50


def test_without_delays_it_never_waits() -> None:
    running = sim_model(parse("sim:")[0])(call(), Listener())
    with pytest.raises(StopIteration) as finished:
        running.send(None)  # type: ignore[attr-defined]
    assert isinstance(finished.value.value, Reply)


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="latency_ms"):
        sim_model(parse("sim:?latency=5")[0])
    with pytest.raises(InputError, match="fail"):
        sim_model(parse("sim:?fail=2")[0])


def test_calls_are_logged_to_a_file_that_a_spec_can_not_choose(tmp_path) -> None:
    log = tmp_path / "calls.log"
    spec = parse("sim:?seed=3")[0]
    for _ in range(2):
        asyncio.run(sim_model(spec, str(log))(call(), Listener()))  # type: ignore[arg-type]
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    assert [line[1:] for line in lines] == [[str(os.getpid()), "sim:?seed=3", call().key, call().seat]] * 2
    assert float(lines[0][0]) <= float(lines[1][0])
    with pytest.raises(InputError, match="log"):
        sim_model(parse(f"sim:?log={log}")[0])
