"""OpenAI's libraries, and what is built on them, use `moot serve` as they use OpenAI: unmodified, each for its job."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.environment import Clients
from tests.server.test_serve import Process, environ, serving

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 240


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("openai-clients")) as process:
        yield process


def output(folder: Path, *command: str, **variables: str) -> str:
    done = subprocess.run(
        command,
        env={**environ(folder), **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(clients: Clients, server: Process, folder: Path, program: str, **variables: str) -> Any:
    command = [str(clients.python), str(PROGRAMS / program), f"{server.url}/v1", str(folder)]
    return json.loads(output(folder, *command, **variables))


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
    got = json.loads(output(tmp_path, str(clients.node), str(program), f"{server.url}/v1"))
    assert all(is_answer(got[name]) for name in ("chat", "streamed", "response"))
    assert got["deltas"]
    assert (got["first"], got["last"]) == ("response.created", "response.completed")


def test_litellm(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_litellm.py")
    assert all(is_answer(got[name]) for name in ("chat", "streamed", "response"))
    assert "Debater A" in got["reasoning"]
    assert set(got["picked"]) == {"pick"}


def test_langchain(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_langchain.py")
    assert all(is_answer(got[name]) for name in ("chat", "streamed", "response"))
    assert got["usage"] > 0
    assert set(got["picked"]) == {"pick"}


def test_pydantic_ai(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_pydantic_ai.py")
    assert all(is_answer(got[name]) for name in ("response", "streamed", "chat"))
    assert got["followed"]
    assert got["usage"] > 0
    assert set(got["picked"]) == {"pick"}


def test_instructor(clients: Clients, server: Process, tmp_path: Path):
    got = told(clients, server, tmp_path, "openai_instructor.py")
    assert got["pick"]
    assert 0 <= got["sure"] <= 10


def test_llm(clients: Clients, server: Process, tmp_path: Path):
    (tmp_path / "extra-openai-models.yaml").write_text(
        f"- model_id: moot\n  model_name: moot/classic\n  api_base: {server.url}/v1\n  api_key_name: moot\n"
    )
    program = str(clients.python.with_name("llm"))
    said = output(
        tmp_path, program, "-m", "moot", "--key", "unused", "Redis or PostgreSQL?", LLM_USER_PATH=os.fspath(tmp_path)
    )
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
