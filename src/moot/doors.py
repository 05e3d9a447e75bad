"""Every kind of plug-in."""

from __future__ import annotations

from typing import Any

from moot import formats
from moot.formats.shared import perspectives, roles
from moot.memory import library
from moot.models import embedding, providers
from moot.plugins import Door
from moot.reasoning import voting
from moot.tools import toolbox

DOORS: tuple[Door[Any], ...] = (
    formats.DOOR,
    providers.DOOR,
    embedding.DOOR,
    toolbox.DOOR,
    voting.DOOR,
    perspectives.DOOR,
    roles.DOOR,
    library.DOOR,
)
