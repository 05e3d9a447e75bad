"""Logs say which debate and step they are about, and nothing that a model read or wrote, nor a key."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from moot.telemetry import TaskContext, task_context
from moot.telemetry.logs import configure, secrets_in
from tests.forking import constants
from tests.models.wire import Say, Wire
from tests.workers.crew import Crew, new, on, status

CANARIES = {"question": "aardvark-in-the-question", "answer": "beaver-in-the-answer", "key": "sk-civet-in-the-key"}


@pytest.fixture
def restored() -> Iterator[None]:
    """Restore the logging configuration."""
    root, ours = logging.getLogger(), logging.getLogger("moot")
    before = root.handlers[:], root.level, ours.level
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    yield
    root.handlers[:], root.level, ours.level = before
    logging.captureWarnings(False)


def written(form: Any, level: str, write: Any, **more: Any) -> str:
    stream = io.StringIO()
    configure(form, level, stream=stream, **more)
    write()
    return stream.getvalue()


def in_a_step(work: Any) -> None:
    async def main() -> None:
        task_context.set(TaskContext("3f2a91c0-0000", 4, "2/think/b"))
        work()

    asyncio.run(main())


@pytest.mark.usefixtures("restored")
def test_a_line_for_machines_says_where_it_was_written():
    log = logging.getLogger("moot.some")
    (line,) = written("json", "info", lambda: in_a_step(lambda: log.info("Said %d\ntimes.", 3))).splitlines()
    said = json.loads(line)
    assert said.pop("time").endswith("Z")
    assert said == {
        "level": "info",
        "logger": "moot.some",
        "message": "Said 3\ntimes.",
        "debate": "3f2a91c0-0000",
        "epoch": 4,
        "step": "2/think/b",
    }


@pytest.mark.usefixtures("restored")
def test_a_line_for_people_stays_one_line():
    log = logging.getLogger("moot.some")
    text = written("text", "info", lambda: in_a_step(lambda: log.warning("Forged\n2030 INFO moot")))
    assert text.count("\n") == 1
    assert "WARNING moot.some [3f2a91c0-0000/4 2/think/b] Forged 2030 INFO moot" in text
    assert "[" not in written("text", "info", lambda: log.warning("Outside."))


@pytest.mark.usefixtures("restored")
def test_the_level_is_for_moot_alone():
    def write() -> None:
        for name in ("moot.some", "openai"):
            logging.getLogger(name).debug("debug")
            logging.getLogger(name).warning("warning")

    lines = [json.loads(line) for line in written("json", "debug", write).splitlines()]
    assert [(line["logger"], line["level"]) for line in lines] == [
        ("moot.some", "debug"),
        ("moot.some", "warning"),
        ("openai", "warning"),
    ]
    said = written("json", "error", lambda: logging.getLogger("moot.some").warning("warning"))
    assert said == ""


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_error_shows_where_it_happened_and_not_what_it_says(form):
    def write() -> None:
        try:
            raise ValueError("the prompt was: beaver")
        except ValueError:
            logging.getLogger("moot.some").exception("It broke.")

    text = written(form, "info", write)
    assert "beaver" not in text.replace('raise ValueError("the prompt was: beaver")', "").replace(
        'raise ValueError(\\"the prompt was: beaver\\")', ""
    )
    assert "ValueError" in text
    assert "test_logs.py" in text


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_key_that_someone_quotes_is_blotted_out(form):
    environ = {
        "OPENAI_API_KEY": "sk-civet",
        "MOOT_WEBHOOK_SECRET": "ferret-ferret",
        "HOME": "/home/civet",
        "X_KEY": "k",
    }
    assert secrets_in(environ) == {"sk-civet", "ferret-ferret"}
    write = lambda: logging.getLogger("other").error("It was %s and %s.", "sk-civet", "ferret-ferret")  # noqa: E731
    text = written(form, "info", write, secrets=secrets_in(environ))
    assert "It was *** and ***." in text


@pytest.mark.slow
def test_a_worker_logs_no_words_and_no_keys(database_url, tmp_path):
    """At the lowest level, with a provider whose errors quote the request."""
    said = f"{CANARIES['answer']} and {CANARIES['question']}"
    other = f"{CANARIES['answer']} is what I have to say against it"
    quoted = {"error": {"message": f"{CANARIES['key']} asked {CANARIES['question']}"}}
    answers = [Say(said), Say(status=503, error=quoted), Say(other), Say(status=400, error=quoted)]
    environ = {"MOOT_API_KEY": CANARIES["key"], "MOOT_LOG_FORMAT": "json", "MOOT_LOG_LEVEL": "debug"}
    environ |= constants({"moot.models.registry.FIRST_WAIT": 0})
    with Wire(*answers) as wire, Crew(database_url, tmp_path, **environ) as crew:
        worker = crew.worker().ready()

        async def main() -> str:
            async with on(database_url, tmp_path) as app:
                debate = await new(app, f"openai:m@{wire.openai}", max_rounds=1)
                await app.hand_over(debate)
                ended = await status(app, debate.id, "completed", "failed", seconds=60)
                assert (ended.status, ended.turn_count) == ("failed", 2)
                assert CANARIES["question"] in (await app.runtime.store.turns(debate.id))[0].content
                return debate.id

        debate_id = asyncio.run(main())
        worker.send(15)
        assert worker.ended() == 0
    assert {request.headers["authorization"] for request in wire.requests} == {f"Bearer {CANARIES['key']}"}
    lines = [json.loads(line) for line in worker.said.splitlines()]
    assert not [canary for canary in CANARIES.values() if canary in worker.said]
    about = [line for line in lines if debate_id[:8] in line["message"] or line["logger"] == "moot.debate"]
    assert {(line["debate"], line["epoch"]) for line in about} == {(debate_id, 1)}
    steps = [line["step"] for line in about if line["message"].startswith(("Stored", "Step"))]
    assert steps == ["1/speak/a", "1/speak/b", "1/verdict/judge"]
