"""Every default, once. Formats extend `DebateSettings`; `Settings` is what a process runs with."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from moot.errors import InputError, UnknownName

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_TOPIC_CHARS = 20_000

M = TypeVar("M", bound=BaseModel)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\n\"']+$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
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
    """What a process runs with, and what it takes for new debates that don't say. `config.py` reads them."""

    format: str = Field("classic", description="format of a new debate")
    model: str | None = Field(None, description="model of all participants; chosen by what is there when unset")
    model_debater: str | None = Field(None, description="model of the debaters")
    model_judge: str | None = Field(None, description="model of the judge")
    defaults: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="for each format, settings of new debates"
    )
    database_url: str | None = Field(None, description="SQLite file; the platform's data folder when unset")
    data_dir: str | None = Field(None, description="folder for the database and the embedded model's weights")
    call_timeout_seconds: float = Field(120, gt=0, le=3600, description="time for one call of a model, retried once")
    backoff_tries: int = Field(5, ge=0, le=20, description="retries after a network error or rate limit")
    backoff_base_seconds: float = Field(0.5, ge=0, le=60, description="first wait; doubled each time")
    backoff_max_seconds: float = Field(30, ge=0, le=600, description="longest wait, Retry-After included")
    concurrency: int = Field(8, ge=1, le=1000, description="calls at once to one provider")
    lease_seconds: float = Field(15, ge=1, le=3600, description="how long a silent process keeps a debate")
    pulse_seconds: float = Field(0.2, gt=0, le=60, description="how often a process looks for stop and cancel")
    trust_projects: list[str] = Field(
        default_factory=list, description="folders below which a project's moot.yaml may set anything"
    )

    @field_validator("trust_projects", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


def read(model: type[M], given: Mapping[str, Any], what: str = "setting", *, strict: bool | None = None) -> M:
    """Validate, or say in one line what is wrong and what to write instead."""
    try:
        return model.model_validate(dict(given), strict=strict)
    except ValidationError as invalid:
        raise explained(model, invalid.errors(), what) from None


def explained(model: type[BaseModel], errors: Sequence[ErrorDetails], what: str = "setting") -> InputError:
    # A name that is not known explains the one that is missing.
    first = min(errors, key=lambda error: error["type"] != "extra_forbidden")
    path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        inside = f" in {path.rpartition('.')[0]}" if "." in path else ""
        name = str(first["loc"][-1])
        return UnknownName(f"setting{inside}", name, _names_beside(model, first["loc"]))
    value = "" if first["type"] == "missing" else f" (it is {reprlib.repr(first['input']):.80})"
    more = f" {len(errors) - 1} more problem(s) follow." if len(errors) > 1 else ""
    message = first["msg"].removeprefix("Value error, ")
    return InputError(f"{what.capitalize()} {path or 'as a whole'}: {message}{value}.{more}")


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
