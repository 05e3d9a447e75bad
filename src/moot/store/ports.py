"""The ports of a store: one small protocol for each concern. Code asks for the smallest that it needs; `Store` has them
all. Each backend passes the same contract suite (tests/store)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Unpack

from moot.core.artifacts import Artifact, Episode, Version
from moot.core.ceilings import Reserved, Spending, Today
from moot.core.errors import OverBudget
from moot.core.settings import Ceilings
from moot.core.types import Debate, Event, Gate, Json, Shown, Status, Turn, TurnedOut, Usage
from moot.store.values import (
    AccessToken,
    CellCounts,
    Commit,
    Committed,
    DebateCopy,
    Grade,
    HeartbeatReply,
    Hits,
    IdempotencyKey,
    KnownLesson,
    Labels,
    MemoryEntry,
    Notice,
    Page,
    PageQuery,
    StoredEvaluation,
    Tombstone,
    Vectors,
    Viewer,
)

if TYPE_CHECKING:
    from moot.store.overview import Overview, Presence, Unserved


class Debates(Protocol):
    """Debates, their turns and events, and the leases of the processes that drive them."""

    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate:
        """Raises DebateDeleted when a debate with this id was deleted: an id is never used again."""
        ...

    async def get(self, debate_id: str) -> Debate:
        """Raises NoSuchDebate, or DebateDeleted."""
        ...

    async def find(self, prefix: str, viewer: Viewer | None = None) -> Sequence[str]:
        """Return ids that start with `prefix`, at most ten; with `viewer`, only of debates that it sees."""
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
        rested, sets the count to 0. `alone`: the owner drives nothing else until a turn is stored;
        `Debate.alone` counts such claims in a row that follow a crash.
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

    async def set_private(self, debate_id: str, private: bool, *, seen: Debate | None = None) -> Debate | None:
        """Make a debate private, or let every caller see it. Returns None when there is no such debate."""
        ...

    async def heartbeat(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> HeartbeatReply:
        """Report what became of the debates that `owner` drives, and renew their leases when `seconds` is given."""
        ...

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        """Return running and stopping debates without a driver: no owner, an expired lease, or a dead owner."""
        ...


class People(Protocol):
    """What people contribute: answers to gates, guidance, ratings, labels, how decisions turned out."""

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

    async def label(self, debate_id: str, labels: Labels, *, seen: Debate | None = None) -> Debate | None:
        """Change a debate's title, pin, place in the archive or tags. Returns None when there is no such debate."""
        ...

    async def turned_out(
        self, debate_id: str, turned_out: TurnedOut | None, *, seen: Debate | None = None
    ) -> Debate | None:
        """Record how a decision turned out, replacing what was recorded; None takes it back. Returns None when the
        debate is not completed."""
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

    async def tombstones(self, ids: Collection[str]) -> Sequence[Tombstone]:
        """Return the tombstones of those of these debates that were deleted, by id."""
        ...

    async def untouched(self, before: float, statuses: Collection[Status], limit: int) -> Sequence[Debate]:
        """Return debates with one of these statuses that have not changed since `before`, the oldest first."""
        ...

    async def scrub(self) -> None:
        """Overwrite what deleted debates have left in the database's files, as far as the backend can. Cheap when
        nothing was deleted since the last time."""
        ...


class Artifacts(Protocol):
    """What the rules of debates have produced: versions of code, episodes, lessons and uses of lessons. Commits store
    it, and deletion takes it along."""

    async def artifacts(self, debate_id: str) -> Sequence[Artifact]:
        """Return all that a debate has produced, by kind, in order."""
        ...

    async def versions(self, debate_id: str) -> Sequence[Version]: ...

    async def recent_episodes(
        self, limit: int, *, agent: str | None = None, viewer: Viewer | None = None
    ) -> Sequence[Episode]:
        """Return episodes of all debates, newest first, without those that can't be read. `agent`: only this agent's;
        `viewer`: only of debates that it sees."""
        ...

    async def evict_episodes(self, token: str, keep: int) -> None:
        """Delete the oldest episodes of debates made with this token, but for the newest `keep`. Imported ones stay
        and are not counted."""
        ...

    async def known_lessons(
        self, limit: int, *, id: str | None = None, viewer: Viewer | None = None
    ) -> Sequence[KnownLesson]:
        """Return lessons of all debates, newest first, without those that can't be read. `id`: only this one; `viewer`:
        only of debates that it sees."""
        ...

    async def forget_lesson(self, lesson_id: str) -> bool:
        """Delete a lesson. Returns False when there is none with this id."""
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
        viewer: Viewer | None = None,
    ) -> Hits:
        """Return debates with any of the words, ranked by how many and how rare those are. `decided`: only debates that
        came to a decision and are not in quarantine; `viewer`: only debates that it sees."""
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


class Evaluations(Protocol):
    """Plans of evaluations. Their cells are debates."""

    async def add_evaluation(self, evaluation: StoredEvaluation) -> None:
        """Store a plan. One with its id is replaced, and stays as old as it is: only its budget can differ."""
        ...

    async def evaluations(self, prefix: str = "", limit: int = 20) -> Sequence[StoredEvaluation]:
        """Return evaluations whose ids start with `prefix`, newest first."""
        ...

    async def cell_counts(self, evaluation_id: str, viewer: Viewer | None = None) -> CellCounts:
        """Count the cells of an evaluation that a viewer sees."""
        ...

    async def stop_evaluation(self, evaluation_id: str, *, stopped: bool = True) -> None:
        """Let no new block of an evaluation begin, or let it go on."""
        ...

    async def add_grades(self, evaluation_id: str, grades: Sequence[Grade]) -> None:
        """Store grades of answers; those that are there already stay."""
        ...

    async def grades(self, evaluation_id: str) -> Sequence[Grade]:
        """Return all grades of an evaluation."""
        ...


class Access(Protocol):
    """API tokens, browser sessions, shares and idempotency keys."""

    async def add_token(self, token: AccessToken) -> bool:
        """Returns False when the name is taken; browser sessions and shares need no unique name."""
        ...

    async def tokens(self) -> Sequence[AccessToken]:
        """Return all tokens by name, expired ones too; no browser sessions and no shares."""
        ...

    async def token(self, hash: str) -> AccessToken | None:
        """Return the token or browser session with this hash, unless it has expired. A token is also found by its
        hash before a rotation, until `old_until`."""
        ...

    async def share(self, hash: str) -> AccessToken | None:
        """Return the share with this hash, unless it has ended. `token` never finds one."""
        ...

    async def shares(self, debate_id: str) -> Sequence[AccessToken]:
        """Return the shares of a debate, the oldest first, without those that have ended. They are deleted with it."""
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
        """Delete a token and its browser sessions, or a share. Returns False when there is none."""
        ...

    async def reserve_key(self, key: IdempotencyKey, keep_seconds: float) -> IdempotencyKey:
        """Store the key; return what is stored under it: this, or an earlier request younger than `keep_seconds`."""
        ...

    async def answer_key(self, key: str, response: str) -> None:
        """Store the response of a request, unless its debate was deleted meanwhile."""
        ...

    async def release_key(self, key: str, debate_id: str) -> None:
        """Forget a key, if it still belongs to that debate."""
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


class Operations(Protocol):
    """The database itself: opening, closing, and figures for operators."""

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


class Workers(Protocol):
    """Presence rows of workers, where the backend shares debates among them."""

    async def check_in(self, worker: Presence) -> None:
        """Insert or refresh a worker's presence row."""
        ...

    async def check_out(self, name: str) -> None:
        """Delete a worker's presence row."""
        ...

    async def waiting(self, formats: Sequence[str]) -> Sequence[Unserved]:
        """Return debates of these formats that should run and that no process drives, the longest first."""
        ...


class Store(
    Debates,
    People,
    Deletion,
    Artifacts,
    Transfer,
    Memories,
    Evaluations,
    Access,
    Budgets,
    Live,
    Operations,
    Protocol,
):
    """Everything that is stored. A change that is given `seen` is made only if the debate has not changed since it was
    read (optimistic concurrency): otherwise it returns None."""
