"""Packages that others could publish, installed for the tests as users install them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BUILT_IN = tuple(entry.name for entry in distribution("moot").entry_points if entry.group == "moot.formats")


def install(package: str = "interview") -> Path:
    """Install a package as `installed` does, and put it on the path of this process and of those it starts."""
    folder = installed(package)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path.insert(0, str(folder))
    return folder


def installed(package: str) -> Path:
    """Install a package of this folder with pip, into a folder of its own, which is named for the package's content, so
    that it is made once."""
    folder = ROOT / ".artifacts" / "plugins" / _digest(package)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes begin together
        if not folder.exists():
            _pip_install(package, folder)
    return folder


def write(folder: Path, name: str, entries: Mapping[str, Mapping[str, str]], modules: Mapping[str, str]) -> Path:
    """Write a package as an installer leaves it in `folder`: `modules` by file name, and entry points by group."""
    for module, text in modules.items():
        (folder / module).parent.mkdir(parents=True, exist_ok=True)
        (folder / module).write_text(text)
    about = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{entry} = {value}" for entry, value in named.items())])
        for group, named in entries.items()
    ]
    (about / "entry_points.txt").write_text("\n\n".join(groups) + "\n")
    return folder


def _pip_install(package: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "made"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-build-isolation", "--target", str(target), str(HERE / package)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise RuntimeError(f"The plug-in {package} of the tests can't be installed:\n{done.stderr}")
        target.rename(folder)


def _digest(package: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in (HERE / package).rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
