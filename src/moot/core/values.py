"""What the nouns are made of: JSON, records, validated values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, StringConstraints

Json = dict[str, Any]
C = TypeVar("C")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[C]) -> type[C]:
    """A keyword-only record that the type checker treats as frozen. Freezing it at run time, too, would make a turn
    four times as slow to build."""
    return dataclass(kw_only=True, slots=True)(cls)


Trimmed = Annotated[str, StringConstraints(strip_whitespace=True)]
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def sha256_of(text: str) -> str:
    """The name of a text wherever it is not repeated."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def storable(text: str) -> str:
    """The text without lone surrogates, which a stream that splits characters can produce, and without NUL, which not
    every database can store."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Frozen(BaseModel):
    """A value that is validated once and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
