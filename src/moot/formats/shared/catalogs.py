"""Catalogs: YAML files in a package, built in or of a plug-in, each with a list of the same kind of thing."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from pydantic import BaseModel

from moot.core.errors import InputError
from moot.core.settings import read
from moot.yamlfile import parse_mapping

C = TypeVar("C", bound=BaseModel)
T = TypeVar("T")


def catalog_of(package: object, shape: type[C], items: Callable[[C], tuple[T, ...]], called: str) -> tuple[T, ...]:
    """The things in all YAML files of a package. `called`: the key under which a file lists them. Raises InputError."""
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        raise InputError("It is not a package that holds YAML files.")
    found: list[T] = []
    for file in sorted(files(package).iterdir(), key=lambda each: each.name):
        if file.name.endswith(".yaml"):
            given = parse_mapping(file.read_bytes(), Path(file.name), "catalog", f"`{called}:`")
            try:
                found += items(read(shape, given, "field"))
            except InputError as error:
                raise InputError(f"In {file.name}: {error}") from None
    if not found:
        raise InputError(f"The package holds no YAML file with {called}.")
    return tuple(found)
