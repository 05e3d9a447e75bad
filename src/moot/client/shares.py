"""Links that show one debate to people without a token."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from moot.app import App
from moot.caller import Caller
from moot.client.permission import check_owner
from moot.client.reading import FULL_ID, opened
from moot.core.errors import NoSuchDebate, UnknownName
from moot.core.types import Debate
from moot.store import AccessToken
from moot.tokens import find_share, new_share


class Shares:
    """Links to debates. Only the token of a debate and admins may show it to others: else ScopeMissing is raised."""

    def __init__(self, app: App, caller: Caller) -> None:
        self.app, self.caller = app, caller

    async def make(self, debate: Debate, expires_at: float | None = None) -> tuple[str, AccessToken]:
        """Make a link that shows this debate, as it stands, and nothing else: the secret of its address, which is shown
        once, and what is stored of it."""
        self.caller.need("run")
        check_owner(self.caller, debate)
        secret, made = new_share(debate.id, self.caller.name, expires_at)
        await self.app.runtime.store.add_token(made)
        return secret, made

    async def valid(self, debate: Debate) -> Sequence[AccessToken]:
        """The links to a debate that are valid."""
        self.caller.need("run")
        check_owner(self.caller, debate)
        return await self.app.runtime.store.shares(debate.id)

    async def revoke(self, debate: Debate, share_id: str) -> None:
        """Make a link invalid, by its id or the beginning of it. Raises UnknownName if the debate has none like it."""
        known = {each.id: each for each in await self.valid(debate)}
        found = [each for each in known if share_id and each.startswith(share_id.strip().lower())]
        if len(found) != 1:
            raise UnknownName("link", share_id[:FULL_ID], [each[:8] for each in known])
        await self.app.runtime.store.drop_token(found[0])

    async def shown_by(self, secret: str) -> Debate | None:
        """The debate that a link shows; None if the link is not valid. It needs no scope: the secret is the right."""
        if not await opened(self.app):
            return None
        debate_id = await find_share(self.app.runtime.store, secret)
        with suppress(NoSuchDebate):
            return None if debate_id is None else await self.app.runtime.store.get(debate_id)
        return None
