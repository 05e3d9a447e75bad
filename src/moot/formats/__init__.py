"""Formats: the rules of one kind of debate each. Built-ins and plug-ins come in through the same entry points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import entry_points

from moot.core.errors import InputError, UnknownName
from moot.core.settings import SeatSettings
from moot.core.types import Debate
from moot.formats.auto import AUTO
from moot.formats.format import Format, Part, problems
from moot.formats.wording import Wording
from moot.reasoning.fence import one_line

__all__ = ["AUTO", "DEFAULT", "Format", "Part", "broken", "get", "installed", "overridden", "wording_of"]

DEFAULT = AUTO  # the format of a debate when neither its request nor the configuration names one
GROUP = "moot.formats"
MAX_PROBLEM_CHARS = 500


def overridden(parts: list[Part], seats: Mapping[str, SeatSettings]) -> list[Part]:
    """The parts with per-seat settings applied. Raises UnknownName for a seat that the format does not have."""
    for seat_id in seats:
        if seat_id not in {part.id for part in parts}:
            raise UnknownName("seat", seat_id, [part.id for part in parts])
    return [_overridden(part, seats[part.id]) if part.id in seats else part for part in parts]


def _overridden(part: Part, own: SeatSettings) -> Part:
    return replace(
        part,
        model=own.model or part.model,
        max_tokens=own.max_tokens or part.max_tokens,
        sampling=own.sampling.over(part.sampling),
    )


@lru_cache(maxsize=1)
def _loaded() -> tuple[Mapping[str, Format], Mapping[str, str]]:
    """Usable formats, and why others can't be used, by name."""
    found: dict[str, Format] = {}
    wrong: dict[str, str] = {}
    # moot's own first: no plug-in takes the place of a format that debates on disk were made with.
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: not entry.value.startswith(f"{GROUP}.")):
        try:
            format_: object = entry.load()
            if not isinstance(format_, Format):
                wrong[entry.name] = f"`{entry.value}` is not a `moot.formats.format.Format`."
                continue
            faults = problems(format_)
        except (Exception, SystemExit) as error:  # one plug-in that can't be imported must not affect the others
            wrong[entry.name] = one_line(f"It can't be imported: {type(error).__name__}: {error}", MAX_PROBLEM_CHARS)
            continue
        if format_.name != entry.name:
            faults.append(f"It calls itself {format_.name!r}; its entry point must have the same name.")
        if entry.name in found:
            wrong[f"{entry.name} ({entry.value})"] = "There is another format of that name; call it something else."
            continue
        if faults:
            wrong[entry.name] = " ".join(faults)
        else:
            found[entry.name] = format_
    return dict(sorted(found.items())), dict(sorted(wrong.items()))


def installed() -> Mapping[str, Format]:
    return _loaded()[0]


def broken() -> Mapping[str, str]:
    """Why formats that are installed can't be used, by name."""
    return _loaded()[1]


def get(name: str) -> Format:
    formats = installed()
    if name in formats:
        return formats[name]
    if name in broken():
        raise InputError(
            f"The format {name!r} is installed, but can't be used. {broken()[name]} Install another version of it."
        )
    raise UnknownName("format", name, formats)


def wording_of(debate: Debate) -> Wording:
    """The words for a debate; its format need not be installed."""
    return Wording.of(debate, installed().get(debate.format))
