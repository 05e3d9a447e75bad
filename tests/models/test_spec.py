from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import InputError, UnknownModel
from moot.models.providers.ollama import ollama_url
from moot.models.spec import ModelSpec, api_key, base_url, missing_key, parse


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("openai:gpt-5-mini", ModelSpec(provider="openai", model="gpt-5-mini")),
        (" OpenAI : gpt-5-mini ", ModelSpec(provider="openai", model="gpt-5-mini")),
        ("ollama:llama3.2:3b", ModelSpec(provider="ollama", model="llama3.2:3b")),
        ("anthropic:claude-sonnet-4@20250514", ModelSpec(provider="anthropic", model="claude-sonnet-4@20250514")),
        (
            "openai:my-model@http://127.0.0.1:8000/v1/",
            ModelSpec(provider="openai", model="my-model", url="http://127.0.0.1:8000/v1"),
        ),
        ("local", ModelSpec(provider="local")),
        ("local:small", ModelSpec(provider="local", model="small")),
        ("local: ~/Models/My Model.GGUF", ModelSpec(provider="local", model="~/Models/My Model.GGUF")),
        ("local:C:\\models\\a.gguf", ModelSpec(provider="local", model="C:\\models\\a.gguf")),
        ("replay:3f2a", ModelSpec(provider="replay", model="3f2a")),
        ("sim:", ModelSpec(provider="sim")),
        ("sim:fast?seed=1&tps=50", ModelSpec(provider="sim", model="fast", options=(("seed", "1"), ("tps", "50")))),
    ],
)
def test_a_spec_is_read(text: str, spec: ModelSpec) -> None:
    assert parse(text) == (spec,)


def test_a_cascade_is_read_in_order() -> None:
    members = parse("openai:gpt-5-mini | anthropic:claude-haiku-4-5|local")
    assert [str(member) for member in members] == ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5", "local"]


names = st.text("abcdefghijklmnopqrstuvwxyz0123456789-._/:@", min_size=1).filter(lambda name: "@http" not in name)
remote = st.builds(
    ModelSpec,
    provider=st.sampled_from(["openai", "anthropic", "deepseek", "ollama"]),
    model=names,
    url=st.sampled_from([None, "http://127.0.0.1:8000/v1", "https://models.example.org"]),
)
simulated = st.builds(
    ModelSpec,
    provider=st.just("sim"),
    model=st.text("abc", max_size=3),
    options=st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=3).map(tuple),
)


embedded = st.builds(
    ModelSpec,
    provider=st.just("local"),
    model=st.sampled_from(["", "small"]) | st.text("aB/~. :@?", max_size=9).map(lambda path: f"{path.strip()}.gguf"),
)


@given(st.lists(remote | simulated | embedded, min_size=1, max_size=4))
def test_what_is_written_is_read_again(members: list[ModelSpec]) -> None:
    assert parse(" | ".join(str(member) for member in members)) == tuple(members)


@given(st.text())
def test_any_text_is_a_spec_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        assert parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("opnai:gpt-5", "Did you mean openai:gpt-5?"),
        ("gpt-5-mini", "Did you mean openai:gpt-5-mini?"),
        ("claude-haiku-4-5", "Did you mean anthropic:claude-haiku-4-5?"),
        ("zzz:x", "Providers: openai, anthropic, deepseek"),
        ("openai:", "provider:model, for example openai:gpt-6-luna"),
        ("", "provider:model, for example"),
        ("local | ", "name is missing"),
        ("local:llama", "Write local, local:small, or local: and a GGUF file"),
        ("scripted:", "scripted:answers.yaml"),
        ("replay", "replay:3f2a91c0"),
        ("openai:a b", "no proper model name"),
        ("openai:gpt-5?seed=1", "no proper model name"),
        ("openai-compatible:mine", "openai-compatible:mine@http://127.0.0.1:8000/v1"),
        ("openrouter:gpt-5", "openrouter:openai/gpt-5"),
        ("openai:m@http://", "is not an address"),
        ("openai:m@http://h:99999/v1", "is not an address"),
    ],
)
def test_a_wrong_spec_says_how_it_looks(text: str, said: str) -> None:
    with pytest.raises(UnknownModel) as raised:
        parse(text)
    assert said in str(raised.value)


def test_an_address_with_a_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(UnknownModel, match="MOOT_API_KEY") as raised:
        parse("openai:m@http://me:s3cret@host/v1")
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "environ", "missing"),
    [
        ("openai:gpt-5", {}, "OPENAI_API_KEY"),
        ("openai:gpt-5", {"OPENAI_API_KEY": ""}, "OPENAI_API_KEY"),
        ("openai:gpt-5", {"OPENAI_API_KEY": "k"}, None),
        ("gemini:gemini-3.8-flash", {"OPENAI_API_KEY": "k"}, "GEMINI_API_KEY"),
        ("gemini:gemini-3.8-flash", {"GOOGLE_API_KEY": "k"}, None),
        ("openai:mine@http://127.0.0.1:1/v1", {}, None),
        ("local", {}, None),
        ("openai:gpt-5 | local", {}, None),
        ("openai:gpt-5 | anthropic:x", {}, "OPENAI_API_KEY"),
        ("openai:gpt-5 | anthropic:x", {"ANTHROPIC_API_KEY": "k"}, None),
    ],
)
def test_a_missing_key_is_named(text: str, environ: dict[str, str], missing: str | None) -> None:
    assert missing_key(text, environ) == missing


def test_a_providers_key_never_goes_to_an_address_in_a_spec() -> None:
    environ = {"OPENAI_API_KEY": "secret", "MOOT_API_KEY": "mine"}
    assert api_key(parse("openai:m@http://host/v1")[0], environ) == "mine"
    assert api_key(parse("openai:m@http://host/v1")[0], {"OPENAI_API_KEY": "secret"}) is None
    assert api_key(parse("openai:m")[0], environ) == "secret"


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, "http://127.0.0.1:11434"),
        ({"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434"),
        ({"OLLAMA_HOST": "box:1234"}, "http://box:1234"),
        ({"OLLAMA_HOST": "https://box"}, "https://box:443"),
        ({"OLLAMA_HOST": "[::1]:5000"}, "http://[::1]:5000"),
        ({"OLLAMA_BASE_URL": "http://box:1234/v1", "OLLAMA_HOST": "other"}, "http://box:1234"),
    ],
)
def test_ollamas_address(environ: dict[str, str], url: str) -> None:
    assert ollama_url(environ) == url
    assert base_url(parse("ollama:x")[0], environ) == f"{url}/v1"


def test_a_wrong_ollama_host_says_so() -> None:
    with pytest.raises(InputError, match="OLLAMA_HOST"):
        ollama_url({"OLLAMA_HOST": "box:port"})


def test_specs_are_checked_without_the_provider_library() -> None:
    code = (
        "import sys; from moot.models.registry import ModelRegistry; from moot.core.settings import Settings;"
        "from moot.core.types import Sampling;"
        "registry = ModelRegistry(Settings(), environ={}); registry.check('openai:gpt-5 | local | sim:?seed=1');"
        "registry.check_sampling('openai:gpt-5', Sampling(temperature=0.5, seed=1));"
        "registry.check_sampling('local | ollama:x', Sampling(top_p=0.5));"
        "registry.open('openai:gpt-5'); "
        "heavy = {'pydantic_ai', 'openai', 'genai_prices', 'xllamacpp', 'httpx2', 'yaml'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
