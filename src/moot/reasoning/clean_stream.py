"""Cleaning a text that arrives in pieces, in time that is linear in its length."""

from __future__ import annotations

from moot.reasoning.fence import clean, hidden

_MAY_BE_JOINED = "0123456789#*\r"  # of ASCII: what begins a keycap, or a line break
_HELD = 64  # characters without a safe place to cut after which nothing more is passed on


class CleanStream:
    """What `feed` has returned so far is always a beginning of `clean(whole).strip()`.

    A last character that a joiner may follow is held back: whether the joiner stays depends on both its neighbours. The
    white space at the end is held back, too: the whole will not have it.
    """

    def __init__(self) -> None:
        self._held = ""
        self._spaces: list[str] = []
        self._begun = self._stuck = False

    def feed(self, text: str) -> str:
        """Take the next piece; return what can be passed on."""
        if self._stuck or not text:
            return ""
        buffer = self._held + text
        cut = _safe_cut(buffer)
        self._stuck = not cut and len(buffer) > _HELD
        self._held = buffer[cut:]
        return self._stripped(clean(buffer[:cut]))

    def _stripped(self, piece: str) -> str:
        if not piece.strip():
            if self._begun:
                self._spaces.append(piece)
            return ""
        before, self._spaces = self._spaces, []
        said = piece.rstrip()
        self._spaces.append(piece[len(said) :])
        begun, self._begun = self._begun, True
        return "".join([*before, said]) if begun else said.lstrip()


def _safe_cut(text: str) -> int:
    """The last place where both sides can be cleaned alone; 0 if there is none near the end."""
    if text[-1].isascii() and text[-1] not in _MAY_BE_JOINED:
        return len(text)
    for at in range(len(text) - 1, max(0, len(text) - 1 - _HELD), -1):
        if not hidden(text[at]) and not hidden(text[at - 1]) and text[at - 1] != "\r":
            return at
    return 0
