"""`moot export` and `moot import`, with the real executable, from SQLite to PostgreSQL and back."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from moot.runtime import transfer
from tests.cli.conftest import Moot, Result, wait_for

pytestmark = pytest.mark.slow

ROUNDS = ("--format", "classic", "--rounds", "1")


@pytest.fixture(scope="module")
def source(shared: Moot) -> Moot:
    """Two completed debates, and an export of them."""
    model = shared.script({"*/speak/*": "{seat} says — 你好 \\u0007 “so”."})
    for question in ("Redis or PostgreSQL?", "Tea or coffee?"):
        assert shared("debate", question, *ROUNDS, "--model", model).code == 0
    assert shared("export", "--all", "--out", "all.jsonl").code == 0
    return shared


@pytest.fixture
def two(moot: Moot, source: Moot) -> list[str]:
    """The two debates in a database of one's own."""
    moot.db.write_bytes(source.db.read_bytes())
    return moot.ids


@pytest.fixture
def lines(source: Moot) -> list[str]:
    return (source.folder / "all.jsonl").read_text().splitlines(keepends=True)


def imported(moot: Moot, content: str | bytes, db: str = "other.db") -> Result:
    path = moot.folder / "given.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return moot("import", path.name, "--db", db)


def proof(moot: Moot, debate_id: str, db: str) -> str:
    done = moot("replay", debate_id, "--db", db)
    assert done.code == 0, done
    return re.findall(r"sha256 \w+, [\d,]+ bytes", done.out)[0]


def test_a_copy_replays_to_the_same_bytes_on_either_database(moot: Moot, two: list[str], database_url: str):
    for label in (("rate", two[0], "4"), ("rename", two[0], "Mine"), ("tag", two[0], "kept"), ("pin", two[1])):
        assert moot(*label).code == 0
    out = moot("export", "--all", "--out", "all.jsonl.gz")
    assert (out.code, out.out) == (0, "2 debates written to all.jsonl.gz\n")
    assert (moot.folder / "all.jsonl.gz").stat().st_mode & 0o777 == 0o600, "it is the owner's"
    there = moot("import", "all.jsonl.gz", "--db", database_url)
    assert (there.code, there.out) == (0, "2 debates imported.\n")
    back = moot("export", "--all", "--db", database_url)
    assert back.code == 0
    home = imported(moot, back.out)
    assert (home.code, home.out) == (0, "2 debates imported.\n")
    for debate_id in two:
        assert len({proof(moot, debate_id, db) for db in (str(moot.db), database_url, "other.db")}) == 1
    first, second = (json.loads(moot("list", "--json", "--db", db).out) for db in (str(moot.db), "other.db"))
    assert first == second
    assert [(each["title"], each["tags"], each["pinned"]) for each in second["debates"]] == [
        ("", [], True),
        ("Mine", ["kept"], False),
    ]
    audits = [moot("audit", two[0], "--json", "--db", db).out for db in (str(moot.db), "other.db")]
    assert audits[0] == audits[1]
    # What has come from elsewhere is found by memory, too.
    assert '"found": []' not in moot("search", "redis", "--json", "--db", database_url).out


def test_importing_twice_changes_nothing(moot: Moot, two: list[str], lines: list[str]):
    content = "".join(lines)
    assert imported(moot, content).out == "2 debates imported.\n"
    before = (moot.folder / "other.db").read_bytes()
    again = imported(moot, content)
    assert (again.code, again.out) == (0, "0 debates imported, 2 debates already here.\n")
    assert (moot.folder / "other.db").read_bytes() == before
    into_itself = imported(moot, content, str(moot.db))
    assert into_itself.out == "0 debates imported, 2 debates already here.\n"


def test_another_debate_under_the_same_id_is_left_alone(moot: Moot, two: list[str], lines: list[str]):
    assert moot("rate", two[0], "2").code == 0
    refused = imported(moot, "".join(lines), str(moot.db))
    assert refused.code == 1
    assert refused.out == "0 debates imported, 1 debate already here.\n"
    assert f"Debate {two[0][:8]} was skipped: there is another version of it here" in refused.err
    assert moot.sql("select user_rating from debate_sessions where id = ?", two[0]) == [(2,)]


def test_what_was_deleted_here_does_not_come_back(moot: Moot, two: list[str], lines: list[str]):
    moot("delete", two[0], "--yes")
    refused = imported(moot, "".join(lines), str(moot.db))
    assert refused.code == 1
    assert f"Debate {two[0][:8]} was skipped: it was deleted here on" in refused.err
    assert moot.ids == [two[1]]


def test_a_running_debate_arrives_stopped_and_can_go_on(moot: Moot):
    running = moot.start("debate", "Is it there?", *ROUNDS, "--model", moot.held())
    moot.called("1/speak/a")
    assert moot("export", "--all", "--out", "all.jsonl").code == 0
    assert moot("import", "all.jsonl", "--db", "other.db").code == 0
    assert json.loads(moot("list", "--json", "--db", "other.db").out)["debates"][0]["status"] == "stopped"
    moot.release()
    assert moot("resume", moot.ids[0], "--db", "other.db").code == 0
    running.communicate()
    assert proof(moot, moot.ids[0], "other.db") == proof(moot, moot.ids[0], str(moot.db))


def start_of(lines: list[str], kind: str, nth: int = 0) -> int:
    return [n for n, line in enumerate(lines) if line.startswith(f'{{"{kind}"')][nth]


def cut_in_a_line(lines: list[str]) -> list[str]:
    at = start_of(lines, "debate", 1)
    return [*lines[: at + 2], lines[at + 2][:20]]


def inserted(text: str) -> Callable[[list[str]], list[str]]:
    """Damage: a line of this text among a debate's own."""

    def damage(lines: list[str]) -> list[str]:
        at = start_of(lines, "turn")
        return [*lines[:at], f"{text}\n", *lines[at:]]

    return damage


def another_word(lines: list[str]) -> list[str]:
    at = start_of(lines, "turn")
    return [*lines[:at], lines[at].replace("says", "sagt"), *lines[at + 1 :]]


@pytest.mark.parametrize(
    ("damage", "good", "said"),
    [
        (another_word, 1, "its hash differs"),
        (inserted("\x00\x01 not json"), 1, "can't be read"),
        (inserted("[" * 100_000), 1, "can't be read"),
        (inserted('{"turn": {"key": [[], []]}}'), 1, "can't be read"),
        (inserted('{"turn": "' + "x" * (transfer.MAX_LINE + 10) + '"}'), 1, "is longer than 16 MB"),
        (cut_in_a_line, 1, "the file ends too early"),
        (lambda lines: lines[:-1], 2, "the file ends too early"),
        (lambda lines: lines[: start_of(lines, "end", 1)], 1, "its end is missing"),
        (lambda lines: [*lines, lines[1]], 2, "comes after the end"),
    ],
)
def test_a_damaged_debate_is_named_and_the_others_are_imported(
    moot: Moot, lines: list[str], damage: Callable[[list[str]], list[str]], good: int, said: str
):
    done = imported(moot, "".join(damage(lines)))
    assert done.code == 1
    assert said in done.err
    assert done.out == f"{good} debate{'s' * (good != 1)} imported.\n"
    assert "Traceback" not in done.err
    with closing(sqlite3.connect(moot.folder / "other.db")) as other:
        assert other.execute("select count(*) from debate_sessions").fetchone()[0] == good
        orphans = "select count(*) from debate_turns where session_id not in (select id from debate_sessions)"
        assert other.execute(orphans).fetchone()[0] == 0
    repaired = imported(moot, "".join(lines))
    assert (repaired.code, repaired.out.startswith(f"{2 - good} debate")) == (0, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no export of moot"),
        (b"{}\n", "no export of moot"),
        (b'{"moot": "export", "version": 99}\n', "version 99, this moot reads version 1"),
        (gzip.compress(b'{"moot": "export", "version": 1}\n')[:15], "no export of moot"),
    ],
    ids=["empty", "object", "version", "packed and cut"],
)
def test_what_is_no_export_is_refused_before_anything_is_written(moot: Moot, content: bytes, said: str):
    refused = imported(moot, content)
    assert refused.code == 2
    assert said in refused.err
    assert not (moot.folder / "other.db").exists()


def test_a_packed_file_that_was_cut_off(moot: Moot, lines: list[str]):
    packed = gzip.compress("".join(lines).encode())
    done = imported(moot, packed[: len(packed) * 2 // 3])
    assert done.code == 1
    assert "the file ends too early" in done.err


def test_bad_requests(moot: Moot, two: list[str]):
    assert moot("export", two[0], "--all").code == 2
    assert "can't be written" in moot("export", "--all", "--out", "nowhere/x.jsonl").err
    assert "can't be read" in moot("import", "nowhere.jsonl").err
    assert list(moot.folder.glob(".*jsonl*")) == []


def test_an_import_that_is_killed_leaves_nothing_half(moot: Moot, lines: list[str]):
    at = start_of(lines, "debate", 1)
    one = "".join(lines[1 : at - 1])
    original = json.loads(lines[1])["debate"]["id"]
    many = 300
    # The same debate under many ids; the hash is over the lines before the last.
    parts = [lines[0]]
    for n in range(many):
        debate_id = f"{n:08x}-0000-4000-8000-000000000000"
        body = one.replace(original, debate_id)
        sha = hashlib.sha256(body.encode()).hexdigest()
        parts.append(body + json.dumps({"end": debate_id, "sha256": sha}) + "\n")
    parts.append(f'{{"complete":{many}}}\n')
    path = moot.folder / "many.jsonl"
    path.write_text("".join(parts))
    importing = moot.start("import", path.name, "--db", "other.db")

    def count() -> int:
        try:
            with closing(sqlite3.connect(f"file:{moot.folder}/other.db?mode=ro", uri=True)) as other:
                return other.execute("select count(*) from debate_sessions").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    wait_for(lambda: count() >= 10 or importing.poll() is not None, "the first debates")
    importing.send_signal(signal.SIGKILL)
    importing.communicate()
    there = count()
    with closing(sqlite3.connect(moot.folder / "other.db")) as other:
        for table, column in (("debate_turns", "turn_count"), ("debate_events", "last_seq")):
            found = f"select count(*) from {table} where session_id = s.id"
            half = f"select count(*) from debate_sessions s where {column} <> ({found})"
            assert other.execute(half).fetchone()[0] == 0
    done = moot("import", path.name, "--db", "other.db")
    assert done.code == 0, done.err
    assert f"{many - there:,} debates imported" in done.out
    assert count() == many
