"""A model that is asked to approve code can read what it approves, and what was delivered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.corpus import tasks
from tests.mcp.test_mcp import awaited, called, inside, text_of

pytestmark = pytest.mark.slow

TASK = next(iter(tasks()))
WEAK = "sim:?seed=4&skill=.3&cases=1&repair=1&red=1"  # its first versions fail, and are repaired


async def test_code_is_approved_with_its_diff_and_tests_and_delivered_with_its_evidence(tmp_path: Path):
    async with inside(tmp_path) as client:
        settings: dict[str, Any] = {"preset": "quick", "clarify": "judge", "gates": ["proposal"], "hooks": []}
        settings |= {"model_debater": WEAK, "model_judge": WEAK}
        made = await called(client, "start_debate", question=TASK.spec, format="forge", settings=settings)
        standing = await awaited(client, made["id"], "waiting")
        (asked,) = standing["asks"]
        shown = asked["artifacts"]
        assert asked["choices"] == ["approve", "reject"]
        assert TASK.signature.partition("(")[0] in shown["code"]
        assert shown["diff"].startswith("--- V")
        assert any(row["passed"][shown["version"]] for row in shown["matrix"]["rows"])
        assert set(shown["scores"]) == set(shown["matrix"]["versions"])
        versions = f"moot://debates/{made['id']}/versions"
        before = (await client.read_resource(versions)).contents[0].text
        assert f"## {shown['version']}, by Engineer" in before
        assert shown["code"].rstrip() in before
        await called(client, "answer_gate", debate_id=made["id"], choice="approve")
        done = await awaited(client, made["id"])
        assert done["asks"] == []
        assert done["answer"]["kind"] == "code"
        assert done["answer"]["value"].rstrip() in (await client.read_resource(versions)).contents[0].text
        record = await text_of(client, "read_record", debate_id=made["id"])
        assert "Case matrix" in record
        assert "Not checked" in record
