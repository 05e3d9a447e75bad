"""How a provider's HTTP API is called: address, key, what its requests need, and pydantic-ai's model for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Wire
    from pydantic_ai.profiles.openai import OpenAIModelProfile

Environ = Mapping[str, str]
Profile = Mapping[str, Any]
"""What pydantic-ai knows about a model."""
GetJson = Callable[[str, Mapping[str, str]], Any]
"""Gets a JSON document from an address, given headers."""

COMPATIBLE = "openai-compatible"
OPENAI_MODULES = ("pydantic_ai.models.openai", "pydantic_ai.providers.openai", "openai.resources.chat")


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Address, credentials and request options of one model."""

    provider: str
    model: str
    url: str | None = None  # None: the provider's own
    key: str | None = None
    key_variable: str | None = None  # the environment variable to name when the key is missing or wrong
    key_required: bool = False
    extra: tuple[tuple[str, Any], ...] = ()  # further fields of the request body

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def loopback(self) -> bool:
        return self.url is not None and is_loopback(self.url)


def always_reasons(profile: Profile) -> bool:
    """Whether a model's sampling is fixed because it always reasons. One that can switch reasoning off is called with
    it off, and then takes every setting."""
    reasons = profile.get("openai_supports_reasoning") and not profile.get("openai_supports_reasoning_effort_none")
    return bool(reasons or profile.get("anthropic_disallows_sampling_settings"))


def openai_models(url: str, key: str | None, get: GetJson) -> list[str]:
    """The names of a server's models, as OpenAI lists them."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return [str(each["id"]) for each in get(f"{url}/models", headers)["data"]]


def compatible(api: Api, endpoint: Endpoint, http: httpx2.AsyncClient) -> Wire:
    """pydantic-ai's model for a server that speaks OpenAI's protocol."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = openai_profile() | OpenAIModelProfile(
        supports_json_schema_output=api.json_schema,
        supports_tools=False,
        json_schema_transformer=None,
        # Every such server knows the older name, `max_tokens`.
        openai_chat_supports_max_completion_tokens=False,
        openai_supports_strict_tool_definition=False,
    )
    url, key = endpoint.url or api.url, endpoint.key or "none"
    provider = OpenAICompatibleProvider(endpoint.provider, base_url=url, api_key=key, http_client=http)
    return OpenAIChatModel(endpoint.model, provider=provider, profile=profile)


def openai_profile() -> OpenAIModelProfile:
    """What every model of pydantic-ai that speaks OpenAI's protocol is given."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    # moot checks the finish reason, and unlike the library keeps what was said.
    return OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=False)


@dataclass(frozen=True, kw_only=True)
class Api:
    """A provider's HTTP API. By default one that speaks OpenAI's protocol."""

    url: str = ""
    url_variable: str = ""  # an environment variable that names another address
    address: Callable[[Environ], str] | None = None  # instead of both
    keys: tuple[str, ...] = ()  # environment variables of the key; the first that is set counts
    key_required: bool = True
    elsewhere: str = COMPATIBLE  # the provider whose rules hold at an address that a spec names

    wire: Callable[[Api, Endpoint, httpx2.AsyncClient], Wire] = compatible
    modules: Sequence[str] = OPENAI_MODULES  # that a call needs, imported ahead: it takes a second
    json_schema: bool = True  # it takes JSON schemas; a server that refuses one is asked in words from then on
    embeds: bool = False  # it has an endpoint for embeddings
    list_models: Callable[[str, str | None, GetJson], list[str]] = openai_models
    prices: str = ""  # its id in genai-prices; empty: the provider's name

    # Where its requests differ from OpenAI's
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of pydantic-ai, for every call
    leave_out: Sequence[str] = ()  # fields that it refuses
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])  # its names for sampling settings
    think_least: Callable[[str], Mapping[str, Any]] = lambda model: {}  # fields that keep a model from thinking
    fixed_sampling: Callable[[Profile], bool] = always_reasons

    # Advice beside an error, with {model} and {url} filled in
    when_not_found: str = ""
    when_unreachable: str = ""

    def base_url(self, environ: Environ) -> str | None:
        """The address that the environment names; None: the provider's own."""
        if self.address is not None:
            return self.address(environ)
        return environ.get(self.url_variable) or None if self.url_variable else None

    def key(self, environ: Environ) -> str | None:
        return next((environ[name] for name in self.keys if environ.get(name)), None)


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")
