"""What a caller may do beyond the scopes of its token: which models and folders it may name, and whose debates it may
show. All of these raise ScopeMissing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.caller import Caller
from moot.config import masked, reaching
from moot.core.errors import ScopeMissing
from moot.core.settings import folders_in
from moot.core.types import Debate, Json
from moot.formats import Format
from moot.runtime.threads import in_thread


async def check_models(caller: Caller, settings: Json) -> None:
    """Refuse models with an address, which would be sent our key, and models that read files, unless the caller is
    an admin."""
    found = None if caller.may("admin") else await in_thread(lambda: reaching(settings))
    if found is not None:
        raise ScopeMissing(
            f"The setting {found[0]} names the model {masked(found[1])[:80]!r}, which has an address or reads "
            "files; that takes the scope 'admin'. Choose a model of a known provider, or leave it out."
        )


def check_folders(caller: Caller, format_: Format, given: Mapping[str, Any]) -> None:
    """Refuse folders of this machine that the caller has named, unless it is an admin."""
    named = folders_in(format_.settings, given)
    if named and not caller.may("admin"):
        raise ScopeMissing(
            f"The setting {next(iter(named))} names a folder of the machine that moot runs on; that takes the "
            "scope 'admin'. Leave it out, or ask the operator."
        )


def check_owner(caller: Caller, debate: Debate) -> None:
    if debate.token_id != caller.identity and not caller.may("admin"):
        raise ScopeMissing(
            f"{caller.what} did not make debate {debate.short}, so it may not say who sees it. That takes "
            "its own token, or the scope 'admin'.",
            remedy="scope",
        )
