"""Where debates are kept. One small protocol; each backend passes the same contract suite (tests/store)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from moot.types import Cursor, Debate, Event, Failure, Gate, Json, Shown, Status, Turn, Usage, record

if TYPE_CHECKING:
    from moot.store.overview import Overview


@record
class Commit:
    """What one step of a debate changes, or several that ended together. All of it is stored, or nothing."""

    debate_id: str
    epoch: int  # refused when someone else has taken the debate since
    turns: Sequence[Turn] = ()
    cursor: Cursor | None = None
    events: Sequence[Shown] = ()
    shown: int = 0  # how many of the events are the script's own
    status: Status | None = None
    total_rounds: int = 0
    outcome: Json | None = None
    error: Failure | None = None
    lost: Usage | None = None  # paid for, but no turn came of it
    gates: Sequence[Gate] = ()  # opened; one that is open already only gets its new time
    release: bool = False  # let go of the lease


@record
class Committed:
    status: Status
    events: Sequence[Event]


@record
class Page:
    debates: Sequence[Debate]
    next: str | None = None  # give it as `after` to see what comes next


@record
class Pulse:
    """What the store answers to a process that says it is alive."""

    statuses: Mapping[str, Status] = field(default_factory=dict[str, Status])  # of debates that are still its own
    guided: Mapping[str, int] = field(default_factory=dict[str, int])  # how often each has been given guidance
    lost: Collection[str] = ()  # taken over, canceled or gone


@record
class Memorized:
    """What is kept of a completed debate, so that it can be found again."""

    debate_id: str
    words: Sequence[str]  # in the form in which they are compared
    decided: bool  # it came to a decision
    demonstration: bool
    embedder: str = ""  # empty: there was none
    embedding: bytes | None = None


@record
class Hits:
    """Debates that have some of the words, best first, and how telling the words are."""

    ids: Sequence[str] = ()
    total: int = 0  # how many debates are remembered, about
    having: Mapping[str, int] = field(default_factory=dict[str, int])  # for each word, how many of them have it


@record
class Vector:
    place: int  # ever larger; give it as `after` to go on behind it
    debate_id: str
    decided: bool
    demonstration: bool
    embedding: bytes


@record
class Vectors:
    total: int  # how many there are of the embedder in all
    vectors: Sequence[Vector] = ()


@record
class Condition:
    """How a database is."""

    place: str  # for people: a path, or an address without its password
    version: int  # of its schema; 0: nothing is there yet
    newest: int  # that this moot knows
    debates: Mapping[Status, int] = field(default_factory=dict[Status, int])  # how many have each status
    turns: int = 0
    bytes: int = 0  # on disk


@record
class Changed:
    """A debate was changed in another process: by a claim, a move, an answer, guidance, a rating or, when it is
    followed, by a step."""

    debate_id: str
    status: Status | None = None  # when that was changed, too


@record
class Wanted:
    """Another process follows a debate: whoever drives it should `say` what is in flight, from the beginning."""

    debate_id: str


@record
class Said:
    """Text in flight in another process, of a debate that is followed. It goes on where the last of its step ended, or
    begins again at 0. Without text the step is over, and what was heard of it can be forgotten."""

    debate_id: str
    key: str
    offset: int
    text: str | None
    about: Json  # what the speaker said about the step: seat, round, phase…


@record
class Missed:
    """Something may have happened unheard: look at everything again."""


Notice = Changed | Wanted | Said | Missed


@record
class AccessToken:
    """What lets someone use the API. The secret itself is kept nowhere."""

    id: str
    name: str
    hash: str
    scopes: tuple[str, ...]
    parent: str | None = None  # of a browser's session: the token it was opened with
    created_at: float = 0.0
    expires_at: float | None = None


@record
class Reservation:
    """A request that creates a debate, so that its repetition creates none."""

    key: str
    hash: str  # of what was asked for
    debate_id: str  # that it creates
    response: str | None = None  # what was answered, once it was


class Store(Protocol):
    """Where a change takes `seen`, it is made only while the debate is still what it was then: of two who have seen the
    same, one wins, also in two processes."""

    shared: ClassVar[bool]  # by processes of several machines, with workers that go on with what others left

    async def open(self) -> None:
        """Connect, and bring the schema up to date. Whatever is called first does it, too."""
        ...

    async def writable(self) -> None:
        """Raises NotWritable when nothing could be stored: better known at once than at the first debate."""
        ...

    async def create(self, debate: Debate, turns: Sequence[Turn] = (), events: Sequence[Shown] = ()) -> Debate: ...

    async def get(self, debate_id: str) -> Debate:
        """Raises NoSuchDebate."""
        ...

    async def find(self, prefix: str) -> Sequence[str]:
        """Ids that begin so, at most ten."""
        ...

    async def page(
        self,
        *,
        status: Status | None = None,
        format: str | None = None,
        contains: str | None = None,
        parent: str | None = None,
        limit: int = 20,
        after: str | None = None,
    ) -> Page:
        """Newest first. `contains`: only topics with these very characters, in upper or lower case; `parent`: only
        forks of that debate."""
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
        seen: Debate | None = None,
    ) -> Debate | None:
        """Take the debate to drive it: raises its epoch, sets it running. None when its status is not one of
        `expect`, or a live lease is in the way. A lease of the owner `dead` is never in the way."""
        ...

    async def commit(self, commit: Commit) -> Committed | None:
        """None when the debate is no longer this epoch's to change."""
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
        """Change the status from outside. None when it is not one of `expect`."""
        ...

    async def pulse(self, owner: str, epochs: Mapping[str, int], seconds: float | None) -> Pulse:
        """Say which debates are still being driven; renews their leases when `seconds` is given."""
        ...

    async def abandoned(self, is_dead: Callable[[str], bool]) -> Sequence[Debate]:
        """Debates that should be running, but whose driver is silent past its lease, or dead."""
        ...

    async def gates(self, debate_id: str | None = None, *, expired: bool = False) -> Sequence[Gate]:
        """Of one debate: all its gates. Of all debates: the open ones, oldest first; with `expired` only those whose
        time is over, and those that were answered more than ten seconds ago and whose debate still waits."""
        ...

    async def decide(
        self, debate_id: str, key: str, decision: Json, *, by: str, seen: Debate | None = None
    ) -> Gate | None:
        """Answer an open gate. None when it is not open: of two who answer at once, one wins."""
        ...

    async def rate(self, debate_id: str, rating: int, *, seen: Debate | None = None) -> Debate | None:
        """What people think of a completed debate, 1 to 5; the last word counts. None when it is not completed."""
        ...

    async def guide(self, debate_id: str, text: str, *, by: str, seen: Debate | None = None) -> Gate | None:
        """Keep what someone says between steps, as a decided gate `guidance/N`, until the debate hears it. None when
        the debate is terminal."""
        ...

    async def unremembered(self, embedder: str, limit: int) -> Sequence[Debate]:
        """Completed debates that are not remembered yet, newest first; then, unless `embedder` is empty, those that
        are, but not with it."""
        ...

    async def remember(self, memorized: Sequence[Memorized]) -> None:
        """All or nothing. One that is remembered already only gets the vector, and loses none."""
        ...

    async def search(
        self, words: Sequence[str], limit: int, *, decided: bool = False, demonstrations: bool = True
    ) -> Hits:
        """Those that have any of the words; more of them, and rarer ones, come first. `decided`: only those that came
        to a decision."""
        ...

    async def vectors(self, embedder: str, after: int = 0, limit: int = 5000) -> Vectors:
        """In the order of their places."""
        ...

    async def embeddings(self, embedder: str, hashes: Collection[str]) -> Mapping[str, bytes]:
        """Vectors of other texts than debates, by the hashes of the texts; those that are kept."""
        ...

    async def keep_embeddings(self, embedder: str, embeddings: Mapping[str, bytes]) -> None: ...

    async def add_token(self, token: AccessToken) -> bool:
        """False when there is one of that name; sessions may share a name."""
        ...

    async def tokens(self) -> Sequence[AccessToken]:
        """Without sessions, by name; those that have expired, too."""
        ...

    async def token(self, hash: str) -> AccessToken | None:
        """The token or session with this hash, unless it has expired."""
        ...

    async def drop_token(self, token_id: str) -> bool:
        """Its sessions go with it. False when there is none."""
        ...

    async def reserve(self, reservation: Reservation, keep_seconds: float) -> Reservation:
        """Gives the one that holds the key: this one, or the one that was first. Those that are older than
        `keep_seconds` are forgotten."""
        ...

    async def answer_reservation(self, key: str, response: str) -> None: ...

    async def overview(self, seconds: float) -> Overview:
        """How everything stands; of failures, those of the last so many seconds."""
        ...

    def notices(self) -> AsyncGenerator[Notice]:
        """What happens in other processes, as it happens, beginning with `Missed`; for one reader. Ends at once where
        the store can't tell: then one has to look."""
        ...

    def follow(self, debate_id: str) -> None:
        """Ask for notices of each step and of the text in flight, too."""
        ...

    def unfollow(self, debate_id: str) -> None: ...

    def say(self, debate_id: str, key: str, offset: int, text: str | None, about: Mapping[str, Any]) -> None:
        """Let followers in other processes hear `text`, which begins at `offset` of what the step has said so far; 0
        begins anew, None says that it is over. Costs next to nothing while nobody follows."""
        ...

    async def close(self) -> None: ...
