"""Lessons and versions over HTTP."""

from __future__ import annotations

import pytest

from tests.client.test_lessons import taught
from tests.server.serving import served
from tests.server.test_owners import Person

pytestmark = pytest.mark.slow


async def test_lessons_and_versions(tmp_path):
    debate_id = await taught(tmp_path)
    with served(tmp_path) as server:
        found = server.get("/v1/lessons").json()["items"]
        assert [each["debate"] for each in found] == [debate_id] * 2
        assert {(each["confirmed"], each["contradicted"]) for each in found} == {(1, 0)}
        assert server.get("/v1/lessons?q=attempt&limit=1").json()["items"][0]["score"] > 0
        lesson = f"/v1/lessons/{found[0]['id']}"
        assert server.client.delete(lesson).status_code == 200
        assert server.client.delete(lesson).status_code == 404
        assert len(server.get("/v1/lessons").json()["items"]) == 1
        versions = server.get(f"/v1/debates/{debate_id}/versions").json()["items"]
        assert [each["number"] for each in versions] == list(range(1, 8))
        assert {each["code"] for each in versions} == {None}
        (one,) = server.get(f"/v1/debates/{debate_id}/versions?number=1").json()["items"]
        assert (one["code"], one["author"], one["turn"]) == ("given\n", "user", "")
        assert server.get("/v1/debates/ffffffff/versions").status_code == 404
        refused = Person(server, "dan", "decide").request("DELETE", f"/v1/lessons/{found[1]['id']}")
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (403, "scope-missing")
