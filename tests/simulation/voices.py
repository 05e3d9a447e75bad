"""What models, memory and people say. It depends on the play's voice and on the step, never on the run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from random import Random
from typing import TYPE_CHECKING

from moot.core.errors import ModelOverloaded, ModelTimeout, ModelUnavailable
from moot.core.types import (
    Asker,
    Call,
    Corpus,
    Gate,
    Hear,
    Json,
    Learned,
    Likeness,
    Model,
    Price,
    Recalled,
    Recollection,
    Reply,
    Tool,
    Usage,
)
from moot.models.providers.sim import sim_model
from moot.models.shape import with_shape
from moot.models.spec import parse
from moot.models.usage import count_chars, estimate_tokens
from moot.models.wrappers import with_backoff, with_cost, with_timeout
from tests.formats.forge.tools import in_process
from tests.simulation.plan import GARBLED, Play, settings_of

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

PRICE = Price(usd_in=1.0, usd_out=2.0)
PATIENCE = 60.0  # seconds for one call
CODES = "&skill=.5&cases=.9&repair=.5&red=1"
_GARBAGE = "I would rather not say {this is not JSON"


def spec_of(play: Play, debate: str) -> str:
    """Each debate has a model of its own, so that a call says whose it is."""
    return f"voice:{play.voice}/{debate}"


@cache
def _words(voice: int, codes: bool) -> Model:
    (spec,) = parse(f"sim:?seed={voice}&tokens=12{CODES if codes else ''}")
    return sim_model(spec)


@lru_cache(maxsize=4096)
def _garbled(voice: int, key: str) -> bool:
    return voice == GARBLED and Random(f"garbled/{voice}/{key}").random() < 0.15


class Voices:
    """Where one process gets its models: the real wrappers around words that take their time."""

    def __init__(self, world: World, process: Process) -> None:
        self._world, self._process = world, process
        self._open: dict[str, Model] = {}

    def check(self, spec: str) -> None:
        pass

    def price(self, spec: str) -> Price | None:
        return PRICE

    def open(self, spec: str) -> Model:
        if spec not in self._open:
            self._open[spec] = self._model(spec)
        return self._open[spec]

    def _model(self, spec: str) -> Model:
        world, process = self._world, self._process
        voice, _, debate = spec.removeprefix("voice:").partition("/")
        codes = any(settings_of(play)[0].needs for play in world.plan.plays)
        words = _words(int(voice), codes)
        absent = dict(world.plan.plays[0].absent)

        async def speak(call: Call, hear: Hear, /) -> Reply:
            reply = await words(call, lambda _: None)
            text = _GARBAGE if call.returns is not None and _garbled(int(voice), call.key) else reply.text
            usage = _usage(estimate_tokens(count_chars(call.messages)), estimate_tokens(len(text)))
            world.audit.paid(debate, usage)
            half = len(text) // 2
            world.audit.says(debate, call.key, text)
            hear(text[:half])
            trouble = absent.get(call.key) or world.trouble.of_model()
            await asyncio.sleep(world.trouble.model_delay(slow=trouble == "slow"))
            if trouble == "overloaded":
                raise ModelOverloaded("Too many requests.", retry_after=world.rng.choice((None, 2.0)), usage=usage)
            if trouble == "timeout":
                raise ModelTimeout("No answer.", usage=usage)
            if trouble == "unavailable":
                raise ModelUnavailable("No such model today.")
            hear(text[half:])
            return Reply(text=text, model="voice", provider="simulation", usage=usage)

        priced = with_cost(with_timeout(speak, PATIENCE), lambda used: PRICE.of(used.tokens_in, used.tokens_out))
        dependable = with_shape(with_backoff(priced, 2, 0.5, 4.0, rng=world.rng.random))

        async def asked(call: Call, hear: Hear, /) -> Reply:
            world.only_living(process)
            world.note(process, "asks", debate, call.key)
            with world.audit.called(process, debate, call.key):
                world.trouble.moment(process)
                if world.trouble.poisons(process, debate):
                    await asyncio.Event().wait()
                reply = await dependable(call, hear)
            world.note(process, "hears", debate, call.key)
            world.trouble.moment(process)
            return reply

        return asked


def _usage(tokens_in: int, tokens_out: int) -> Usage:
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=PRICE.of(tokens_in, tokens_out))


class Recollections:
    """A memory that always holds the same."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def recall(self, query: str, corpus: Corpus, k: int, asker: Asker, /) -> tuple[Recollection, Usage]:
        await self._wait()
        rng = Random(f"{query}/{corpus}")
        found = [
            Recalled(id=f"{corpus}-{n}", title=f"Number {n}", text=f"What {corpus} say.", score=round(rng.random(), 3))
            for n in range(min(k, rng.randrange(3)))
        ]
        return Recollection(found=tuple(found), by="bm25"), Usage()

    async def learned(
        self, query: str, corpus: Learned, k: int, agent: str, asker: Asker, /
    ) -> tuple[Recollection, Usage]:
        return await self.recall(f"{agent}/{query}", corpus, k, asker)

    async def compare(self, pairs: Sequence[tuple[str, str]], asker: Asker, /) -> tuple[Likeness, Usage]:
        await self._wait()
        scores = tuple(round(Random(f"{one}/{two}").random(), 3) for one, two in pairs)
        return Likeness(scores=scores, by="simulation"), Usage()

    def most_usd(self, texts: Sequence[str], /) -> float | None:
        return 0.0

    async def _wait(self) -> None:
        await asyncio.sleep(self._world.trouble.model_delay() / 4)


def workbench(world: World, process: Process) -> dict[str, Tool]:
    """Tools that take their time and always give the same. Only for code of the corpus."""

    def slowly(name: str) -> Tool:
        tool = in_process(name)

        async def use(arguments: Json, texts: Mapping[str, str], /) -> Json:
            world.only_living(process)
            world.trouble.moment(process)
            await asyncio.sleep(world.trouble.model_delay() / 4)
            made = await tool(arguments, texts)
            world.trouble.moment(process)
            return made

        return use

    return {name: slowly(name) for name in ("cases", "script", "checks")}


def answer(play: Play, gate: Gate) -> Json:
    """The answer to a gate: the same for each process and each repetition."""
    if play.name == "asking, decides" and gate.kind == "checkpoint":
        return {"choice": "continue", "text": ""}  # as when nobody answers
    rng = Random(f"person/{play.voice}/{gate.key}")
    if not gate.choices:
        return {"text": f"Words of a person at {gate.key}."}
    choice = rng.choice([each for each in gate.choices if each != "end"] * 3 + list(gate.choices))
    return {"choice": choice, "text": f"Mind {gate.key}." if choice == "guide" else ""}
