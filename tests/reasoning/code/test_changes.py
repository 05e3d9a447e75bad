"""Changes to a repository as engineers write them."""

from __future__ import annotations

import pytest

from moot.reasoning.code.changes import change_in
from moot.reasoning.code.literals import is_literal


@pytest.mark.parametrize("line", ["FILE: {}", "**FILE:** `{}`", "### file {}", "__FILE:__ {}", "FILE: '{}'"])
@pytest.mark.parametrize("path", ["__init__.py", "src/__main__.py", "py.typed_"])
def test_a_path_keeps_its_underscores(line: str, path: str):
    change = change_in(f"{line.format(path)}\n```python\nx = 1\n```")
    assert change.files == ((path, "x = 1\n"),)


@pytest.mark.parametrize("line", ["file:" + "_" * 100_000 + "!", "delete" + " _" * 50_000 + "!"])
def test_a_long_row_of_marks_names_no_file(line: str):
    with pytest.raises(ValueError, match="there is no change in it"):
        change_in(line)


@pytest.mark.parametrize("text", ["'" + "\\" * 99, "'" + "\\" * 100 + "x", '"""' + "\\" * 101])
def test_a_string_of_backslashes_that_is_not_closed_is_no_literal(text: str):
    assert not is_literal(text)
