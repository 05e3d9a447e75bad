"""The store: a few small protocols, one for each concern. Each backend passes the same contract suite (tests/store)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypedDict, Unpack

from moot.core.ceilings import Reserved, Spending, Today
from moot.core.errors import OverBudget
from moot.core.settings import Ceilings
from moot.core.types import Cursor, Debate, Event, Failure, Gate, Json, Outcome, Shown, Status, Turn, Usage, record

if TYPE_CHECKING:
    from moot.store.overview import Overview


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
    gates: Sequence[Gate] = ()  # to open; a gate that is open already only gets the new expiry
    release: bool = False  # give up the lease
    reserved: Reserved | None = None  # what calls still in flight may use; None: nothing was reserved


@record
class Committed:
    status: Status
    events: Sequence[Event]


class PageQuery(TypedDict, total=False):
    """Which debates a page has; filters that are None or left out let every debate pass."""

    status: Status | None
    format: str | None
    contains: str | None  # only topics with this text, ignoring case
    parent: str | None  # only forks of this debate
    token: str | None  # only debates made with this token
    limit: int  # 20 when left out
    after: str | None  # the `next` of the page before


@record
class Page:
    debates: Sequence[Debate]
    next: str | None = None  # pass it as `after` to get the next page; None: this is the last


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


class Debates(Protocol):
    """Debates, their turns and events, and the leases of the processes that drive them."""

    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        """Raises DebateDeleted when a debate with this id was deleted: an id is never used again."""
        ...

    async def get(self, debate_id: str) -> Debate:
        """Raises NoSuchDebate, or DebateDeleted."""
        ...

    async def find(self, prefix: str, token: str | None = None) -> Sequence[str]:
        """Return ids that start with `prefix`, at most ten; with `token`, only of debates made with it."""
        ...

    async def page(self, **query: Unpack[PageQuery]) -> Page:
        """Return debates, newest first, by keyset paging."""
        ...

    async def turns(self, debate_id: str, after: int = 0) -> Sequence[Turn]: ...

    async def events(self, debate_id: str, after: int = 0, limit: int = 1000) -> Sequence[Event]: ...

    async def claim(
        self,
        debate_id: str,
        owner: str,
        seconds: float,
        *,
        expect: Collection[Status],
        dead: str | None = None,
        alone: bool = False,
        seen: Debate | None = None,
    ) -> Debate | None:
        """Take the lease for `seconds`: raises the epoch and sets the debate running. Returns None when its status is
        not in `expect` or another owner's lease is valid. A lease of the owner `dead` is never valid.

        Taking a lease that another owner never gave back counts as a crash; storing a turn, or a claim of a debate that
        rested, sets the count to 0. `alone` is kept: the owner says that it drives nothing else until a turn is stored.
        """
        ...

    async def commit(self, commit: Commit) -> Committed | None:
        """Store a step. Returns None, with nothing stored, when the commit's epoch no longer holds the debate."""
        ...

    async def move(
        self,
        debate_id: str,
        to: Status,
        *,
        expect: Collection[Status],
        events: Sequence[Shown] = (),
        seen: Debate | None = None,
    ) -> Debate | None:
        """Change the status without holding the lease. Returns None when the status is not in `expect`. Moved to
        `running`, a debate has no driver yet, and neither an error nor crashes."""
        ...

    async def heartbeat(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> HeartbeatReply:
        """Report what became of the debates that `owner` drives, and renew their leases when `seconds` is given."""
        ...

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        """Return running and stopping debates without a driver: no owner, an expired lease, or a dead owner."""
        ...


class People(Protocol):
    """What people contribute: answers to gates, guidance, ratings."""

    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        """Return all gates of one debate; without `debate_id`, the open ones of all debates, oldest first. With
        `expired`, only those past their expiry, and those decided over ten seconds ago whose debate still waits."""
        ...

    async def decide(
        self, debate_id: str, key: str, decision: Json, *, by: str, seen: Debate | None = None
    ) -> Gate | None:
        """Answer a gate. Returns None when it is not open: of concurrent answers, one wins."""
        ...

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate | None:
        """Set the rating, 1 to 5, replacing an earlier one. Returns None when the debate is not completed."""
        ...

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate | None:
        """Store guidance for the debate's next steps, as a decided gate `guidance/N`. Returns None when the debate has
        ended."""
        ...


class Deletion(Protocol):
    """Deleting debates. A deleted debate is gone from every table; a tombstone without content is left of it."""

    async def delete(
        self, debate_id: str, *, by: str, expect: Collection[Status] | None = None, seen: Debate | None = None
    ) -> Tombstone | None:
        """Delete a debate with its turns, events, gates, memory and queued jobs, atomically. From then on, commits of a
        process that drives it are refused. Idempotency keys stay, without their responses, so that a repeated request
        does not create the debate anew. Returns None, with nothing deleted, when there is no such debate, when its
        status is not in `expect`, or when it has changed since it was `seen`."""
        ...

    async def tombstone(self, prefix: str) -> Tombstone | None:
        """Return the tombstone of the debate with this id, or of the only one whose id starts so."""
        ...

    async def untouched(self, before: float, statuses: Collection[Status], limit: int) -> Sequence[Debate]:
        """Return debates with one of these statuses that have not changed since `before`, the oldest first."""
        ...

    async def scrub(self) -> None:
        """Overwrite what deleted debates have left in the database's files, as far as the backend can. Cheap when
        nothing was deleted since the last time."""
        ...


class Transfer(Protocol):
    """Copying debates from one database to another."""

    async def copy(self, debate_id: str) -> DebateCopy:
        """Read everything of a debate, as of one moment. Raises NoSuchDebate."""
        ...

    async def adopt(self, copy: DebateCopy) -> bool:
        """Store a debate that came from another database, atomically. Returns False, with nothing stored, when there is
        a debate with its id. Raises DebateDeleted when there was one."""
        ...


class Memories(Protocol):
    """The search index over completed debates, and a cache of vectors."""

    async def unremembered(self, embedder: str, limit: int) -> Sequence[Debate]:
        """Return completed debates that are not indexed, newest first; then, unless `embedder` is empty, indexed ones
        that lack its vector."""
        ...

    async def remember(self, entries: Sequence[MemoryEntry]) -> None:
        """Index debates, atomically. An entry that exists only gets the new vector, and never loses one."""
        ...

    async def search(
        self,
        words: Sequence[str],
        limit: int,
        *,
        decided: bool = False,
        demonstrations: bool = True,
        token: str | None = None,
    ) -> Hits:
        """Return debates with any of the words, ranked by how many and how rare those are. `decided`: only debates that
        came to a decision and are not in quarantine; `token`: only debates made with it."""
        ...

    async def quarantine(self, debate_id: str, by: str | None, *, seen: Debate | None = None) -> Debate | None:
        """Keep a decision from being recalled; with None for `by`, let it be recalled again. Returns None when the
        debate is not completed."""
        ...

    async def quarantined(self) -> Sequence[str]:
        """Return the ids of all debates in quarantine."""
        ...

    async def vectors(self, embedder: str, after: int = 0, limit: int = 5000) -> Vectors:
        """Return debates' vectors, ordered by `place`."""
        ...

    async def embeddings(self, embedder: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Return cached vectors of other texts, by the hash of the text."""
        ...

    async def keep_embeddings(self, embedder: str, embeddings: Mapping[str, bytes]) -> None: ...


class Access(Protocol):
    """API tokens, browser sessions and idempotency keys."""

    async def add_token(self, token: AccessToken) -> bool:
        """Returns False when the name is taken; browser sessions need no unique name."""
        ...

    async def tokens(self) -> Sequence[AccessToken]:
        """Return all tokens by name, expired ones too; no browser sessions."""
        ...

    async def token(self, hash: str) -> AccessToken | None:
        """Return the token or browser session with this hash, unless it has expired. A token is also found by its
        hash before a rotation, until `old_until`."""
        ...

    async def touch_token(self, token: AccessToken) -> None:
        """Record that a token, or a browser session and its token, is used now; at most once in `TOUCH_SECONDS`."""
        ...

    async def rotate_token(
        self, token_id: str, hash: str, *, grace_seconds: float, expires_at: float | None
    ) -> AccessToken | None:
        """Give a token a new secret, by its hash. The old one, and browser sessions, end after `grace_seconds`. Returns
        None when there is no such token."""
        ...

    async def drop_token(self, token_id: str) -> bool:
        """Delete a token and its browser sessions. Returns False when there is none."""
        ...

    async def reserve_key(self, key: IdempotencyKey, keep_seconds: float) -> IdempotencyKey:
        """Store the key; return what is stored under it: this, or an earlier request younger than `keep_seconds`."""
        ...

    async def answer_key(self, key: str, response: str) -> None:
        """Store the response of a request, unless its debate was deleted meanwhile."""
        ...


class Budgets(Protocol):
    """What debates and chores have used today, and what their calls in flight may use."""

    async def reserve(
        self, debate_id: str, token_id: str, epoch: int, reserved: Reserved, ceilings: Ceilings
    ) -> OverBudget | None:
        """Replace what a debate's calls in flight may use, if the day's ceilings have room for it; otherwise return the
        refusal. Atomic over all processes. Raises Superseded when a later epoch has reserved."""
        ...

    async def book(self, debate_id: str, token_id: str, epoch: int, usage: Usage) -> None:
        """Record what was used outside of a commit, and release what was reserved. Does nothing when a later epoch has
        reserved."""
        ...

    async def today(self, token_id: str) -> Today:
        """Return what was used today, by everyone and by one token; empty: the local user."""
        ...

    async def spenders(self) -> Mapping[str, Spending]:
        """Return what was used today by each token id, most expensive first."""
        ...


class Live(Protocol):
    """Notices between processes, where the backend has them."""

    def notices(self) -> AsyncGenerator[Notice]:
        """Yield what other processes do, starting with `Resync`; for one reader. Ends at once where the backend has no
        notifications: then callers poll."""
        ...

    def follow(self, debate_id: str) -> None:
        """Also receive notices of each step and of text in flight."""
        ...

    def unfollow(self, debate_id: str) -> None: ...

    def publish_text(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        """Send text in flight to followers in other processes. `text` begins at `offset` of the step's text; offset 0
        restarts it, and None ends it. Nearly free while there are no followers."""
        ...


class Store(Debates, People, Deletion, Transfer, Memories, Access, Budgets, Live, Protocol):
    """Everything that is stored. A change that is given `seen` is made only if the debate has not changed since it was
    read (optimistic concurrency): otherwise it returns None."""

    shared: ClassVar[bool]  # by processes on several machines, so that workers take over from each other

    async def open(self) -> None:
        """Connect and migrate. Optional: the first other call does it, too."""
        ...

    async def writable(self) -> None:
        """Write to the disk, without leaving anything behind. Raises NotWritable when nothing could be stored, or not
        for long: the database is gone or read-only, or its disk is full."""
        ...

    async def overview(self, seconds: float) -> Overview:
        """Return figures for operators; failures of the last `seconds`."""
        ...

    async def close(self) -> None: ...
