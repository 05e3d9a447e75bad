"""Loading formats: one that can't be used is named with what is wrong, and the others work."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot import formats
from moot.core.errors import InputError
from tests.plugins import write

DUEL = "from dataclasses import replace\nfrom moot.formats.duel import FORMAT as DUEL\n"
QUARREL = {"moot.formats": {"quarrel": "quarrel:FORMAT"}}


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ("import no_such_module", "It can't be imported from `quarrel:FORMAT`: ModuleNotFoundError"),
        ("FORMAT = 7", "It is not a `moot.formats.format.Format`"),
        (f"{DUEL}FORMAT = DUEL", "It calls itself 'duel'; its entry point must have the same name"),
        (f"{DUEL}FORMAT = replace(DUEL, name='quarrel', summary='')", "`summary` is empty"),
        ("raise SystemExit('no')", "SystemExit: no"),
    ],
)
def test_a_format_that_cannot_be_used_takes_no_other_down(tmp_path: Path, plugged_in, module: str, problem: str):
    plugged_in(write(tmp_path, "moot-quarrel", QUARREL, {"quarrel.py": module}))
    assert "duel" in formats.installed()
    assert "quarrel" not in formats.installed()
    with pytest.raises(InputError, match="'quarrel' is installed, but can't be used") as raised:
        formats.get("quarrel")
    assert problem in str(raised.value)
    assert "Install another version of moot-quarrel" in str(raised.value)
    assert [(each.name, each.package) for each in formats.broken()] == [("quarrel", "moot-quarrel 1.0")]


def test_a_plug_in_does_not_take_the_place_of_a_built_in_format(tmp_path: Path, plugged_in):
    entries = {"moot.formats": {"duel": "other_duel:FORMAT"}}
    own = formats.get("duel")
    plugged_in(write(tmp_path, "moot-other", entries, {"other_duel.py": f"{DUEL}FORMAT = replace(DUEL, summary='X')"}))
    assert formats.get("duel") is own
    (problem,) = formats.broken()
    assert "Both moot 0.1.0 and moot-other 1.0 bring a format of that name" in problem.text


def test_of_two_plug_ins_with_one_name_neither_is_used(tmp_path: Path, plugged_in):
    for name in ("one", "two"):
        entries = {"moot.formats": {"quarrel": f"quarrel_{name}:FORMAT"}}
        module = f"{DUEL}FORMAT = replace(DUEL, name='quarrel')"
        plugged_in(write(tmp_path / name, f"moot-{name}", entries, {f"quarrel_{name}.py": module}))
    assert "quarrel" not in formats.installed()
    with pytest.raises(InputError, match=r"moot-(one|two) 1\.0 and moot-(one|two) 1\.0 each bring a format"):
        formats.get("quarrel")
