"""How often the right template is among the first three, with and without an embedder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.core.types import Embedder
from moot.memory.archive import Archive
from moot.models.embedding import OfflineEmbedder
from moot.store.sqlite import SqliteStore

HERE = Path(__file__).parent


def questions(name: str) -> list[dict[str, Any]]:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


def shares(name: str, embedder: Embedder | None, folder: Path) -> tuple[float, float]:
    """The shares of questions whose right template comes first, and is among the first three."""
    asked = questions(name)

    async def main() -> list[int]:
        store = SqliteStore(folder / "moot.db")
        try:
            archive = Archive(
                lambda: store, lambda: embedder, templates=lambda: None, is_demonstration=lambda debate: False
            )
            places: list[int] = []
            for each in asked:
                recollection, _ = await archive.recall(each["question"], "templates", 3)
                assert recollection.by == ("bm25" if embedder is None else f"bm25 + {embedder.name}")
                right = {each["template"], *each.get("also", ())}
                found = [recalled.id for recalled in recollection.found]
                places.append(next((at for at, id in enumerate(found) if id in right), len(found)))
            return places
        finally:
            await store.close()

    places = asyncio.run(main())
    return places.count(0) / len(asked), sum(place < 3 for place in places) / len(asked)


def test_by_words_alone(tmp_path):
    assert len(questions("questions.yaml")) >= 60
    assert shares("questions.yaml", None, tmp_path)[1] >= 0.9


@pytest.mark.soak
@pytest.mark.parametrize(("name", "enough"), [("questions.yaml", 0.9), ("unseen.yaml", 0.85)])
def test_meaning_helps_to_find_the_very_best(tmp_path, name: str, enough: float):
    """Also on questions that nothing was tuned on."""
    first_by_words, by_words = shares(name, None, tmp_path)
    first, by_meaning = shares(name, OfflineEmbedder(), tmp_path)
    assert by_words >= enough
    assert by_meaning >= enough
    assert first > first_by_words
