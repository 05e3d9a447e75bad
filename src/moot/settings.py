"""Every default, once. Formats extend `DebateSettings`; `Settings` is what a process runs with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from moot.errors import InputError, UnknownName

MAX_TOPIC_CHARS = 20_000

M = TypeVar("M", bound=BaseModel)

Tokens = Annotated[int, Field(ge=1, le=1_000_000)]
Temperature = Annotated[float, Field(ge=0, le=2)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SeatSettings(Strict):
    """Overrides for one seat; what is left out comes from the debate."""

    model: str | None = None
    max_tokens: Tokens | None = None
    temperature: Temperature | None = None


class DebateSettings(Strict):
    """What every format can be told."""

    max_runtime_seconds: int = Field(600, ge=1, le=604_800, description="running time after which nothing new is asked")
    max_total_output_tokens: int = Field(
        8000, ge=1, le=100_000_000, description="tokens that all models together may write"
    )
    max_cost_usd: float | None = Field(None, gt=0, le=1_000_000, description="money that all calls together may cost")
    debater_max_tokens: Tokens = Field(600, description="tokens in one statement")
    judge_max_tokens: Tokens = Field(400, description="tokens in one answer of a judge")
    model_debater: str | None = Field(None, description="model of the debaters")
    model_judge: str | None = Field(None, description="model of the judge")
    seats: dict[str, SeatSettings] = Field(
        default_factory=dict, description="model, max_tokens, temperature of one seat"
    )


class Settings(Strict):
    """What a process runs with; each can be set as MOOT_<NAME>."""

    database_url: str | None = Field(None, description="SQLite file; the platform's data folder when unset")
    data_dir: str | None = Field(None, description="folder for the database and the embedded model's weights")
    call_timeout_seconds: float = Field(120, gt=0, le=3600, description="time for one call of a model, retried once")
    backoff_tries: int = Field(5, ge=0, le=20, description="retries after a network error or rate limit")
    backoff_base_seconds: float = Field(0.5, ge=0, le=60, description="first wait; doubled each time")
    backoff_max_seconds: float = Field(30, ge=0, le=600, description="longest wait, Retry-After included")
    concurrency: int = Field(8, ge=1, le=1000, description="calls at once to one provider")
    lease_seconds: float = Field(15, ge=1, le=3600, description="how long a silent process keeps a debate")
    pulse_seconds: float = Field(0.2, gt=0, le=60, description="how often a process looks for stop and cancel")

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        given = {
            name: environ[f"MOOT_{name.upper()}"] for name in cls.model_fields if environ.get(f"MOOT_{name.upper()}")
        }
        return read(cls, given, "environment variable MOOT_")


def read(model: type[M], given: Mapping[str, Any], what: str = "setting") -> M:
    """Validate, or say in one line what is wrong and what to write instead."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as invalid:
        # A name that is not known explains the one that is missing.
        first = min(invalid.errors(), key=lambda error: error["type"] != "extra_forbidden")
        path = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            inside = f" in {path.rpartition('.')[0]}" if "." in path else ""
            name = str(first["loc"][-1])
            raise UnknownName(f"setting{inside}", name, _names_beside(model, first["loc"])) from None
        value = "" if first["type"] == "missing" else f" (it is {first['input']!r:.80})"
        more = f" {len(invalid.errors()) - 1} more problem(s) follow." if len(invalid.errors()) > 1 else ""
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{what.capitalize()} {path or 'as a whole'}: {message}{value}.{more}") from None


def _names_beside(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The field names that would have been right where the unknown one stands."""
    fields: Mapping[str, Any] = model.model_fields
    for part in loc[:-1]:
        info = fields.get(str(part))
        inner = _model_in(info.annotation) if info is not None else None
        if inner is not None:
            fields = inner.model_fields
    return list(fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
