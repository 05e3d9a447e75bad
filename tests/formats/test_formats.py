"""Loading formats: one that can't be used is named with what is wrong, and the others work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moot import formats
from moot.core.errors import InputError


class Entry:
    def __init__(self, loaded: object, name: str = "broken") -> None:
        self.name, self.value = name, f"elsewhere:{name.upper()}"
        self._loaded = loaded

    def load(self) -> object:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


@pytest.fixture
def plugged_in(monkeypatch):
    """Install an entry point, before those of moot."""
    real = list(formats.entry_points(group=formats.GROUP))

    def install(entry: Entry) -> None:
        monkeypatch.setattr(formats, "entry_points", lambda group: [entry, *real])
        formats._loaded.cache_clear()

    yield install
    monkeypatch.undo()
    formats._loaded.cache_clear()


@pytest.mark.parametrize(
    ("loaded", "problem"),
    [
        (ModuleNotFoundError("no module named broken"), "no module named broken"),
        (7, "is not a"),
        (formats.get("duel"), "It calls itself 'duel'; its entry point must have the same name"),
    ],
)
def test_a_format_that_cannot_be_loaded_takes_no_other_down(plugged_in, loaded, problem):
    plugged_in(Entry(loaded))
    assert "duel" in formats.installed()
    with pytest.raises(InputError, match=f"can't be used.*{problem}"):
        formats.get("broken")


def test_a_plug_in_does_not_take_the_place_of_a_built_in_format(plugged_in):
    plugged_in(Entry(replace(formats.get("duel"), summary="Something else."), name="duel"))
    assert formats.get("duel").summary != "Something else."
    assert formats.broken() == {
        "duel (elsewhere:DUEL)": "There is another format of that name; call it something else."
    }
