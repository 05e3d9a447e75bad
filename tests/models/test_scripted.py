from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import BadOutput, InputError, ModelOverloaded, ModelTimeout, ModelUnavailable
from moot.core.settings import Settings
from moot.core.types import Model, Reply, Usage
from moot.models.providers.scripted import load, scripted_model
from moot.models.registry import ModelRegistry
from tests.models.calls import Listener, Score, call


def script(tmp_path: Path, text: str) -> Model:
    file = tmp_path / "answers.yaml"
    file.write_text(text)
    return scripted_model(load(str(file)))


def ask(model: Model, listener: Listener | None = None, **more: Any) -> Reply:
    return asyncio.run(model(call(**more), listener or Listener()))


def test_an_exact_key_comes_before_the_first_pattern_that_fits(tmp_path: Path) -> None:
    model = script(tmp_path, "answers: {'1/*/a': pattern, '2/*': any, 1/say/a: exact}\ndefault: the rest")
    assert ask(model, key="1/say/a").text == "exact"
    assert ask(model, key="1/think/a").text == "pattern"
    assert ask(model, key="2/x").text == "any"
    assert ask(model, key="9/x").text == "the rest"


def test_a_mapping_is_written_as_json_and_typed_by_the_registry(tmp_path: Path) -> None:
    script(tmp_path, "answers: {'*/score/*': {reasoning: '{seat} at {key}', score: 7, winner: a}}")
    registry = ModelRegistry(Settings(), environ={})
    reply = ask(registry.open(f"scripted:{tmp_path}/answers.yaml"), key="1/score/a", seat="judge", returns=Score)
    assert reply.answer == Score(reasoning="judge at 1/score/a", score=7, winner="a")


def test_a_list_is_served_one_by_one_and_the_last_again(tmp_path: Path) -> None:
    model = script(tmp_path, "answers: {'*/say/*': [one, two]}")
    assert [ask(model, key=f"{n}/say/a").text for n in range(3)] == ["one", "two", "two"]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("timeout", ModelTimeout),
        ("overloaded", ModelOverloaded),
        ("unavailable", ModelUnavailable),
        ("invalid", BadOutput),
    ],
)
def test_failures_can_be_scripted(tmp_path: Path, kind: str, error: type[Exception]) -> None:
    model = script(tmp_path, f"answers: {{1/say/a: [{{fail: {kind}, message: 'at {{key}}'}}, fine]}}")
    with pytest.raises(error, match="at 1/say/a"):
        ask(model)
    assert ask(model).text == "fine"


def test_it_streams_by_word_and_counts_tokens(tmp_path: Path) -> None:
    listener = Listener()
    reply = ask(script(tmp_path, "default: 'Three small words. '"), listener)
    assert listener.heard == ["Three", " small", " words. "]
    assert reply.usage == Usage(tokens_in=2, tokens_out=5)


def test_max_tokens_cuts_the_text(tmp_path: Path) -> None:
    listener = Listener()
    reply = ask(script(tmp_path, "default: 0123456789abcdef"), listener, max_tokens=2)
    assert reply.text == listener.text == "01234567"
    assert (reply.finish_reason, reply.usage.tokens_out) == ("length", 2)


def test_braces_in_a_text_are_kept(tmp_path: Path) -> None:
    assert ask(script(tmp_path, "default: 'f{x} {seat} {}'")).text == "f{x} a {}"


def test_calls_are_logged_when_they_start_and_end(tmp_path: Path) -> None:
    model = script(tmp_path, "log: calls.log\nanswers: {1/say/a: [{fail: overloaded}, fine]}")
    with pytest.raises(ModelOverloaded):
        ask(model)
    ask(model)
    lines = (tmp_path / "calls.log").read_text().splitlines()
    assert lines == ["1/say/a\ta\t1", "done 1/say/a", "1/say/a\ta\t2", "done 1/say/a"]


@pytest.mark.parametrize(("hold", "file"), [("released", "released"), ("go-{key}", "go-1/say/a")])
def test_answers_can_be_held_until_a_file_exists(tmp_path: Path, hold: str, file: str) -> None:
    model = script(tmp_path, f"log: calls.log\nhold: '{hold}'\ndefault: late")

    async def main() -> str:
        task = asyncio.create_task(model(call(), Listener()))
        while not (tmp_path / "calls.log").exists():
            await asyncio.sleep(0)
        assert not task.done()
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
        return (await task).text

    assert asyncio.run(main()) == "late"


def test_a_missing_answer_names_the_key_and_the_file(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"answers\.yaml has no answer for '9/x'"):
        ask(script(tmp_path, "answers: {1/say/a: x}"), key="9/x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("answers:\n  1/say/a: 'open\n", "line 3"),
        ("- a list", "should be a mapping with `answers:`, not a list"),
        ("answers: [1]", "`answers:` should map keys of steps to answers, not be a list"),
        ("answers: {1/say/a: 7}", r"answers\['1/say/a'\] should be a text, a mapping or a list of those, not a number"),
        ("answers: {1/say/a: []}", "empty list"),
        ("answers: {1/say/a: {fail: sometimes}}", "no failure 'sometimes'"),
        ("default: x\ndelay_ms: soon", "`delay_ms:` should be a number"),
        ("default: x\nlog: 5", "`log:` should be the name of a file"),
        ("default: x\nanswer: {}", "may have: answers, default"),
        ("delay_ms: 5", "can answer nothing"),
    ],
)
def test_a_bad_file_says_what_and_where(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "answers.yaml").write_text(text)
    with pytest.raises(InputError, match=said):
        ModelRegistry(Settings(), environ={}).check(f"scripted:{tmp_path}/answers.yaml")


def test_a_missing_or_binary_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no script file"):
        load(str(tmp_path / "none.yaml"))
    (tmp_path / "bin.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load(str(tmp_path / "bin.yaml"))
    with pytest.raises(InputError, match="is a folder, not a script file"):
        load(str(tmp_path))
