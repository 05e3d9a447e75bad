from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from moot.core.settings import Settings
from moot.models.choice import Choice, choose, discovered, is_demonstration, is_small
from moot.models.providers import local
from moot.models.providers.ollama import installed_in_ollama
from moot.models.weights import QWEN
from tests.models.wire import Wire


def nothing() -> Choice:
    return Choice(spec="local", reason="nothing else was found")


def forbidden() -> Choice:
    raise AssertionError("looked around although something else decides")


EVERYTHING = {
    "MOOT_MODEL_JUDGE": "sim:judge",
    "MOOT_MODEL": "sim:any",
    "DEEPSEEK_MODEL_JUDGE": "deepseek-chat",
    "OPENAI_API_KEY": "k",
    "ANTHROPIC_API_KEY": "k",
    "DEEPSEEK_API_KEY": "k",
    "OPENROUTER_API_KEY": "k",
    "GEMINI_API_KEY": "k",
    "GOOGLE_API_KEY": "k",
    "GROQ_API_KEY": "k",
    "MISTRAL_API_KEY": "k",
    "XAI_API_KEY": "k",
    "TOGETHER_API_KEY": "k",
}


def test_the_order_of_choices() -> None:
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
        "gemini:gemini-3.5-flash-lite",
        "gemini:gemini-3.5-flash-lite",
        "groq:openai/gpt-oss-120b",
        "mistral:mistral-small-latest",
        "xai:grok-4.3",
        "together:openai/gpt-oss-120b",
    ]
    assert choose("judge", None, environ, nothing) == nothing()


def test_without_a_key_ollama_is_looked_for_and_the_embedded_model_is_left(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path))
    with Wire(tags={"models": [{"name": "llama3.2:3b"}]}) as wire:
        found = discovered(settings, {"OLLAMA_HOST": wire.anthropic})
    assert found == Choice(spec="ollama:llama3.2:3b", reason="Ollama is running and has it")
    with Wire(tags={"models": []}) as wire:
        found = discovered(settings, {"OLLAMA_HOST": wire.anthropic})
    assert found.spec.partition(":")[0] == "local"
    assert found.reason.startswith("neither a key nor Ollama was found, and this one is built in")


def test_what_is_asked_for_comes_first() -> None:
    assert choose("judge", "sim:mine", EVERYTHING, forbidden).spec == "sim:mine"


def test_each_role_has_its_own_variable() -> None:
    environ = {"MOOT_MODEL_JUDGE": "sim:j", "DEEPSEEK_MODEL_DEBATER": "deepseek-chat"}
    assert choose("debater", None, environ, nothing).spec == "deepseek:deepseek-chat"
    assert choose("jury", None, environ, nothing).spec == "local"


def test_an_empty_variable_is_not_set() -> None:
    assert choose("judge", None, {"MOOT_MODEL": "", "OPENAI_API_KEY": ""}, nothing).spec == "local"


def test_the_first_installed_model_of_a_reachable_ollama() -> None:
    with Wire(tags={"models": [{"name": "qwen3:8b"}, {"name": "other"}]}) as wire:
        assert installed_in_ollama({"OLLAMA_HOST": wire.anthropic, "HTTP_PROXY": "http://127.0.0.1:9"}) == "qwen3:8b"
    with Wire(tags="not Ollama") as wire:
        assert installed_in_ollama({"OLLAMA_HOST": wire.anthropic}) is None


def test_nothing_is_no_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert installed_in_ollama({"OLLAMA_HOST": f"127.0.0.1:{unused.getsockname()[1]}"}) is None
    assert installed_in_ollama({"OLLAMA_HOST": "box:port"}) is None


@pytest.mark.parametrize(
    ("spec", "shown"), [("local", True), ("openai:x | local", True), ("sim:", True), ("openai:x", False)]
)
def test_demonstration_models(spec: str, shown: bool) -> None:
    assert is_demonstration(spec) is shown


GB = 1_000_000_000


def on_a_machine(monkeypatch: pytest.MonkeyPatch, folder: Path, memory: int | None, disk: int | None) -> Choice:
    monkeypatch.setattr(local, "available_memory", lambda: memory)
    monkeypatch.setattr(local, "free_disk", lambda _: disk)
    settings = Settings(data_dir=str(folder.parent))
    monkeypatch.setattr(local, "weights_dir", lambda _: folder)
    with Wire(tags={"models": []}) as wire:
        return discovered(settings, {"OLLAMA_HOST": wire.anthropic})


@pytest.mark.parametrize(
    ("memory", "disk", "spec", "why"),
    [
        (4 * GB, 2 * GB, "local", "built in"),
        (None, None, "local", "built in"),
        (4 * GB - 1, 2 * GB, "local:small", "4.0 GB of memory are free, and the larger one needs 4"),
        (8 * GB, GB, "local:small", "1.0 GB of disk are free, and the larger one needs 1.2"),
    ],
)
def test_a_machine_that_is_short_of_something_gets_the_small_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int | None, disk: int | None, spec: str, why: str
) -> None:
    chosen = on_a_machine(monkeypatch, tmp_path, memory, disk)
    assert chosen.spec == spec
    assert chosen.reason.endswith(why)
    assert "neither a key nor Ollama" in chosen.reason


def test_what_has_arrived_needs_no_more_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = tmp_path / f"{QWEN.name}.part"
    part.touch()
    os.truncate(part, GB)
    assert on_a_machine(monkeypatch, tmp_path, 8 * GB, GB // 4).spec == "local"
    part.rename(tmp_path / QWEN.name)
    assert on_a_machine(monkeypatch, tmp_path, 8 * GB, 0).spec == "local"
    assert on_a_machine(monkeypatch, tmp_path, 3 * GB, 0).spec == "local:small"


@pytest.mark.parametrize(
    ("spec", "small"),
    [
        ("local", True),
        ("local:small", True),
        ("local | openai:x", True),
        ("openai:x | local", False),
        ("ollama:llama3.2:1b", False),
        ("sim:?small=1", True),
        ("sim:?small=0", False),
        ("human", False),
    ],
)
def test_small_models(spec: str, small: bool) -> None:
    assert is_small(spec) is small


def test_a_file_is_small_under_4_gb(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    assert not is_small(f"local:{file}"), "it is not there"
    file.touch()
    os.truncate(file, 4 * GB - 1)
    assert is_small(f"local:{file}")
    os.truncate(file, 4 * GB)
    assert not is_small(f"local:{file}")
