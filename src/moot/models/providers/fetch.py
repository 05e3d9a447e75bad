"""Gets small JSON documents, such as a server's list of models."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

from moot.models.providers.api import is_loopback

_MAX_BYTES = 4_000_000  # a longer list of models is none


def get_json(url: str, headers: Mapping[str, str], timeout: float = 10.0) -> Any:
    """Raises OSError or ValueError."""
    request = urllib.request.Request(url, headers=dict(headers))
    # No proxy for this machine: it would answer in place of the server.
    proxies = urllib.request.ProxyHandler({}) if is_loopback(url) else urllib.request.ProxyHandler()
    with urllib.request.build_opener(proxies).open(request, timeout=timeout) as answer:
        return json.loads(answer.read(_MAX_BYTES))
