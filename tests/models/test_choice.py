from __future__ import annotations

import socket

import pytest

from moot.models.choice import Choice, choose, installed_in_ollama, is_demonstration
from tests.models.wire import Wire


def nobody() -> str | None:
    return None


def forbidden() -> str | None:
    raise AssertionError("looked for Ollama although something else decides")


EVERYTHING = {
    "MOOT_MODEL_JUDGE": "sim:judge",
    "MOOT_MODEL": "sim:any",
    "DEEPSEEK_MODEL_JUDGE": "deepseek-chat",
    "OPENAI_API_KEY": "k",
    "ANTHROPIC_API_KEY": "k",
    "DEEPSEEK_API_KEY": "k",
    "OPENROUTER_API_KEY": "k",
}


def test_each_step_of_the_order() -> None:
    environ = dict(EVERYTHING)
    steps: list[Choice] = []
    for variable in EVERYTHING:
        steps.append(choose("judge", None, environ, forbidden))
        assert steps[-1].reason == f"{variable} is set"
        del environ[variable]
    assert [step.spec for step in steps] == [
        "sim:judge",
        "sim:any",
        "deepseek:deepseek-chat",
        "openai:gpt-6-luna",
        "anthropic:claude-haiku-5-5",
        "deepseek:deepseek-flash",
        "openrouter:openai/gpt-6-luna",
    ]
    assert choose("judge", None, environ, lambda: "llama3.2:3b").spec == "ollama:llama3.2:3b"
    assert choose("judge", None, environ, nobody) == Choice(
        spec="local", reason="neither a key nor Ollama was found, and this one is built in"
    )


def test_what_is_asked_for_comes_first() -> None:
    assert choose("judge", "sim:mine", EVERYTHING, forbidden).spec == "sim:mine"


def test_each_role_has_its_own_variable() -> None:
    environ = {"MOOT_MODEL_JUDGE": "sim:j", "DEEPSEEK_MODEL_DEBATER": "deepseek-chat"}
    assert choose("debater", None, environ, nobody).spec == "deepseek:deepseek-chat"
    assert choose("jury", None, environ, nobody).spec == "local"


def test_an_empty_variable_is_not_set() -> None:
    assert choose("judge", None, {"MOOT_MODEL": "", "OPENAI_API_KEY": ""}, nobody).spec == "local"


def test_the_first_installed_model_of_a_reachable_ollama() -> None:
    with Wire(tags={"models": [{"name": "qwen3:8b"}, {"name": "other"}]}) as wire:
        assert installed_in_ollama({"OLLAMA_HOST": wire.anthropic, "HTTP_PROXY": "http://127.0.0.1:9"}) == "qwen3:8b"
    with Wire(tags={"models": []}) as wire:
        assert installed_in_ollama({"OLLAMA_HOST": wire.anthropic}) is None
    with Wire(tags="not Ollama") as wire:
        assert installed_in_ollama({"OLLAMA_HOST": wire.anthropic}) is None


def test_no_ollama_is_no_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert installed_in_ollama({"OLLAMA_HOST": f"127.0.0.1:{unused.getsockname()[1]}"}) is None
    assert installed_in_ollama({"OLLAMA_HOST": "box:port"}) is None


@pytest.mark.parametrize(
    ("spec", "shown"), [("local", True), ("openai:x | local", True), ("sim:", True), ("openai:x", False)]
)
def test_what_is_only_a_demonstration(spec: str, shown: bool) -> None:
    assert is_demonstration(spec) is shown
