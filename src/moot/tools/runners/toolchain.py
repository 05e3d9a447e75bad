"""The programs that code is run and checked with, where they are, and which versions they have."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from moot.tools.runners.declared import PATH
from moot.tools.sandbox import Mount
from moot.tools.sandbox.mounts import interpreter
from moot.tools.sandbox.probe import version

NODE_INSIDE = "/opt/node/bin/node"
# What it reserves is not what it uses: the limit of memory is that of all processes.
NODE_OPTIONS = ("--max-old-space-size=384",)


@dataclass(frozen=True, kw_only=True)
class Node:
    command: tuple[str, ...]
    mounts: tuple[Mount, ...]
    version: str


@cache
def node() -> Node | None:
    """Node, where it is installed."""
    found = shutil.which("node", path=os.pathsep.join((PATH, os.environ.get("PATH", ""))))
    if found is None:
        return None
    program = os.path.realpath(found)
    said = subprocess.run([program, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    return Node(
        command=(NODE_INSIDE, *NODE_OPTIONS),
        mounts=(Mount(source=program, target=NODE_INSIDE),),
        version=said.strip().removeprefix("v"),
    )


PACKAGES = "/opt/packages"


@dataclass(frozen=True, kw_only=True)
class Packages:
    """Installed Python packages, as they can be imported inside."""

    mounts: tuple[Mount, ...]
    path: str


@cache
def packages() -> Packages:
    """All packages of the environment that moot runs in."""
    folders = [place for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    mounts = tuple(
        Mount(source=place, target=f"{PACKAGES}/{number}")
        for number, place in enumerate(folders)
        if Path(place).is_dir()
    )
    return Packages(mounts=mounts, path=os.pathsep.join(mount.target for mount in mounts))


def installed(name: str) -> str | None:
    """The version of a Python package, if it is installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@cache
def fingerprint(*programs: str) -> str:
    """Names and versions of what runs code: of the programs that its language needs, of Python and of the sandbox."""
    parts = [f"Python {interpreter().version}", version(), platform.machine(), f"Linux {platform.release()}"]
    return ", ".join((*(_version_of(program) for program in programs), *parts))


def _version_of(program: str) -> str:
    found = node() if program == "node" else None
    if found is not None:
        return f"Node {found.version}"
    place = shutil.which(program, path=PATH)
    if place is None:
        return program
    said = subprocess.run([place, "--version"], capture_output=True, text=True, env={}, check=False, timeout=10).stdout
    return said.partition("\n")[0].strip()[:80] or program
