"""Which model each seat gets, and what is recorded of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.running import an_app, new_debate


def test_seats_of_small_models_are_recorded_as_such(tmp_path: Path) -> None:
    async def main() -> dict[str, bool]:
        async with an_app(tmp_path) as app:
            seats = {"b": {"model": "sim:?small=1"}, "judge": {"model": "sim: | local"}}
            made = await new_debate(app, "sim:", "classic", seats=seats)
            stored = await app.runtime.store.get(made.id)
            assert stored.cast == made.cast
            return {seat.id: seat.small for seat in stored.cast}

    assert asyncio.run(main()) == {"a": False, "b": True, "judge": False}
