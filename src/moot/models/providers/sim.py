"""`sim:` writes plausible nonsense, for load tests and drafts. Options set its seed, speed, price and failure rate.

With one of the options of `Skills` it also writes code, tests, critique and patches for the tasks of the corpus, and
answers simulated questions.

Of a call's sampling settings it honours `seed` and `stop`. Each call can be logged to a file: "time, process, model,
key, seat" when it starts. The process names that file, not the spec, which may come from an untrusted source.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, cast
from urllib.parse import parse_qsl

from pydantic import Field, ValidationError

from moot.core.errors import ModelOverloaded
from moot.core.settings import read
from moot.core.types import CHARS_PER_TOKEN, Answer, Call, Hear, Json, Model, Price, Reply, TextAnswer, Usage
from moot.models import call_log
from moot.models.coding import Coder, Patcher, Skills
from moot.models.providers.provider import EVERY_SETTING, ModelSpec, Opened, Opening, Provider
from moot.models.quiz import Answerer
from moot.models.usage import count_chars, estimate_tokens

_DRAWS = 50  # at most, until an answer is valid
_CACHED = 20_000  # texts, about 10 MB: as many as a large benchmark needs
_DEEPEST = 20  # levels of an example for a schema that contains itself
_TICK = 0.02  # seconds between two pieces of streamed text, at least

_OPENERS = (
    "The evidence suggests that",
    "It is often overlooked that",
    "My opponent assumes that",
    "In practice",
    "On closer inspection",
    "The strongest objection is that",
    "Let us grant for a moment that",
    "Past experience shows that",
    "Put simply,",
    "The burden of proof is clear:",
)
_SUBJECTS = (
    "the proposed change",
    "the current arrangement",
    "a gradual approach",
    "the cost of waiting",
    "the simplest design",
    "public trust",
    "the second option",
    "an independent review",
    "the short-term gain",
    "the long-term risk",
)
_VERBS = (
    "outweighs",
    "depends on",
    "rarely survives",
    "explains",
    "is limited by",
    "follows from",
    "does more for us than",
    "cannot replace",
    "should be tested against",
    "is undermined by",
)
_OBJECTS = (
    "the benefits claimed for it",
    "the people who must carry it out",
    "a careful reading of the figures",
    "the exceptions that were named",
    "what we already know",
    "a fair comparison of both sides",
    "the incentives involved",
    "the alternatives at the same price",
    "honest measurement",
    "the first serious setback",
)


class SimOptions(Skills):
    seed: int = 0
    latency_ms: float = Field(0, ge=0, le=3_600_000)
    tps: float = Field(0, ge=0, le=1_000_000)
    tokens: int = Field(80, ge=1, le=1_000_000)
    fail: float = Field(0, ge=0, le=1)
    garbage: float = Field(0, ge=0, le=1)
    price_in: float = Field(0, ge=0)
    price_out: float = Field(0, ge=0)
    small: bool = False  # counts as a small model

    @property
    def instant(self) -> bool:
        return not self.latency_ms and not self.tps


def read_options(spec: ModelSpec) -> SimOptions:
    return read(SimOptions, dict(spec.options), "option of the simulated model")


def sim_model(spec: ModelSpec, log: str | None = None) -> Model:
    options = read_options(spec)
    name = str(spec)
    chances = _Chances(options)
    coder = Coder(options) if options.skilled else None
    patcher = Patcher(options) if options.skilled else None
    answerer = Answerer(options, options.seed) if options.skilled else None

    async def simulated(call: Call, hear: Hear) -> Reply:
        if log is not None:
            call_log.append(log, f"{time.time():.6f}\t{os.getpid()}\t{name}\t{call.key}\t{call.seat}\n")
        seed = _seed(options, call)
        known = None if coder is None else coder.answer(call, seed)
        if known is None and patcher is not None and answerer is not None:
            rng = Random(f"{seed}/{call.key}/{call.seat}")

            def example_of(returns: type[Answer]) -> Json:
                return _valid(returns, rng)

            known = patcher.answer(call, seed, example_of) or answerer.answer(call, seed, example_of)
        if known is None:
            written = _write(seed, call.key, call.seat, options.tokens, call.returns)
        else:
            written = _Written(known, estimate_tokens(len(known)))
        if chances.possible:
            chance = chances.next(call, seed)
            if chance.random() < options.fail:
                await asyncio.sleep(options.latency_ms / 1000)
                raise ModelOverloaded("The simulated model failed, as its `fail` option says.", model=name)
            if chance.random() < options.garbage:
                written = _GARBAGE
        if call.sampling.stop:
            written = _stopped(written, call.sampling.stop)
        text = written.text
        cut = written.tokens > call.max_tokens
        if cut:
            text = text[: call.max_tokens * CHARS_PER_TOKEN]
        if options.instant:
            hear(text)
        else:
            await _stream(text, hear, options)
        return Reply(
            text=text,
            model=name,
            provider="sim",
            usage=Usage(
                tokens_in=estimate_tokens(count_chars(call.messages)),
                tokens_out=call.max_tokens if cut else written.tokens,
            ),
            finish_reason="length" if cut else "stop",
            first_token_ms=round(options.latency_ms),
        )

    return simulated


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    tokens: int


_GARBAGE = _Written("As a simulated model I would rather not say {this is not JSON", 15)


class _Chances:
    """Random numbers for failures. Seeded by the step and the attempt, so that a retry can succeed."""

    def __init__(self, options: SimOptions) -> None:
        self.possible = bool(options.fail or options.garbage)
        self._asked: Counter[tuple[str, str]] = Counter()

    def next(self, call: Call, seed: int | str) -> Random:
        self._asked[call.key, call.seat] += 1
        return Random(f"{seed}/{call.key}/{call.seat}/{self._asked[call.key, call.seat]}")


def _seed(options: SimOptions, call: Call) -> int | str:
    return options.seed if call.sampling.seed is None else f"{options.seed}+{call.sampling.seed}"


def _stopped(written: _Written, stop: Sequence[str]) -> _Written:
    """Cut the text before the first of the stop sequences."""
    ends = [at for at in map(written.text.find, stop) if at >= 0]
    if not ends:
        return written
    text = written.text[: min(ends)]
    return _Written(text, estimate_tokens(len(text)))


def _valid(returns: type[Answer], rng: Random) -> Any:
    """Draw values until one validates: models can demand more than their JSON schema says."""
    schema = returns.model_json_schema()
    made: Any = None
    for _ in range(_DRAWS):
        made = example(schema, rng, schema.get("$defs", {}))
        with suppress(ValidationError):
            returns.model_validate(made)
            break
    return made


@lru_cache(maxsize=_CACHED)
def _write(seed: int | str, key: str, seat: str, tokens: int, returns: type[Answer] | None) -> _Written:
    rng = Random(f"{seed}/{key}/{seat}")
    if returns is None:
        text = prose(rng, tokens * CHARS_PER_TOKEN)
    elif issubclass(returns, TextAnswer):
        text = returns.model_validate(_valid(returns, rng)).as_text()
    else:
        text = json.dumps(_valid(returns, rng), ensure_ascii=False)
    return _Written(text, estimate_tokens(len(text)))


async def _stream(text: str, hear: Hear, options: SimOptions) -> None:
    await asyncio.sleep(options.latency_ms / 1000)
    if not options.tps:
        hear(text)
        return
    loop = asyncio.get_running_loop()
    began, heard = loop.time(), 0
    while heard < len(text):
        due = int((loop.time() - began) * options.tps * CHARS_PER_TOKEN) + CHARS_PER_TOKEN
        if due > heard:
            hear(text[heard:due])
            heard = due
        if heard < len(text):
            await asyncio.sleep(max(_TICK, 1 / options.tps))


def prose(rng: Random, chars: int) -> str:
    """Return sentences of about `chars` characters."""
    made: list[str] = []
    length = 0
    while length < chars:
        sentence = _sentence(rng)
        made.append(sentence)
        length += len(sentence) + 1
    return " ".join(made)[:chars].rstrip()


def _sentence(rng: Random) -> str:
    return f"{rng.choice(_OPENERS)} {rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}."


def example(schema: Mapping[str, Any], rng: Random, defs: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a random value for a JSON schema as pydantic writes them: one of its examples, if it has some. Patterns
    and formats are ignored."""
    if depth > _DEEPEST:
        return None
    if schema.get("examples"):
        return rng.choice(schema["examples"])
    if "$ref" in schema:
        return example(defs.get(schema["$ref"].rsplit("/", 1)[-1], {}), rng, defs, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            members: Sequence[Mapping[str, Any]] = schema[union]
            nothing = any(member.get("type") == "null" for member in members)
            if nothing and depth > _DEEPEST // 2:  # it may contain itself
                return None
            some = [member for member in members if member.get("type") != "null"]
            return example(rng.choice(some or members), rng, defs, depth + 1)
    if "allOf" in schema:
        return example(schema["allOf"][0], rng, defs, depth + 1)
    match _kind(schema.get("type")):
        case "object":
            named: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
            return {name: example(inner, rng, defs, depth + 1) for name, inner in named.items()}
        case "array":
            return _array(schema, rng, defs, depth)
        case "string":
            return _string(schema, rng)
        case "integer":
            low, high = _bounds(schema, step=1)
            return rng.randint(int(low), int(high))
        case "number":
            low, high = _bounds(schema, step=0.01)
            return min(max(round(rng.uniform(low, high), 2), low), high)
        case "boolean":
            return rng.random() < 0.5
        case _:
            return None


def _kind(given: object) -> object:
    """The type of a schema; of several, the first that is not null."""
    several = cast("list[object]", given) if isinstance(given, list) else [given]
    return next((kind for kind in several if kind != "null"), None)


def _array(schema: Mapping[str, Any], rng: Random, defs: Mapping[str, Any], depth: int) -> list[Any]:
    fixed: Sequence[Mapping[str, Any]] = schema.get("prefixItems", ())
    if fixed:
        return [example(inner, rng, defs, depth + 1) for inner in fixed]
    least = schema.get("minItems", 1 if depth <= _DEEPEST // 2 else 0)
    most = min(schema.get("maxItems", max(3, least)), least + 3)
    made: list[Any] = []
    wanted = rng.randint(min(least, most), most)
    for _ in range(wanted * _DRAWS if schema.get("uniqueItems") else wanted):
        item = example(schema.get("items", {}), rng, defs, depth + 1)
        if len(made) < wanted and (not schema.get("uniqueItems") or item not in made):
            made.append(item)
    return made


def _string(schema: Mapping[str, Any], rng: Random) -> str:
    text = _sentence(rng)
    while len(text) < schema.get("minLength", 0):
        text += " " + _sentence(rng)
    return text[: schema.get("maxLength", len(text))]


def _bounds(schema: Mapping[str, Any], step: float) -> tuple[float, float]:
    low = schema.get("minimum")
    if low is None and "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + step
    high = schema.get("maximum")
    if high is None and "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - step
    if low is None:
        low = 0 if high is None or high >= 0 else high - 10
    return low, max(low, low + 10 if high is None else high)


def _read(rest: str, text: str) -> ModelSpec:
    name, _, query = rest.partition("?")
    return ModelSpec(provider="sim", model=name, options=tuple(parse_qsl(query, keep_blank_values=True)))


def _open(spec: ModelSpec, opening: Opening) -> Opened:
    options = read_options(spec)
    model = sim_model(spec, opening.environ.get("MOOT_SIM_LOG") or None)
    return Opened(model=model, timed=not options.instant, priced=bool(options.price_in or options.price_out))


def _check(spec: ModelSpec, opening: Opening) -> None:
    read_options(spec)


def _price(spec: ModelSpec) -> Price:
    options = read_options(spec)
    return Price(usd_in=options.price_in, usd_out=options.price_out)


PROVIDER = Provider(
    name="sim",
    example="sim:",
    about="seeded nonsense, for load tests",
    open=_open,
    read=_read,
    check=_check,
    rank=33,
    sampling=EVERY_SETTING,  # a debate can be drafted with it; it acts on `seed` and `stop`
    price=_price,
    demonstration=True,
    small=lambda spec: read_options(spec).small,
    restricted=lambda spec: False,
)
