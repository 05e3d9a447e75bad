"""Following a debate for one client: its transcript as it grows, then its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import suppress

from fastapi import Response
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from moot.caller import Caller
from moot.core.errors import NoSuchDebate, WrongStatus
from moot.core.lifecycle import LIVE, drive_verb
from moot.core.types import Debate, Gate, Turn, Usage, record
from moot.formats import wording_of
from moot.server.chat.narration import Narrator
from moot.server.chat.retries import Place
from moot.server.chat.shapes import NO_RETRY, Shape, content_of
from moot.server.context import ServerContext, until_revoked
from moot.server.problems import Refused
from moot.server.sse import HEADERS, Events, Frames

DEBATE_HEADER = "X-Moot-Debate"
BEAT = b": the debate goes on\n\n"


@record
class Spent:
    """The usage of all calls. Tokens that are not part of the answer count as reasoning."""

    usage: Usage
    reasoning: int = 0


@record
class Told:
    """The answer of a debate that has ended, or waits for a person."""

    content: str
    cut: bool  # a limit on tokens has ended the debate
    spent: Spent


class Follower:
    """One client that follows one debate. Use it once, and call `leave` at the end."""

    def __init__(
        self,
        context: ServerContext,
        caller: Caller,
        debate: Debate,
        shape: Shape,
        place: Place | None = None,
        *,
        stops: bool = True,
    ) -> None:
        """`stops`: whether the debate may stop when the client leaves; it still depends on the configuration."""
        self._stops = stops and context.app.settings.chat_on_disconnect == "stop"
        self.context, self.debate, self._caller, self._shape = context, debate, caller, shape
        self._place, self._viewer = place, caller.viewer(context.app.settings)
        self.until_revoked = until_revoked(context, caller, "run")
        self.headers = {**HEADERS, DEBATE_HEADER: debate.id, "Location": f"/v1/debates/{debate.id}"}
        self.answered = False  # the client was sent the answer
        self._over = False  # the debate came to rest, or the server shuts down: not the client has ended it
        # A client that left has stopped it, and this one comes in before it rests.
        self._resumes = place is not None and place.joins is not None and debate.status == "stopping"
        context.listening[debate.id] += 1

    async def whole(self, request: Request, answer: Callable[[], Awaitable[Response]]) -> Response:
        """Wait for `answer`, for the client to disconnect, or for its token to be revoked."""
        answering = asyncio.ensure_future(answer())
        gone = asyncio.ensure_future(_gone(request.receive))
        revoked = asyncio.ensure_future(self.until_revoked())
        try:
            await asyncio.wait({answering, gone, revoked}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                response = answering.result()
                self.answered = True
                return response
            if gone.done():
                return Response(status_code=499)  # the client has disconnected
            raise token_ended()
        finally:
            for task in (answering, gone, revoked):
                task.cancel()
            await asyncio.gather(answering, gone, revoked, return_exceptions=True)
            await self.leave()

    async def narrated(self) -> AsyncGenerator[str, None]:
        """The public transcript, piece by piece, until the debate rests. Raises Refused when the server shuts down."""
        context, news = self.context, asyncio.Event()
        reader = context.live.join(self.debate, 0, news, self._viewer)
        narrator = Narrator(wording_of(self.debate))
        closing = asyncio.ensure_future(context.closing.wait())
        closing.add_done_callback(lambda _: news.set())
        try:
            while True:
                news.clear()
                text = narrator.hear(await reader.take())
                if reader.channel.deleted:
                    self._over = True
                    raise Refused("deleted", f"Debate {self.debate.short} was deleted while it ran.", headers=NO_RETRY)
                if reader.gone:
                    raise NoSuchDebate(self.debate.id)
                ended = reader.finished(at_rest=True) and await self._rests()
                text += narrator.rest() if ended else ""
                if text:
                    yield text
                if ended:
                    self._over = True
                    return
                if reader.channel.broken is not None or context.closing.is_set():
                    self._over = True
                    raise self._unfinished()
                await news.wait()
        finally:
            closing.cancel()
            await context.live.leave(reader)

    async def _rests(self) -> bool:
        """Whether the stored debate rests: the channel of one that was just moved on may lag behind."""
        now = await self.context.store.get(self.debate.id)
        if now.status == "stopped" and self._resumes:
            self._resumes = False
            now = await self.context.client.acting_for(self._caller).keep_running(now)
        return now.status not in ("pending", *LIVE)

    async def told(self) -> Told:
        """The answer. Raises Refused if the debate has none."""
        context, debate = self.context, await self.context.store.get(self.debate.id)
        if self._viewer is not None and not self._viewer.sees(debate):
            raise NoSuchDebate(debate.id)
        if debate.status not in ("completed", "waiting"):
            raise unanswered(debate)
        content = answer_of(
            debate,
            await context.store.gates(debate.id),
            self._shape,
            demonstration=context.app.is_demonstration(debate),
        )
        cut = debate.outcome is not None and debate.outcome.ended_by == "max_total_output_tokens"
        return Told(content=content, cut=cut, spent=spent_by(debate, await context.store.turns(debate.id), content))

    async def leave(self) -> None:
        """Called when the request has ended. After the last client, the debate stops, if configured so."""
        context, debate_id = self.context, self.debate.id
        context.listening[debate_id] -= 1
        alone = context.listening[debate_id] <= 0
        if alone:
            del context.listening[debate_id]
        if self._place is not None:
            await self._place.leave(context.store, answered=self.answered)
        if not self._over and alone and self._stops:
            with suppress(WrongStatus, NoSuchDebate):  # it has ended by itself, or was deleted
                await context.app.runtime.stop(debate_id)

    def _unfinished(self) -> Refused:
        return Refused(
            "store-unavailable",
            f"The server shuts down or can't follow debate {self.debate.id}, which is not lost. Ask for it again with "
            f"the header {DEBATE_HEADER}: {self.debate.id}",
        )


class FollowerStream(Events):
    """The streaming response to a follower."""

    def __init__(self, follower: Follower, frames: Frames, farewell: Callable[[], bytes]) -> None:
        """`farewell` gives what is sent when the caller's token is revoked."""
        super().__init__(
            frames,
            heartbeat_seconds=follower.context.heartbeat_seconds,
            revoked=follower.until_revoked,
            beat=BEAT,
            farewell=farewell,
        )
        for name, value in follower.headers.items():
            self.headers[name] = value
        self._follower = follower

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._follower.leave()


def answer_of(debate: Debate, gates: Iterable[Gate], shape: Shape, *, demonstration: bool) -> str:
    """The answer to a client, of a debate that is completed or waits for a person. Raises Refused if it can't be put
    into the shape that was asked for."""
    if debate.outcome is not None:
        return content_of(shape, debate, debate.outcome, demonstration=demonstration)
    asked = [gate.question for gate in gates if gate.status == "open"]
    how = f"Answer it at /debates/{debate.id} in the dashboard, or with POST /v1/debates/{debate.id}/answer."
    if shape.kind != "text":
        raise Refused("wrong-status", f"Debate {debate.short} waits for a person. {how}", headers=NO_RETRY)
    return "\n\n".join([f"**The debate {debate.short} waits for a person.**", *asked, how])


def unanswered(debate: Debate) -> Refused:
    """Why a debate at rest has no answer, and what to do."""
    why = f" {debate.error.message}" if debate.error is not None else ""
    verb = drive_verb(debate.status)
    advice = f" Go on with it: POST /v1/debates/{debate.id}/{verb}." if verb else ""
    limited = debate.error is not None and debate.error.kind == "limit"
    slug = "model-failed" if debate.status == "failed" else "over-budget" if limited else "wrong-status"
    headers = {**NO_RETRY, DEBATE_HEADER: debate.id}
    return Refused(slug, f"Debate {debate.short} is {debate.status}.{why}{advice}", headers=headers)


def spent_by(debate: Debate, turns: Iterable[Turn], answer: str) -> Spent:
    spent, cached, answered = debate.usage, debate.lost.tokens_cached, 0
    for turn in turns:
        cached += turn.tokens_cached
        if turn.kind == "ask" and turn.content.strip() and turn.content.strip() in answer:
            answered += turn.tokens_out
    whole = Usage(tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, tokens_cached=cached)
    return Spent(usage=whole, reasoning=max(0, spent.tokens_out - answered))


def token_ended() -> Refused:
    return Refused("token-needed", "The token was revoked or has expired. Ask the operator of this server for another.")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
