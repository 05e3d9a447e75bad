"""How often the right template is among the first three, with and without an embedder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.memory.archive import Archive
from moot.models.embedding import Offline
from moot.store.sqlite import SqliteStore
from moot.types import Embedder

HERE = Path(__file__).parent


def questions(name: str) -> list[dict[str, Any]]:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


def share(name: str, embedder: Embedder | None, folder: Path, top: int = 3) -> float:
    asked = questions(name)

    async def main() -> int:
        store = SqliteStore(folder / "moot.db")
        try:
            archive = Archive(
                lambda: store, lambda: embedder, templates=lambda: None, is_demonstration=lambda debate: False
            )
            hits = 0
            for each in asked:
                recollection, _ = await archive.recall(each["question"], "templates", top)
                assert recollection.by == ("bm25" if embedder is None else f"bm25 + {embedder.name}")
                right = {each["template"], *each.get("also", ())}
                hits += not right.isdisjoint(found.id for found in recollection.found)
            return hits
        finally:
            await store.close()

    return asyncio.run(main()) / len(asked)


def test_by_words_alone(tmp_path):
    assert len(questions("questions.yaml")) >= 60
    assert share("questions.yaml", None, tmp_path) >= 0.9


@pytest.mark.slow
def test_by_words_and_meaning(tmp_path):
    assert share("questions.yaml", Offline(), tmp_path) >= 0.9


@pytest.mark.slow
def test_on_questions_that_nothing_was_tuned_on(tmp_path):
    assert share("unseen.yaml", None, tmp_path) >= 0.85
    assert share("unseen.yaml", Offline(), tmp_path) >= 0.85


@pytest.mark.slow
def test_meaning_helps_to_find_the_very_best(tmp_path):
    for name in ("questions.yaml", "unseen.yaml"):
        assert share(name, Offline(), tmp_path, top=1) > share(name, None, tmp_path, top=1)
