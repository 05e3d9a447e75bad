from collections.abc import Mapping
from typing import Any

from moot.core.errors import ToolError


async def count_words(arguments: dict[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    text = arguments.get("text")
    if not isinstance(text, str):
        raise ToolError("count-words needs a text.")
    return {"words": len(text.split())}
