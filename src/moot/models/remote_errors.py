"""Translates provider errors into moot's, with advice on what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from moot.core.errors import ModelError, ModelOverloaded, ModelTimeout, ModelUnavailable, ModelUnreachable
from moot.core.masking import masked, without_secrets
from moot.core.types import Usage
from moot.models import providers
from moot.models.answer_size import AnswerRefused
from moot.models.providers import Endpoint

_LONGEST = 400
_READ = 20_000  # characters; a provider may answer with any number of them


def translate(error: Exception, endpoint: Endpoint, *, used: Usage | None) -> ModelError:
    """Return the ModelError for a library's error. `used` is the usage of a stream that broke off."""
    name = endpoint.name
    refused_answer = _refused_answer(error)
    if refused_answer is not None:
        return AnswerRefused(str(refused_answer), model=name, usage=used)
    said = _clean(_said(error), endpoint)
    if isinstance(error, ImportError):
        return ModelUnavailable(f"A library for {name} is missing: {said}. Install moot again.", model=name)

    from pydantic_ai import exceptions as ai

    match error:
        case ai.ModelAuthenticationError():
            return ModelUnavailable(f"{name} refused the key: {said}. {_key_advice(endpoint)}", model=name, usage=used)
        case ai.ModelNotFoundError():
            return ModelUnavailable(f"{name} was not found: {said}. {_name_advice(endpoint)}", model=name, usage=used)
        case ai.ModelQuotaExceededError():
            advice = "Top up the account or choose another model."
            return ModelUnavailable(f"{name} has no credit left: {said}. {advice}", model=name, usage=used)
        case ai.ModelContextWindowExceededError():
            advice = "Choose a model with a larger context, or shorter statements."
            return ModelUnavailable(f"{name} can't take that much text: {said}. {advice}", model=name, usage=used)
        case ai.ModelRequestTimeout() | ai.ModelTimeoutError():
            return ModelTimeout(f"{name} did not answer in time: {said}.", model=name, usage=used)
        case ai.ModelHTTPError(status_code=408):
            return ModelTimeout(f"{name} did not answer in time: {said}.", model=name, usage=used)
        case ai.ModelHTTPError(status_code=status) if 400 <= status < 500 and status not in (409, 425, 429):
            return ModelUnavailable(f"{name} refused the request ({status}): {said}.", model=name, usage=used)
        case ai.ModelConnectionError() if used is None:
            return ModelUnreachable(f"{name} can't be reached: {_reach_advice(endpoint)} ({said})", model=name)
        case ai.ModelAPIError():
            wait, refused = _retry_after(error), isinstance(error, ai.ModelRateLimitError)
            what = "broke off" if used else "is overloaded or failing"
            return ModelOverloaded(f"{name} {what}: {said}.", retry_after=wait, refused=refused, model=name, usage=used)
        case ai.UserError():
            return ModelUnavailable(f"{name} can't be used: {said}.", model=name, usage=used)
        case _:
            # Transport errors that the library does not wrap, and responses that it can't parse.
            what = "broke off" if used else "gave an unreadable answer"
            return ModelOverloaded(f"{name} {what} ({type(error).__name__}): {said}.", model=name, usage=used)


def _refused_answer(error: BaseException | None) -> AnswerRefused | None:
    """The reason behind an error of a library that wraps what its HTTP client raises."""
    while error is not None and not isinstance(error, AnswerRefused):
        error = error.__cause__ or error.__context__
    return error


def rejects_schema(error: Exception) -> bool:
    """Whether a server refused the request because it does not support JSON-schema output."""
    if isinstance(error, ModelError | ImportError):
        return False
    from pydantic_ai import exceptions as ai

    if isinstance(error, ai.UserError):
        # pydantic-ai checks some models' schema limits itself.
        return "schema" in error.message.lower() or "structured output" in error.message.lower()
    if not isinstance(error, ai.ModelHTTPError) or error.status_code not in (400, 404, 415, 422, 501):
        return False
    said = f"{error.body} {error.message}".lower()
    return any(word in said for word in ("response_format", "json_schema", "output_config", "output_format"))


def _said(error: Exception) -> str:
    body = getattr(error, "body", None)
    while isinstance(body, Mapping):
        inner = cast("Mapping[str, Any]", body)
        body = inner.get("error") or inner.get("message") or inner.get("detail")
    if isinstance(body, str) and body.strip():
        return body
    return str(error) or type(error).__name__


def _clean(said: str, endpoint: Endpoint) -> str:
    said = said[:_READ]
    if endpoint.key:
        said = said.replace(endpoint.key, "***")
    said = " ".join(without_secrets(said).split()).rstrip(".")
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


def _retry_after(error: Exception) -> float | None:
    wait = getattr(error, "retry_after", None)
    if isinstance(wait, int | float):
        return float(wait)
    headers = getattr(error, "headers", None)
    if isinstance(headers, Mapping):
        # pydantic-ai reads whole seconds and dates; some proxies send fractions.
        given = cast("Mapping[str, str]", headers).get("retry-after", "")
        if re.fullmatch(r"\d+\.\d*", given):
            return float(given)
    return None


def _key_advice(endpoint: Endpoint) -> str:
    if endpoint.key_variable is None:
        return "Check the server's access rules."
    if not endpoint.key:
        return f"Set {endpoint.key_variable}."
    return f"Check {endpoint.key_variable}, and that its account may use {endpoint.model}."


def _name_advice(endpoint: Endpoint) -> str:
    api = providers.find(endpoint.provider).api
    if api is not None and api.when_not_found:
        return api.when_not_found.format(model=endpoint.model, url=masked(endpoint.url or ""))
    return f"Check the name {endpoint.model!r}" + (f" and the address {masked(endpoint.url)}." if endpoint.url else ".")


def _reach_advice(endpoint: Endpoint) -> str:
    url, api = masked(endpoint.url or ""), providers.find(endpoint.provider).api
    if api is not None and api.when_unreachable:
        return api.when_unreachable.format(model=endpoint.model, url=url)
    if endpoint.loopback:
        return f"nothing answers at {url}. Start the server there, or check the address."
    if endpoint.url:
        return f"nothing answers at {url}. Check the address and the network connection."
    return "its servers don't answer. Check the network connection."
