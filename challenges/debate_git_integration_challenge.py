"""Every version is a patch on its parent: git applies it to a clean base and gives the same code."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from challenges.asking import Failed, Place, main


def challenge(place: Place) -> None:
    done = place.forge("seed=4&skill=0&cases=1&repair=1&red=1", attempts=2, max_calls=39)
    rows = place.rows("code_versions", done["id"], "version_number")
    by_id = {row["id"]: row for row in rows}
    changed = [row for row in rows if row["parent_id"]]
    place.check("some versions change others", changed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _git(folder, "init", "-q", "-b", "base")
        for row in changed:
            file = folder / "solution.py"
            file.write_text(by_id[row["parent_id"]]["code"])
            _git(folder, "add", "-A")
            _git(folder, "commit", "-q", "--allow-empty", "-m", "base")
            _git(folder, "checkout", "-q", "-b", f"debate/{row['version_number']}")
            patch = _patch(row["diff_from_previous"])
            _git(folder, "apply", "--check", "-", given=patch)
            _git(folder, "apply", "--index", "-", given=patch)
            number = row["version_number"]
            place.check(f"version {number} applies and is the code that was stored", file.read_text() == row["code"])
            blob = _git(folder, "hash-object", "solution.py").strip()
            place.check("git has it under one name", blob in _git(folder, "ls-files", "-s"))
            _git(folder, "commit", "-q", "-m", f"version {number}")
            _git(folder, "checkout", "-q", "base")
    answer = done["outcome"]["answer"]["value"]
    digest = hashlib.sha256(answer.encode()).hexdigest()
    place.check("what is delivered is one of them, by its digest", digest in {row["sha256"] for row in rows})


def _patch(diff: str) -> str:
    lines = diff.splitlines(keepends=True)
    return "".join(["--- a/solution.py\n", "+++ b/solution.py\n", *lines[2:]])


def _git(folder: Path, *arguments: str, given: str = "") -> str:
    settings = ["-c", "user.name=challenge", "-c", "user.email=challenge@localhost", "-c", "core.hooksPath=/dev/null"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", *settings, *arguments]
    done = subprocess.run(command, cwd=folder, input=given, env=environ, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    main(challenge)
