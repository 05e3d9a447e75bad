"""What of the machine can be seen inside a sandbox, always read-only: Python, the system's libraries, and, for scripts,
its programs."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PYTHON = "/opt/python"  # where the interpreter lies inside, wherever it lies outside
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
_PROGRAMS = ("/bin", "/sbin", "/usr", "/etc/alternatives")
_LINKER_CACHE = "/etc/ld.so.cache"


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A file or folder of the machine, and where it is inside."""

    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Link:
    target: str
    place: str


@dataclass(frozen=True, kw_only=True)
class View:
    mounts: tuple[Mount, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """The Python that runs moot, as it is mounted inside."""

    outside: str  # the program outside
    program: str  # and inside
    version: str
    mounts: tuple[Mount, ...]
    masked: tuple[str, ...]  # folders inside whose content is hidden
    library_path: str


@cache
def interpreter() -> Interpreter:
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable) or sys.executable)
    stdlib = Path(sysconfig.get_path("stdlib"))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    inside = f"{PYTHON}/{sys.platlibdir}/{version}"
    mounts = [Mount(source=base, target=f"{PYTHON}/bin/{version}"), Mount(source=str(stdlib), target=inside)]
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        name = str(sysconfig.get_config_var("INSTSONAME"))
        library = Path(str(sysconfig.get_config_var("LIBDIR"))) / name
        if library.exists():
            mounts.append(Mount(source=str(library), target=f"{PYTHON}/lib/{name}"))
    masked = tuple(f"{inside}/{name}" for name in ("site-packages", "dist-packages") if (stdlib / name).is_dir())
    return Interpreter(
        outside=base,
        program=f"{PYTHON}/bin/{version}",
        version=sys.version.split()[0],
        mounts=tuple(mounts),
        masked=masked,
        library_path=f"{PYTHON}/lib",
    )


@cache
def libraries() -> View:
    """The shared libraries of the system."""
    return _view((*_LIBRARIES, _LINKER_CACHE))


@cache
def system() -> View:
    """Programs and libraries of the system."""
    return _view((*_PROGRAMS, *(each for each in _LIBRARIES if not each.startswith("/usr/")), _LINKER_CACHE))


def _view(places: tuple[str, ...]) -> View:
    """On most systems /lib and its like are links into /usr."""
    links = [Link(target=os.readlink(place), place=place) for place in places if os.path.islink(place)]
    mounts = [
        Mount(source=place, target=place) for place in places if os.path.exists(place) and not os.path.islink(place)
    ]
    return View(mounts=tuple(mounts), links=tuple(links))
