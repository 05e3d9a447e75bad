"""A request for a debate: topic, format and settings, from flags, `--set` and a spec file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from moot import formats
from moot.core.errors import InputError, UnknownName
from moot.core.settings import MAX_TOPIC_CHARS
from moot.core.types import Json
from moot.formats.auto import Pick, pick
from moot.formats.format import EFFORTS, Effort
from moot.reasoning.fence import clean
from moot.yamlfile import MAX_DEPTH, Malformed, kind, parse, read_mapping


@dataclass(frozen=True, kw_only=True)
class Request:
    topic: str = ""
    format: str | None = None  # None: the default
    settings: Json = field(default_factory=dict[str, Any])
    effort: Effort | None = None  # None: what the format does by itself
    private: bool = False  # only its token, and `admin`, see the debate
    follows: str | None = None  # id of the debate that the question is asked after


def read_spec(path: Path) -> Request:
    """Read a YAML file with `topic`, `format`, `effort`, `private` and, beside them, settings of the format."""
    given = read_mapping(path, "spec", "`topic:` and settings")
    topic, format_, effort = (given.pop(name, None) for name in ("topic", "format", "effort"))
    for name, value in (("topic", topic), ("format", format_), ("effort", effort)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"In the spec {path}, `{name}` must be text, not {kind(value)}.")
    private = given.pop("private", False)
    if not isinstance(private, bool):
        raise InputError(f"In the spec {path}, `private` must be true or false, not {kind(private)}.")
    return Request(topic=topic or "", format=format_, settings=given, effort=read_effort(effort), private=private)


def format_for(request: Request, default: str) -> Pick:
    """The format of a request, and why: the one that it names, else the default if it has all the given settings, else
    what suits the question, among those that have them."""
    if request.format and request.format != formats.AUTO:
        return Pick(format=request.format, reason="it was asked for")
    known = {name: set(each.settings.model_fields) for name, each in formats.installed().items()}
    given = [name for name in request.settings if any(name in names for names in known.values())]
    among = [name for name, names in known.items() if names.issuperset(given)]
    if request.format is None and default in among:
        return Pick(format=default, reason="the configuration names it")
    if not among:
        apart = [name for name in given if not all(name in names for names in known.values())]
        raise InputError(f"No format takes {' and '.join(apart)} together. Leave one of them out.")
    return pick(request.topic, formats.installed(), among)


def read_effort(text: str | None) -> Effort | None:
    if text is None or text in EFFORTS:
        return text
    raise UnknownName("effort", text, EFFORTS)


def read_assignments(pairs: list[str]) -> Json:
    """Parse `a.b=3` into {"a": {"b": 3}}; values are YAML."""
    settings: Json = {}
    for pair in pairs:
        path, equals, value = pair.partition("=")
        if not equals or not path.strip():
            raise InputError(f"--set takes name=value, for example --set max_rounds=3; this is {pair!r}.")
        try:
            parsed: Any = parse(value, f"--set {path.strip()[:80]}")
        except Malformed:
            parsed = value
        if isinstance(parsed, dict) and not value.lstrip().startswith("{"):
            parsed = value  # `sim:` is a model, not a mapping
        names = path.strip().split(".")
        if len(names) > MAX_DEPTH:
            raise InputError(f"--set {path[:80]}… names {len(names)} levels; {MAX_DEPTH} are the most.")
        settings = merged(settings, _nested(names, parsed))
    return settings


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Json:
    """Merge `above` into `below`, mapping by mapping."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[name] = merged(cast(Json, old), cast(Json, value)) if both else value
    return result


def read_topic(text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"The question must be text; it is {kind(text)}.")
    topic = clean(text).strip()
    if not topic:
        raise InputError('The question is empty. Ask one, such as: "Should we use Redis or PostgreSQL for caching?"')
    if len(topic) > MAX_TOPIC_CHARS:
        raise InputError(f"The question has {len(topic):,} characters; {MAX_TOPIC_CHARS:,} is the most. Shorten it.")
    return topic


def _nested(path: list[str], value: Any) -> Json:
    return {path[0]: value if len(path) == 1 else _nested(path[1:], value)}
