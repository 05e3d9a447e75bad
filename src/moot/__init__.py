"""Models argue a question out under rules; what remains is a decision you can audit, replay and fork.

    import moot

    debate = moot.debate("Should we use Redis or PostgreSQL for caching?")
    print(debate.decision)

docs/python.md describes the library.
"""

__version__ = "0.1.0"

__all__ = [
    "AsyncDebate",
    "AsyncMoot",
    "Debate",
    "Event",
    "Match",
    "Moot",
    "Plan",
    "__version__",
    "debate",
    "debates",
    "errors",
    "get",
    "open",
    "plan",
    "search",
]

TYPE_CHECKING = False  # importing `typing` takes longer than all of this
if TYPE_CHECKING:
    from moot import errors
    from moot.library import (
        AsyncDebate,
        AsyncMoot,
        Debate,
        Event,
        Match,
        Moot,
        Plan,
        debate,
        debates,
        get,
        open,
        plan,
        search,
    )


def __getattr__(name: str) -> object:
    """Import the library when something of it is first used: `import moot` itself stays fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "errors":
        return import_module("moot.errors")
    return getattr(import_module("moot.library"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
