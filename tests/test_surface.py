"""Importing moot has no side effects and is fast; the version has one source."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import moot

HEAVY = (
    *("pydantic_ai", "openai", "anthropic", "xllamacpp", "httpx2", "genai_prices", "rich", "numpy"),
    *("fastapi", "uvicorn", "nh3", "markdown_it"),
)


def loaded_by(statement: str) -> set[str]:
    program = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_app_loads_no_provider_and_no_renderer():
    assert not loaded_by("import moot.app").intersection(HEAVY)


def test_importing_the_core_loads_no_event_loop():
    assert not loaded_by("import moot.core.script, moot.formats.duel").intersection((*HEAVY, "asyncio", "sqlite3"))


def test_the_version_is_that_of_the_package():
    assert moot.__version__ == version("moot")
