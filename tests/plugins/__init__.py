"""Packages that others could publish, installed for the tests as users install them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PACKAGES = ("interview",)
BUILT_IN = tuple(entry.name for entry in distribution("moot").entry_points if entry.group == "moot.formats")


def install() -> Path:
    """Install the packages with pip into a folder of their own and put it on the path of this process and of those it
    starts. The folder is named for the packages' content, so that it is made once."""
    folder = ROOT / ".artifacts" / "plugins" / _digest()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes begin together
        if not folder.exists():
            _pip_install(folder)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path.insert(0, str(folder))
    return folder


def _pip_install(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "made"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-build-isolation", "--target", str(target), *(str(HERE / name) for name in PACKAGES)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise RuntimeError(f"The plug-ins of the tests can't be installed:\n{done.stderr}")
        target.rename(folder)


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(path for name in PACKAGES for path in (HERE / name).rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
