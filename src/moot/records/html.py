"""Untrusted Markdown as sanitised HTML: no raw HTML, no scripts, no images; links are marked `nofollow ugc`."""

from __future__ import annotations

from functools import cache, lru_cache

import nh3
from markdown_it import MarkdownIt

MAX_CHARS = 50_000  # many times the longest statement
_CACHED = 512

TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "code": {"class"}}


@lru_cache(maxsize=_CACHED)
def html(text: str) -> str:
    # The whole text is in `content`.
    rendered = _parser().render(text[:MAX_CHARS])
    return nh3.clean(
        rendered,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow ugc",
    )


@cache
def _parser() -> MarkdownIt:
    # `js-default` knows tables; an image would tell another server about its readers. Brackets and lists within each
    # other cost time for each level.
    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": 20}
    return MarkdownIt("js-default", options).disable("image")
