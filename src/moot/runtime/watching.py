"""Watching a debate: its stored events and the text in flight, wherever it is driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Container, Mapping, Sequence

from moot.core.lifecycle import LIVE
from moot.core.types import Debate, Event, record
from moot.runtime.hub import Flight
from moot.runtime.peers import Peers
from moot.store import Debates


@record
class Update:
    """New durable events of a watched debate, and the text in flight by step."""

    events: Sequence[Event]
    flights: Mapping[str, Flight]
    debate: Debate | None = None  # only in the last update: the debate at rest


async def watch(
    debate_id: str,
    after: int,
    *,
    store: Debates,
    peers: Peers,
    driven: Container[str],
    check: Callable[[Debate], None],
    pause: Callable[[], float],
) -> AsyncGenerator[Update, None]:
    """Yield updates from event `after` on until the debate rests.

    Text in flight comes from this process, which drives the debates of `driven`, and from others where the store pushes
    notices. `check` raises what broke a drive; `pause` gives the seconds between two looks at the store.
    """
    hub = peers.hub
    listener = hub.listen(debate_id)
    peers.follow(debate_id)
    listener.missed = True  # begin with what is stored
    try:
        while True:
            local = debate_id in driven
            events = [event for event in listener.events if event.seq > after]
            listener.events.clear()
            if not local or listener.missed or (events and events[0].seq != after + 1):
                listener.missed = False
                debate = await store.get(debate_id)
                check(debate)
                events = list(await store.events(debate_id, after))
                rests = debate.status not in ("pending", *LIVE)
                # One that was deleted between the two reads has no events any more: the next look raises.
                if not events and not local and rests and after >= debate.last_seq:
                    yield Update(events=(), flights={}, debate=debate)
                    return
            after = events[-1].seq if events else after
            yield Update(events=events, flights=hub.flights(debate_id))
            if not events or local:
                await listener.wait(pause())
    finally:
        hub.leave(debate_id, listener)
        peers.unfollow(debate_id)
