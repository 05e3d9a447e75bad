"""Settings that name a voting method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from moot.core.types import Json
from moot.reasoning.voting import AUTO, methods


@dataclass(frozen=True)
class _Known:
    """A text that must name a method; the JSON schema lists them."""

    rankings: bool  # voters give whole rankings; False: one choice each

    @property
    def names(self) -> list[str]:
        if self.rankings:
            return [AUTO, *methods()]
        return [name for name, method in methods().items() if method.takes == "choice"]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return {"type": "string", "enum": self.names}

    def _check(self, name: str) -> str:
        if name not in self.names:
            *others, last = self.names
            raise ValueError(f"must be {', '.join(others)} or {last}")
        return name


RankingMethod = Annotated[str, _Known(rankings=True)]
ChoiceMethod = Annotated[str, _Known(rankings=False)]
