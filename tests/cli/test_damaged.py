"""A damaged row of the database spoils its own line of a list, not the list."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from moot.cli.listing import listed
from moot.core.errors import DamagedDebate
from moot.mcp.service import _item
from moot.server import views
from tests.running import an_app, answers_file, new_debate, run_to_rest


@pytest.mark.parametrize(("column", "value"), [("config", "{damaged"), ("outcome", "7")])
def test_a_damaged_row_spoils_one_line(tmp_path: Path, column: str, value: str):
    async def main():
        async with an_app(tmp_path) as app:
            made = [
                await run_to_rest(app, await new_debate(app, answers_file(tmp_path), "classic", max_rounds=1))
                for _ in range(2)
            ]
            with closing(sqlite3.connect(app.settings.database_url or "")) as database:
                database.execute(f"update debate_sessions set {column} = ? where id = ?", (value, made[1].id))
                database.commit()
            page = await app.runtime.store.page(limit=10)
            by_id = {debate.id: debate for debate in page.debates}
            assert set(by_id) == {debate.id for debate in made}
            assert by_id[made[0].id] == made[0]
            assert f"can't be read: {column} in the database is damaged" in by_id[made[1].id].topic
            rows = [str(listed(debate, "", frozenset(), 0.0)) for debate in page.debates]
            assert sum("can't be read" in row for row in rows) == 1
            summaries = [views.summary(app, debate).model_dump_json() for debate in page.debates]
            assert sum("can't be read" in summary for summary in summaries) == 1
            items = [_item(debate).model_dump_json() for debate in page.debates]
            assert sum("can't be read" in item for item in items) == 1
            with pytest.raises(DamagedDebate, match=f"{made[1].short} can't be read: {column} in the database"):
                await app.runtime.store.get(made[1].id)
            remembered = await app.runtime.store.unremembered("", 10)
            assert made[1].id not in {debate.id for debate in remembered}

    asyncio.run(main())


@pytest.mark.parametrize(
    ("damage", "command", "said"),
    [
        ("update debate_turns set data = '{x'", "show", "can't be read: the turn "),
        ("update debate_turns set data = '{\"a\": 1}' where data is not null", "replay", "it was changed, or made by"),
        ("update debate_events set data = '[]'", "show", "can't be read: the event 1 in the database is damaged"),
    ],
)
def test_what_can_not_be_read_is_said_without_the_words_of_a_library(done, damage: str, command: str, said: str):
    done.sql(damage)
    result = done(command, done.ids[0])
    assert result.code == 1
    assert said in result.err
    assert "Unexpected" not in result.err
    assert done("search", "redis").code == 0
    assert done("list").code == 0
