"""What a format may say about its record, under `outcome["details"]["record"]`. docs/records.md describes it.

A key that is absent means that the rules do not ask for it; an empty list, that they asked and nothing was found."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from moot.errors import ScriptError

Level = Literal["High", "Medium", "Low"]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _capitalized(value: Any) -> Any:
    return value.strip().capitalize() if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class _Told(BaseModel):
    # A key this version does not know is of a later one.
    model_config = ConfigDict(extra="ignore", frozen=True)


class ToldPerspective(_Told):
    name: str
    seat: str = ""  # the seat that argued it, when its name is another
    stance: str = ""
    arguments: Texts | None = None
    trade_offs: Texts | None = None
    recommendation: str = ""  # what it would do in the end


class Told(_Told):
    recommendation: str | None = None
    decided_by: str = ""  # who or what decided, when it was neither a judge nor a vote
    confidence: Annotated[Level | None, BeforeValidator(_capitalized)] = None
    converged: bool | None = None  # False: the rounds were used up before the perspectives agreed
    caveats: Texts | None = None
    agreements: Texts | None = None
    tensions: Texts | None = None
    dissent: Texts | None = None
    perspectives: tuple[ToldPerspective, ...] | None = None


def told_by(format_name: str, details: dict[str, Any]) -> Told:
    """Raises ScriptError when a format says it in another shape."""
    given = details.get("record")
    if given is None:
        return Told()
    try:
        return Told.model_validate(given)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        path = ".".join(["details", "record", *(str(part) for part in first["loc"])])
        raise ScriptError(
            f"The format {format_name!r} says something about its record that can't be read: {path}: {first['msg']}. "
            "This is a bug of the format; docs/records.md has the shape."
        ) from None
