"""Plug-ins: what installed packages add through entry points. moot's own parts come in through the same doors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Generic, TypeVar

from moot.core.errors import InputError, UnknownName

T = TypeVar("T")

OWN = "moot"  # the package whose entry points are built in
PREFIX = "moot."  # of every group
MAX_PROBLEM_CHARS = 500

_SCANNING = threading.Lock()  # debates are planned in threads, and the first of them look at the same time


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why something that is installed can't be used."""

    name: str
    package: str  # name and version of the package that brings it
    text: str


class Door(Generic[T]):
    """One kind of plug-in: a group of entry points, and what each of them must be.

    Nothing is imported before it is asked for. A plug-in that can't be used affects no other: it is listed by `broken`,
    and `get` says what is wrong with it.
    """

    def __init__(
        self,
        group: str,
        noun: str,
        read: Callable[[str, object], T],
        *,
        built_in: bool = True,
        items: Callable[[T], Iterable[str]] | None = None,
        item: str = "",
    ) -> None:
        """`read` takes the name of an entry point and what it refers to, and returns what is used; it raises InputError
        where that can't be used. `built_in`: moot has some of its own. `items`: the names of what an entry point brings
        several of, which must differ from those of all others; `item`: what one of them is called."""
        self.group, self.noun = group, noun
        self._read, self._built_in, self._items, self._item = read, built_in, items, item
        self._scanned: Mapping[str, Sequence[EntryPoint]] | None = None
        self._chosen: dict[str, EntryPoint] = {}
        self._clashes: list[Problem] = []
        self._loaded: dict[str, T | Problem] = {}
        self._every: Mapping[str, T | Problem] | None = None  # once all were loaded
        self._usable: dict[str, T] | None = None
        self._added: dict[str, T] = {}

    def names(self) -> list[str]:
        """The names of what is installed, usable or not, in alphabetical order. Imports nothing."""
        return sorted([*self._known(), *self._added])

    def __contains__(self, name: str) -> bool:
        """Whether something of that name is installed, usable or not. Imports nothing."""
        return name in self._known() or name in self._added

    def get(self, name: str) -> T:
        """Raises UnknownName, or InputError that says why it can't be used. Imports no other."""
        found = None
        if name in self:
            found = self._load(name) if self._items is None else self._all()[name]
        if isinstance(found, Problem):
            raise InputError(
                f"The {self.noun} {name!r} is installed, but can't be used. {found.text} "
                f"Install another version of {found.package.partition(' ')[0]}, or do without it."
            )
        if found is not None:
            return found
        clashes = [each for each in self._clashes if each.name == name]
        if clashes:
            raise InputError(f"The {self.noun} {name!r} can't be used. {clashes[0].text}")
        raise UnknownName(self.noun, name, self.names())

    def installed(self) -> Mapping[str, T]:
        """What can be used, by name, in alphabetical order."""
        every = self._all()
        if self._usable is None:
            self._usable = {name: each for name, each in every.items() if not isinstance(each, Problem)}
        return self._usable

    def broken(self) -> list[Problem]:
        """What is installed but can't be used."""
        every = self._all().values()
        return [*(each for each in every if isinstance(each, Problem)), *self._clashes]

    def package(self, name: str) -> str:
        """Name and version of the package that something comes from; empty for moot's own."""
        entry = self._known().get(name)
        return "" if entry is None or _is_own(entry) else package_of(entry)

    @contextmanager
    def adding(self, name: str, loaded: object) -> Generator[T]:
        """Let something be used without a package, while the context lasts: for drafts and tests. Raises InputError if
        it can't be used, or if something of that name is installed."""
        if name in self:
            raise InputError(f"There is a {self.noun} {name!r} already; call it something else.")
        value = self._read(name, loaded)
        self._added[name] = value
        self._every = self._usable = None
        try:
            yield value
        finally:
            del self._added[name]
            self._every = self._usable = None

    def _known(self) -> Mapping[str, EntryPoint]:
        self._scan()
        return self._chosen

    def _scan(self) -> None:
        with _SCANNING:
            scanned = _installed()
            if scanned is not self._scanned:
                self._sort(scanned)

    def _sort(self, scanned: Mapping[str, Sequence[EntryPoint]]) -> None:
        self._chosen, self._clashes, self._loaded, self._every, self._usable = {}, [], {}, None, None
        entries = scanned.get(self.group, ())
        for name in dict.fromkeys(entry.name for entry in entries):
            self._choose(name, [entry for entry in entries if entry.name == name])
        if self._built_in and not any(map(_is_own, self._chosen.values())):
            raise InputError(
                f"This installation of moot is damaged: it lists no {self.noun} of its own. Install moot again."
            )
        self._scanned = scanned

    def _choose(self, name: str, entries: Sequence[EntryPoint]) -> None:
        """Nothing takes the place of moot's own; of two others with one name, neither is used: which of them would
        depend on chance."""
        own = [entry for entry in entries if _is_own(entry)]
        others = [entry for entry in entries if not _is_own(entry)]
        if own or len(others) == 1:
            self._chosen[name] = (own or others)[0]
        if own:
            self._clashes += [
                Problem(
                    name=name,
                    package=package_of(entry),
                    text=f"Both {package_of(own[0])} and {package_of(entry)} bring a {self.noun} of that name; the one "
                    f"of moot is used. Uninstall {package_of(entry).partition(' ')[0]}, or ask its authors for "
                    "another name.",
                )
                for entry in others
            ]
        elif len(others) > 1:
            packages = [package_of(entry) for entry in others]
            text = f"{' and '.join(packages)} each bring a {self.noun} of that name. Uninstall all but one of them."
            self._clashes.append(Problem(name=name, package=", ".join(packages), text=text))

    def _all(self) -> Mapping[str, T | Problem]:
        self._scan()
        if self._every is None:
            every = {name: self._load(name) for name in self.names()}
            self._every = every if self._items is None else self._without_clashes(every, self._items)
        return self._every

    def _without_clashes(
        self, every: Mapping[str, T | Problem], items: Callable[[T], Iterable[str]]
    ) -> Mapping[str, T | Problem]:
        holders: dict[str, list[str]] = {}
        for name, each in every.items():
            for item in () if isinstance(each, Problem) else items(each):
                holders.setdefault(item.casefold(), []).append(name)
        refused: dict[str, Problem] = {}
        for item, names in holders.items():
            for name in names if len(names) > 1 else ():
                if package := self.package(name):
                    others = [package_of(self._chosen[other]) for other in names if other != name]
                    text = (
                        f"Both {package} and {' and '.join(others)} bring a {self._item} {item!r}. Uninstall one of "
                        "them, or ask the authors for another name."
                    )
                    refused.setdefault(name, Problem(name=name, package=package, text=text))
        return {name: refused.get(name, each) for name, each in every.items()}

    def _load(self, name: str) -> T | Problem:
        if name in self._added:
            return self._added[name]
        if name not in self._loaded:
            entry = self._chosen[name]
            try:
                self._loaded[name] = self._read(name, entry.load())
            except InputError as error:
                self._loaded[name] = Problem(name=name, package=package_of(entry), text=_cut(str(error)))
            except (Exception, SystemExit) as error:  # a plug-in can raise anything
                text = _cut(f"It can't be imported from `{entry.value}`: {type(error).__name__}: {error}")
                self._loaded[name] = Problem(name=name, package=package_of(entry), text=f"{text.rstrip('.')}.")
        return self._loaded[name]


def rescan() -> None:
    """Look again at what is installed, after `sys.path` has changed."""
    _installed.cache_clear()


def package_of(entry: EntryPoint) -> str:
    """Name and version of the package that an entry point is from."""
    return "an unknown package" if entry.dist is None else " ".join(_identity(entry.dist))


@lru_cache(maxsize=1)
def _installed() -> Mapping[str, Sequence[EntryPoint]]:
    """moot's groups of all installed packages, read in one pass. As for imports, of a package that is installed twice
    the first on the path counts."""
    found: dict[str, list[EntryPoint]] = {}
    packages: set[str] = set()
    for package in distributions():
        # Most packages have nothing for moot, and reading a name takes longer than reading this text.
        if PREFIX not in (package.read_text("entry_points.txt") or ""):
            continue
        entries = [entry for entry in package.entry_points if entry.group.startswith(PREFIX)]
        if not entries or (name := _identity(package)[0].lower()) in packages:
            continue
        packages.add(name)
        for entry in entries:
            found.setdefault(entry.group, []).append(entry)
    return found


def _is_own(entry: EntryPoint) -> bool:
    return entry.dist is not None and _identity(entry.dist)[0] == OWN


@lru_cache(maxsize=256)
def _identity(package: Distribution) -> tuple[str, str]:
    """Name and version. The standard library parses a package's metadata anew for each, in milliseconds."""
    metadata = package.metadata
    return metadata["Name"], metadata["Version"]


def _cut(text: str) -> str:
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= MAX_PROBLEM_CHARS else f"{line[: MAX_PROBLEM_CHARS - 1]}…"
