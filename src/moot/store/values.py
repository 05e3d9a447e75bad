"""What a store takes and gives, besides debates, turns and events themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from moot.core.artifacts import Artifact, ArtifactKind, Lesson
from moot.core.ceilings import Reserved
from moot.core.types import Cursor, Debate, Event, Failure, Gate, Json, Outcome, Shown, Status, Turn, Usage, record

TOUCH_SECONDS = 60.0


@record
class Commit:
    """What one step of a debate changes, or several that ended together. Stored atomically."""

    debate_id: str
    epoch: int  # the fencing number: the commit is refused when the debate was claimed again since
    turns: Sequence[Turn] = ()
    cursor: Cursor | None = None
    events: Sequence[Shown] = ()
    shown: int = 0  # how many of the events came from the script
    status: Status | None = None
    total_rounds: int = 0
    outcome: Outcome | None = None
    error: Failure | None = None
    lost: Usage | None = None  # paid for calls that led to no turn
    artifacts: Sequence[Artifact] = ()  # as they are stored
    gates: Sequence[Gate] = ()  # to open; a gate that is open already only gets the new expiry
    release: bool = False  # give up the lease
    reserved: Reserved | None = None  # what calls still in flight may use; None: nothing was reserved


@record
class Committed:
    status: Status
    events: Sequence[Event]


@dataclass(frozen=True, kw_only=True)  # hashable: streams of the same viewer share one look
class Viewer:
    """Which debates a query may return: those made with `token`; with `shared`, also those of others that are not
    private. No viewer at all: every debate."""

    token: str | None = None  # None: of no one's own
    shared: bool = True

    def sees(self, debate: Debate) -> bool:
        return debate.token_id == self.token or (self.shared and not debate.private)


class PageQuery(TypedDict, total=False):
    """Which debates a page has; filters that are None or left out let every debate pass."""

    status: Status | None
    format: str | None
    contains: str | None  # only topics or titles with this text, ignoring case
    pinned: bool | None
    archived: bool | None
    tag: str | None
    parent: str | None  # only forks of this debate
    follows: str | None  # only debates that were asked after this one
    viewer: Viewer | None  # only debates that it sees
    private: bool | None  # only private ones, or only others
    evaluation: str | None  # only cells of this evaluation; empty: only debates that are no cells
    limit: int  # 20 when left out
    after: str | None  # the `next` of the page before


@record
class Labels:
    """A change of what people put on a debate to find it again; None leaves a label as it is."""

    title: str | None = None  # empty: the question is its title again
    pinned: bool | None = None
    archived: bool | None = None
    tags: tuple[str, ...] | None = None  # all of them


@record
class Page:
    debates: Sequence[Debate]
    next: str | None = None  # pass it as `after` to get the next page; None: this is the last


@record
class CellCounts:
    """How far the cells of an evaluation are. Equal counts: no cell has changed in between."""

    begun: int
    completed: int
    changed_at: float


@record
class StoredEvaluation:
    """The plan of an evaluation."""

    id: str
    name: str
    plan: str  # JSON
    created_at: float = 0.0
    stopped_at: float | None = None  # since when no new block is begun; None: it may go on


@record
class Grade:
    """What the tests of an item made of an answer to it, after the debate had ended."""

    item: str
    answer: str  # sha256 of the answer
    passed: bool
    examples: int  # of the examples that the question states, how many it passes


@record
class HeartbeatReply:
    """The store's answer to a driver's heartbeat."""

    statuses: Mapping[str, Status] = field(default_factory=dict[str, Status])  # of the debates it still holds
    guided: Mapping[str, int] = field(default_factory=dict[str, int])  # how often each was given guidance
    lost: Collection[str] = ()  # debates it no longer holds: claimed by another process, ended or gone


@record
class MemoryEntry:
    """A completed debate as memory indexes it."""

    debate_id: str
    words: Sequence[str]  # normalized terms
    decided: bool  # it came to a decision
    demonstration: bool
    embedder: str = ""  # empty: there is no vector
    embedding: bytes | None = None


@record
class KnownLesson:
    """A lesson with what later debates say of it."""

    lesson: Lesson
    confirmed: int  # how often: where it was learnt, and in debates that recalled it
    contradicted: int  # how often it was recalled and did not hold


@record
class Hits:
    """Debates that match a search, best first, with the figures that rank terms."""

    ids: Sequence[str] = ()
    total: int = 0  # about how many debates are indexed
    document_frequency: Mapping[str, int] = field(default_factory=dict[str, int])  # by term


@record
class Vector:
    place: int  # ascending; pass the last as `after` to read on
    debate_id: str
    decided: bool
    demonstration: bool
    embedding: bytes


@record
class Vectors:
    total: int  # of this embedder, on all pages
    vectors: Sequence[Vector] = ()


@record
class DatabaseStatus:
    """What can be read of a database without changing it."""

    place: str  # a path, or an address without its password
    version: int  # of its schema; 0: there is none yet
    newest: int  # schema version that this moot knows
    debates: Mapping[Status, int] = field(default_factory=dict[Status, int])  # counts by status
    turns: int = 0
    bytes: int = 0  # on disk


@record
class Changed:
    """Another process changed a debate: by a claim, a move, an answer, guidance or a rating; when the debate is
    followed, also by a step."""

    debate_id: str
    status: Status | None = None  # the new one, if it changed


@record
class Followed:
    """Another process has begun to follow a debate. Its driver should publish the text in flight from offset 0."""

    debate_id: str


@record
class RemoteText:
    """Text in flight in another process, of a followed debate. It continues the step's text, or restarts it at
    offset 0. No text means that the step is over and its text can be dropped."""

    debate_id: str
    key: str
    offset: int
    text: str | None
    about: Json  # the step's seat, round, phase…


@record
class Resync:
    """Notices may have been lost: read again everything that matters."""


Notice = Changed | Followed | RemoteText | Resync


@record
class AccessToken:
    """A credential for the API. Only the hash of its secret is stored."""

    id: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    parent: str | None = None  # of a browser session: the token that opened it
    debate_id: str | None = None  # of a share: the only debate that it shows; it is no token for anything else
    created_at: float = 0.0
    expires_at: float | None = None
    last_used_at: float | None = None  # about: see `touch_token`
    old_hash: str | None = None  # of the secret before the last rotation, which is valid until `old_until`
    old_until: float | None = None


@record
class IdempotencyKey:
    """A request that creates a debate, by the key under which it may be repeated."""

    key: str
    hash: str  # of the request
    debate_id: str  # the debate it creates
    response: str | None = None  # what was answered; None: nothing yet


@record
class Tombstone:
    """What is left of a deleted debate: no content."""

    id: str
    deleted_at: float
    deleted_by: str


Values = Mapping[str, Any]  # of a row, by column


@record
class DebateCopy:
    """Everything stored of one debate, as rows. `moot.store.copies` lists their columns and checks them."""

    session: Values
    turns: Sequence[Values] = ()
    events: Sequence[Values] = ()
    gates: Sequence[Values] = ()
    artifacts: Mapping[ArtifactKind, Sequence[Values]] = field(default_factory=dict[ArtifactKind, Sequence[Values]])
