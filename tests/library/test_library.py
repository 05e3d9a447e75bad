"""`import moot`: debates from ordinary code, from asynchronous code, and where a loop runs already."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.library.opening import Opening
from tests.running import Held, answers_file
from tests.server.serving import wait_for

TOPIC = "Redis or PostgreSQL?"


def opened(folder: Path, **config: Any) -> Opening:
    return moot.open(database=folder / "moot.db", config={"embedder": "none", **config}, environ={})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[moot.Moot, moot.Debate]]:
    """A completed debate, in a session that stays open."""
    with opened(tmp_path_factory.mktemp("library")) as m:
        yield m, m.debate(TOPIC, format="duel", model="sim:", turns=2)


class TestWaiting:
    def test_a_debate_in_three_lines(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("MOOT_DATABASE_URL", str(tmp_path / "moot.db"))
        monkeypatch.setenv("MOOT_EMBEDDER", "none")
        debate = moot.debate("Tabs or spaces?", format="duel", model="sim:", turns=2)
        assert debate.status == "completed"
        assert str(debate.outcome.answer) in ("Tabs", "Spaces")
        # The same store as the command line's, and each call stands alone.
        shown = subprocess.run(
            [sys.executable, "-m", "moot", "list", "--json"], capture_output=True, text=True, check=True
        )
        assert [each["id"] for each in json.loads(shown.stdout)["debates"]] == [debate.id]
        assert moot.get(debate.id[:8]).decision == debate.decision
        assert [each.id for each in moot.debates()] == [debate.id]
        assert [match.id for match in moot.search("tabs")] == [debate.id]

    def test_what_a_handle_shows(self, done: tuple[moot.Moot, moot.Debate]):
        _, debate = done
        assert (debate.topic, debate.format, debate.status, debate.cost) == (TOPIC, "duel", "completed", 0.0)
        assert debate.settings["turns"] == 2
        assert debate.outcome.headline == debate.decision
        assert debate.record.title == TOPIC
        assert debate.record.markdown.startswith("---\nstatus: proposed")
        assert debate.transcript.startswith(f"# {TOPIC}")
        assert debate.demonstration
        assert not debate.running
        assert repr(debate).startswith(f"<Debate {debate.id[:8]} (duel, completed, {len(debate.turns)} turns, $0")
        row = debate.turns.records[0]
        assert (row["key"], row["name"], row["failure"]) == (debate.turns[0].key, "Ada", None)
        assert {"content", "model", "tokens_in", "cost_usd", "duration_ms"} <= row.keys()
        assert [turn.key for turn in debate.turns[1:3]] == [each["key"] for each in debate.turns.records[1:3]]

    def test_a_debate_is_forked_compared_replayed_audited_and_rated(self, done: tuple[moot.Moot, moot.Debate]):
        m, debate = done
        fork = debate.fork(at=debate.turns[3].key, guide="Think of who runs it.", judge_model="sim:?seed=4")
        assert fork.status == "completed"
        assert m.compare(debate, fork).relation == debate.compare(fork).relation == "fork"
        assert fork.replay().same
        assert any("Think of who runs it." in str(turn["messages"]) for turn in fork.audit()["turns"])
        assert fork.claims() is None
        assert debate.rate(4).refresh().seen.debate.user_rating == 4

    def test_how_it_turned_out_is_recorded_and_it_is_exported_and_deleted(
        self, tmp_path: Path, done: tuple[moot.Moot, moot.Debate]
    ):
        m, _ = done
        debate = m.debate(TOPIC, format="council", model="sim:?seed=1", depth="vote")
        told = debate.turned_out(False, note="It fell over.").refresh().seen.debate.turned_out
        assert told is not None
        assert (told.right, told.note) == (0, "It fell over.")
        assert debate.turned_out(None).refresh().seen.debate.turned_out is None
        with pytest.raises(moot.errors.InputError, match="from 0 .wrong. to 1 .right., not 2"):
            debate.turned_out(2)
        debate.export(tmp_path / "one.jsonl")
        assert debate.id in (tmp_path / "one.jsonl").read_text()
        debate.delete()
        with pytest.raises(moot.errors.DebateDeleted):
            m.get(debate.id)

    def test_a_person_answers(self, tmp_path: Path):
        with opened(tmp_path) as m:
            debate = m.debate(TOPIC, format="panel", model="sim:", rounds=1)
            assert debate.status == "waiting"
            with pytest.raises(moot.errors.WrongStatus, match=r"waiting: it has no outcome.*\.answer\("):
                _ = debate.outcome
            while debate.status == "waiting":
                choices = debate.asks[0].choices
                debate.answer(choices[0][:3] if choices else "For a team of five.")
            assert debate.status == "completed"

    def test_the_same_call_with_a_key_gives_the_same_debate(self, done: tuple[moot.Moot, moot.Debate]):
        m, _ = done
        one, two = (m.debate(TOPIC, format="classic", model="sim:", rounds=1, key="k") for _ in range(2))
        assert one.id == two.id
        with pytest.raises(moot.errors.KeyReused):
            m.debate("Another?", format="classic", model="sim:", rounds=1, key="k")

    def test_a_plan_says_what_it_would_take(self, tmp_path: Path):
        with opened(tmp_path) as m:
            plan = m.plan(TOPIC, format="duel", model="sim:", turns=2)
        assert (plan.format, plan.settings["turns"], plan.demonstration) == ("duel", 2, True)
        assert plan.estimate.calls > 2
        assert "At full length" in str(plan)
        assert not (tmp_path / "moot.db").exists()

    async def test_it_waits_where_a_loop_runs(self, tmp_path: Path):
        with opened(tmp_path) as m:
            assert m.debate(TOPIC, format="classic", model="sim:", rounds=1).status == "completed"

    def test_threads_don_t_disturb_each_other(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("MOOT_DATABASE_URL", str(tmp_path / "moot.db"))
        monkeypatch.setenv("MOOT_EMBEDDER", "none")
        held = Held(tmp_path)
        with ThreadPoolExecutor() as threads:
            long = threads.submit(moot.debate, TOPIC, format="classic", model=held.model, rounds=1)
            wait_for(lambda: held.calls, "the first call")
            assert moot.debate("Tabs or spaces?", format="classic", model="sim:", rounds=1).status == "completed"
            held.release()
            assert long.result().status == "completed"

    @pytest.mark.slow
    def test_ctrl_c_stops_the_debate(self, tmp_path: Path):
        held = Held(tmp_path)
        heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell may have it ignored
        program = f"{heard}; import moot; moot.debate({TOPIC!r}, format='duel', model={held.model!r})"
        environ = os.environ | {"MOOT_DATABASE_URL": str(tmp_path / "moot.db"), "MOOT_EMBEDDER": "none"}
        process = subprocess.Popen([sys.executable, "-c", program], env=environ, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: held.calls, "the first call")
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]
        with opened(tmp_path) as m:
            debate = m.debates()[0]
            assert debate.status == "stopped"
            held.release()
            assert debate.resume().status == "completed"


class TestAsync:
    async def test_events_come_until_it_rests(self, tmp_path: Path):
        async with opened(tmp_path) as m:
            debate = await m.debate(TOPIC, format="duel", model="sim:", turns=2)
            heard = [event async for event in debate]
            assert not [event async for event in debate]
        assert debate.status == "completed"
        assert [event.seq for event in heard] == list(range(1, len(heard) + 1))
        spoken = next(event for event in heard if event.turn is not None and event.public)
        assert spoken.heading.startswith("Ada")
        assert spoken.text in str(spoken)
        assert [event.type for event in heard if event.type == "VERDICT"] == ["VERDICT"]

    async def test_stop_guide_resume_and_cancel(self, tmp_path: Path):
        held = Held(tmp_path)
        async with opened(tmp_path) as m:
            debate = await m.debate(TOPIC, format="duel", model=held.model, start=False)
            assert (await debate.wait()).status == "pending"
            await debate.start()
            assert debate.running
            await debate.stop(now=True)
            await debate.wait()
            assert debate.status == "stopped"
            with pytest.raises(moot.errors.WrongStatus, match="can't be retried") as refused:
                await debate.retry()
            assert refused.value.__notes__ == ["With Python: debate.resume()"]
            await debate.guide("Think of who runs it.")
            held.release()
            assert (await (await debate.resume()).wait()).status == "completed"
            other = await m.debate(TOPIC, format="duel", model="sim:", start=False)
            assert (await other.cancel()).status == "canceled"
            assert [each.id for each in await m.debates(status="canceled")] == [other.id]

    async def test_a_debate_that_still_runs_at_the_end_can_be_resumed(self, tmp_path: Path):
        held = Held(tmp_path)
        async with opened(tmp_path) as m:
            begun = await m.debate(TOPIC, format="classic", model=held.model, rounds=1)
        held.release()
        async with opened(tmp_path) as m:
            debate = await m.get(begun.id)
            assert debate.status == "stopped"
            assert (await (await debate.resume()).wait()).status == "completed"

    async def test_a_failed_debate_says_why_and_can_be_retried(self, tmp_path: Path):
        broken = answers_file(tmp_path, {"1/speak/a": [{"fail": "unavailable", "message": "It is away."}, "Redis."]})
        async with opened(tmp_path) as m:
            debate = await (await m.debate(TOPIC, format="classic", model=broken, rounds=1)).wait()
            assert debate.status == "failed"
            assert debate.error is not None
            with pytest.raises(moot.errors.WrongStatus, match=r"has no outcome.*try its open steps again") as said:
                _ = debate.outcome
            assert debate.error.message.rstrip(".") in str(said.value)
            assert (await (await debate.retry()).wait()).status == "completed"


class TestOpening:
    def test_a_config_file_and_settings(self, tmp_path: Path):
        file = tmp_path / "mine.yaml"
        file.write_text("model: 'sim:'\nformat: classic\ndefaults: {classic: {max_rounds: 1}}\nembedder: none\n")
        with moot.open(data_dir=tmp_path, config=file, environ={}) as m:
            plan = m.plan(TOPIC)
        assert (plan.format, plan.settings["max_rounds"], plan.cast[0].model) == ("classic", 1, "sim:")

    def test_a_question_that_is_no_text_and_a_private_that_is_no_truth_value_are_refused(self, tmp_path: Path):
        with moot.open(data_dir=tmp_path, environ={}) as m:
            for question in (None, 5):
                with pytest.raises(moot.errors.InputError, match="question must be text"):
                    m.debate(question, model="sim:")  # pyright: ignore[reportArgumentType]
            with pytest.raises(moot.errors.InputError, match="`private` must be True or False"):
                m.debate(TOPIC, model="sim:", private="maybe")  # pyright: ignore[reportArgumentType]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"database": " "}, "database is empty"),
            ({"config": {"modle": "sim:"}}, "no setting 'modle'. Did you mean 'model'"),
            ({"workers": True}, "Workers need PostgreSQL"),
        ],
    )
    def test_what_is_wrong_is_said(self, tmp_path: Path, given: dict[str, Any], said: str):
        with (
            pytest.raises(moot.errors.InputError, match=said),
            moot.open(**{"data_dir": tmp_path, "environ": {}, **given}) as m,
        ):
            m.debates()
        assert not list(tmp_path.iterdir())
