"""Code that a debate delivers is in the answer of a chat, in the record and in what MCP returns."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.corpus import tasks
from tests.mcp.test_mcp import inside
from tests.server.chat.asking import client, user
from tests.server.serving import served

pytestmark = pytest.mark.slow

TASK = next(iter(tasks()))
MODEL = "sim:?seed=3&skill=1&cases=1&repair=1&red=1"
BLOCK = f"```python\n{TASK.solution.strip()}\n```"


def test_chat_responses_and_record_have_the_code_whole(tmp_path: Path):
    settings = {"X-Moot-Settings": '{"preset": "quick"}'}
    with served(tmp_path, model=MODEL) as server, client(server) as asking:
        made = asking.chat.completions.create(model="moot/forge", messages=user(TASK.spec), extra_headers=settings)
        assert BLOCK in (made.choices[0].message.content or "")
        debate = made.model_extra["moot"]["debate"]
        record = server.get(f"/v1/debates/{debate}/record")
        assert record.json()["decided"]["answer"]["value"] == TASK.solution
        response = asking.responses.create(
            model="moot/forge", input=TASK.spec, extra_headers={**settings, "X-Moot-Debate": debate}
        )
        assert BLOCK in response.output_text


def test_mcp_returns_the_code_and_a_record_that_has_it(tmp_path: Path):
    async def main() -> None:
        async with inside(tmp_path, model=MODEL) as mcp:
            given = {"question": TASK.spec, "format": "forge", "settings": {"preset": "quick"}}
            begun = (await mcp.call_tool("start_debate", given)).structured_content
            asked = {"debate_id": begun["id"], "seconds": 50}
            ended = (await mcp.call_tool("wait_for_debate", asked)).structured_content
            assert ended["status"] == "completed"
            assert ended["answer"] == {"kind": "code", "value": TASK.solution, "options": [], "language": "python"}
            record = await mcp.call_tool("read_record", {"debate_id": begun["id"]})
            assert f"## Code\n\n{BLOCK}" in record.content[0].text

    asyncio.run(main())
