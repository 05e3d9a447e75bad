"""Deleting, purging, exporting, importing and quarantine over HTTP, with the real server on a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import h11
import httpx2
import pytest

from moot.app import App
from moot.runtime import retention
from moot.server.live import Channels
from moot.store.sqlite import SqliteStore
from tests.running import Held, an_app, new_debate, run_to_rest
from tests.server.serving import Served, served, wait_for, watching
from tests.server.test_debates import problem
from tests.server.test_security import token

pytestmark = pytest.mark.slow

SHORT = {"max_rounds": 1}


def delete(server: Served, debate_id: str, **headers: str):
    return server.client.delete(f"/v1/debates/{debate_id}", headers=headers)


class TestDelete:
    def test_a_deleted_debate_is_gone_and_says_so(self, server: Served):
        made = server.completed(settings=SHORT)
        fork = server.post(f"/v1/debates/{made['id']}/fork", {"at": "1/speak/b", "start": False}).json()
        assert "delete" in made["actions"]
        gone = delete(server, made["id"][:13])
        assert gone.status_code == 200
        assert (gone.json()["id"], gone.json()["deleted_by"]) == (made["id"], made["initiated_by"])
        for path in ("", "/turns", "/events", "/record", "/gates"):
            said = problem(server.get(f"/v1/debates/{made['id']}{path}"), 410, "deleted")
            assert f"Debate {made['id'][:8]} was deleted on" in said["detail"]
        problem(server.get(f"/v1/debates/{made['id'][:8]}"), 410, "deleted")
        problem(delete(server, made["id"]), 410, "deleted")
        problem(server.post(f"/v1/debates/{made['id']}/resume"), 410, "deleted")
        problem(server.get(f"/v1/stream?debates={made['id']}"), 410, "deleted")
        assert server.debate(fork["id"])["parent"] == made["id"]
        forks = server.get("/v1/debates", params={"parent": made["id"]}).json()["items"]
        assert [each["id"] for each in forks] == [fork["id"]]
        assert server.post(f"/v1/debates/{fork['id']}/start").status_code == 200
        assert server.rested(fork["id"])["status"] == "completed"

    def test_only_the_version_that_was_seen_is_deleted(self, server: Served):
        made = server.completed(settings=SHORT)
        seen = server.get(f"/v1/debates/{made['id']}").headers["etag"]
        server.post(f"/v1/debates/{made['id']}/rate", {"rating": 5})
        problem(delete(server, made["id"], **{"If-Match": seen}), 412, "stale")
        now = server.get(f"/v1/debates/{made['id']}").headers["etag"]
        assert delete(server, made["id"], **{"If-Match": now}).status_code == 200

    def test_a_repeated_request_does_not_bring_it_back(self, server: Served):
        key = {"Idempotency-Key": "again and again"}
        made = server.ask(headers=key, settings=SHORT).json()
        server.rested(made["id"])
        delete(server, made["id"])
        problem(server.ask(headers=key, settings=SHORT), 410, "deleted")
        problem(server.get(f"/v1/debates/{made['id']}"), 410, "deleted")

    def test_live_streams_of_it_end(self, tmp_path):
        held = Held(tmp_path)
        with served(tmp_path) as server:
            models = {"model_debater": held.model, "model_judge": held.model}
            made = server.made(settings={**SHORT, **models})
            wait_for(lambda: held.calls, "a call")
            path = f"/v1/debates/{made['id']}/events"
            with watching(server, path) as one, watching(server, f"/v1/stream?debates={made['id']}") as many:
                assert next(one).event == "message"
                assert next(many).event == "message"
                assert delete(server, made["id"]).status_code == 200
                last = list(one)[-1]
                assert (last.event, last.data["debate"], last.data["deleted"]) == ("end", made["id"], True)
                ended = next(each for each in many if each.event == "end")
                assert ended.data["deleted"] is True
            wait_for(lambda: not server.app.runtime.driven, "the drive to end")
            problem(server.get(path), 410, "deleted")

    def test_a_chat_about_it_ends_with_the_reason(self, tmp_path):
        held = Held(tmp_path)
        with served(tmp_path, model=held.model) as server:
            asked = {"model": "moot/classic", "messages": [{"role": "user", "content": "Tea?"}], "stream": True}
            with server.client.stream("POST", "/v1/chat/completions", json=asked) as response:
                lines = response.iter_lines()
                assert next(line for line in lines if line.startswith("data:"))
                wait_for(lambda: held.calls, "a call")
                assert delete(server, response.headers["x-moot-debate"]).status_code == 200
                last = [line for line in lines if line.startswith("data:")]
            assert '"code":"deleted"' in last[-2].replace(" ", "")
            assert last[-1] == "data: [DONE]"
            wait_for(lambda: not server.app.runtime.driven, "the drive to end")

    async def test_a_reader_of_old_events_is_not_kept_busy(self, app: App):
        """Events that were there when the reader came are gone when it reads on."""
        made = await run_to_rest(app, await new_debate(app, "sim:", turns=2))
        live = Channels(app.runtime)
        reader = live.join(made, 0, asyncio.Event())
        await app.runtime.delete(made.id, by="ann")
        assert await reader.take() == []
        assert reader.finished(at_rest=False)
        assert reader.channel.deleted
        await live.leave(reader)


class TestPurge:
    def test_what_is_old_and_over_goes(self, tmp_path):
        with served(tmp_path) as server:
            old, young = server.completed(settings=SHORT)["id"], server.completed(settings=SHORT)["id"]
            pending = server.made(start=False)["id"]
            age(server, old, pending, days=100)
            asked = {"older_than_days": 90, "dry_run": True}
            assert server.post("/v1/purge", asked).json() == {"ids": [old], "more": False}
            assert server.debate(old)
            assert server.post("/v1/purge", {"older_than_days": 90}).json() == {"ids": [old], "more": False}
            problem(server.get(f"/v1/debates/{old}"), 410, "deleted")
            assert server.debate(young)
            assert server.post("/v1/purge", {"older_than_days": 90, "statuses": ["pending"]}).json()["ids"] == [pending]
            for wrong in ({}, {"older_than_days": -1}, {"older_than_days": 1, "statuses": ["running"]}):
                problem(server.post("/v1/purge", wrong), 422, "invalid")

    def test_the_server_deletes_by_itself_what_is_too_old(self, tmp_path, caplog):
        with served(tmp_path) as server:
            old, young = server.completed(settings=SHORT)["id"], server.completed(settings=SHORT)["id"]
            stopped = server.made(start=False)["id"]
            age(server, old, stopped, days=31)
        with caplog.at_level("INFO", "moot.retention"), served(tmp_path, retention_days=30) as server:
            wait_for(lambda: server.get(f"/v1/debates/{old}").status_code == 410, "the purge")
            assert "by retention_days" in server.get(f"/v1/debates/{old}").json()["detail"]
            assert server.debate(young)
            assert server.debate(stopped)
        assert "Deleted 1 debates that had ended more than 30 days ago." in caplog.text

    async def test_several_processes_purge_at_once_without_harm(self, tmp_path, app: App):
        async with an_app(tmp_path) as other:
            made = [await run_to_rest(app, await new_debate(app, "sim:", turns=2)) for _ in range(20)]
            soon = app.runtime.now() + 60

            async def all_of(app: App) -> list[str]:
                return [gone.id async for gone in retention.purge(app.runtime, soon, by="ann")]

            first, second = await asyncio.gather(all_of(app), all_of(other))
            assert sorted([*first, *second]) == sorted(debate.id for debate in made)
            assert (await app.runtime.store.page()).debates == []


def age(server: Served, *ids: str, days: float) -> None:
    """As if these had last been changed so long ago."""
    store = server.app.runtime.store
    assert isinstance(store, SqliteStore)
    change = "update debate_sessions set created_at = created_at - ?, updated_at = updated_at - ? where id = ?"
    rows = [(days * 86_400, days * 86_400, debate_id) for debate_id in ids]
    server.in_loop(store._writer.do(lambda connection: connection.executemany(change, rows).rowcount))


class TestExport:
    def test_all_debates_or_some(self, tmp_path):
        with served(tmp_path) as server:
            made = [server.completed(settings=SHORT)["id"] for _ in range(3)]
            everything = server.get("/v1/export").raise_for_status()
            assert everything.headers["content-type"].startswith("application/jsonl")
            some = server.get("/v1/export", params={"debates": f"{made[0][:13]},{made[2]}"})
            problem(server.get("/v1/export?debates=ffffffff"), 404, "unknown-debate")
        for content, complete in ((everything.content, 3), (some.content, 2)):
            assert json.loads(content.splitlines()[-1]) == {"complete": complete}


class TestImport:
    def test_an_export_comes_back_over_http(self, tmp_path):
        with served(tmp_path) as server:
            made = [server.completed(settings=SHORT)["id"] for _ in range(2)]
            proofs = [server.get(f"/v1/debates/{each}/proof").json() for each in made]
            exported = server.get("/v1/export").content
        (tmp_path / "there").mkdir()
        with served(tmp_path / "there") as server:
            done = imports(server, gzip.compress(exported), packed=True)
            assert done == {"new": 2, "same": 0, "refused": 0, "problems": []}
            assert [server.get(f"/v1/debates/{each}/proof").json() for each in made] == proofs
            again = imports(server, exported)
            assert again == {"new": 0, "same": 2, "refused": 0, "problems": []}
            server.client.delete(f"/v1/debates/{made[0]}").raise_for_status()
            gone = imports(server, exported)
            assert (gone["new"], gone["same"], gone["refused"]) == (0, 1, 1)
            assert gone["problems"][0]["id"] == made[0]
            assert "it was deleted here on" in gone["problems"][0]["why"]

    def test_what_is_damaged_or_cut_off_is_named_and_the_rest_is_imported(self, tmp_path):
        with served(tmp_path) as server:
            made = [server.completed(settings=SHORT)["id"] for _ in range(2)]
            lines = server.get("/v1/export").content.splitlines(keepends=True)
        ends = [place for place, line in enumerate(lines) if line.startswith(b'{"end"')]
        (tmp_path / "there").mkdir()
        with served(tmp_path / "there") as server:
            spoiled = [*lines[: ends[0] - 1], b"nonsense\n", *lines[ends[0] :]]
            done = imports(server, b"".join(spoiled))
            assert (done["new"], done["refused"]) == (1, 1)
            assert "can't be read" in done["problems"][0]["why"]
            cut = imports(server, b"".join(lines[: ends[0] + 1]))
            assert (cut["new"], cut["refused"]) == (1, 1)
            assert "ends too early" in cut["problems"][0]["why"]
            assert {each["id"] for each in server.get("/v1/debates").json()["items"]} == set(made)

    def test_what_is_no_export_or_too_large_is_refused(self, tmp_path):
        with served(tmp_path, serve_import_mb=1) as server:
            kind = {"Content-Type": "application/jsonl"}
            for body in (b"", b"nonsense", b'{"moot":"export","version":2}\n', b"\x1f\x8bbroken"):
                refused = problem(server.client.post("/v1/import", content=body, headers=kind), 422, "invalid")
                assert "Nothing was imported" in refused["detail"]
            problem(server.client.post("/v1/import", content=b"x" * 1_000_001, headers=kind), 413, "too-large")
            plain = {"Content-Type": "text/plain"}
            answer = server.client.post("/v1/import", content=b"x", headers=plain)
            problem(answer, 415, "unsupported-media-type")
            header = b'{"moot":"export","version":1,"at":0}\n'
            long = imports(server, gzip.compress(header + b" " * 3_000_000), packed=True)
            assert (long["new"], long["refused"]) == (0, 1)
            assert "it has more than 1 MB" in long["problems"][0]["why"]
            many = imports(server, header + b"{}\n" * 200)
            assert (many["refused"], len(many["problems"])) == (201, 100)

    def test_an_upload_may_take_long_as_long_as_it_goes_on(self, tmp_path):
        with served(tmp_path) as server:
            server.completed(settings=SHORT)
            exported = server.get("/v1/export").content
            kind = {"Content-Type": "application/jsonl"}
            connections = server.server.connections

            def uploading() -> Any:
                return next((each for each in connections._open if each._uploads), None)

            def steadily() -> Iterator[bytes]:
                yield exported[:100]
                connection = wait_for(uploading, "the upload to begin")
                for place in range(100, len(exported), 1000):
                    before = connection._since
                    yield exported[place : place + 1000]
                    wait_for(lambda before=before: connection._since > before, "its time to begin anew")

            answer = server.client.post("/v1/import", content=steadily(), headers=kind)
            assert (answer.status_code, answer.json()["same"]) == (200, 1), answer.text

            def half() -> Iterator[bytes]:
                yield exported[:100]
                connection = wait_for(uploading, "the upload to begin")
                server.loop.call_soon_threadsafe(lambda: connection.look(connection._since + 61))
                wait_for(lambda: connection not in connections._open, "the connection to be closed")

            with suppress(httpx2.HTTPError):
                problem(server.client.post("/v1/import", content=half(), headers=kind), 408, "too-slow")

    def test_a_token_that_is_revoked_ends_it(self, tmp_path):
        with served(tmp_path, host="0.0.0.0", serve_heartbeat_seconds=0.05) as server:
            admin, runner = token(server, "boss", "admin"), token(server, "ann", "read", "run", "decide")
            kind = {"Content-Type": "application/jsonl"}
            problem(server.client.post("/v1/import", content=b"x", headers=kind), 401, "token-needed")
            answer = server.client.post("/v1/import", content=b"x", headers={**kind, **runner})
            problem(answer, 403, "scope-missing")
            store, connections = server.app.runtime.store, server.server.connections._open
            (kept,) = [each for each in server.in_loop(store.tokens()) if each.name == "boss"]

            def revoked() -> Iterator[bytes]:
                yield b'{"moot":"export","version":1,"at":0}\n'
                wait_for(lambda: any(each._uploads for each in connections), "the upload to begin")
                server.in_loop(store.drop_token(kept.id))
                while any(each.conn.our_state is h11.SEND_RESPONSE for each in connections):  # it is not answered yet
                    time.sleep(0.01)
                    yield b"{}\n"

            with suppress(httpx2.HTTPError):  # the connection may be closed before all was sent
                answer = server.client.post("/v1/import", content=revoked(), headers={**kind, **admin})
                problem(answer, 401, "token-needed")
            problem(server.get("/v1/export", headers=admin), 401, "token-needed")


def imports(server: Served, content: bytes, *, packed: bool = False) -> dict[str, Any]:
    kind = {"Content-Type": "application/gzip" if packed else "application/jsonl"}
    answer = server.client.post("/v1/import", content=iter([content[:7], content[7:]]), headers=kind)
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestQuarantine:
    def test_a_decision_is_kept_out_of_new_debates(self, tmp_path):
        with served(tmp_path) as server:
            made = server.completed(settings=SHORT)
            tag = server.get(f"/v1/debates/{made['id']}").headers["etag"]
            kept = server.post(f"/v1/debates/{made['id']}/quarantine", {}, headers={"If-Match": tag}).json()
            assert kept["quarantined_by"] == made["initiated_by"]
            assert kept["quarantined_at"] is not None
            problem(server.post(f"/v1/debates/{made['id']}/quarantine", {}, headers={"If-Match": tag}), 412, "stale")
            (hit,) = server.get("/v1/search", params={"q": "redis"}).json()["items"]
            assert hit["quarantined"] is True
            second = server.made(settings={**SHORT, "recall_decisions": True}, start=False)
            assert notices(server, second["id"]) == []
            free = server.post(f"/v1/debates/{made['id']}/quarantine", {"on": False}).json()
            assert free["quarantined_at"] is free["quarantined_by"] is None
            third = server.made(settings={**SHORT, "recall_decisions": True}, start=False)
            (told,) = notices(server, third["id"])
            assert made["id"][:8] in told
            assert f"asked by {made['initiated_by']}" in told
            refused = problem(server.post(f"/v1/debates/{third['id']}/quarantine", {}), 409, "wrong-status")
            assert "only a completed debate can" in refused["detail"]


def notices(server: Served, debate_id: str) -> list[str]:
    found = server.in_loop(server.app.runtime.store.events(debate_id))
    return [event.data["text"] for event in found if event.type == "notice"]
