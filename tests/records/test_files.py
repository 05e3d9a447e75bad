"""Files are numbered, complete, and never written over another."""

from __future__ import annotations

import multiprocessing
import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.core.errors import InputError
from moot.records import files
from moot.records.files import SLUG_CHARS, project_folder, slug, write_beside, write_file, write_numbered


def text_of(debate: str, more: str = "") -> str:
    return f"---\nstatus: proposed\ndebate: {debate}\n---\n\n# Decision\n{more}"


def write(folder: Path, title: str, debate: str) -> Path:
    return write_numbered(folder, title, debate, text_of(debate)).path


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Should we use Redis or PostgreSQL?", "should-we-use-redis-or-postgresql"),
        ("Crème brûlée, Straße & Łódź", "creme-brulee-strasse-lodz"),
        ("Что выбрать: щи или борщ?", "chto-vybrat-shchi-ili-borshch"),
        ("Ελληνικά ή Αγγλικά", "ellinika-i-agglika"),
        ("We can't; don’t", "we-cant-dont"),
        ("../../etc/passwd", "etc-passwd"),
        ("word " * 40, "-".join(["word"] * 12)),
        ("用 Redis 还是 PostgreSQL", "redis-postgresql"),
        ("", "decision"),
        ("ﬁne ½ ①", "fine-1-2-1"),
    ],
)
def test_slugs(title, expected):
    assert slug(title) == expected


@settings(max_examples=300)
@given(st.text())
@example("x" * 500)
@example("İ" * 100)
def test_any_slug_is_safe(title):
    made = slug(title)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", made)
    assert len(made) <= SLUG_CHARS


def test_numbers_go_on_from_the_highest(tmp_path):
    folder = tmp_path / "docs" / "decisions"
    assert write(folder, "First?", "d1").name == "0001-first.md"
    for name in ("0007-gone-before.md", "0003-x.md", "2025-12-05-notes.md", "20251205.md", "README.md", "12-x.md"):
        (folder / name).write_text("x")
    assert write(folder, "Second?", "d2").name == "0008-second.md"
    (folder / "9999-last.md").write_text("x")
    assert write(folder, "Third?", "d3").name == "10000-third.md"
    assert write(folder, "Fourth?", "d4").name == "10001-fourth.md"


def test_the_record_of_a_debate_is_written_once(tmp_path):
    first = write_numbered(tmp_path, "Same?", "d1", text_of("d1"))
    again = write_numbered(tmp_path, "Same?", "d1", text_of("d1"))
    assert (first.new, again.new, again.same, again.path) == (True, False, True, first.path)
    first.path.write_text(text_of("d1").replace("proposed", "accepted"))
    edited = write_numbered(tmp_path, "Same?", "d1", text_of("d1"))
    assert (edited.new, edited.same) == (False, False)
    assert "accepted" in first.path.read_text()
    assert os.listdir(tmp_path) == ["0001-same.md"]


def test_a_debate_that_is_only_mentioned_has_no_record_yet(tmp_path):
    (tmp_path / "0001-x.md").write_text("---\ndebate: d2\n---\n\n---\ndebate: d1\n---\n")
    (tmp_path / "0002-y.md").write_text("debate: d1\n")
    assert write(tmp_path, "New?", "d1").name == "0003-new.md"


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_is_never_overwritten(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(files.os, "link", refuse)
    path = tmp_path / "mine.md"
    path.write_text("mine")
    with pytest.raises(InputError, match="ever overwritten"):
        write_file(path, "theirs")
    (tmp_path / "dangling.md").symlink_to(tmp_path / "nowhere.md")
    with pytest.raises(InputError, match="exists already"):
        write_file(tmp_path / "dangling.md", "theirs")
    assert path.read_text() == "mine"
    assert not write_file(path, "mine").new
    assert write_file(tmp_path / "new" / "other.md", "theirs").new
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["dangling.md", "mine.md", "new", "other.md"]


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_one_that_appears_in_the_last_moment_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "mine.md"
    for link in (os.link, refuse):

        def late(source, target, link=link):
            path.write_text("mine")
            return link(source, target)

        path.unlink(missing_ok=True)
        monkeypatch.setattr(files.os, "link", late)
        with pytest.raises(InputError, match="exists already"):
            write_file(path, "theirs")
        assert path.read_text() == "mine"
        assert os.listdir(tmp_path) == ["mine.md"]


def test_drafts_beside_it_are_numbered(tmp_path):
    path = tmp_path / "0001-x.issue.md"
    assert write_beside(path, "a").path == path
    assert not write_beside(path, "a").new
    assert write_beside(path, "b").path.name == "0001-x-2.issue.md"
    assert write_beside(path, "c").path.name == "0001-x-3.issue.md"
    assert path.read_text() == "a"


def test_files_can_be_read_by_others(tmp_path):
    before = os.umask(0o022)
    try:
        assert write(tmp_path, "Mode?", "d1").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


def test_what_is_in_the_way_is_said(tmp_path):
    (tmp_path / "docs").write_text("a file")
    with pytest.raises(InputError, match=r"can't be written: .*--out"):
        write(tmp_path / "docs" / "decisions", "x", "d1")


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        write(tmp_path, "Full?", "d1")
    assert os.listdir(tmp_path) == []


def test_the_project_is_the_nearest_checkout(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert project_folder(inner) == inner or (project_folder(inner) / ".git").exists()
    (tmp_path / ".git").mkdir()
    assert project_folder(inner) == tmp_path
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")  # a worktree
    assert project_folder(inner) == tmp_path / "a"


def take_numbers(folder: str, who: int, count: int) -> None:
    for n in range(count):
        # Half of the titles are the same everywhere, half differ: numbers must differ in both cases.
        write(Path(folder), "Same?" if n % 2 else f"Title {who}", f"debate-{who}-{n}")


@pytest.mark.slow
def test_processes_never_take_the_same_number(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=take_numbers, args=(str(tmp_path), who, 10)) for who in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    names = os.listdir(tmp_path)
    assert sorted(int(name[:4]) for name in names) == list(range(1, 61))
    debates = {re.search(r"debate: (\S+)", (tmp_path / name).read_text())[1] for name in names}
    assert len(debates) == 60


def test_of_many_who_record_one_debate_one_writes(tmp_path):
    made: list[bool] = []

    def write_it() -> None:
        made.append(write_numbered(tmp_path, "One?", "d1", text_of("d1")).new)

    workers = [threading.Thread(target=write_it) for _ in range(12)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (made.count(True), len(made)) == (1, 12)
    assert os.listdir(tmp_path) == ["0001-one.md"]


def test_without_locks_a_name_is_still_never_taken_twice(tmp_path, monkeypatch):
    import fcntl

    def cannot(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", cannot)
    monkeypatch.setattr(files, "_next_number", lambda folder: 1)
    assert [write(tmp_path, "Same?", f"d{n}").name for n in range(3)] == [f"000{n}-same.md" for n in (1, 2, 3)]
