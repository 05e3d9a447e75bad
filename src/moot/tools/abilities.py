"""What not every machine can do. It is tried at first need, once per process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from moot.core.errors import AbilityMissing
from moot.core.types import Ability
from moot.formats import Format

if TYPE_CHECKING:
    from moot.tools.sandbox.diagnosis import Diagnosis
    from moot.tools.sandbox.probe import Standing

WORDS: Mapping[Ability, str] = {"code": "runs code that models write"}


def _code() -> Diagnosis | None:
    from moot.tools.sandbox import PROCESS  # most processes run no code

    return PROCESS.probed().problem


PROBES: Mapping[Ability, Callable[[], Diagnosis | None]] = {"code": _code}


def found() -> Standing | None:
    """What this process knows of its sandbox, if it has tried it."""
    from moot.tools.sandbox import PROCESS

    return PROCESS.standing


def take_over(standing: Standing | None) -> None:
    """Believe what another process of this machine has found, instead of trying again."""
    if standing is not None:
        from moot.tools.sandbox import PROCESS

        PROCESS.standing = standing


def has(abilities: Iterable[Ability]) -> tuple[Ability, ...]:
    """Those that this machine has. May take a second."""
    return tuple(each for each in abilities if PROBES[each]() is None)


def refusal(format_: Format) -> AbilityMissing | None:
    """Why debates of a format can't be driven by this process, if they can't. May take a second."""
    lacking = (_lacking(need, f"The format {format_.name!r}", "Choose another format") for need in format_.needs)
    return next(filter(None, lacking), None)


def check_ability(need: Ability, what: str) -> None:
    """Raises AbilityMissing if this machine can't do what `what` needs. May take a second."""
    missing = _lacking(need, what, "Choose another")
    if missing is not None:
        raise missing


def _lacking(need: Ability, what: str, otherwise: str) -> AbilityMissing | None:
    problem = PROBES[need]()
    if problem is None:
        return None
    said = f"{what} {WORDS[need]}, and this machine can't do that safely. {problem.what}"
    return AbilityMissing(f"{said} {otherwise}, or have the operator set the sandbox up.", fix=problem.fix)
