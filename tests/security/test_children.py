"""The child processes of servers and workers."""

from __future__ import annotations

import subprocess
from pathlib import Path

from moot.cli.children import COMMAND


def test_no_module_of_the_working_folder_is_imported(tmp_path: Path):
    for name in ("moot", "asyncio", "pickle"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w')\n")
    done = subprocess.run(COMMAND, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert b"OSError" in done.stderr  # its standard input is no socket
    assert not (tmp_path / "imported").exists()
