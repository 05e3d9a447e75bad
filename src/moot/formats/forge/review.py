"""What issues claim is tested. Then the best two authors accept or reject each issue with their version, and revise."""

from __future__ import annotations

from moot.core.script import Seat
from moot.core.types import Prompt
from moot.formats.forge.answers import ChangedReview, Review
from moot.formats.forge.board import Draft
from moot.formats.forge.prompting import (
    CHANGE_FORM,
    after,
    code_of,
    failed_lines,
    failed_part,
    found_part,
    prompts,
    said,
)
from moot.formats.forge.proposal import MOST_PREDICTED, predict
from moot.formats.forge.state import Forge, RaisedIssue
from moot.reasoning.code.evidence import Calls

AUTHORS = 2
REVISED_FORM = "the whole revised code in one block"
NOT_ANSWERED = "not answered"


async def play(forge: Forge) -> str:
    if not forge.issues and not forge.again:
        return "no issue was raised"
    await forge.run_all("test-issues")
    await predict(forge, _open(forge)[:MOST_PREDICTED], after="issues")
    await forge.at_once(*(_review(forge, forge.stage.seat(author)) for author in best_authors(forge)))
    await forge.run_all("run-revised")
    for author in best_authors(forge):
        _adopt(forge, author)
    answered = forge.again or any(issue.answer for issue in forge.issues)
    return "" if answered else "no issue is with a version of the best two authors"


def _open(forge: Forge) -> list[Calls]:
    """The tests of issues on which nothing is agreed yet."""
    calls = dict.fromkeys(issue.call for issue in forge.issues if issue.call is not None)
    return [call for call in calls if call in forge.board.pool and not forge.board.settled(call).counts]


def best_authors(forge: Forge) -> list[str]:
    """The authors of the best versions, each once."""
    return list(dict.fromkeys(draft.author for draft in forge.board.best()))[:AUTHORS]


def _issues_with(forge: Forge, draft: Draft) -> list[RaisedIssue]:
    return [issue for issue in forge.issues if forge.board.descends(draft, issue.version) and not issue.answer]


async def _review(forge: Forge, seat: Seat) -> None:
    draft = forge.board.current(seat.id)
    issues = [] if draft is None else _issues_with(forge, draft)
    if draft is None or not (issues or forge.again):
        return
    returns = Review if forge.repo is None else ChangedReview
    given = await forge.ask_one(seat, "review", _to_review(forge, seat, draft, issues), returns=returns, shows="REVIEW")
    answers = {} if given is None else {each.number: each for each in given.answers}
    for n, issue in enumerate(issues, 1):
        answer = answers.get(n)
        issue.answer = (
            NOT_ANSWERED if answer is None else "accepted" if answer.accepted else answer.reason or "rejected"
        )
        _count(forge, issue, draft)
    code = None if given is None or given.code is None else await forge.written(seat, given.code, "review")
    if code is not None:
        forge.board.add(seat.id, code, phase="review", key=forge.key(0, "review", seat), parent=draft.number)


def _count(forge: Forge, issue: RaisedIssue, draft: Draft) -> None:
    """An issue whose test is agreed on speaks for or against who raised it; words alone do neither."""
    if issue.call is None:
        return
    settled = forge.board.settled(issue.call)
    if settled.counts and settled.case is not None:
        failed = forge.board.runs.passes(draft.name, settled.case) is False
        (forge.board.upheld if failed else forge.board.refuted)[issue.by] += 1


def _to_review(forge: Forge, seat: Seat, draft: Draft, issues: list[RaisedIssue]) -> Prompt:
    counting = [each.case for each in forge.board.counting if each.case is not None]
    failures, key = forge.board.failures(draft, counting), forge.key(0, "review", seat)
    lines = [
        f"{n}: " + said(seat, _worded(forge, issue), of=forge.stage.seat(issue.by), at=f"{forge.occasion(seat)}/{n}")
        for n, issue in enumerate(issues, 1)
    ]
    return prompts(
        "revise",
        task=forge.task(seat),
        code=code_of(draft, seat, forge.author(draft), key),
        failed=failed_part(seat, failed_lines(failures, {case.call: "confirmed" for case in counting}), key)
        + after(found_part(seat, forge.board, draft, key)),
        issues="\n".join(lines) or "(none)",
        form=REVISED_FORM if forge.repo is None else CHANGE_FORM,
    )


def _worded(forge: Forge, issue: RaisedIssue) -> str:
    return f"{forge.board.draft(issue.version).label} ({issue.severity}): {issue.claim}"


def _adopt(forge: Forge, author: str) -> None:
    """A revision becomes the author's version if no test that counts is lost."""
    held = forge.board.current(author)
    revised = [draft for draft in forge.board.drafts if draft.author == author and draft.phase == "review"]
    if held is not None and revised and not forge.board.loses(held, revised[-1]):
        forge.board.hold(revised[-1])
