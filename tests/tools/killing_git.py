"""Kills processes with SIGKILL at moments of a snapshot or a delivery, and has another process repeat it:
`python -m tests.tools.killing_git WHAT FOLDER [every]`. Without `every`, one moment of each kind, amid those alike.

A moment is whatever changes something: a folder or a file that is made, renamed, locked or removed, and a command of
git, before it begins and once it runs. A command that runs is killed with its process; one that clones or delivers also
goes on without it. Whatever is left becomes a child of this process, which waits for all of them before the repetition
begins. Prints the moments, and whatever was not as without a kill.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from moot.core.values import Json, sha256_of
from moot.reasoning.code.requests import Deliver, Snapshot
from moot.tools.git.repositories import Repositories
from moot.tools.git.snapshots import Snapshots
from moot.tools.sandbox import PROCESS
from moot.tools.sandbox.supervisor import PR_SET_CHILD_SUBREAPER
from tests.tools.killing import all_gone

SESSION = "3f2a9c41-0000-4000-8000-000000000000"
CODE = "x = 1\n"
PATCH = """\
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x = 1
"""
TEXTS = {sha256_of(text): text for text in (CODE, PATCH)}
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "fcntl.flock", "open")
EVERY = {"os.remove": 12, "os.rmdir": 12}  # of many alike, some
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

Work = Callable[[Path], Awaitable[Json]]


async def snapshot(folder: Path) -> Json:
    file = {"path": "new.py", "text": sha256_of(CODE)}
    request = Snapshot.model_validate({"versions": [{"message": "One", "files": [file]}]})
    return (await Snapshots(lambda: folder / "work").taken(request, TEXTS.__getitem__)).model_dump(mode="json")


async def delivery(folder: Path) -> Json:
    source = folder / "source"
    base = (source / ".git/refs/heads/trunk").read_text().strip()
    request = Deliver(path=str(source), base=base, version=sha256_of(PATCH), message="One")
    tool = Repositories(root=lambda: folder / "work", sandbox=PROCESS, asking=lambda: SESSION)
    return await tool.repository(request.model_dump(mode="json"), TEXTS)


WORK: dict[str, Work] = {"snapshot": snapshot, "delivery": delivery}


class Killer:
    """Lists the moments of this process, and ends it at one of them."""

    def __init__(self, folder: Path, at: int) -> None:
        self._folder, self._at = str(folder), at
        self.seen, self._alike = list[str](), Counter[str]()

    def install(self) -> None:
        start = asyncio.create_subprocess_exec

        async def counting(*command: str, **options: Any) -> asyncio.subprocess.Process:
            name = next(each for each in command[1:] if "=" not in each and each != "-c")
            self.moment(f"before git {name}")
            process = await start(*command, **options)
            self.moment(f"git {name} is killed", process.pid)
            if name in ("clone", "fetch"):
                self.moment(f"git {name} goes on")
            return process

        asyncio.create_subprocess_exec = counting  # type: ignore[assignment]
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if event not in CHANGES or (event == "open" and not given[2] & WRITES):
            return
        self._alike[event] += 1
        ours = event == "fcntl.flock" or self._folder in str(given[0])
        if ours or (event in EVERY and self._alike[event] % EVERY[event] == 0):  # removals name no folder
            self.moment(event)

    def moment(self, name: str, command: int = 0) -> None:
        self.seen.append(name)
        if len(self.seen) != self._at:
            return
        if command:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.killpg(command, signal.SIGKILL)
        os.write(1, name.encode())
        os.kill(os.getpid(), signal.SIGKILL)


def in_process(folder: Path, work: Work, at: int = 0, *, listed: bool = False) -> str:
    """Do it in a process of its own. Gives what came of it, or a list of its moments, as JSON; or the moment at which
    it was killed."""
    heard, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(told, 1)
        try:
            killer = Killer(folder, at)
            if at or listed:
                killer.install()
            made = asyncio.run(work(folder))
            os.write(1, json.dumps(killer.seen if listed else made).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(told)
    with os.fdopen(heard) as words:
        said = words.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) in (0, -signal.SIGKILL), said
    all_gone(f"after {said!r}")
    return said


def state(folder: Path) -> dict[str, str]:
    """All files and folders, with what they hold. Objects that git has not finished when it was killed are left to the
    user's own git, which removes them as it removes those of its own."""
    return {
        str(path.relative_to(folder)): path.read_bytes().hex() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
        if "objects" not in path.parts and "logs" not in path.parts
    }


def main(what: str, given: str, *every: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    top, work = Path(given), WORK[what]
    moments: list[str] = []
    wrong: list[str] = []

    def fresh(name: str) -> Path:
        folder = top / name
        shutil.copytree(top / "given", folder, symlinks=True)
        return folder

    whole = fresh("whole")
    expected, after = in_process(whole, work), state(whole)
    found: list[str] = json.loads(in_process(fresh("listed"), work, listed=True))
    places = [[at for at, each in enumerate(found) if each == kind] for kind in dict.fromkeys(found)]
    for at in range(len(found)) if every else (alike[len(alike) // 2] for alike in places):
        folder = fresh("killed")
        moment = in_process(folder, work, at + 1)
        moments.append(moment)
        again = in_process(folder, work)
        if again != expected:
            wrong.append(f"{moment}: {again}")
        if state(folder) != after:
            wrong.append(f"{moment}: {sorted(state(folder).items() ^ after.items())}")
        shutil.rmtree(folder)
    print(
        json.dumps(
            {"moments": moments, "found": found, "wrong": wrong, "result": json.loads(expected), "left": sorted(after)}
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
