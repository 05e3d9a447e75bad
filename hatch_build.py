"""Puts the manual page into a built package, written from the commands as they are in it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPage(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sys.path.insert(0, str(Path(self.root) / "src"))
        from moot.cli.manpage import page

        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "moot.1"
        file.write_text(page(), encoding="utf-8")
        build_data["shared_data"][str(file)] = "share/man/man1/moot.1"
