"""Runs tools that look at code, one after the other. Runs inside the sandbox.

Input: JSON. Results: a line of JSON for each tool: its name, exit code, output, errors; no exit code where it took too
long or could not be started. Where `keep` is given, the last line is the content of the folder `cache`, which a later
run is given as `kept`.
"""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import zipfile
from pathlib import Path
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
    if given.get("kept"):
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(given["kept"]))) as archive:
            archive.extractall(given["cache"])
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
    if given.get("keep"):
        with open(RESULTS, "wb", closefd=False) as results:
            results.write(json.dumps(packed(given["cache"])).encode() + b"\n")


def packed(folder: str) -> str:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(Path(folder).rglob("*.db")):
            archive.write(file, str(file.relative_to(folder)))
    return base64.b64encode(content.getvalue()).decode()


if __name__ == "__main__":
    main()
