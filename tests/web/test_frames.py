"""The measurement of how smoothly text is drawn works. How smoothly, is for `make bench` to say."""

from pathlib import Path

import pytest

from perf import frames


@pytest.mark.slow
def test_frames_are_counted_while_text_comes_in(built: None, tmp_path: Path):
    (row,) = frames.measure(tmp_path, seconds=1)
    assert not row.error
    assert row.value > 0
    assert "characters a second" in row.note
