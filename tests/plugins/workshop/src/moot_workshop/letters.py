from collections.abc import Sequence

from moot.core.types import Usage
from moot.models.embedding import packed


class Letters:
    """Texts are alike when they have the same letters."""

    name = "letters"

    async def __call__(self, texts: Sequence[str], /) -> tuple[list[bytes], Usage]:
        return [packed(self._vector(text), self.name) for text in texts], Usage()

    def _vector(self, text: str) -> list[float]:
        return [1.0 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
