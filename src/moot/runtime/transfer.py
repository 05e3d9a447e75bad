"""Export and import: debates as one stream of JSON lines, which any database of moot reads back.

```
{"moot": "export", "version": 1, "at": …}
{"debate": {…}}                             of each debate: its row, then what belongs to it
{"turn": {…}}  {"event": {…}}  {"gate": {…}}  {"version": {…}}  {"episode": {…}}  {"lesson": {…}}  {"use": {…}}
{"end": ID, "sha256": …}                    over the lines of the debate, as they are in the file
{"complete": 12}                            how many debates; a file without it was cut off
```

JSON columns are strings with the text that is stored, so that a replay compares the same bytes. One debate at a time is
held in memory, on both ways.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeVar, cast

from moot.core.artifacts import ARTIFACTS
from moot.core.errors import DebateDeleted, InputError, NoSuchDebate
from moot.core.types import Json, record
from moot.runtime.threads import in_thread
from moot.store import DebateCopy, Debates, Store, Transfer
from moot.store.copies import arriving, checked

VERSION = 1
MAX_LINE = 16_000_000  # bytes
MAX_DEBATE = 256_000_000  # bytes of all lines of one debate
PAGE = 100
QUICK = 100_000  # bytes of a line that are read in the event loop

T = TypeVar("T")

# ASCII: it survives every encoding on its way.
_dumps = json.JSONEncoder(separators=(",", ":")).encode

PARTS = ("turn", "event", "gate", *ARTIFACTS)


@record
class Imported:
    """What became of one debate of an export."""

    id: str  # as far as it could be read
    result: Literal["new", "same", "refused"]  # "same": it was there already
    why: str = ""  # it was refused, as a part of a sentence


async def export(store: Store, ids: Sequence[str] | None, now: float) -> AsyncGenerator[bytes, None]:
    """Yield the lines of these debates, or of all; those of a debate come together. Debates that are deleted meanwhile
    are left out."""
    yield _line({"moot": "export", "version": VERSION, "at": now})
    count = 0
    async for debate_id in _all_ids(store) if ids is None else _each(ids):
        with suppress(NoSuchDebate):
            copy = await store.copy(debate_id)
            yield b"".join(_lines(copy))
            count += 1
    yield _line({"complete": count})


def check_header(line: bytes) -> None:
    """Check the first line of an export. Raises InputError when it is none, or one of another version."""
    header = _read(line)
    if header.get("moot") != "export":
        raise InputError("This is no export of moot. Nothing was imported.")
    version = header.get("version")
    if version != VERSION:
        raise InputError(
            f"This export has version {str(version)[:20]}, this moot reads version {VERSION}. Nothing was imported. "
            "Use the version of moot that made it."
        )


async def adopt_all(store: Transfer, lines: AsyncIterable[Sequence[bytes]]) -> AsyncGenerator[Imported, None]:
    """Store the debates of an export, each atomically, and yield what became of it.

    `lines` are those after the first, some at a time, each of at most `MAX_LINE` bytes and one more. A debate that is
    damaged, that differs from one with the same id here, or that was deleted here is refused; the others are stored.
    Doing it again changes nothing. When `lines` raises InputError, the rest counts as refused.
    """
    reader, broken = _Reader(), ""
    try:
        async for some in lines:
            for line in some:
                for found in await _aside(lambda line=line: list(reader.read(line)), len(line)):
                    yield found if isinstance(found, Imported) else await _adopt(store, found)
                if reader.over:
                    return
    except InputError as error:
        broken = str(error)
    for found in reader.end(broken):
        yield found


async def _aside(work: Callable[[], T], size: int) -> T:
    """Work on bytes: in a thread, if they are many."""
    return await in_thread(work) if size > QUICK else work()


async def _adopt(store: Transfer, copy: DebateCopy) -> Imported:
    debate_id = str(copy.session.get("id", ""))
    try:
        await in_thread(lambda: checked(copy))
        copy = arriving(copy)
        if await store.adopt(copy):
            return Imported(id=debate_id, result="new")
        here = arriving(await store.copy(debate_id))
    except DebateDeleted as deleted:
        return Imported(id=debate_id, result="refused", why=f"it was deleted here on {deleted.day}")
    except NoSuchDebate:
        return Imported(id=debate_id, result="refused", why="it was deleted here just now")
    except InputError as error:
        return Imported(id=debate_id, result="refused", why=str(error))
    if here == copy:
        return Imported(id=debate_id, result="same")
    mine, theirs = (f"{each.session['status']}, {len(each.turns)} turns" for each in (here, copy))
    why = f"there is another version of it here ({mine}; in the file: {theirs}), which is left as it is"
    return Imported(id=debate_id, result="refused", why=why)


class _Reader:
    """Puts the lines of an export together to debates."""

    def __init__(self) -> None:
        self.over = False  # what comes now is not read
        self._number, self._complete = 1, False
        self._session: Json | None = None  # of the debate whose lines are being read
        self._parts: dict[str, list[Json]] = {}
        self._hash, self._size = hashlib.sha256(), 0

    def read(self, line: bytes) -> Iterator[DebateCopy | Imported]:
        """Take the next line; yield the debate that it completes, or what it spoils."""
        self._number += 1
        if self._complete:
            self.over = True
            yield self._refused("", f"line {self._number} comes after the end")
            return
        read = _read(line)
        kind: str = next(iter(read), "")
        value: Any = read.get(kind)
        if kind == "debate" and isinstance(value, dict):
            yield from self._unfinished()
            self._begin(cast(Json, value), line)
        elif kind in PARTS and _is_row(value) and self._session is not None:
            self._parts[kind].append(value)
            self._count(line)
            if self._size > MAX_DEBATE:
                yield self._given_up(f"it has more than {MAX_DEBATE // 1_000_000} MB")
        elif kind == "end" and self._session is not None:
            yield self._ended(read)
        elif kind == "complete" and isinstance(value, int):
            yield from self._unfinished()
            self._complete = True
        elif self._session is not None or kind not in (*PARTS, "end"):
            # Otherwise it belongs to a debate that was given up.
            yield self._given_up(f"line {self._number} {_trouble(line)}")

    def end(self, broken: str) -> Iterator[Imported]:
        """`broken`: why no more lines came; empty: the file is over."""
        yield from self._unfinished()
        if broken or not self._complete:
            yield self._refused("", broken or "the file ends too early; what follows in the original is missing here")

    def _begin(self, session: Json, line: bytes) -> None:
        self._session, self._parts = session, {part: [] for part in PARTS}
        self._hash, self._size = hashlib.sha256(), 0
        self._count(line)

    def _count(self, line: bytes) -> None:
        self._hash.update(line)
        self._size += len(line)

    def _ended(self, end: Json) -> DebateCopy | Imported:
        session, parts = self._session, self._parts
        assert session is not None
        if end != {"end": session.get("id"), "sha256": self._hash.hexdigest()}:
            return self._given_up("it is not what was exported: its hash differs")
        self._session = None
        return DebateCopy(
            session=session,
            turns=parts["turn"],
            events=parts["event"],
            gates=parts["gate"],
            artifacts={kind: parts[kind] for kind in ARTIFACTS},
        )

    def _unfinished(self) -> Iterator[Imported]:
        if self._session is not None:
            yield self._given_up("its end is missing")

    def _given_up(self, why: str) -> Imported:
        session, self._session, self._parts = self._session, None, {}
        return self._refused(str((session or {}).get("id", "")), why)

    def _refused(self, debate_id: str, why: str) -> Imported:
        return Imported(id=debate_id[:64], result="refused", why=why)


def _read(line: bytes) -> Json:
    """The object on a line; empty when it can't be read."""
    try:
        found: Any = json.loads(line) if len(line) <= MAX_LINE else None
    except (ValueError, RecursionError):
        return {}
    return cast(Json, found) if isinstance(found, dict) else {}


def _is_row(value: Any) -> bool:
    """Whether it has only texts, numbers and nulls, as a row has. What is nested takes far more memory than its bytes,
    and all parts of a debate are held at once."""
    return isinstance(value, dict) and not any(isinstance(each, dict | list) for each in cast(Json, value).values())


def _trouble(line: bytes) -> str:
    return f"is longer than {MAX_LINE // 1_000_000} MB" if len(line) > MAX_LINE else "can't be read"


def _lines(copy: DebateCopy) -> Iterator[bytes]:
    digest = hashlib.sha256()
    rows: Sequence[tuple[str, Sequence[Any]]] = (
        ("debate", [copy.session]),
        ("turn", copy.turns),
        ("event", copy.events),
        ("gate", copy.gates),
        *copy.artifacts.items(),
    )
    for kind, values in rows:
        for value in values:
            line = _line({kind: value})
            digest.update(line)
            yield line
    yield _line({"end": copy.session["id"], "sha256": digest.hexdigest()})


def _line(value: Any) -> bytes:
    return f"{_dumps(value)}\n".encode()


async def _all_ids(store: Debates) -> AsyncGenerator[str, None]:
    after = None
    while True:
        page = await store.page(limit=PAGE, after=after)
        for debate in page.debates:
            yield debate.id
        after = page.next
        if after is None:
            return


async def _each(ids: Sequence[str]) -> AsyncGenerator[str, None]:
    for debate_id in ids:
        yield debate_id
