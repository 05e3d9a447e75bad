"""`moot record`: the real command on real debates."""

from __future__ import annotations

import json

import pytest

from tests.records.making import SECTIONS, headings, split
from tests.records.test_webhook import SECRET, Receiver, verify

pytestmark = pytest.mark.slow


def run(moot, *args: str) -> str:
    done = moot("debate", *args, "--model", moot.script(), "--json")
    assert done.code == 0, done.err
    return moot.ids[-1]


def test_a_record_is_written_into_the_project(moot):
    debate = run(moot, "Redis/PostgreSQL: which? \U0001f600", "--rounds", "1")
    (moot.folder / ".git").mkdir(exist_ok=True)
    done = moot("record", debate[:6])
    assert (done.code, done.out) == (0, "docs/decisions/0001-redis-postgresql-which.md\n")
    document = (moot.folder / done.out.strip()).read_text()
    front, body = split(document)
    assert (front["debate"], front["status"], front["title"]) == (
        debate,
        "proposed",
        "Redis/PostgreSQL: which? \U0001f600",
    )
    assert [name for tag, name in headings(body) if tag == "h2"] == SECTIONS
    printed = moot("record", debate, "--print")
    assert (printed.code, printed.out) == (0, document)

    again = moot("record", debate)
    assert (again.code, again.out, again.err) == (0, done.out, "It was written before.\n")
    (moot.folder / done.out.strip()).write_text(document.replace("proposed", "accepted"))
    edited = moot("record", debate)
    assert (edited.code, edited.out) == (0, done.out)
    assert "left alone" in edited.err
    assert [path.name for path in (moot.folder / "docs" / "decisions").iterdir()] == ["0001-redis-postgresql-which.md"]


def test_json(finished):
    moot, _ = finished
    document = json.loads(moot("record", moot.ids[0], "--json").out)
    assert (document["type"], document["debate"], document["confidence"]) == ("moot.record", moot.ids[0], "Medium")
    assert document["decided"]["scores"] == {"a": 7, "b": 5}
    assert document["issue"] is None
    with_issue = json.loads(moot("record", moot.ids[0], "--json", "--issue").out)
    assert with_issue["issue"]["title"] == "Follow up: Redis or PostgreSQL?"
    assert "## Done when" in with_issue["issue"]["body"]
    assert not (moot.folder / "docs").exists()


def test_out_is_a_file_or_a_folder(finished, tmp_path):
    moot, _ = finished
    debate = moot.ids[0]
    file = tmp_path / "new folder" / "decision.md"
    assert moot("record", debate, "--out", str(file)).out == f"{file}\n"
    before = file.read_bytes()
    assert moot("record", debate, "--out", str(file)).code == 0
    file.write_text("mine")
    refused = moot("record", debate, "--out", str(file))
    assert (refused.code, refused.out) == (2, "")
    assert "ever overwritten" in refused.err
    assert file.read_text() == "mine"
    folder = tmp_path / "adr"
    made = moot("record", debate, "--out", str(folder), "--issue")
    paths = [folder / "0001-redis-or-postgresql.md", folder / "0001-redis-or-postgresql.issue.md"]
    assert made.out.split() == [str(path) for path in paths]
    assert paths[0].read_bytes() == before
    assert "[0001-redis-or-postgresql.md](0001-redis-or-postgresql.md)" in paths[1].read_text()
    assert moot("record", debate, "--print", "--issue").out.startswith("# Follow up: Redis or PostgreSQL?\n")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--out", "x", "--print"), "--out writes a file and --print does not"),
        (("--out", "-"), "--print writes to standard output"),
    ],
)
def test_flags_that_contradict_each_other(finished, args, problem):
    moot, _ = finished
    refused = moot("record", moot.ids[0], *args)
    assert (refused.code, refused.out) == (2, "")
    assert problem in refused.err


def test_a_debate_without_a_decision_is_refused_with_what_to_do(moot):
    moot.script()
    debate = run(moot, "Is it over?", "--rounds", "1")
    made = moot("fork", debate, "--at", "1/speak/b", "--no-run").out.strip()
    refused = moot("record", made)
    assert (refused.code, refused.out) == (2, "")
    assert f"only a completed debate can. It has not begun. Start it with: moot resume {made[:8]}" in refused.err
    moot("cancel", made)
    refused = moot("record", made)
    assert refused.code == 2
    assert "is canceled" in refused.err
    assert not (moot.folder / "docs").exists()


def test_webhook(moot):
    debate = run(moot, "Is it delivered?", "--rounds", "1")
    with Receiver(200) as receiver:
        hook = {"MOOT_WEBHOOK_URL": receiver.url, "MOOT_WEBHOOK_SECRET": SECRET}
        done = moot("record", debate, "--issue", **hook)
        assert done.code == 0, done.err
        assert "Delivered to 127.0.0.1." in done.err
        moot("record", debate, "--print", **hook)
        moot("record", debate, "--json", **hook)
    [(_, headers, body)] = receiver.requests
    document = json.loads(body)
    assert (document["debate"], document["issue"]["title"]) == (debate, "Follow up: Is it delivered?")
    assert verify(headers, body, SECRET.encode())


def test_a_webhook_that_refuses_leaves_the_record_and_says_how_to_go_on(moot):
    debate = run(moot, "Is it delivered?", "--rounds", "1")
    with Receiver(404, 200) as receiver:
        hook = {"MOOT_WEBHOOK_URL": receiver.url, "MOOT_WEBHOOK_SECRET": SECRET}
        failed = moot("record", debate, **hook)
        assert (failed.code, failed.out) == (1, "docs/decisions/0001-is-it-delivered.md\n")
        assert f"send it again with: moot record {debate[:8]}" in failed.err
        assert "t0ps3cret" not in failed.err
        assert moot("record", debate, **hook).code == 0
    ids = [headers["webhook-id"] for _, headers, _ in receiver.requests]
    assert ids[0] == ids[1]


def test_a_webhook_that_cannot_be_used_is_refused_before_anything_is_written(moot):
    debate = run(moot, "Is it delivered?", "--rounds", "1")
    refused = moot("record", debate, MOOT_WEBHOOK_URL="http://example.com/x", MOOT_WEBHOOK_SECRET=SECRET)
    assert (refused.code, refused.out) == (2, "")
    assert not (moot.folder / "docs").exists()
