"""Lessons and versions over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from tests.runtime.small import a_runtime, run
from tests.runtime.workshop import WORKSHOP
from tests.server.serving import served
from tests.server.test_owners import Person

pytestmark = pytest.mark.slow


def test_lessons_and_versions(tmp_path):
    async def main() -> str:
        async with a_runtime(tmp_path, WORKSHOP) as runtime:
            return (await run(runtime, WORKSHOP)).id

    debate_id = asyncio.run(main())
    with served(tmp_path) as server:
        found = server.get("/v1/lessons").json()["items"]
        assert [each["debate"] for each in found] == [debate_id] * 2
        assert {(each["confirmed"], each["contradicted"], each["quarantined"]) for each in found} == {(1, 0, False)}
        assert server.get("/v1/lessons?q=attempt&limit=1").json()["items"][0]["score"] > 0
        lesson = f"/v1/lessons/{found[0]['id']}"
        assert server.post(f"{lesson}/quarantine", {"on": True}).json()["quarantined"] is True
        assert server.client.delete(lesson).status_code == 200
        assert server.client.delete(lesson).status_code == 404
        assert len(server.get("/v1/lessons").json()["items"]) == 1
        versions = server.get(f"/v1/debates/{debate_id}/versions").json()["items"]
        assert [each["number"] for each in versions] == list(range(1, 8))
        assert {each["code"] for each in versions} == {None}
        (one,) = server.get(f"/v1/debates/{debate_id}/versions?number=1").json()["items"]
        assert (one["code"], one["author"], one["turn"]) == ("given\n", "user", "")
        assert server.get("/v1/debates/ffffffff/versions").status_code == 404
        decider = Person(server, "dan", "decide").client  # it may not read
        refused = decider.post(f"/v1/lessons/{found[1]['id']}/quarantine", json={"on": True})
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (403, "scope-missing")
