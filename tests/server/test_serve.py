"""`moot serve` and `moot token` as processes: how they begin, refuse, end, and are killed."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from moot.server.serving import listen
from tests.forking import Piped, run_moot
from tests.server.serving import DEADLINE, STREAM, told, wait_for

pytestmark = pytest.mark.slow

MOOT = str(Path(sys.executable).with_name("moot"))


def environ(folder: Path) -> dict[str, str]:
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    own = {"MOOT_CONFIG": os.devnull, "MOOT_DATABASE_URL": str(folder / "moot.db"), "MOOT_EMBEDDER": "none"}
    return {**keep, **own, "NO_COLOR": "1", "MOOT_MODEL": "sim:", "MOOT_SERVE_RATE": "100000"}


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    done = run_moot(args, environ(folder), folder)
    return subprocess.CompletedProcess([*args], done.code, done.out.decode(), done.err.decode())


class Process:
    """A server of its own process."""

    def __init__(self, folder: Path, *args: str) -> None:
        with (folder / "serve.err").open("ab") as errors:
            self.process = Piped(["serve", "--port", "0", *args], environ(folder), folder, errors=errors)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        line = self.process.stdout.readline() if ready else ""
        found = re.search(r"http://\S+", line)
        assert found, f"{line!r} {(folder / 'serve.err').read_text()}"
        self.url = found[0]
        self.client = httpx2.Client(base_url=self.url, timeout=DEADLINE, verify=False)
        wait_for(self._up, "the server to answer")

    def _up(self) -> bool:
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx2.TransportError:
            return False

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE)
        self.close()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(DEADLINE)
        self.process.close()
        self.client.close()


@contextmanager
def serving(folder: Path, *args: str) -> Iterator[Process]:
    process = Process(folder, *args)
    try:
        yield process
    finally:
        process.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_listens_and_ends_when_told(tmp_path, number):
    with serving(tmp_path) as process:
        assert process.url.startswith("http://127.0.0.1:")
        assert process.client.get("/readyz").status_code == 200
        with process.client.stream("GET", "/v1/stream?newest=true") as response:
            lines = response.iter_lines()
            assert next(lines).startswith("retry:")
            process.process.send_signal(number)
            list(lines)  # the stream ends, too
        assert process.process.wait(DEADLINE) == 0
    said = (tmp_path / "serve.err").read_text()
    assert "Ctrl-C ends it" in said
    assert "Ended." in said
    assert "Traceback" not in said


def test_a_port_that_is_taken(tmp_path):
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        refused = run(tmp_path, "serve", "--port", str(port))
    assert refused.returncode == 2
    assert f"Port {port} on 127.0.0.1 is taken" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--host", "0.0.0.0"], "everyone needs a token"),
        (["--port", "70000"], "serve_port"),
        (["--ceiling", "day_usd"], "name=value"),
        (["--ceiling", "dy_usd=1"], "There is no ceiling 'dy_usd'"),
        (["--ceiling", "day_usd=-1"], "day_usd"),
        (["--port", "x"], "it takes a whole number"),
        (["extra"], "one argument too many"),
    ],
)
def test_what_it_refuses(tmp_path, args, said):
    refused = run(tmp_path, "serve", *args)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_address_that_is_not_ours(tmp_path):
    run(tmp_path, "token", "create", "ann")
    refused = run(tmp_path, "serve", "--host", "192.0.2.1")
    assert refused.returncode == 2
    assert "Can't listen on 192.0.2.1" in refused.stderr


class TestTokenCommand:
    def test_made_shown_once_listed_and_revoked(self, tmp_path):
        made = run(tmp_path, "token", "create", "ann", "--scope", "read, run")
        assert made.returncode == 0
        assert re.fullmatch(r"moot_[\w-]{43}\n", made.stdout)
        assert "only time" in made.stderr
        listed = run(tmp_path, "token", "list")
        assert "ann" in listed.stdout
        assert "read, run" in listed.stdout
        assert made.stdout.strip() not in listed.stdout
        again = run(tmp_path, "token", "create", "ann")
        assert again.returncode == 2
        assert "already" in again.stderr
        assert run(tmp_path, "token", "revoke", "ann").returncode == 0
        assert "There are no tokens" in run(tmp_path, "token", "list").stderr

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (["create"], "moot token create NAME"),
            (["create", " "], "needs a name"),
            (["create", "x", "--scope", "reed"], "Did you mean 'read'?"),
            (["create", "x", "--scope", ","], "without scopes"),
            (["create", "x", "--expires", "0d"], "is no length of time"),
            (["revoke", "nobody"], "There is no token 'nobody'"),
            (["rotate", "nobody"], "There is no token 'nobody'"),
            (["list", "ann"], "leave the name out"),
        ],
    )
    def test_what_it_refuses(self, tmp_path, args, said):
        refused = run(tmp_path, "token", *args)
        assert refused.returncode == 2
        assert said in refused.stderr
        assert len(refused.stderr.splitlines()) == 1

    def test_it_opens_a_server_that_others_can_reach(self, tmp_path):
        secret = run(tmp_path, "token", "create", "ann").stdout.strip()
        with serving(tmp_path, "--host", "0.0.0.0") as process:
            assert process.client.get("/v1/debates").status_code == 401
            headers = {"Authorization": f"Bearer {secret}"}
            assert process.client.get("/v1/debates", headers=headers).status_code == 200
            run(tmp_path, "token", "revoke", "ann")
            assert process.client.get("/v1/debates", headers=headers).status_code == 401


SLOW = {"model_debater": "sim:?latency_ms=40&tps=2000&tokens=30", "model_judge": "sim:?latency_ms=40"}


def ask(process: Process, n: int) -> str:
    formats = [("duel", {"turns": 4}), ("classic", {"max_rounds": 3}), ("council", {"members": 3})]
    name, settings = formats[n % 3]
    body = {"topic": f"Question {n}?", "format": name, "settings": {**settings, **SLOW}}
    return process.client.post("/v1/debates", json=body).raise_for_status().json()["id"]


def transcripts(process: Process, ids: list[str]) -> dict[str, tuple[list[str], bool]]:
    found = {}
    for debate_id in ids:
        turns = process.client.get(f"/v1/debates/{debate_id}/turns?limit=1000").json()["items"]
        proof = process.client.get(f"/v1/debates/{debate_id}/proof").json()
        found[debate_id] = [turn["key"] for turn in turns], proof["same"]
    return found


def all_rest(process: Process, ids: list[str]) -> bool:
    listed = process.client.get("/v1/debates?limit=200").json()["items"]
    return all(each["status"] == "completed" for each in listed if each["id"] in ids)


def test_killed_with_fifty_debates_running_all_finish_and_nothing_is_lost_or_doubled(tmp_path):
    with serving(tmp_path) as process:
        ids = [ask(process, n) for n in range(50)]
        watched = ids[0]
        wait_for(lambda: process.client.get(f"/v1/debates/{watched}").json()["turns"] >= 3, "some turns to be stored")
        process.end(signal.SIGKILL)
    with serving(tmp_path) as process:
        before = process.client.get("/v1/debates?limit=200").json()["items"]
        assert {each["id"] for each in before} == set(ids)
        wait_for(lambda: all_rest(process, ids), "all debates to finish")
        after = transcripts(process, ids)
        for keys, same in after.values():
            assert len(keys) == len(set(keys))
            assert same
        # What a watcher reads from the beginning is the stored transcript.
        with process.client.stream("GET", f"/v1/debates/{watched}/events", headers=STREAM) as response:
            seen = [each.data for each in told(response.iter_lines()) if each.event == "message"]
        page = process.client.get(f"/v1/debates/{watched}/events", headers={"Accept": "application/json"}).json()
        assert seen == page["items"]
        undisturbed = [ask(process, n) for n in range(3)]
        wait_for(lambda: all_rest(process, undisturbed), "the undisturbed ones to finish")
        clean = transcripts(process, undisturbed)
    for n, debate_id in enumerate(ids):
        assert set(after[debate_id][0]) == set(clean[undisturbed[n % 3]][0])


def test_ended_in_mid_debate_it_goes_on_where_it_was(tmp_path):
    with serving(tmp_path) as process:
        ids = [ask(process, n) for n in range(5)]
        wait_for(lambda: process.client.get(f"/v1/debates/{ids[0]}").json()["turns"] >= 2, "some turns to be stored")
        assert process.end() == 0
    shown = json.loads(run(tmp_path, "list", "--json").stdout)["debates"]
    assert {each["status"] for each in shown} <= {"running", "completed"}
    with serving(tmp_path) as process:
        wait_for(lambda: all_rest(process, ids), "all debates to finish")
        assert all(same for _, same in transcripts(process, ids).values())


def test_interrupted_debates_go_on_only_after_it_says_what_they_may_cost_and_not_with_no_resume(tmp_path):
    priced = "sim:?latency_ms=200&price_in=10&price_out=10"
    settings = {"model_debater": priced, "model_judge": priced, "max_cost_usd": 3}
    body = {"topic": "Redis?", "format": "duel", "settings": settings}
    with serving(tmp_path) as process:
        made = [process.client.post("/v1/debates", json=body).raise_for_status().json()["id"] for _ in range(2)]

        def begun() -> bool:
            return all(process.client.get(f"/v1/debates/{each}").json()["turns"] for each in made)

        wait_for(begun, "a step of each")
        process.end(signal.SIGKILL)
    errors = tmp_path / "serve.err"
    errors.write_text("")
    with serving(tmp_path, "--no-resume") as process:
        (said,) = re.findall(r"^.*interrupted debate.*$", errors.read_text(), re.MULTILINE)
        assert said.startswith("2 interrupted debates will stay as they are until someone resumes them: at most ")
        most = float(re.findall(r"\$(\S+)\.$", said)[0])
        assert 0 < most < 6  # what both may cost at most, less what they have cost
        for each in made:
            shown = process.client.get(f"/v1/debates/{each}").json()
            assert (shown["status"], shown["interrupted"]) == ("running", True)
        assert "resume" in shown["actions"]
        assert "moot resume" in run(tmp_path, "status").stdout
        resumed = process.client.post(f"/v1/debates/{made[0]}/resume")  # by hand, it goes on
        assert resumed.status_code == 200, resumed.text
        wait_for(lambda: all_rest(process, made[:1]), "the debate that was resumed")
        other = process.client.get(f"/v1/debates/{made[1]}").json()
        assert (other["status"], other["interrupted"]) == ("running", True)
        process.end()
    errors.write_text("")
    with serving(tmp_path) as process:
        assert errors.read_text().count("1 interrupted debate will go on: at most ") == 1
        assert "Start with --no-resume" in errors.read_text()
        wait_for(lambda: all_rest(process, made), "the other")


def test_no_resume_is_for_debates_that_run_here(database_url, tmp_path):
    refused = run(tmp_path, "serve", "--no-resume", "--db", database_url)
    assert refused.returncode == 2
    assert "the workers go on with interrupted debates" in refused.stderr


def test_a_server_says_what_a_debate_may_cost_and_keeps_to_it(tmp_path):
    with serving(tmp_path, "--ceiling", "day_usd=20") as server:
        said = (tmp_path / "serve.err").read_text()
        assert "A debate may cost $5.00; all together a day $20.00 at most." in said
        budget = server.client.get("/v1/session").json()["budget"]
        assert (budget["debate_usd"], budget["left_usd"]) == (5.0, 20.0)
        asked = {"topic": "Tea?", "format": "classic", "settings": {"max_cost_usd": 5.5}}
        refused = server.client.post("/v1/debates", json=asked)
        assert refused.status_code == 422
        made = server.client.post("/v1/debates", json={**asked, "settings": {}, "start": False}).json()
        assert made["settings"]["max_cost_usd"] == 5.0


def test_tokens_expire_are_rotated_and_show_it(tmp_path):
    made = run(tmp_path, "token", "create", "ci", "--scope", "read", "--expires", "90d")
    assert "It ends on " in made.stderr
    old = made.stdout.strip()
    again = run(tmp_path, "token", "rotate", "ci", "--grace", "1h")
    new = again.stdout.strip()
    assert new.startswith("moot_")
    assert new != old
    assert "The old one is valid for another 1h 00m. It ends on " in again.stderr
    with serving(tmp_path) as server:
        for secret, status in ((old, 200), (new, 200), ("moot_x", 401)):
            answer = server.client.get("/v1/debates", headers={"Authorization": f"Bearer {secret}"})
            assert answer.status_code == status
        run(tmp_path, "token", "rotate", "ci")
        for secret in (old, new):
            answer = server.client.get("/v1/debates", headers={"Authorization": f"Bearer {secret}"})
            assert answer.status_code == 401
    listed = run(tmp_path, "token", "list").stdout
    assert "just now" in listed
    assert "ENDS" in listed


def test_status_shows_what_was_spent_today(tmp_path):
    model = "sim:?seed=3&tokens=150&price_in=2&price_out=10"
    assert run(tmp_path, "debate", "Tea?", "--format", "classic", "--model", model).returncode == 0
    spent = json.loads(run(tmp_path, "status", "--json").stdout)["spending"]
    assert spent["cost_usd"] > 0
    (caller,) = spent["callers"]
    assert (caller["name"], caller["cost_usd"]) == (None, spent["cost_usd"])
    assert re.search(r"^today +\$0\.\d+ and [\d,]+ tokens written$", run(tmp_path, "status").stdout, re.MULTILINE)
