"""Whether the engine of the embedded models is installed. It is an extra of the package: `moot[local]`."""

from __future__ import annotations

import importlib.util

ENGINE = "xllamacpp"
INSTALL = 'pip install "moot[local]"'
MISSING = (
    "Embedded models need an engine that is not part of this installation. "
    f"Run `{INSTALL}`, or choose another model: set a provider's key, or start Ollama."
)


def engine_installed() -> bool:
    return importlib.util.find_spec(ENGINE) is not None
