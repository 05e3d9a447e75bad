"""An export that is read back comes in pieces of any size."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Iterable

import pytest

from moot.client.importing import lines_of

CONTENT = b'{"moot": "export"}\n{"complete": 0}\n'


async def pieces(data: bytes, ends: Iterable[int]) -> AsyncIterator[bytes]:
    for start, end in zip((0, *ends), (*ends, len(data)), strict=True):
        yield data[start:end]


@pytest.mark.parametrize("packed", [False, True])
async def test_a_piece_may_be_a_single_byte(packed: bool):
    data = gzip.compress(CONTENT) if packed else CONTENT
    for ends in ([1], [len(data) - 1], range(1, len(data))):
        lines = [line async for some in lines_of(pieces(data, ends), None) for line in some]
        assert b"".join(lines) == CONTENT
