"""Runs tools that look at code, one after the other. Runs inside the sandbox.

Input: JSON. Results: a line of JSON for each tool: its name, exit code, output, errors; no exit code where it took too
long or could not be started.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

RESULTS = 3
FOLDER = "/tmp/work"
MAX_ERRORS = 500


def main() -> None:
    with open(0, "rb", closefd=False) as request:
        given: dict[str, Any] = json.load(request)
    os.makedirs(FOLDER)
    os.chdir(FOLDER)
    with open(given["source"], "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(given["code"])
    for tool, command in given["commands"]:
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=given["seconds"], check=False
            )
            code, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, output, errors = None, b"", b"it took too long"
        except OSError as error:
            code, output, errors = None, b"", str(error.strerror).encode()
        said = errors.decode(errors="replace").strip()[-MAX_ERRORS:]
        with open(RESULTS, "wb", closefd=False) as results:
            results.write(json.dumps([tool, code, output.decode(errors="replace"), said]).encode() + b"\n")


if __name__ == "__main__":
    main()
