"""Clients that others' generators make of the API's description do their job against `moot serve`, and linters find
nothing wrong with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import PROGRAMS, output
from tests.clients.environment import Clients
from tests.server.test_serve import Process

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    return output(cwd, {**os.environ, **variables}, *command)


@pytest.fixture(scope="module")
def description(server: Process, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_bytes(server.client.get("/openapi.json").content)
    return path


def openapi_python_client(clients: Clients, description: Path, folder: Path) -> None:
    config = folder / "config.yml"
    config.write_text("content_type_overrides: {application/jsonl: application/octet-stream}\npost_hooks: []\n")
    options = ["--path", description, "--output-path", folder / "moot_client", "--meta", "none", "--config", config]
    run(clients.python, "-m", "openapi_python_client", "generate", *options, "--fail-on-warning", cwd=folder)


def openapi_generator(clients: Clients, description: Path, folder: Path) -> None:
    without = "apiDocs=false,modelDocs=false,apiTests=false,modelTests=false"
    options = ["-g", "python", "--package-name", "moot_client", "-o", folder, "--global-property", without]
    start = "from openapi_generator_cli import cli; cli()"
    quick = "-XX:TieredStopAtLevel=1"  # a short run: optimising it costs more than it saves
    run(clients.python, "-c", start, "generate", "-i", description, *options, cwd=folder, JAVA_OPTS=quick)


@pytest.mark.parametrize(
    ("generate", "program"),
    [
        (openapi_python_client, "api_python_client.py"),
        pytest.param(openapi_generator, "api_openapi_generator.py", marks=pytest.mark.soak),
    ],
)
def test_a_generated_client_works(
    clients: Clients, server: Process, description: Path, tmp_path: Path, generate: Any, program: str
):
    generate(clients, description, tmp_path)
    # No name that is not there, or not yet.
    run(clients.python, "-m", "ruff", "check", "--isolated", "--select", "F82", cwd=tmp_path)
    told = json.loads(run(clients.python, PROGRAMS / program, tmp_path, server.url, cwd=tmp_path))
    debate = server.client.get(f"/v1/debates/{told['id']}").json()
    assert told["status"] == debate["status"] == "completed"
    assert told["headline"] == told["record"] == debate["headline"]
    assert told["answered"] > 0
    assert told["watched"] == told["page"] == list(range(1, debate["last_seq"] + 1))
    assert told["turns"] == debate["turns"]
    assert told["calls"] > 0
    assert told["seats"] == [seat["name"] for seat in debate["seats"]]
    assert told["id"] in told["listed"]
    assert told["problem"] == "urn:moot:problem:unknown-debate"
    assert told["scopes"] == ["read", "run", "decide", "admin"]


def linter(clients: Clients, name: str) -> Path:
    if clients.node is None:
        pytest.skip("there is no Node on this machine")
    return clients.folder / "node_modules" / ".bin" / name


def test_spectral_finds_nothing(clients: Clients, description: Path):
    program = linter(clients, "spectral")
    options = ["--ruleset", HERE / "spectral.yaml", "--fail-severity", "hint", "--format", "json"]
    run(clients.node or "", program, "lint", description, *options, cwd=description.parent)


def test_redocly_finds_nothing(clients: Clients, description: Path):
    program = linter(clients, "redocly")
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    options = ["--extends", "recommended", "--format", "json"]
    found = run(clients.node or "", program, "lint", description, *options, cwd=description.parent, **quiet)
    assert json.loads(found)["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}
