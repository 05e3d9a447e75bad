"""OpenAI's libraries, and what is built on them, use `moot serve` as they use OpenAI: unmodified, each for its job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import PROGRAMS, output
from tests.clients.environment import Clients
from tests.server.test_serve import Process, environ

pytestmark = pytest.mark.slow


def told(clients: Clients, server: Process, folder: Path, program: str, **variables: str) -> Any:
    command = [clients.python, PROGRAMS / program, f"{server.url}/v1", folder]
    return json.loads(output(folder, {**environ(folder), **variables}, *command))


def is_answer(text: str) -> bool:
    """Whether it begins with the sentence that answers "Redis or PostgreSQL?"."""
    return text.lstrip("*# ").startswith(("Redis", "PostgreSQL", "A tie", "Undecided"))


def test_openais_python_library(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_python.py")
    assert {"moot/classic", "moot/council"} <= set(got["models"])
    assert all(is_answer(got[name]) for name in ("chat", "streamed", "response"))
    assert "Debater A" in got["reasoning"]
    assert got["chat_usage"] > 0
    assert got["request_id"]
    assert set(got["parsed"]) == set(got["typed"]) == {"pick", "reasons"}
    assert got["followed"] == got["deltas"] == got["retrieved"] != ""
    assert got["follow_up"].startswith("resp_")


def test_openais_library_for_node(clients: Clients, server: Process, tmp_path: Path):
    if clients.node is None:
        assert not (clients.folder / "node_modules").exists()  # there is no Node on this machine to run it
        return
    program = clients.folder / "openai_node.mjs"  # beside its node_modules, where Node looks for packages
    program.write_text((PROGRAMS / "openai_node.mjs").read_text())
    got = json.loads(output(tmp_path, environ(tmp_path), clients.node, program, f"{server.url}/v1"))
    assert all(is_answer(got[name]) for name in ("chat", "streamed", "response"))
    assert got["deltas"]
    assert (got["first"], got["last"]) == ("response.created", "response.completed")


@pytest.mark.parametrize("library", ["litellm", "langchain", "pydantic_ai"])
def test_a_library_that_builds_on_it(clients: Clients, server: Process, tmp_path: Path, library: str):
    got = told(clients, server, tmp_path, f"openai_{library}.py")
    assert all(is_answer(got[name]) for name in ("chat", "streamed", "response"))
    assert set(got["picked"]) == {"pick"}
    assert got["more"]  # what else it has: the reasoning, tokens, a conversation that goes on


@pytest.mark.soak  # it asks through OpenAI's library
def test_instructor(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_instructor.py")
    assert got["pick"]
    assert 0 <= got["sure"] <= 10


@pytest.mark.soak  # so does this
def test_llm(clients: Clients, server: Process, tmp_path: Path):
    (tmp_path / "extra-openai-models.yaml").write_text(
        f"- model_id: moot\n  model_name: moot/classic\n  api_base: {server.url}/v1\n  api_key_name: moot\n"
    )
    command = (clients.python.with_name("llm"), "-m", "moot", "--key", "unused", "Redis or PostgreSQL?")
    said = output(tmp_path, {**environ(tmp_path), "LLM_USER_PATH": str(tmp_path)}, *command)
    assert is_answer(said)


def test_inspect(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_inspect.py", PYTHONPATH=str(clients.newer))
    assert got["status"] == "success", got["error"]
    assert all(got["answers"])
    assert got["right"] == ["C", "C", "C", "I", "I"]
    assert got["accuracy"] == pytest.approx(0.6)
    debates = server.client.get("/v1/debates", params={"format": "council", "limit": 50}).json()["items"]
    assert len(got["questions"]) == 5
    assert sorted(debate["topic"] for debate in debates) == sorted(got["questions"])  # one each, however often it asked
