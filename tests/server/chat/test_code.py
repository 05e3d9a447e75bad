"""Code that a debate delivers is in the answer of a chat and in the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.corpus import tasks
from tests.server.chat.asking import client
from tests.server.serving import served

pytestmark = pytest.mark.slow

TASK = next(iter(tasks()))
MODEL = "sim:?seed=3&skill=1&cases=1&repair=1&red=1"
BLOCK = f"```python\n{TASK.solution.strip()}\n```"


def test_chat_responses_and_record_have_the_code_whole(tmp_path: Path):
    settings = {"X-Moot-Settings": '{"preset": "quick"}'}
    with served(tmp_path, model=MODEL) as server, client(server) as asking:
        made = asking.ask(TASK.spec, model="moot/forge", extra_headers=settings)
        assert BLOCK in (made.choices[0].message.content or "")
        debate = made.model_extra["moot"]["debate"]
        record = server.get(f"/v1/debates/{debate}/record")
        assert record.json()["decided"]["answer"]["value"] == TASK.solution
        assert f"## Code\n\n{BLOCK}" in server.get(f"/v1/debates/{debate}/record?format=markdown").text
        response = asking.responses.create(
            model="moot/forge", input=TASK.spec, extra_headers={**settings, "X-Moot-Debate": debate}
        )
        assert BLOCK in response.output_text
