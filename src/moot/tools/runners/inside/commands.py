"""Runs the commands of a declared language, one after the other until one fails. Runs inside the sandbox.

Input: JSON. Results: a line of JSON for each command that was run.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import Any

RESULTS = 3
FOLDER = "/tmp/work"


def main() -> None:
    with open(0, "rb", closefd=False) as request:
        given: dict[str, Any] = json.load(request)
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    for path, text in given["files"].items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
    for name, command in given["commands"]:
        begun = time.monotonic()
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode
        except OSError as error:
            os.write(RESULTS, json.dumps([name, None, f"{command[0]}: {error.strerror}", 0]).encode() + b"\n")
            return
        took = round((time.monotonic() - begun) * 1000)
        os.write(RESULTS, json.dumps([name, code, "", took]).encode() + b"\n")
        if code != 0:
            return


if __name__ == "__main__":
    main()
