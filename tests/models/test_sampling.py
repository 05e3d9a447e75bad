"""Which endpoint takes which sampling setting: the table, the check when a debate is planned, and the docs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.core.types import Sampling
from moot.models.providers import find, ranked
from moot.models.registry import ModelRegistry

VALUES: dict[str, Any] = {
    "temperature": 0.3,
    "top_p": 0.9,
    "min_p": 0.05,
    "top_k": 40,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "seed": 7,
    "stop": ("END",),
}
SPECS = {
    "openai": "openai:gpt-4.1-mini",
    "openai (reasoning)": "openai:gpt-5-mini",
    "anthropic": "anthropic:claude-haiku-4-5",
    "anthropic (reasoning)": "anthropic:claude-haiku-5-5",
    "deepseek": "deepseek:deepseek-flash",
    "deepseek (reasoning)": "deepseek:deepseek-reasoner",
    "openrouter": "openrouter:mistralai/mistral-large",
    "openrouter (reasoning)": "openrouter:openai/gpt-5-mini",
    "gemini": "gemini:gemini-3.8-flash",
    "groq": "groq:openai/gpt-oss-120b",
    "mistral": "mistral:mistral-small-latest",
    "xai": "xai:grok-4.3",
    "together": "together:openai/gpt-oss-120b",
    "ollama": "ollama:llama3.2",
    "openai-compatible": "openai-compatible:m@http://127.0.0.1:1/v1",
    "openai-compatible (reasoning)": "openai-compatible:gpt-5-mini@http://127.0.0.1:1/v1",
    "local": "local",
    "scripted": "scripted:none.yaml",
    "sim": "sim:",
    "replay": "replay:3f2a91c0",
    "human": "human",
}


def check(spec: str, **settings: Any) -> None:
    ModelRegistry(Settings(), environ={}).check_sampling(spec, Sampling(**settings))


def takes(kind: str) -> frozenset[str]:
    name, _, reasoning = kind.partition(" ")
    taken = find(name).reasoning_sampling if reasoning else find(name).sampling
    assert taken is not None
    return taken


def test_every_setting_and_every_provider_is_tried() -> None:
    assert set(Sampling.model_fields) == set(VALUES)
    reasoning = {f"{each.name} (reasoning)" for each in ranked() if each.reasoning_sampling is not None}
    assert {each.name for each in ranked()} | reasoning == set(SPECS)


@pytest.mark.parametrize("kind", SPECS)
def test_a_setting_that_a_model_does_not_take_is_refused_except_for_temperature(kind: str) -> None:
    spec = SPECS[kind]
    for setting, value in VALUES.items():
        if setting == "temperature" or setting in takes(kind):
            check(spec, **{setting: value})
            continue
        with pytest.raises(InputError) as raised:
            check(spec, **{setting: value})
        assert str(raised.value) == f"{spec} takes no {setting}. Leave it out, or choose another model for that seat."


def test_several_refused_settings_are_named_together() -> None:
    with pytest.raises(InputError) as raised:
        check("anthropic:claude-haiku-4-5", temperature=0.5, min_p=0.1, top_k=5, seed=1)
    assert str(raised.value) == (
        "anthropic:claude-haiku-4-5 takes no min_p and no seed. "
        "Leave them out, or choose another model for that seat."
    )  # fmt: skip


def test_every_member_of_a_cascade_is_checked() -> None:
    check("local | sim: | openai-compatible:m@http://127.0.0.1:1/v1", min_p=0.1)
    with pytest.raises(InputError, match=r"^ollama:llama3\.2 takes no min_p\."):
        check("local | ollama:llama3.2", min_p=0.1)


def test_an_address_of_its_own_makes_an_openai_model_a_compatible_one() -> None:
    check("openai:my-model@http://127.0.0.1:1/v1", min_p=0.1, top_p=0.5)
    with pytest.raises(InputError, match="takes no top_p"):
        check("openai:gpt-5-mini@http://127.0.0.1:1/v1", top_p=0.5)
    with pytest.raises(InputError, match="takes no top_p"):
        check("anthropic:claude-haiku-5-5@http://127.0.0.1:1", top_p=0.5)


def docs_table() -> str:
    """One row for all models that take the same settings."""
    rows: dict[tuple[bool, ...], list[str]] = {}
    for kind in SPECS:
        provider, _, reasoning = kind.partition(" ")
        label = f"`{provider}` reasoning models" if reasoning else f"`{provider}`"
        rows.setdefault(tuple(name in takes(kind) for name in VALUES), []).append(label)
    lines = [f"| model | {' | '.join(f'`{name}`' for name in VALUES)} |", f"|---|{'---|' * len(VALUES)}"]
    for cells, labels in rows.items():
        lines.append(f"| {', '.join(labels)} |" + "".join(" ✓ |" if cell else " |" for cell in cells))
    return "\n".join(lines)


def test_the_docs_have_the_table_and_name_every_setting() -> None:
    text = (Path(__file__).parents[2] / "docs" / "config.md").read_text()
    found = re.search(r"<!-- sampling -->\n(.*?)\n<!-- /sampling -->", text, re.DOTALL)
    assert found is not None
    assert found[1] == docs_table()
    for name in Sampling.model_fields:
        assert re.search(rf"^\| `{name}` \| \S", text, re.MULTILINE), name
