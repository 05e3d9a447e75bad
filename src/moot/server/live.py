"""Fan-out of live events to the connections of this process.

One `Channel` follows a debate, however many connections watch it. A `Reader` is one connection's place in it: the last
event it was sent, and how much of each text in flight. Nothing is queued for a reader; when it can take more, it gets
what is new since its place, so a slow reader gets larger pieces and costs no memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Generator, Hashable, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass

from moot.core.errors import NoSuchDebate
from moot.core.types import Debate, Event, record
from moot.formats import wording_of
from moot.formats.wording import Wording
from moot.runtime.hub import Flight
from moot.runtime.runtime import Runtime
from moot.server.wordings import hear_names
from moot.store import Viewer

log = logging.getLogger("moot.server")

TICK_SECONDS = 0.05  # shortest time between two deltas of a step
REST_SECONDS = 0.5  # how often to poll a debate at rest
FRESH_SECONDS = 1.0  # greatest age of the debate's own numbers while text comes in
LIST_SECONDS = 0.5  # how often to poll the newest debates
LINGER_SECONDS = 5.0  # for which that goes on without a reader: one that comes back costs no look of its own
NEWEST = 50
RECENT = 256  # events that a channel keeps for its readers; older ones are read from the store
PAGE = 200


@record
class Delta:
    """New text of a step in flight, as it was when the reader looked."""

    flight: Flight
    offset: int
    text: str = ""
    attempt: int = 1
    done: bool = False


Item = Event | Delta | Debate


@dataclass(slots=True)
class Sent:
    """How much of a text in flight a reader has been sent."""

    flight: Flight
    attempt: int
    chars: int
    done: bool = False


class Channel:
    """Follows one debate for all its readers."""

    def __init__(self, runtime: Runtime, debate: Debate) -> None:
        self.runtime, self.debate = runtime, debate
        self.id, self.last_seq = debate.id, debate.last_seq
        self.over = debate.terminal
        self.resting = debate.terminal  # nothing happens until a request moves it on
        self.broken: Exception | None = None
        self.deleted = False
        self.readers: set[asyncio.Event] = set()
        # Encoded since the last news: readers at the same place are sent the same bytes.
        self.encoded: dict[Hashable, tuple[Item, bytes]] = {}
        # It hears live events as they arrive, and those before on first use.
        self._wording, self._at_first, self._knows_names = wording_of(debate), debate, False
        self._recent: deque[Event] = deque(maxlen=RECENT)
        self._fetched = 0.0
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if not self.over:
            self._task = asyncio.create_task(self._run(), name=f"channel-{self.debate.short}")

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def wording(self) -> Wording:
        """The words for this debate, with the names that its seats have been given so far."""
        if not self._knows_names:
            await hear_names(self.runtime.store, self._at_first, self._wording, until=self._at_first.last_seq)
            self._knows_names = True
        return self._wording

    async def after(self, seq: int) -> Sequence[Event]:
        """The next events; at most a page of them."""
        if seq >= self.last_seq:
            return ()
        if self._recent and self._recent[0].seq <= seq + 1:
            return [event for event in self._recent if event.seq > seq]
        found = await self.runtime.store.events(self.id, seq, PAGE)
        if not found:  # only deletion takes away what was stored
            self._end_deleted()
        return found

    @property
    def flights(self) -> list[tuple[Flight, bool]]:
        """Steps in flight; and those whose text is complete but whose event waits to be shown (True)."""
        hub = self.runtime.hub
        landed = [(flight, True) for flight in hub.landed(self.id).values()]
        return [*landed, *((flight, False) for flight in hub.flights(self.id).values())]

    async def _run(self) -> None:
        try:
            while not self.over:
                self.debate = await self._follow()
                self.over, self.resting = self.debate.terminal, True
                self._wake()
                if not self.over:
                    await self._rest(self.debate)
                    self.resting = False
        except NoSuchDebate:
            self._end_deleted()
        except Exception as error:
            log.warning("debate %s can't be followed: %s", self.debate.short, error)
            self.broken = error
        finally:
            self._wake()

    def _end_deleted(self) -> None:
        self.deleted = self.over = True
        self.last_seq = 0  # nothing is left that a reader could still be sent
        self._recent.clear()

    async def _follow(self) -> Debate:
        """Pass on what happens until the debate comes to rest."""
        async with aclosing(self.runtime.watch(self.id, self.last_seq)) as updates:
            async for update in updates:
                if update.debate is not None:
                    return update.debate
                if update.events:
                    self._recent.extend(update.events)
                    for event in update.events:
                        self._wording.hear(event)
                    self.last_seq = update.events[-1].seq
                    await self._refresh(now=True)
                    self._wake()
                else:
                    again = asyncio.get_running_loop().time() + TICK_SECONDS
                    self._wake()  # text first: it must not wait for the store
                    if await self._refresh(now=False):
                        self._wake()
                    await asyncio.sleep(again - asyncio.get_running_loop().time())
        raise AssertionError("watching ends with the debate")

    async def _refresh(self, *, now: bool) -> bool:
        """Read the debate again if it may have changed; return whether it was read."""
        time = asyncio.get_running_loop().time()
        if not now and time - self._fetched <= FRESH_SECONDS:
            return False
        self.debate, self._fetched = await self.runtime.store.get(self.id), time
        return True

    async def _rest(self, left: Debate) -> None:
        """Keep readers waiting until the debate moves on."""
        listener = self.runtime.hub.listen(self.id)
        try:
            while True:
                await listener.wait(REST_SECONDS)
                now = await self.runtime.store.get(self.id)
                if (now.epoch, now.status, now.last_seq) != (left.epoch, left.status, self.last_seq):
                    return
                if now != self.debate:  # it was rated or guided
                    self.debate = now
                    self._wake()
        finally:
            self.runtime.hub.leave(self.id, listener)

    def _wake(self) -> None:
        self.encoded.clear()
        for reader in self.readers:
            reader.set()


class Reader:
    """One connection's place in one debate."""

    def __init__(self, channel: Channel, after: int, news: asyncio.Event, viewer: Viewer | None) -> None:
        """`viewer`: it is sent nothing more once the debate is private to others."""
        self.channel, self.seq, self.news = channel, min(after, channel.last_seq), news
        self._viewer = viewer
        self._flights: dict[str, Sent] = {}  # by key
        self._done: set[str] = set()  # keys whose events were sent: no more text of them
        self._debate: Debate | None = None  # as it was last sent
        channel.readers.add(news)

    @property
    def gone(self) -> bool:
        """Whether the debate was deleted, or became private to others."""
        return self.channel.deleted or not (self._viewer is None or self._viewer.sees(self.channel.debate))

    def finished(self, *, at_rest: bool) -> bool:
        """Whether everything was sent and nothing more will come; with `at_rest`, unless the debate is moved on."""
        channel = self.channel
        return self.gone or ((channel.over or (at_rest and channel.resting)) and self.seq >= channel.last_seq)

    def leave(self) -> None:
        self.channel.readers.discard(self.news)

    async def take(self) -> list[Item]:
        """What is new since the last call. Sets `news` again when that was only a page of it."""
        items: list[Item] = []
        if self.gone:
            return items
        for event in await self.channel.after(self.seq):
            items.append(event)
            self.seq = event.seq
            if event.key:
                self._done.add(event.key)
                self._flights.pop(event.key, None)
        if self.gone:
            return []
        if self.seq < self.channel.last_seq:
            self.news.set()
            return items
        items += self._deltas()
        if self._debate is not self.channel.debate and self._debate != self.channel.debate:
            self._debate = self.channel.debate
            items.append(self._debate)
        return items

    def _deltas(self) -> list[Delta]:
        deltas: list[Delta] = []
        flights = self.channel.flights
        for flight, done in flights:
            if flight.key not in self._done:
                deltas += self._new_of(flight, done=done)
        # A step that ended and is never shown: its last text is all that comes of it.
        for key in self._flights.keys() - {flight.key for flight, _ in flights}:
            deltas += self._new_of(self._flights[key].flight, done=True)
            del self._flights[key]
        return deltas

    def _new_of(self, flight: Flight, *, done: bool) -> list[Delta]:
        sent, length = self._flights.get(flight.key), flight.size
        known = sent is not None and sent.flight is flight and sent.attempt == flight.attempt
        offset = sent.chars if known and sent is not None else 0
        if known and sent is not None and offset == length and sent.done == done:
            return []
        self._flights[flight.key] = Sent(flight, flight.attempt, length, done)
        return [Delta(flight=flight, attempt=flight.attempt, offset=offset, text=flight.since(offset), done=done)]


class Newest:
    """Follows the newest debates for readers of the list: each debate is sent again when it has changed."""

    def __init__(self, runtime: Runtime, viewer: Viewer | None) -> None:
        """`viewer`: only debates that it sees are followed."""
        self.runtime, self.viewer = runtime, viewer
        self.readers: set[asyncio.Event] = set()
        self.debates: dict[str, Debate] = {}
        self.encoded: dict[tuple[str, str], tuple[Debate, bytes]] = {}  # by kind and id
        self._poke = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._task = asyncio.create_task(self._run(), name="newest-debates")

    def poke(self) -> None:
        """Look now instead of at the next poll."""
        self._poke.set()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def look(self) -> None:
        page = await self.runtime.store.page(limit=NEWEST, viewer=self.viewer, evaluation="")
        found, before = {debate.id: debate for debate in reversed(page.debates)}, self.debates
        if found != before:
            # The same object where nothing has changed: what was encoded of it is used again, for new readers, too.
            self.debates = {name: before[name] if before.get(name) == each else each for name, each in found.items()}
            for key in [key for key in self.encoded if key[1] not in found]:
                del self.encoded[key]
            for reader in self.readers:
                reader.set()

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except Exception as error:  # the next look may succeed
                log.warning("the list of debates can't be read: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(LIST_SECONDS):
                    await self._poke.wait()
            self._poke.clear()


class ListReader:
    """One connection's view of the newest debates."""

    def __init__(self, newest: Newest, news: asyncio.Event, viewer: Viewer | None) -> None:
        self.newest, self.news, self._viewer = newest, news, viewer
        self._sent: dict[str, Debate] = {}
        newest.readers.add(news)

    def leave(self) -> None:
        self.newest.readers.discard(self.news)

    def take(self) -> list[Debate]:
        """The debates that changed since the last call, oldest first: a client that puts each on top ends with the
        newest there."""
        found, viewer = self.newest.debates.values(), self._viewer
        now = {each.id: each for each in found if viewer is None or viewer.sees(each)}
        new = [debate for debate in now.values() if self._sent.get(debate.id) != debate]
        self._sent = now
        return new


class Channels:
    """The channels of this process, opened with their first reader and closed with their last."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.by_token: Counter[str] = Counter()  # open streams, by the identity of their caller
        self._channels: dict[str, Channel] = {}
        self._newest: dict[Viewer | None, Newest] = {}  # by who sees the debates that are listed

    @property
    def streams(self) -> int:
        """The number of open streams."""
        return self.by_token.total()

    @contextmanager
    def counted(self, identity: str) -> Generator[None]:
        """Count one open stream of this caller while the context lasts."""
        self.by_token[identity] += 1
        try:
            yield
        finally:
            self.by_token[identity] -= 1
            if not self.by_token[identity]:
                del self.by_token[identity]

    def join(self, debate: Debate, after: int, news: asyncio.Event, viewer: Viewer | None = None) -> Reader:
        channel = self._channels.get(debate.id)
        if channel is None or channel.deleted or channel.broken is not None or (channel.over and not debate.terminal):
            channel = self._channels[debate.id] = Channel(self.runtime, debate)
            channel.begin()
        return Reader(channel, after, news, viewer)

    async def leave(self, reader: Reader) -> None:
        reader.leave()
        channel = reader.channel
        if not channel.readers:
            if self._channels.get(channel.id) is channel:
                del self._channels[channel.id]
            await channel.end()

    def join_list(self, news: asyncio.Event, viewer: Viewer | None = None) -> ListReader:
        # Who sees others' debates shares one look at the database; the few that are private are left out for each.
        looks = None if viewer is None or viewer.shared else viewer
        if looks not in self._newest:
            self._newest[looks] = Newest(self.runtime, looks)
            self._newest[looks].begin()
        return ListReader(self._newest[looks], news, viewer)

    async def leave_list(self, reader: ListReader) -> None:
        reader.leave()
        if not reader.newest.readers:
            asyncio.get_running_loop().call_later(LINGER_SECONDS, self._end_unread, reader.newest)

    def _end_unread(self, newest: Newest) -> None:
        if not newest.readers and self._newest.get(newest.viewer) is newest:
            del self._newest[newest.viewer]
            newest.stop()

    def close(self) -> None:
        """Stop looking for readers that may come back."""
        for newest in self._newest.values():
            newest.stop()
        self._newest.clear()

    def poke(self) -> None:
        """Tell readers of the list at once about a change made by this process."""
        for newest in self._newest.values():
            newest.poke()
