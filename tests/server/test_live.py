"""A reader's place in a debate, with text in flight put there by hand."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from moot.app import App
from moot.core.types import Debate, Event
from moot.runtime.hub import Flight
from moot.server.live import Channels, Delta, Reader
from moot.server.newest import NEWEST
from moot.store import Viewer
from tests.running import new_debate
from tests.store.samples import debate


class Place:
    """A debate without a driver; tests put text in flight by hand."""

    def __init__(self, app: App, debate: Debate) -> None:
        self.app, self.debate, self.hub, self.live = app, debate, app.runtime.hub, Channels(app.runtime)

    def begin(self, key: str = "1/speak/a") -> None:
        self.hub.begin(self.debate.id, Flight(key=key, seat=key[-1], round=1, phase="speak", shows="TURN"))

    def say(self, text: str | None, key: str = "1/speak/a") -> None:
        self.hub.hear(self.debate.id, key, text)

    def event(self, key: str) -> Event:
        return Event(seq=2, type="TURN", key=key, data={}, created_at=0.0)

    @asynccontextmanager
    async def reading(self):
        reader = self.live.join(self.debate, 1, asyncio.Event())
        try:
            yield reader
        finally:
            await self.live.leave(reader)


@pytest.fixture
def place(app: App, loop: asyncio.Runner) -> Place:
    return Place(app, loop.run(new_debate(app, "sim:")))


async def news(reader: Reader) -> list[tuple[str, int, str, int, bool]]:
    return [
        (each.flight.key, each.offset, each.text, each.attempt, each.done)
        for each in await reader.take()
        if isinstance(each, Delta)
    ]


async def test_text_comes_in_pieces_that_fit_together(place: Place):
    place.begin()
    async with place.reading() as reader:
        place.say("Hel")
        [first] = [each for each in await reader.take() if isinstance(each, Delta)]
        place.say("lo")  # while the first is worded
        assert (first.offset, first.text) == (0, "Hel")
        place.say(" all")
        assert await news(reader) == [("1/speak/a", 3, "lo all", 1, False)]
        assert await news(reader) == []


async def test_a_new_try_begins_at_the_beginning(place: Place):
    place.begin()
    async with place.reading() as reader:
        place.say("Wrong")
        await news(reader)
        place.say(None)
        assert await news(reader) == [("1/speak/a", 0, "", 2, False)]
        place.say("Right, and longer")
        assert await news(reader) == [("1/speak/a", 0, "Right, and longer", 2, False)]
        # The same between two looks: what was heard before is forgotten all the same.
        place.say(None)
        place.say("At last")
        assert await news(reader) == [("1/speak/a", 0, "At last", 3, False)]


async def test_a_step_that_is_begun_again_begins_at_the_beginning(place: Place):
    place.begin()
    place.say("Before the stop")
    async with place.reading() as reader:
        await news(reader)
        place.hub.end(place.debate.id, "1/speak/a")
        place.begin()
        place.say("After it")
        assert await news(reader) == [("1/speak/a", 0, "After it", 1, False)]


async def test_what_has_landed_is_told_until_its_event_is(place: Place):
    place.begin("1/speak/a")
    place.begin("1/speak/b")
    async with place.reading() as early:
        place.say("First", "1/speak/b")
        await news(early)
        place.say(" and last.", "1/speak/b")
        place.hub.end(place.debate.id, "1/speak/b", stored=True)
        rest = ("1/speak/b", 5, " and last.", 1, True)
        assert rest in await news(early)
        async with place.reading() as late:
            assert ("1/speak/b", 0, "First and last.", 1, True) in await news(late)
        place.hub.publish(place.debate.id, place.event("1/speak/b"))
        async with place.reading() as latest:
            assert not [each for each in await news(latest) if each[0] == "1/speak/b"]


async def test_a_step_that_leaves_nothing_ends_with_its_last_words(place: Place):
    place.begin()
    async with place.reading() as reader:
        place.say("Half a sen")
        await news(reader)
        place.say("tence")
        place.hub.end(place.debate.id, "1/speak/a")
        assert await news(reader) == [("1/speak/a", 10, "tence", 1, True)]
        assert await news(reader) == []


async def test_text_whose_event_was_told_is_not_told_again(place: Place):
    place.begin()
    place.say("Said.")
    async with place.reading() as reader:
        reader.channel._recent.append(place.event("1/speak/a"))
        reader.channel.last_seq = 2
        assert next(type(each) for each in await reader.take()) is Event
        place.say("More?")
        assert await news(reader) == []


async def test_a_reader_that_leaves_leaves_nothing_behind(place: Place):
    async with place.reading(), place.reading():
        assert len(place.live._channels) == 1
    assert place.live._channels == {}
    reader = place.live.join_list(asyncio.Event())
    await place.live.leave_list(reader)
    again = place.live.join_list(asyncio.Event())
    assert again.parts == reader.parts, "one that comes back costs no look of its own"
    await place.live.leave_list(again)
    place.live._end_unread(again.parts[0])  # when some time has passed
    await asyncio.gather(again.parts[0]._task, return_exceptions=True)
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith(("channel", "newest"))]


async def test_private_debates_of_one_token_hide_no_others_from_the_list(place: Place):
    store = place.app.runtime.store
    shared = await store.create(debate(0, token_id="bob"))
    own = await store.create(debate(1, token_id="bob", private=True))
    theirs = [await store.create(debate(n, token_id="ann", private=True)) for n in range(2, NEWEST + 3)]

    async def listed(viewer: Viewer | None) -> list[str]:
        reader = place.live.join_list(asyncio.Event(), viewer)
        for part in reader.parts:
            await part.read()
        found = [each.id for each in reader.take()]
        await place.live.leave_list(reader)
        return found

    assert await listed(Viewer(token="bob")) == [place.debate.id, shared.id, own.id]
    assert await listed(Viewer(token="carol")) == [place.debate.id, shared.id]
    newest = [each.id for each in theirs[-NEWEST:]]
    for viewer in (None, Viewer(token="ann"), Viewer(token="ann", shared=False)):
        assert await listed(viewer) == newest
    place.live.close()
