"""Whether output is coloured, by the variables that terminal programs share: NO_COLOR, FORCE_COLOR and CLICOLOR."""

from __future__ import annotations

from collections.abc import Mapping


def wanted(environ: Mapping[str, str]) -> bool | None:
    """True: even in a pipe. False: never. None: in a terminal."""
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return False if environ.get("CLICOLOR") == "0" else None
