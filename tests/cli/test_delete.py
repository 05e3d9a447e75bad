"""`moot delete`, `moot purge` and `moot quarantine`, with the real executable."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.cli.conftest import Moot, wait_for

pytestmark = pytest.mark.slow

SECRET = "xylophonic"  # a word that only the deleted debate has
TABLES = ("debate_sessions", "debate_turns", "debate_events", "debate_gates", "memories")


def a_debate(moot: Moot, question: str = "Redis or PostgreSQL?", words: str = "{seat} speaks.") -> str:
    model = moot.script({"*/speak/*": words})
    done = moot("debate", question, "--format", "classic", "--rounds", "1", "--model", model, "--json")
    assert done.code == 0, done.err
    return moot.ids[-1]


def rows_of(moot: Moot, debate_id: str) -> dict[str, int]:
    """How many rows of a debate each table has."""
    column = {"debate_sessions": "id"}
    return {
        table: moot.sql(f"select count(*) from {table} where {column.get(table, 'session_id')} = ?", debate_id)[0][0]
        for table in TABLES
    }


@contextmanager
def reading(moot: Moot) -> Iterator[None]:
    """Another process that has the database open: the write-ahead log stays where it is. (Not this process, which loses
    its locks when it reads the file itself.)"""
    program = "import sqlite3, sys; link = sqlite3.connect(sys.argv[1]); "
    program += "link.execute('select count(*) from debate_sessions').fetchone(); print('open', flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(moot.db)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield
    finally:
        process.communicate("\n")


def on_disk(moot: Moot, word: str) -> list[str]:
    """The files of the database in which the word can be read."""
    files = moot.folder.glob("moot.db*")
    return [path.name for path in files if word.encode() in path.read_bytes().lower()]


def test_deleted_text_is_nowhere_in_the_file(moot: Moot):
    kept = a_debate(moot, "Tea or coffee?")
    with reading(moot):
        gone = a_debate(moot, f"Is {SECRET} music better than silence?", f"{{seat}} likes {SECRET} sounds.")
        assert f'"id": "{gone}"' in moot("search", SECRET, "--json").out
        assert "moot.db-wal" in on_disk(moot, SECRET)
        done = moot("delete", gone[:8], "--yes")
        assert (done.code, done.out) == (0, f"Debate {gone[:8]} is deleted.\n")
        assert on_disk(moot, SECRET) == []
    assert set(rows_of(moot, gone).values()) == {0}
    assert moot.ids == [kept]
    assert json.loads(moot("search", SECRET, "--json").out)["found"] == []
    assert moot("replay", kept).code == 0


def test_a_deleted_debate_is_said_to_be_deleted(moot: Moot):
    gone = a_debate(moot)
    fork = moot("fork", gone, "--at", "1/speak/b", "--no-run", "--json")
    assert fork.code == 0, fork.err
    forked = moot.ids[-1]
    moot("delete", gone, "--yes")
    for command in (["show"], ["replay"], ["resume"], ["delete", "--yes"], ["fork"], ["record", "--print"]):
        done = moot(*command, gone[:8])
        assert done.code == 2, done
        assert f"Debate {gone[:8]} was deleted on" in done.err
    assert "There is no debate" in moot("show", "ffffffff").err
    shown = moot("show", forked, "--plain")
    assert shown.code == 0
    assert f"Branched off from {gone[:8]} at 1/speak/b, which was deleted on" in shown.err + shown.out
    assert [each["id"] for each in json.loads(moot("list", "--parent", gone[:8], "--json").out)["debates"]] == [forked]
    moot.script()
    assert moot("resume", forked).code == 0
    assert moot.status(forked) == "completed"


def test_deletion_asks_at_a_terminal_and_nowhere_else(moot: Moot):
    debate = a_debate(moot)
    piped = moot("delete", debate)
    assert piped.code == 2
    assert "can't be undone" in piped.err
    assert "--yes" in piped.err
    for answer, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        terminal = moot.terminal("delete", debate[:8])
        terminal.until("[y/N]")
        assert "Turns, events, questions and memory go with them" in terminal.text
        assert f"{debate[:8]}  completed" in terminal.text
        assert moot.ids == [debate]
        terminal.press(answer)
        assert terminal.end() == code
    assert moot.ids == []


def test_a_debate_that_runs_elsewhere_is_deleted_under_it(moot: Moot):
    running = moot.start("debate", "Is it gone?", "--format", "classic", "--rounds", "1", "--model", moot.held())
    moot.called("1/speak/a")
    debate = moot.ids[-1]
    watching = moot.start("watch", debate, "--json")
    assert watching.stdout.readline()
    assert "under way" in (done := moot("delete", debate, "--yes")).err
    assert done.code == 0
    for process in (running, watching):
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert f"Debate {debate[:8]} was deleted on" in err
        assert "Traceback" not in err
    assert set(rows_of(moot, debate).values()) == {0}
    assert moot("status", "--json").code == 0


def test_a_damaged_debate_can_be_deleted(moot: Moot):
    debate = a_debate(moot)
    moot.sql("update debate_sessions set config = '{damaged' where id = ?", debate)
    done = moot("delete", debate[:8], "--yes")
    assert done.code == 0, done.err
    assert "damaged" in done.err
    assert moot.ids == []


def test_a_purge_takes_what_is_old_and_over(moot: Moot):
    old, young, stopped = (a_debate(moot) for _ in range(3))
    day = 86_400
    moot.sql(f"update debate_sessions set created_at = created_at - {99 * day}")
    moot.sql(f"update debate_sessions set updated_at = updated_at - {91 * day} where id in (?, ?)", old, stopped)
    moot.sql("update debate_sessions set status = 'stopped' where id = ?", stopped)
    dry = moot("purge", "--older-than", "90d", "--dry-run")
    assert (dry.code, dry.out) == (0, "1 debate would be deleted.\n")
    assert old[:8] in dry.err
    assert moot("purge", "--older-than", "90d").code == 2  # not asked
    assert len(moot.ids) == 3
    assert moot("purge", "--older-than", "90d", "--yes").out == "1 debate is deleted.\n"
    assert set(moot.ids) == {young, stopped}
    again = moot("purge", "--older-than", "90d", "--yes")
    assert (again.code, again.out) == (0, "")
    assert "nothing to delete" in again.err
    assert moot("purge", "--older-than", "1w", "--status", "stopped", "--yes").out == "1 debate is deleted.\n"
    assert moot.ids == [young]


def test_a_purge_by_mistake_is_refused(moot: Moot):
    for flags in (["90"], ["-1d"], ["90d", "--status", "gone"]):
        assert moot("purge", "--yes", f"--older-than={flags[0]}", *flags[1:]).code == 2
    running = moot("purge", "--yes", "--older-than", "1d", "--status", "running")
    assert "never old" in running.err
    assert not moot.db.exists()


def test_a_purge_that_is_killed_leaves_nothing_half(moot: Moot):
    template = a_debate(moot)
    many = 400
    with closing(sqlite3.connect(moot.db)) as database, database:
        columns = {
            table: [row[1] for row in database.execute(f"pragma table_info({table})")]
            for table in ("debate_sessions", "debate_turns", "debate_events")
        }
        for n in range(many):
            new = f"{n:08x}-0000-4000-8000-000000000000"
            for table, names in columns.items():
                key = "id" if table == "debate_sessions" else "session_id"
                listed = ", ".join(f'"{name}"' for name in names)
                chosen = ", ".join("?" if name == key else f'"{name}"' for name in names)
                database.execute(
                    f"insert into {table} ({listed}) select {chosen} from {table} where {key} = ?", [new, template]
                )
        database.execute("update debate_sessions set created_at = 1, updated_at = 1")
    purging = moot.start("purge", "--older-than", "1d", "--yes")
    wait_for(lambda: len(moot.ids) <= many - 50 or purging.poll() is not None, "the first deletions")
    purging.send_signal(signal.SIGKILL)
    purging.communicate()
    left = set(moot.ids)
    for table in ("debate_turns", "debate_events"):
        assert {row[0] for row in moot.sql(f"select distinct session_id from {table}")} == left
    buried = {row[0] for row in moot.sql("select id from deleted_debates")}
    assert buried.isdisjoint(left)
    assert len(buried) + len(left) == many + 1
    assert moot("purge", "--older-than", "1d", "--yes").code == 0 or not left
    assert moot.ids == []
    assert moot.sql("select count(*) from debate_turns")[0][0] == 0
    assert moot.sql("select count(*) from deleted_debates")[0][0] == many + 1


def test_a_decision_in_quarantine(moot: Moot):
    debate = a_debate(moot, "Should we use Redis for caching?")
    first = moot("quarantine", debate[:8])
    assert (first.code, first.out) == (
        0,
        f"The decision of debate {debate[:8]} is no longer recalled into new debates.\n",
    )
    found = json.loads(moot("search", "redis", "--json").out)["found"]
    assert [(each["id"], each["quarantined"]) for each in found] == [(debate, True)]
    assert "(in quarantine)" in moot("search", "redis").out
    shown = moot("show", debate, "--plain")
    assert "In quarantine since" in shown.out + shown.err
    begun = moot(
        "debate", "Should we use Redis for caching?", "--format", "classic", "--rounds", "1", "--model", moot.script()
    )
    assert "decided before" not in begun.out + begun.err
    assert moot("quarantine", debate, "--off").code == 0
    assert "(in quarantine)" not in moot("search", "redis").out
