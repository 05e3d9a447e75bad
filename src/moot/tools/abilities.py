"""What not every machine can do. It is tried at first need, once per process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from moot.core.errors import AbilityMissing
from moot.core.types import Ability
from moot.formats import Format

if TYPE_CHECKING:
    from moot.tools.sandbox.diagnosis import Diagnosis

WORDS: Mapping[Ability, str] = {"code": "runs code that models write"}


def _code() -> Diagnosis | None:
    from moot.tools.sandbox import PROCESS  # most processes run no code

    return PROCESS.probed().problem


PROBES: Mapping[Ability, Callable[[], Diagnosis | None]] = {"code": _code}


def has(abilities: Iterable[Ability]) -> tuple[Ability, ...]:
    """Those that this machine has. May take a second."""
    return tuple(each for each in abilities if PROBES[each]() is None)


def refusal(format_: Format) -> AbilityMissing | None:
    """Why debates of a format can't be driven by this process, if they can't. May take a second."""
    for need in format_.needs:
        problem = PROBES[need]()
        if problem is not None:
            what = f"The format {format_.name!r} {WORDS[need]}, and this machine can't do that safely."
            advice = "Choose another format, or have the operator set the sandbox up."
            return AbilityMissing(f"{what} {problem.what} {advice}", fix=problem.fix)
    return None
