from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.models.providers.api import Api, Endpoint, GetJson, openai_profile
from moot.models.providers.fetch import get_json
from moot.models.providers.provider import FREE, OPENAI_SETTINGS, Choice, Provider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Wire

_PORT = 11434


def ollama_url(environ: Mapping[str, str]) -> str:
    """Return Ollama's address without `/v1`. OLLAMA_HOST may lack scheme and port, or be 0.0.0.0 as for a server."""
    given = environ.get("OLLAMA_BASE_URL") or environ.get("OLLAMA_HOST") or "127.0.0.1"
    parts = urlsplit(given if "://" in given else f"http://{given}")
    host = parts.hostname or "127.0.0.1"
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    try:
        port = parts.port or (443 if parts.scheme == "https" else _PORT)
    except ValueError:
        raise InputError(f"OLLAMA_HOST is {given!r}; write for example 127.0.0.1:{_PORT}.") from None
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/').removesuffix('/v1')}"


def _wire(api: Api, endpoint: Endpoint, http: httpx2.AsyncClient) -> Wire:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(base_url=endpoint.url, api_key=endpoint.key or "none", http_client=http)
    known = OllamaModel(endpoint.model, provider=provider).profile
    profile = openai_profile()
    profile["openai_chat_supports_max_completion_tokens"] = False
    profile["supports_json_schema_output"] = known.get("supports_json_schema_output", False)
    return OllamaModel(endpoint.model, provider=provider, profile=profile)


def installed_in_ollama(environ: Mapping[str, str], timeout: float = 0.3) -> str | None:
    """Return the first model installed in a reachable Ollama, or None."""
    try:
        names = _models(ollama_url(environ), None, partial(get_json, timeout=timeout))
        return names[0] if names else None
    except (OSError, ValueError, LookupError, TypeError, InputError):
        return None


def _discover(settings: Settings, environ: Mapping[str, str]) -> Choice | None:
    installed = installed_in_ollama(environ)
    return Choice(spec=f"ollama:{installed}", reason="Ollama is running and has it") if installed else None


def _models(url: str, key: str | None, get: GetJson) -> list[str]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return [str(each["name"]) for each in get(f"{url.removesuffix('/v1')}/api/tags", headers)["models"]]


PROVIDER = Provider(
    name="ollama",
    example="ollama:llama3.2",
    about="a local server; no key",
    api=Api(
        address=lambda environ: f"{ollama_url(environ)}/v1",
        keys=("OLLAMA_API_KEY",),
        key_required=False,
        elsewhere="ollama",
        wire=_wire,
        embeds=True,
        list_models=_models,
        when_not_found="Run `ollama pull {model}`, or choose one that `ollama list` shows.",
        when_unreachable="nothing answers at {url}. Start Ollama with `ollama serve`, or check the address.",
    ),
    discover=_discover,
    rank=20,
    sampling=OPENAI_SETTINGS,  # it ignores `min_p` and `top_k`
    price=lambda spec: FREE,
)
