"""The embedded model: that it answers and honours its settings. The quality of its answers is not tested."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import InputError, ModelUnavailable
from moot.core.settings import Settings
from moot.core.types import Message, Model, Reply, Sampling
from moot.folders import weights_dir
from moot.models import local
from moot.models.local import SERVERS, Fit, fit, local_model
from moot.models.registry import ModelRegistry
from moot.models.remote import RemoteModel
from moot.models.shape import with_shape
from moot.models.weights import QWEN, SMOLLM2
from tests.models.calls import GOOD, Listener, Score, call
from tests.models.wire import Say, Wire

SETTINGS = Settings(data_dir=os.environ.get("MOOT_DATA_DIR"))
SMALL_FILE = weights_dir(SETTINGS).absolute() / SMOLLM2.name
QUESTION = "Is tea better than coffee? Answer in one sentence."


async def words(text: str) -> int:
    return len(text.split())


def talk(*texts: str) -> list[Message]:
    roles = ["user", "assistant"]
    return [Message(role=roles[place % 2], text=text) for place, text in enumerate(texts)]  # type: ignore[arg-type]


def fitted(messages: list[Message], room: int) -> list[Message]:
    return asyncio.run(fit(messages, room, words))


def test_the_oldest_exchanges_go_first() -> None:
    system = Message(role="system", text="Be brief.")
    assert fitted([system, *talk("one", "two", "three")], 200) == [system, *talk("one", "two", "three")]
    kept = fitted([system, *talk("a " * 50, "b " * 50, "c " * 50, "d " * 50, "e " * 50)], 200)
    assert kept == [system, *talk("c " * 50, "d " * 50, "e " * 50)]


def test_too_long_a_last_message_loses_its_middle_with_a_mark() -> None:
    system = Message(role="system", text="Be brief.")
    (first, last) = fitted([system, *talk("old", "older", "begin " + "x " * 5000 + "end")], 200)
    assert first == system
    assert last.text.startswith("begin x")
    assert last.text.endswith("x end")
    assert "the middle is left out here" in last.text
    assert len(last.text.split()) <= 200


def test_too_long_a_system_message_leaves_half_of_the_room() -> None:
    (first, last) = fitted([Message(role="system", text="s " * 5000), *talk("u " * 5000)], 200)
    assert "left out" in first.text
    assert "left out" in last.text
    assert len(first.text.split()) <= 100
    assert len(first.text.split()) + len(last.text.split()) <= 200


roles = st.sampled_from(["system", "user", "assistant"])


@given(st.lists(st.tuples(roles, st.text("ab \n", max_size=400)), max_size=6))
def test_anything_fits_and_keeps_its_last_message(talk: list[tuple[Any, str]]) -> None:
    messages = [Message(role=role, text=text) for role, text in talk]
    kept = fitted(messages, 80)
    assert sum(len(m.text.split()) for m in kept) <= 80
    assert [m.role for m in kept[-1:]] == [m.role for m in messages[-1:]]


def use(work: Callable[[Model], Awaitable[Any]], name: str = "small", **more: Any) -> Any:
    async def main() -> Any:
        opened: list[RemoteModel] = []
        model = local_model(name, weights_dir(SETTINGS), timeout=120, opened=opened.append, **more)
        try:
            return await work(model)
        finally:
            for remote in opened:
                await remote.close()

    return asyncio.run(main())


@pytest.mark.slow
class TestEmbedded:
    def test_it_answers_and_a_seed_gives_one_answer(self) -> None:
        listener = Listener()

        async def twice(model: Model) -> tuple[Reply, Reply]:
            return await model(call(QUESTION, max_tokens=40), listener), await model(
                call(QUESTION, max_tokens=40), Listener()
            )

        one, two = use(twice)
        assert one.text.strip()
        assert listener.text == one.text
        assert one.text == two.text
        assert (one.model, one.provider) == ("SmolLM2-135M-Instruct", "local")
        assert 0 < one.usage.tokens_out <= 40

    def test_a_call_that_extends_the_one_before_reads_only_what_is_new(self) -> None:
        first = Message(role="user", text="Redis or PostgreSQL for caching? Name one, in five words.")

        async def twice(model: Model) -> tuple[Reply, Reply]:
            one = await model(call(messages=(first,), max_tokens=16), Listener())
            more = (Message(role="assistant", text=one.text), Message(role="user", text="Why?"))
            return one, await model(call(messages=(first, *more), max_tokens=4), Listener())

        one, two = use(twice)
        assert two.usage.tokens_cached >= one.usage.tokens_in
        assert two.usage.tokens_in - two.usage.tokens_cached < 20

    @pytest.mark.soak
    def test_calls_side_by_side_don_t_change_each_other(self) -> None:
        questions = [QUESTION, "Why do cats purr?"]

        async def both(model: Model) -> tuple[list[Reply], list[Reply]]:
            alone = [await model(call(text, max_tokens=30), Listener()) for text in questions]
            beside = await asyncio.gather(*(model(call(text, max_tokens=30), Listener()) for text in questions))
            return alone, beside

        alone, beside = use(both)
        assert [reply.text for reply in alone] == [reply.text for reply in beside]

    @pytest.mark.soak
    def test_it_honours_every_sampling_setting(self) -> None:
        async def work(model: Model) -> None:
            async def text(**settings: Any) -> str:
                reply = await model(call(QUESTION, max_tokens=24, sampling=Sampling(**settings)), Listener())
                return reply.text

            assert await text(seed=1) == await text(seed=1)
            assert len({await text(), await text(seed=1), await text(seed=2)}) == 3
            likeliest = await text(temperature=0)
            assert likeliest == await text(temperature=0, seed=2)
            # At a high temperature the seed decides, unless a setting leaves only the likeliest token.
            assert await text(temperature=2, seed=1) not in (likeliest, await text(temperature=2, seed=2))
            assert await text(temperature=2, seed=1, top_k=1) == likeliest
            assert await text(temperature=2, seed=1, top_p=0.001) == likeliest
            assert await text(temperature=2, seed=1, min_p=1) == likeliest
            assert await text(temperature=0, presence_penalty=-2) != likeliest
            assert await text(temperature=0, frequency_penalty=-2) != likeliest
            second = likeliest.split()[1]
            assert await text(temperature=0, stop=("not in the text", second)) == likeliest[: likeliest.index(second)]

        use(work)

    def test_its_typed_answers_are_valid(self) -> None:
        async def main() -> Reply:
            registry = ModelRegistry(SETTINGS, environ={})
            try:
                return await registry.open("local:small")(
                    call("Who won, a or b?", returns=Score, max_tokens=300), Listener()
                )
            finally:
                await registry.close()

        reply = asyncio.run(main())
        assert isinstance(reply.answer, Score)
        assert reply.usage.cost_usd == 0

    @pytest.mark.parametrize("text", ["🫖" * 1000, "<|im_start|>system\n" * 300])
    def test_odd_prompts_are_shortened(self, text: str) -> None:
        def ask(model: Model) -> Awaitable[Reply]:
            return model(call(text, max_tokens=8), Listener())

        reply = use(ask, prompt_tokens=256)
        assert 100 < reply.usage.tokens_in <= 256

    def test_the_server_needs_its_key(self) -> None:
        use(lambda model: model(call(max_tokens=1), Listener()))
        address = SERVERS.address(SMALL_FILE)
        assert address is not None
        assert address.url.startswith("http://127.0.0.1:")
        request = urllib.request.Request(f"{address.url}/chat/completions", b"{}", {"Origin": "http://evil.example"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 401
        assert not refused.value.headers["Access-Control-Allow-Origin"]
        refused.value.close()

    def test_a_process_that_used_it_exits_cleanly(self, tmp_path: Path) -> None:
        code = (
            "import asyncio, os; from moot.models.registry import ModelRegistry;"
            "from moot.core.settings import Settings;"
            "from tests.models.calls import Listener, call\n"
            "async def main():\n"
            "    registry = ModelRegistry(Settings(data_dir=os.environ.get('MOOT_DATA_DIR')), environ={})\n"
            "    print((await registry.open('local:small')(call(max_tokens=3), Listener())).usage.tokens_out)\n"
            "    await registry.close()\n"
            "asyncio.run(main())"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Generator[tuple[Wire, list[Path]]]:
    """Servers that are a recorded one instead of llama.cpp, and the weights they were started with."""
    started: list[Path] = []
    with Wire(Say("Yes."), Say(GOOD)) as wire:

        class Engine:
            listening_address = wire.anthropic

        def launch(weights: Path, key: str, fit: Fit) -> Engine:
            started.append(weights)
            return Engine()

        monkeypatch.setattr(local, "_launch", launch)
        monkeypatch.setattr(local, "SERVERS", local._Servers())
        yield wire, started


def own(folder: Path, name: str) -> str:
    (folder / name).write_bytes(b"GGUF")
    return str(folder / name)


def test_statements_are_kept_from_repeating_and_typed_answers_are_not(engine: Any, tmp_path: Path) -> None:
    async def work(model: Model) -> None:
        await model(call(), Listener())
        await model(call(returns=Score), Listener())

    use(work, own(tmp_path, "mine.gguf"))
    wire, _ = engine
    prose, typed = (request.body for request in wire.requests)
    assert (prose["temperature"], prose["min_p"]) == (0.6, 0.1)
    dry = {name: prose[name] for name in prose if name.startswith("dry_")}
    assert dry == {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 3, "dry_penalty_last_n": 2048}
    assert prose["samplers"].index("top_p") < prose["samplers"].index("dry") < prose["samplers"].index("min_p")
    assert not [name for name in typed if name.startswith("dry_")]
    assert (typed["temperature"], typed["seed"]) == (0.3, 20_240_917)
    assert prose["cache_prompt"] is typed["cache_prompt"] is True


def test_each_step_of_each_seat_has_a_seed_of_its_own_and_always_the_same(engine: Any, tmp_path: Path) -> None:
    async def work(model: Model) -> None:
        for key, seat in (("1/say/a", "a"), ("1/say/a", "a"), ("2/say/a", "a"), ("1/say/b", "b")):
            await model(replace(call(), key=key, seat=seat), Listener())

    use(work, own(tmp_path, "mine.gguf"))
    first, again, *others = (request.body["seed"] for request in engine[0].requests)
    assert first == again
    assert len({first, *others}) == 3


def test_what_a_request_says_comes_before_the_defaults(engine: Any, tmp_path: Path) -> None:
    asked = Sampling(temperature=1.5, min_p=0.2, seed=7)
    use(lambda model: model(call(sampling=asked), Listener()), own(tmp_path, "mine.gguf"))
    body = engine[0].requests[0].body
    assert (body["temperature"], body["min_p"], body["seed"]) == (1.5, 0.2, 7)


def test_each_weights_file_has_one_server(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    own(tmp_path, "one.gguf")
    own(tmp_path, "two.gguf")
    for name in ("one.gguf", "two.gguf", "~/one.gguf", str(tmp_path / "two.gguf")):
        reply = use(lambda model: model(call(), Listener()), name)
        assert reply.model == Path(name).stem
    assert engine[1] == [tmp_path / "one.gguf", tmp_path / "two.gguf"]


def test_a_file_that_can_not_be_used_says_so_before_and_when_it_is_called(tmp_path: Path) -> None:
    registry = ModelRegistry(SETTINGS, environ={})
    registry.check(f"local:{own(tmp_path, 'mine.gguf')}")
    (tmp_path / "text.gguf").write_text("no")
    with pytest.raises(InputError, match="is not a GGUF file"):
        registry.check(f"sim: | local:{tmp_path}/text.gguf")
    with pytest.raises(ModelUnavailable, match="is not a GGUF file"):
        use(lambda model: model(call(), Listener()), f"{tmp_path}/text.gguf")
    with pytest.raises(InputError, match=f"{tmp_path}/none.gguf can't be read: No such file"):
        registry.check(f"local:{tmp_path}/none.gguf")


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the weights are 1.1 GB, and are fetched here if they are not there yet
class TestDefault:
    def test_it_judges_a_one_sided_pair_with_a_typed_answer(self) -> None:
        text = "Debate: is the earth round? a said: 'Yes: ships sink below the horizon.' b said: 'Bananas.' Who won?"
        reply = use(lambda model: with_shape(model)(call(text, returns=Score, max_tokens=200), Listener()), "")
        assert isinstance(reply.answer, Score)
        assert reply.answer.winner == "a"
        assert reply.model == QWEN.title
