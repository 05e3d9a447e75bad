"""Which sampling settings each kind of endpoint takes.

A new sampler setting is a field of `Sampling` and a column of `TAKEN_BY`; no other code names settings one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from moot.core.types import Sampling

# Never refused: formats set a temperature by default. Models that take none are called without it.
OPTIONAL = frozenset({"temperature"})

# No model is called, so any setting is accepted: a debate can be drafted with `sim:`, replayed, or have a human seat
# without changing its settings. `sim:` acts on `seed` and `stop`.
_STAND_INS = frozenset({"sim", "scripted", "replay", "human"})
_EVERYTHING = _STAND_INS | {"local", "openai-compatible", "openrouter"}
_OPENAI_STYLE = _EVERYTHING | {"openai", "deepseek", "ollama"}
_GATEWAYS_REASONING = frozenset({"openrouter (reasoning)", "openai-compatible (reasoning)"})

# By setting: the providers that take it. "(reasoning)" marks a provider's models with fixed sampling. A provider that
# silently ignores a setting, as Ollama does with `min_p` and `top_k` and DeepSeek with `seed`, does not take it.
TAKEN_BY: Mapping[str, frozenset[str]] = {
    "temperature": _OPENAI_STYLE | {"anthropic"},
    "top_p": _OPENAI_STYLE | {"anthropic"},
    "min_p": _EVERYTHING,
    "top_k": _EVERYTHING | {"anthropic"},
    "presence_penalty": _OPENAI_STYLE,
    "frequency_penalty": _OPENAI_STYLE,
    "seed": _EVERYTHING | _GATEWAYS_REASONING | {"openai", "openai (reasoning)", "ollama"},
    "stop": _OPENAI_STYLE | _GATEWAYS_REASONING | {"anthropic", "anthropic (reasoning)", "deepseek (reasoning)"},
}

_HAVE_REASONING_MODELS = frozenset({"openai", "anthropic", "deepseek", "openrouter", "openai-compatible"})

Profile = Mapping[str, Any]
"""What pydantic-ai knows about a model."""


def taken(sampling: Sampling, provider: str, profile: Profile) -> dict[str, Any]:
    """Return the settings to send to a model, as JSON values."""
    kind = _kind(provider, profile)
    given = sampling.model_dump(mode="json", include=set(sampling.given))
    return {name: value for name, value in given.items() if kind in TAKEN_BY[name]}


def refused(sampling: Sampling, provider: str, load_profile: Callable[[], Profile]) -> list[str]:
    """Return the names of the settings that a model does not take, without the optional ones.

    `load_profile` may import a provider library, which takes a second. It is called only when the answer depends on
    the model.
    """
    asked = [name for name in sampling.given if name not in OPTIONAL]
    kind = provider
    if any(provider in TAKEN_BY[name] and _reasoning(provider) not in TAKEN_BY[name] for name in asked):
        kind = _kind(provider, load_profile())
    return [name for name in asked if kind not in TAKEN_BY[name]]


def _kind(provider: str, profile: Profile) -> str:
    """Return the row of the table that a model belongs to."""
    if provider == "deepseek":
        fixed = profile.get("thinking_always_enabled")
    else:
        # Models that can switch reasoning off are called with it off, and then take every setting.
        always_reasons = profile.get("openai_supports_reasoning") and not profile.get(
            "openai_supports_reasoning_effort_none"
        )
        fixed = always_reasons or profile.get("anthropic_disallows_sampling_settings")
    return _reasoning(provider) if fixed else provider


def _reasoning(provider: str) -> str:
    return f"{provider} (reasoning)" if provider in _HAVE_REASONING_MODELS else provider
