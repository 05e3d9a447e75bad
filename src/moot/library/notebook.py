"""Debates in notebooks: a card that follows the debate while it runs. IPython is used where it is, and not needed."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from moot.core.types import Json

if TYPE_CHECKING:
    from moot.library.snapshot import Snapshot
    from moot.library.view import DebateView

_displayed: dict[str, int] = {}  # by debate: the cell whose output has its card already


def kernel() -> Any:
    """The shell of the notebook that this runs in; None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def display(view: DebateView) -> None:
    """Show a card, unless this cell shows it already because it has followed the debate."""
    shell = kernel()
    if shell is None or _displayed.get(view.id) != shell.execution_count:
        import_module("IPython.display").display(_bundle(view), raw=True)


def _bundle(view: DebateView) -> Json:
    return {"text/html": view._repr_html_(), "text/markdown": view._repr_markdown_(), "text/plain": repr(view)}  # pyright: ignore[reportPrivateUsage]


class LiveCard:
    """Shows a debate while it runs: as a card in a notebook, as text where `show` asks for it elsewhere."""

    def __init__(self, show: bool | None = None) -> None:
        """`show` None: only in a notebook."""
        self._shell = None if show is False else kernel()
        self._prints = bool(show) and self._shell is None
        self._handle: Any = None
        self._last: Snapshot | None = None

    @property
    def shows(self) -> bool:
        return self._prints or self._shell is not None

    def update(self, seen: Snapshot) -> None:
        from moot.library.view import DebateView

        if seen is self._last or not self.shows:
            return
        if self._shell is None:
            self._print(seen)
        else:
            bundle = _bundle(DebateView(seen))
            _displayed[seen.debate.id] = self._shell.execution_count
            if self._handle is None:
                self._handle = import_module("IPython.display").display(bundle, raw=True, display_id=True)
            else:
                self._handle.update(bundle, raw=True)
        self._last = seen

    def _print(self, seen: Snapshot) -> None:
        from moot.library.events import Event

        wording, after = seen.wording, self._last.events[-1].seq if self._last and self._last.events else 0
        for event in seen.events:
            made = Event.of(event, seen.debate, wording)
            if event.seq > after and made.public and (made.text or event.turn is not None):
                print(f"{made}\n", flush=True)
