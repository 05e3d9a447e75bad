"""A third party's format looks as good as ours: listed, run, watched, recorded, served, chatted with, and killed.

The suites that hold for every format (forks, injections, replay, simulation) include it by themselves."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot import formats
from moot.runtime.replay import transcript
from tests.forking import Started, start_moot
from tests.formats.examples import INTERVIEW
from tests.running import an_app, answers_file
from tests.server.serving import Served, served

TOPIC = "Is the backup plan sound?"


class Place:
    """A folder with a database and a scripted model that logs its calls."""

    def __init__(self, folder: Path, delay_ms: int = 0) -> None:
        self.folder, self.log = folder, folder / "calls.log"
        self.model = answers_file(folder, INTERVIEW.answers, log=str(self.log), delay_ms=delay_ms)
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
        self.environ = {
            **keep,
            "MOOT_CONFIG": os.devnull,
            "NO_COLOR": "1",
            "MOOT_DATABASE_URL": str(folder / "moot.db"),
        }

    def start(self, *arguments: str) -> Started:
        return start_moot(arguments, self.environ)

    def run(self, *arguments: str) -> str:
        process = self.start(*arguments)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
        return out

    def debate(self) -> tuple[str, ...]:
        return (TOPIC, "--format", "interview", "--model", self.model, "--plain")

    def logged(self) -> list[str]:
        return self.log.read_text().split("\n")[:-1] if self.log.exists() else []

    def done(self) -> list[str]:
        return [line for line in self.logged() if line.startswith("done ")]

    def calls(self) -> list[str]:
        return [line.split("\t")[0] for line in self.logged() if not line.startswith("done ")]

    def state(self) -> tuple[Any, Any, bytes]:
        async def read() -> tuple[Any, Any, bytes]:
            async with an_app(self.folder) as app:
                (debate,) = (await app.runtime.store.page()).debates
                events = [event for event in await app.runtime.store.events(debate.id) if event.type.isupper()]
                turns = await app.runtime.store.turns(debate.id)
                return debate, turns, transcript(debate, events, debate.outcome)

        return asyncio.run(read())


def test_it_came_through_the_door():
    assert formats.installed()["interview"].purpose == "Find the gaps in an answer"
    assert formats.broken() == []
    assert formats.DOOR.package("interview") == "moot-interview 1.0"


@pytest.mark.slow
def test_at_the_terminal_it_has_its_own_words(tmp_path: Path):
    place = Place(tmp_path)
    assert re.search(r"^interview +Find the gaps in an answer", place.run("formats"), re.MULTILINE)
    out = place.run(*place.debate())
    for words in (
        "Passing takes 10 of 20.",
        "Question 1 of 2",
        "Examiner (looks for gaps) takes notes, turn 1",
        "Examiner (looks for gaps) asks, turn 1",
        "Candidate (has an answer) replies, turn 2",
        "Assessor marks the reply, turn 1: 8 of 20, for Candidate (has an answer), has gaps",
        "Candidate was warned: two replies below half",
        "The answer does not hold: 8 of 20 on average.",
        "Ended because all questions were asked.",
    ):
        assert words in out, words
    assert re.search(r"Candidate +has an answer, scripted:", out)
    short = place.state()[0].short
    record = place.run("record", short, "--print")
    assert "## Gaps Found\n\n- The load is not known." in record
    assert "Decided by: the assessor's marks, averaged by code" in record
    assert "Points of 20: 8 for Candidate (has an answer)" in record
    assert "byte for byte" in place.run("replay", short)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    place.run(*place.debate())
    _, turns, words = place.state()
    assert len(turns) == 9
    return words


@pytest.mark.slow
@pytest.mark.parametrize(
    "step", [pytest.param(step, marks=() if step in (1, 5, 9) else pytest.mark.soak) for step in range(1, 10)]
)
def test_killed_at_any_step_and_resumed_it_is_as_if_never_killed(tmp_path: Path, undisturbed: bytes, step: int):
    place = Place(tmp_path, delay_ms=12)
    process = place.start(*place.debate())
    deadline = time.monotonic() + 60
    while True:
        ended = process.poll() is not None
        if len(place.done()) >= step:
            break
        assert not ended, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    debate, before, _ = place.state()
    paid = len(place.calls())
    if debate.status == "running":
        place.run("resume", debate.short, "--plain")
    debate, turns, again = place.state()
    assert debate.status == "completed"
    assert again == undisturbed
    assert max(Counter(turn.key for turn in turns).values()) == 1
    assert not set(place.calls()[paid:]) & {turn.key for turn in before}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("interview"), answers=dict(INTERVIEW.answers)) as server:
        yield server


def test_it_is_served(site: Served):
    listed = {each["name"]: each for each in site.get("/v1/formats").json()["items"]}
    assert listed["interview"]["purpose"] == "Find the gaps in an answer"
    assert listed["interview"]["examples"][0]["topic"] == TOPIC
    done = site.completed(topic=TOPIC, format="interview")
    assert done["vocabulary"]["unit"] == "turn"
    assert done["vocabulary"]["phases"]["reply"] == "Reply"
    assert done["vocabulary"]["chart"] == {"title": "Marks", "most": 20, "unit": ""}
    assert done["progress"] == {"done": 2, "of": 2, "unit": "turn"}
    assert done["outcome"]["ended"] == "all questions were asked"
    events = site.get(f"/v1/debates/{done['id']}/events", headers={"Accept": "application/json"}).json()["items"]
    marked = next(event for event in events if event["type"] == "MARKED")
    assert [note["text"] for note in marked["caption"]["notes"]] == [
        "8 of 20",
        "for Candidate (has an answer)",
        "has gaps",
    ]
    assert [(point["seat"], point["x"], point["y"]) for point in marked["points"]] == [("candidate", 1, 8)]
    warned = next(event for event in events if event["type"] == "WARNED")
    assert warned["caption"]["heading"] == "Candidate was warned: two replies below half"
    record = site.get(f"/v1/debates/{done['id']}/record").json()
    assert record["sections"] == [{"title": "Gaps Found", "items": ["The load is not known."], "event": ""}]
    assert [each["name"] for each in record["perspectives"]] == ["Examiner", "Candidate"]


def test_its_dialect_is_streamed(site: Served):
    done = site.completed(topic=TOPIC, format="interview")
    path = f"/v1/debates/{done['id']}/events?dialect=marks&until=rest"
    with site.client.stream("GET", path, headers={"Accept": "text/event-stream"}) as stream:
        told = [json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: ")]
    assert told == [{"type": "mark", "question": 1, "mark": 8}, {"type": "mark", "question": 2, "mark": 8}]
    refused = site.get(f"/v1/debates/{done['id']}/events?dialect=other")
    assert refused.status_code == 422
    assert "marks" in refused.json()["detail"]


def test_it_keeps_no_ledger_and_says_so(site: Served):
    refused = site.ask(topic=TOPIC, format="interview", settings={"claims": True})
    assert refused.status_code in (400, 422)
    assert "claims" in refused.json()["detail"]
    done = site.completed(topic=TOPIC, format="interview")
    missing = site.get(f"/v1/debates/{done['id']}/claims")
    assert missing.status_code == 404
    assert "interview" in missing.json()["detail"]


def test_it_is_chatted_with(site: Served):
    site.app.settings.defaults["interview"] = {"model_debater": site.model, "model_judge": site.model}
    body = {"model": "moot/interview", "messages": [{"role": "user", "content": TOPIC}]}
    answer = site.post("/v1/chat/completions", body).raise_for_status().json()["choices"][0]["message"]
    assert "The answer does not hold: 8 of 20 on average." in answer["content"]
    assert "Candidate (has an answer) replies, turn 1" in answer["reasoning_content"]
    assert "takes notes" not in answer["reasoning_content"]  # private
