"""Runs the tests of a repository with pytest, in a copy of its files. Runs inside the sandbox.

Input: JSON with the files in base64, and the name of the user's test file. Results: a line of JSON for each test.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import Any

FOLDER = "/tmp/work"


def main() -> None:
    with open(0, "rb", closefd=False) as request:
        given: dict[str, Any] = json.load(request)
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    for path, text in given["files"].items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(text))
    places = [FOLDER, *(["/tmp/work/src"] if os.path.isdir("src") else []), given["packages"], "/moot"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment["TEST_FILE"] = given["test_file"]
    options = ("-q", "--tb=short", "-p", "no:cacheprovider", "-p", "pytest_results", "--rootdir", FOLDER)
    command = [sys.executable, "-S", "-B", "-m", "pytest", *options]
    subprocess.run(command, env=environment, pass_fds=(3,), stdin=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    main()
