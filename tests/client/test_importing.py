"""An export that is read back comes in pieces of any size."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Sequence

import pytest

from moot.client.importing import lines_of

CONTENT = b'{"moot": "export"}\n{"complete": 0}\n'


async def pieces(data: bytes, ends: Sequence[int]) -> AsyncIterator[bytes]:
    for start, end in zip((0, *ends), (*ends, len(data)), strict=True):
        yield data[start:end]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ends", [(-1,), (1,), (1, 2, 3), (20, 21, 22)])
def test_a_piece_may_be_a_single_byte(packed: bool, ends: tuple[int, ...]):
    data = gzip.compress(CONTENT) if packed else CONTENT

    async def main() -> list[bytes]:
        cuts = [end % len(data) for end in ends]
        return [line async for some in lines_of(pieces(data, cuts), None) for line in some]

    assert b"".join(asyncio.run(main())) == CONTENT
