"""Runs a module as an ordinary user: `python -m tests.tools.as_user UID MODULE`. Needs root.

Where Python lies in a folder that only root may enter, that folder is replaced, in a mount namespace of our own, by one
that holds nothing but the way to Python.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from moot.tools.sandbox.supervisor import CLONE_NEWNS, MS_BIND, MS_PRIVATE, MS_REC, check, libc, mount


def open_the_way(prefix: Path) -> None:
    private = [each for each in reversed(prefix.parents) if not each.stat().st_mode & 0o001]
    if not private:
        return
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    opened = os.open(prefix, os.O_PATH)
    mount("tmpfs", str(private[0]), "tmpfs", 0, "mode=755")
    prefix.mkdir(parents=True)
    mount(f"/proc/self/fd/{opened}", str(prefix), None, MS_BIND | MS_REC)
    os.close(opened)


def main() -> None:
    user, module = int(sys.argv[1]), sys.argv[2]
    open_the_way(Path(sys.base_prefix))
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.execv(sys.executable, [sys.executable, "-B", "-m", module])


if __name__ == "__main__":
    main()
