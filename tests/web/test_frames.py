"""The measurements of how smoothly text is drawn, and of the heap, work. What they find is for `make bench` to say."""

from pathlib import Path

import pytest

from perf import frames, heap

pytestmark = [pytest.mark.slow, pytest.mark.soak]


def test_frames_are_counted_while_text_comes_in(built: None, tmp_path: Path):
    (row,) = frames.measure(tmp_path, seconds=1)
    assert not row.error
    assert row.value > 0
    assert "characters a second" in row.note


def test_the_heap_is_sampled_while_text_comes_in_and_debates_go_by(built: None, tmp_path: Path):
    streaming, walking = heap.measure(tmp_path, seconds=1)
    for row in (streaming, walking):
        assert not row.error
        assert row.value > 0
        assert len(row.details["samples"]) >= 2
    assert "characters were written meanwhile" in streaming.note
