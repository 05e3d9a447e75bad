"""The Python library: debates from scripts, services and notebooks. docs/python.md describes it.

Everything here is offered by `moot` itself: `moot.debate`, `moot.open` and so on.
"""

from moot.library.blocking import Debate, Moot
from moot.library.events import Event
from moot.library.functions import debate, debates, get, plan, search
from moot.library.handle import AsyncDebate
from moot.library.matches import Match
from moot.library.opening import open
from moot.library.plans import Plan
from moot.library.session import AsyncMoot

__all__ = [
    "AsyncDebate",
    "AsyncMoot",
    "Debate",
    "Event",
    "Match",
    "Moot",
    "Plan",
    "debate",
    "debates",
    "get",
    "open",
    "plan",
    "search",
]
