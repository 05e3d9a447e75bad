"""A forge over a repository of the user's: versions are patches, its own tests are what counts, and the patch that wins
is delivered as a branch. Single calls can't be made to a repository, so no one predicts or attacks."""

from __future__ import annotations

from moot.core.types import Outcome
from moot.core.values import sha256_of
from moot.formats.forge.board import expected
from moot.formats.forge.state import Forge
from moot.reasoning.code.requests import (
    CloseRepository,
    Deliver,
    Delivered,
    OpenRepository,
    RepositoryClosed,
    RepositoryOpened,
)
from moot.reasoning.fence import one_line

SUBJECT_CHARS = 72


async def open_repository(forge: Forge) -> bool:
    """Look at the repository and run its tests as they are; False if there is no test to measure a change by."""
    given = forge.settings.tests
    request = OpenRepository(
        path=forge.settings.repo, about=forge.stage.topic, tests=sha256_of(given) if given else None
    )
    forge.repo = await forge.stage.use(
        "repository",
        "open-repository",
        request.model_dump(mode="json"),
        returns=RepositoryOpened,
        texts=[given] if given else [],
    )
    forge.board.expected = expected(forge.repo.tests, given=bool(given))
    return bool(forge.board.expected)


async def deliver(forge: Forge, outcome: Outcome) -> Outcome:
    """Bring the patch that won into the user's repository, on a branch of its own."""
    if forge.repo is None or outcome.answer is None:
        return outcome
    patch = outcome.answer.value
    request = Deliver(
        path=forge.settings.repo,
        base=forge.repo.base,
        version=sha256_of(patch),
        message=one_line(forge.stage.topic, SUBJECT_CHARS),
    )
    done = await forge.stage.use(
        "repository",
        "deliver",
        request.model_dump(mode="json"),
        returns=Delivered,
        texts=[patch],
        closing=True,
    )
    facts = {**outcome.facts, "Branch": done.branch, "Commit": done.commit}
    return outcome.model_copy(update={"facts": facts, "how": f"{outcome.how} It is on the branch {done.branch}."})


async def close(forge: Forge) -> None:
    """Have the private clone removed where nothing is delivered. That it stays is no reason to fail."""
    if forge.repo is not None:
        await forge.stage.use(
            "repository",
            "close-repository",
            CloseRepository(path=forge.settings.repo).model_dump(mode="json"),
            returns=RepositoryClosed,
            closing=True,
            tolerant=True,
        )
