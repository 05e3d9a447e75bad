"""Formats: the rules of one kind of debate each. Built-ins and plug-ins come in through the same entry points."""

__all__ = ["AUTO", "DEFAULT", "DOOR", "Format", "Part", "broken", "get", "installed", "overridden", "wording_of"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moot.formats.registry import (
        AUTO,
        DEFAULT,
        DOOR,
        Format,
        Part,
        broken,
        get,
        installed,
        overridden,
        wording_of,
    )


def __getattr__(name: str) -> object:
    """Import the formats when something of them is first used: `moot --help` reads only their commands."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from moot.formats import registry

    globals()[name] = found = getattr(registry, name)
    return found
