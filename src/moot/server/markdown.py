"""Untrusted Markdown as HTML, without holding up other requests."""

from __future__ import annotations

from moot.records.html import html as html
from moot.runtime.threads import in_thread

SHORT = 500  # takes a few milliseconds at worst, and less time than it takes to hand it to a thread


async def prepare(text: str) -> None:
    """Render a long text in a thread, so that `html` finds it rendered."""
    if len(text) > SHORT:
        await in_thread(lambda: html(text))
