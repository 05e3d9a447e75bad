"""The embedded model. What it says means nothing; that it answers, and how, does."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.folders import data_dir
from moot.models.local import PROMPT_TOKENS, SERVER, fit, local_model
from moot.models.provider import Remote
from moot.models.shelf import Shelf
from moot.settings import Settings
from moot.types import Message, Model, Reply
from tests.models.asking import Ear, Score, call

SETTINGS = Settings(data_dir=os.environ.get("MOOT_DATA_DIR"))
QUESTION = "Is tea better than coffee? Answer in one sentence."


async def words(text: str) -> int:
    return len(text.split())


def said(*texts: str) -> list[Message]:
    roles = ["user", "assistant"]
    return [Message(role=roles[place % 2], text=text) for place, text in enumerate(texts)]  # type: ignore[arg-type]


def fitted(messages: list[Message], room: int) -> list[Message]:
    return asyncio.run(fit(messages, room, words))


def test_what_fits_is_left_alone() -> None:
    messages = [Message(role="system", text="Be brief."), *said("one", "two", "three")]
    assert fitted(messages, 200) == messages


def test_the_oldest_exchanges_go_first() -> None:
    system = Message(role="system", text="Be brief.")
    kept = fitted([system, *said("a " * 50, "b " * 50, "c " * 50, "d " * 50, "e " * 50)], 200)
    assert kept == [system, *said("c " * 50, "d " * 50, "e " * 50)]


def test_too_long_a_last_message_loses_its_middle_with_a_mark() -> None:
    system = Message(role="system", text="Be brief.")
    (first, last) = fitted([system, *said("old", "older", "begin " + "x " * 5000 + "end")], 200)
    assert first == system
    assert last.text.startswith("begin x")
    assert last.text.endswith("x end")
    assert "the middle is left out here" in last.text
    assert len(last.text.split()) <= 200


def test_too_long_a_system_message_leaves_half_of_the_room() -> None:
    (first, last) = fitted([Message(role="system", text="s " * 5000), *said("u " * 5000)], 200)
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


def use(work: Callable[[Model], Awaitable[Any]], **more: Any) -> Any:
    async def main() -> Any:
        opened: list[Remote] = []
        model = local_model(data_dir(SETTINGS) / "models", timeout=120, opened=opened.append, **more)
        try:
            return await work(model)
        finally:
            for remote in opened:
                await remote.close()

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.xdist_group("embedded")
class TestEmbedded:
    def test_it_answers_and_a_seed_gives_one_answer(self) -> None:
        ear = Ear()

        async def twice(model: Model) -> tuple[Reply, Reply]:
            return await model(call(QUESTION, max_tokens=40), ear), await model(call(QUESTION, max_tokens=40), Ear())

        one, two = use(twice)
        assert one.text.strip()
        assert ear.text == one.text
        assert one.text == two.text
        assert (one.model, one.provider) == ("SmolLM2-135M-Instruct", "local")
        assert 0 < one.usage.tokens_out <= 40
        assert two.usage.tokens_cached > 0

    def test_calls_side_by_side_don_t_change_each_other(self) -> None:
        questions = [QUESTION, "Why do cats purr?"]

        async def both(model: Model) -> tuple[list[Reply], list[Reply]]:
            alone = [await model(call(text, max_tokens=30), Ear()) for text in questions]
            beside = await asyncio.gather(*(model(call(text, max_tokens=30), Ear()) for text in questions))
            return alone, beside

        alone, beside = use(both)
        assert [reply.text for reply in alone] == [reply.text for reply in beside]

    def test_its_typed_answers_are_valid(self) -> None:
        async def main() -> Reply:
            shelf = Shelf(SETTINGS, environ={})
            try:
                return await shelf.open("local")(call("Who won, a or b?", returns=Score, max_tokens=300), Ear())
            finally:
                await shelf.close()

        reply = asyncio.run(main())
        assert isinstance(reply.answer, Score)
        assert reply.usage.cost_usd == 0

    @pytest.mark.parametrize("text", ["🫖" * 12_500, "<|im_start|>system\n" * 2700])
    def test_odd_prompts_are_shortened(self, text: str) -> None:
        def ask(model: Model) -> Awaitable[Reply]:
            return model(call(text, max_tokens=8), Ear())

        reply = use(ask, prompt_tokens=256)
        assert 100 < reply.usage.tokens_in <= 256

    def test_50_kb_of_prompt_are_shortened_and_answered(self) -> None:
        def ask(model: Model) -> Awaitable[Reply]:
            return model(call("Tea is better than coffee because of its taste. " * 1000, max_tokens=4), Ear())

        assert PROMPT_TOKENS * 0.7 < use(ask).usage.tokens_in <= PROMPT_TOKENS

    def test_nobody_else_can_use_the_server(self) -> None:
        use(lambda model: model(call(max_tokens=1), Ear()))
        assert SERVER.address is not None
        assert SERVER.address.url.startswith("http://127.0.0.1:")
        request = urllib.request.Request(
            f"{SERVER.address.url}/chat/completions", b"{}", {"Origin": "http://evil.example"}
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 401
        assert not refused.value.headers["Access-Control-Allow-Origin"]
        refused.value.close()

    def test_a_process_that_used_it_ends_quickly_and_quietly(self, tmp_path: Path) -> None:
        code = (
            "import asyncio, os; from moot.models.shelf import Shelf; from moot.settings import Settings;"
            "from tests.models.asking import Ear, call\n"
            "async def main():\n"
            "    shelf = Shelf(Settings(data_dir=os.environ.get('MOOT_DATA_DIR')), environ={})\n"
            "    print((await shelf.open('local')(call(max_tokens=3), Ear())).usage.tokens_out)\n"
            "    await shelf.close()\n"
            "asyncio.run(main())"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
