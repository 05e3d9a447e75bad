"""Importing moot has no side effects and is fast; the version has one source."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import moot
import moot.core.errors

HEAVY = (
    *("pydantic_ai", "openai", "anthropic", "xllamacpp", "httpx2", "genai_prices", "rich", "numpy"),
    *("fastapi", "uvicorn", "nh3", "markdown_it", "prometheus_client", "shtab"),
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


def test_importing_moot_loads_nothing():
    bare = loaded_by("pass")
    assert {name for name in loaded_by("import moot") - bare if not name.startswith("encodings")} == {"moot"}


def test_the_public_names_are_these():
    assert sorted(moot.__all__) == [
        *("AsyncDebate", "AsyncMoot", "Debate", "Event", "Match", "Moot", "Plan"),
        *("__version__", "debate", "debates", "errors", "get", "open", "plan", "search"),
    ]
    for name in moot.__all__:
        assert getattr(moot, name) is not None
    assert set(moot.__all__) <= set(dir(moot))
    with pytest.raises(AttributeError, match="no attribute 'debatte'"):
        _ = moot.debatte  # type: ignore[attr-defined]


def test_using_the_library_loads_no_provider_and_no_renderer():
    assert not loaded_by("import moot; moot.debate; moot.open").intersection(HEAVY)


def test_every_error_is_public():
    own = vars(moot.core.errors).items()
    assert set(moot.errors.__all__) == {name for name, each in own if isinstance(each, type)} - {"Iterable", "datetime"}
    assert moot.errors.InputError is moot.core.errors.InputError


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "moot", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"moot {moot.__version__}\n"
    assert not loaded_by("import moot.__main__").intersection((*HEAVY, "moot.library", "moot.client", "pydantic"))
