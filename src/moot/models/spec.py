"""Model specs (`provider:model`), as a debate's cast records them. Parsing needs no network and no provider library."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from moot.core.errors import InputError, UnknownModel

PROVIDERS = (
    "openai",
    "anthropic",
    "deepseek",
    "openrouter",
    "ollama",
    "openai-compatible",
    "local",
    "scripted",
    "sim",
    "replay",
    "human",
)
SMALL = "small"  # local:small
COMPATIBLE_KEY = "MOOT_API_KEY"

_REMOTE = frozenset({"openai", "anthropic", "deepseek", "openrouter", "ollama", "openai-compatible"})
_KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
_BASE_URLS = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_FAMILIES = {"gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic"}
_OLLAMA_PORT = 11434
_LOOKS = (
    "A model is written provider:model, for example openai:gpt-5-mini, ollama:llama3.2, local, "
    "openai:my-model@http://127.0.0.1:8000/v1 (any OpenAI-compatible server), "
    "or several with fallbacks: openai:gpt-5-mini | local."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """One model; a cascade is a tuple of them. `parse(str(spec))` returns it again."""

    provider: str
    model: str = ""
    url: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @property
    def remote(self) -> bool:
        return self.provider in _REMOTE

    @property
    def weights_file(self) -> str | None:
        """The user's own file that an embedded model is read from, or None."""
        return self.model if self.provider == "local" and self.model not in ("", SMALL) else None

    def __str__(self) -> str:
        if self.provider in ("local", "human") and not self.model:
            return self.provider
        at = f"@{self.url}" if self.url else ""
        options = f"?{urlencode(self.options)}" if self.options else ""
        return f"{self.provider}:{self.model}{at}{options}"


MAX_SPEC_CHARS = 2000
MAX_CASCADE = 10


def parse(text: str) -> tuple[ModelSpec, ...]:
    """Return the models of a cascade in the order in which they are tried. Raises UnknownModel."""
    if len(text) > MAX_SPEC_CHARS:
        raise UnknownModel(f"A model is written in at most {MAX_SPEC_CHARS:,} characters; this has {len(text):,}.")
    parts = text.split("|")
    if len(parts) > MAX_CASCADE:
        raise UnknownModel(f"A cascade has at most {MAX_CASCADE} models; this has {len(parts)}.")
    return tuple(_parse_one(part.strip()) for part in parts)


def key_variable(spec: ModelSpec) -> str | None:
    """Return the environment variable of the key that a model needs, or None."""
    # A provider's own key is never sent to an address that a spec names.
    return None if spec.url else _KEYS.get(spec.provider)


def api_key(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    if spec.url:
        return environ.get(COMPATIBLE_KEY) or None
    variable = key_variable(spec) or ("OLLAMA_API_KEY" if spec.provider == "ollama" else "")
    return environ.get(variable) or None


def base_url(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    """Return the server's address, or None for the provider's default."""
    if spec.url:
        return spec.url
    if spec.provider == "ollama":
        return f"{ollama_url(environ)}/v1"
    variable = _BASE_URLS.get(spec.provider)
    return (environ.get(variable) or None) if variable else None


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def ollama_url(environ: Mapping[str, str]) -> str:
    """Return Ollama's address without `/v1`. OLLAMA_HOST may lack scheme and port, or be 0.0.0.0 as for a server."""
    given = environ.get("OLLAMA_BASE_URL") or environ.get("OLLAMA_HOST") or "127.0.0.1"
    parts = urlsplit(given if "://" in given else f"http://{given}")
    host = parts.hostname or "127.0.0.1"
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    try:
        port = parts.port or (443 if parts.scheme == "https" else _OLLAMA_PORT)
    except ValueError:
        raise InputError(f"OLLAMA_HOST is {given!r}; write for example 127.0.0.1:{_OLLAMA_PORT}.") from None
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/').removesuffix('/v1')}"


def missing_key(text: str, environ: Mapping[str, str]) -> str | None:
    """Return the environment variable to set before `text` can be used, or None. A cascade needs one usable member."""
    missing: list[str] = []
    for spec in parse(text):
        variable = key_variable(spec)
        if variable is None or environ.get(variable):
            return None
        missing.append(variable)
    return missing[0]


def _parse_one(text: str) -> ModelSpec:
    provider, colon, rest = text.partition(":")
    provider = provider.strip().lower()
    if provider not in PROVIDERS:
        raise UnknownModel(_unknown(provider, text) if text else f"A model's name is missing. {_LOOKS}")
    rest = rest.strip()
    if provider == "local":
        if rest not in ("", SMALL) and not rest.lower().endswith(".gguf"):
            raise UnknownModel(
                f"There is no embedded model {rest!r}. Write local, local:{SMALL}, or local: and a GGUF file, for "
                "example local:~/models/mine.gguf."
            )
        return ModelSpec(provider=provider, model=rest)
    if provider == "human":
        if rest:
            raise UnknownModel("A seat that a person speaks for is written human, without a name.")
        return ModelSpec(provider=provider)
    if provider == "sim":
        name, _, query = rest.partition("?")
        return ModelSpec(provider=provider, model=name, options=tuple(parse_qsl(query, keep_blank_values=True)))
    if not colon or not rest:
        what = {"scripted": "a YAML file: scripted:answers.yaml", "replay": "a debate: replay:3f2a91c0"}.get(provider)
        raise UnknownModel(f"{provider!r} needs {what}." if what else f"{text!r} names no model. {_LOOKS}")
    if provider in ("scripted", "replay"):
        return ModelSpec(provider=provider, model=rest)
    return _remote(provider, rest, text)


def _remote(provider: str, rest: str, text: str) -> ModelSpec:
    model, url = rest, None
    # Only `@http` starts an address: some model names contain an @.
    start = min((at for at in (rest.find("@http://"), rest.find("@https://")) if at >= 0), default=-1)
    if start >= 0:
        model, url = rest[:start].strip(), rest[start + 1 :].strip().rstrip("/")
        _check_url(url)
    if not model or any(c.isspace() or c in "?#" for c in model):
        raise UnknownModel(f"{text!r} has no proper model name. {_LOOKS}")
    if provider == "openai-compatible" and url is None:
        raise UnknownModel(f"{text!r} needs the server's address: {provider}:{model}@http://127.0.0.1:8000/v1")
    if provider == "openrouter" and "/" not in model:
        raise UnknownModel(f"{text!r}: OpenRouter's names have two parts, for example openrouter:openai/{model}.")
    return ModelSpec(provider=provider, model=model, url=url)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid, parts = False, None
    if not valid or parts is None or any(c.isspace() for c in url):
        raise UnknownModel(f"{url!r} is not an address. Write for example openai:my-model@http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise UnknownModel(
            f"The address of a model server is recorded with the debate, so it may hold no password or query. "
            f"Put the key into {COMPATIBLE_KEY}."
        )


def _unknown(provider: str, text: str) -> str:
    family = next((known for prefix, known in _FAMILIES.items() if provider.startswith(prefix)), None)
    if family is None and provider.startswith("deepseek-"):
        family = "deepseek"
    close = difflib.get_close_matches(provider, PROVIDERS, n=1, cutoff=0.6)
    if family:
        hint = f" Did you mean {family}:{text}?"
    elif close:
        _, colon, rest = text.partition(":")
        hint = f" Did you mean {close[0]}{colon}{rest}?"
    else:
        hint = ""
    return f"There is no model provider {provider!r}.{hint} Providers: {', '.join(PROVIDERS)}. {_LOOKS}"
