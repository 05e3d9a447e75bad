"""The records of providers: what each of them sends, over the wire, and what a record must have."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError, ModelUnavailable
from moot.core.settings import Settings
from moot.core.types import Reply, Sampling
from moot.models.listing import models_of
from moot.models.providers import DOOR, Api, Provider, find, ranked
from moot.models.providers.provider import checked
from moot.models.registry import ModelRegistry
from moot.models.spec import parse
from tests.models.asking import KEY, ask, endpoint
from tests.models.calls import GOOD, Listener, Score, call
from tests.models.wire import Say, Wire

MODELS = Path(__file__).parents[2] / "src" / "moot" / "models"
NEW = ("gemini", "groq", "mistral", "together", "xai")


def sent(name: str, **more: Any) -> dict[str, Any]:
    """What is sent to a provider's default model."""
    with Wire(Say(GOOD)) as wire:
        ask(endpoint(wire, "openai", provider=name, model=find(name).models["judge"]), **more)
    assert wire.requests[0].headers["authorization"] == f"Bearer {KEY}"
    return wire.requests[0].body


@pytest.mark.parametrize("name", NEW)
def test_a_provider_with_an_api_like_openais_is_just_a_record(name: str) -> None:
    body = sent(name, returns=Score, max_tokens=77, sampling=Sampling(temperature=0.3))
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (77, 0.3, True)
    assert body["response_format"]["json_schema"]["schema"]["properties"]["score"]["maximum"] == 10
    assert body["model"] == find(name).models["judge"]
    assert "tools" not in body


def test_what_differs_from_openais_api_stands_in_the_record() -> None:
    body = sent("mistral", sampling=Sampling(seed=3, stop=("END",)))
    assert (body["random_seed"], body["stop"]) == (3, ["END"])
    assert not {"seed", "stream_options"} & set(body)
    assert "stream_options" in sent("groq")


@pytest.mark.parametrize(
    ("name", "model", "effort"),
    [
        ("gemini", "gemini-2.5-flash-lite", "none"),
        ("gemini", "gemini-3.8-flash", "minimal"),
        ("groq", "openai/gpt-oss-20b", "low"),
        ("groq", "qwen/qwen3-32b", "none"),
        ("groq", "llama-3.3-70b-versatile", None),
        ("xai", "grok-4.3", "none"),
        ("xai", "grok-4.5", None),
        ("together", "openai/gpt-oss-120b", "low"),
        ("mistral", "mistral-small-latest", None),
    ],
)
def test_a_model_is_kept_from_thinking_as_far_as_it_can_be(name: str, model: str, effort: str | None) -> None:
    with Wire() as wire:
        ask(endpoint(wire, "openai", provider=name, model=model))
    assert wire.requests[0].body.get("reasoning_effort") == effort


def test_through_the_registry_with_key_address_price_and_name() -> None:
    async def main(wire: Wire) -> Reply:
        environ = {"GROQ_API_KEY": "gsk-1", "GROQ_BASE_URL": wire.openai}
        registry = ModelRegistry(Settings(), environ=environ)
        try:
            return await registry.open("groq:openai/gpt-oss-120b")(call(returns=Score), Listener())
        finally:
            await registry.close()

    with Wire(Say(GOOD)) as wire:
        reply = asyncio.run(main(wire))
    assert wire.requests[0].headers["authorization"] == "Bearer gsk-1"
    assert (reply.answer, reply.provider) == (Score(reasoning="Fair.", score=7, winner="a"), "groq")


class TestListing:
    @pytest.mark.parametrize(
        ("name", "listed", "environ", "path"),
        [
            ("groq", {"data": [{"id": "b"}, {"id": "a"}]}, {"GROQ_BASE_URL": "{openai}"}, "/v1/models"),
            ("openai", {"data": [{"id": "b"}, {"id": "a"}]}, {"OPENAI_BASE_URL": "{openai}"}, "/v1/models"),
            ("anthropic", {"data": [{"id": "b"}, {"id": "a"}]}, {"ANTHROPIC_BASE_URL": "{root}"}, "/v1/models"),
            ("together", [{"id": "b"}, {"id": "a"}], {"TOGETHER_BASE_URL": "{openai}"}, "/v1/models"),
            ("ollama", {"models": [{"name": "b"}, {"name": "a"}]}, {"OLLAMA_HOST": "{root}"}, "/api/tags"),
        ],
    )
    def test_a_providers_models_are_listed(self, name: str, listed: Any, environ: dict[str, str], path: str) -> None:
        with Wire(lists={path: listed}) as wire:
            values = {key: text.format(openai=wire.openai, root=wire.anthropic) for key, text in environ.items()}
            api = find(name).api
            assert api is not None
            assert models_of(name, {**values, api.keys[0]: "k"}) == [f"{name}:a", f"{name}:b"]

    def test_what_goes_wrong_is_said_without_the_key(self) -> None:
        with pytest.raises(InputError, match="Set GROQ_API_KEY"):
            models_of("groq", {})
        with pytest.raises(InputError, match="sim has no list of models"):
            models_of("sim", {})
        with pytest.raises(InputError, match="There is no model provider 'nope'"):
            models_of("nope", {})
        with Wire(lists={"/v1/models": "no list"}) as wire:
            environ = {"GROQ_API_KEY": "gsk-secret", "GROQ_BASE_URL": wire.openai}
            with pytest.raises(ModelUnavailable, match="gave no list of its models") as raised:
                models_of("groq", environ)
        assert "secret" not in str(raised.value)


class TestRecords:
    def test_every_example_is_a_model_of_its_provider(self) -> None:
        for provider in ranked():
            (member,) = parse(provider.example)
            assert member.provider == provider.name
            assert DOOR.package(provider.name) == ""

    @pytest.mark.parametrize(
        ("given", "wrong"),
        [
            ({"name": "acme"}, "It needs an `api` or a function `open`."),
            ({"name": "acme", "api": Api()}, "Its `api` needs a `url`."),
            ({"name": "other", "api": Api(url="http://h")}, "It calls itself 'other'"),
            ({"name": "acme", "api": Api(url="http://h"), "example": "openai:x"}, "is none of its own models"),
            ({"name": "acme", "api": Api(url="http://h"), "sampling": frozenset({"heat"})}, "`sampling` names heat"),
        ],
    )
    def test_a_record_that_lacks_something_is_refused(self, given: dict[str, Any], wrong: str) -> None:
        with pytest.raises(InputError, match=wrong):
            checked("acme", Provider(**{"example": "acme:road-runner", **given}))

    def test_no_code_asks_for_a_provider_by_name(self) -> None:
        """Only a provider's own module, and the catalog of embedded models, name one."""
        names = set(DOOR.names()) - {"human"}
        found = [
            f"{path.name}:{node.lineno}: {each.value}"
            for path in MODELS.glob("*.py")
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Compare | ast.MatchValue)
            for each in ast.walk(node)
            if isinstance(each, ast.Constant) and each.value in names
        ]
        assert found == []
