"""What someone asks for: a topic, a format and its settings, from flags, `--set` and a spec file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from moot.errors import InputError
from moot.reasoning.fence import clean
from moot.settings import MAX_TOPIC_CHARS
from moot.types import Json
from moot.yamlfile import kind, read_mapping


@dataclass(frozen=True, kw_only=True)
class Request:
    topic: str = ""
    format: str | None = None  # None: what the configuration says
    settings: Json = field(default_factory=dict[str, Any])


def read_spec(path: Path) -> Request:
    """A YAML file: `topic`, `format`, and the settings of that format beside them."""
    given = read_mapping(path, "spec", "`topic:` and settings")
    topic, format_ = given.pop("topic", None), given.pop("format", None)
    for name, value in (("topic", topic), ("format", format_)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"In the spec {path}, `{name}` must be text, not {kind(value)}.")
    # A file that describes two debaters is a duel, whether it says so or not.
    guess = "duel" if "debaters" in given else None
    return Request(topic=topic or "", format=format_ or guess, settings=given)


def read_assignments(pairs: list[str]) -> Json:
    """`a.b=3` as {"a": {"b": 3}}; values are YAML."""
    settings: Json = {}
    for pair in pairs:
        path, equals, value = pair.partition("=")
        if not equals or not path.strip():
            raise InputError(f"--set takes name=value, for example --set max_rounds=3; this is {pair!r}.")
        try:
            parsed: Any = yaml.safe_load(value)
        except yaml.YAMLError:
            parsed = value
        if isinstance(parsed, dict) and not value.lstrip().startswith("{"):
            parsed = value  # `sim:` is a model, not a mapping
        settings = merged(settings, _nested(path.strip().split("."), parsed))
    return settings


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Json:
    """`above` laid over `below`, mapping by mapping."""
    result = dict(below)
    for name, value in above.items():
        old = result.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[name] = merged(cast(Json, old), cast(Json, value)) if both else value
    return result


def read_topic(text: str) -> str:
    topic = clean(text).strip()
    if not topic:
        raise InputError('The question is empty. Ask one: moot "Should we use Redis or PostgreSQL for caching?"')
    if len(topic) > MAX_TOPIC_CHARS:
        raise InputError(f"The question has {len(topic):,} characters; {MAX_TOPIC_CHARS:,} is the most.")
    return topic


def _nested(path: list[str], value: Any) -> Json:
    return {path[0]: value if len(path) == 1 else _nested(path[1:], value)}
