"""Engineers and the critic say what is wrong with the versions that they may read, with a test where they can."""

from __future__ import annotations

from moot.core.script import Seat
from moot.core.types import Prompt
from moot.formats.forge.answers import critique_of
from moot.formats.forge.board import Draft
from moot.formats.forge.prompting import after, code_of, figures, found_part, prompts
from moot.formats.forge.state import Forge, RaisedIssue
from moot.reasoning.code.written import case_of

PHASE = "critique"


async def play(forge: Forge) -> str:
    idle = "no one may read another's version"
    for wave, _ in forge.waves(PHASE, [*forge.engineers, forge.critic]):
        shown = {seat.id: _read_by(forge, seat) for seat in wave}
        readers = [seat for seat in wave if shown[seat.id]]
        labels = tuple(sorted({draft.label for seat in readers for draft in shown[seat.id]}))
        if not readers:
            continue
        idle = ""
        given = await forge.ask(
            readers,
            PHASE,
            lambda seat, shown=shown: _to_criticize(forge, seat, shown[seat.id]),
            returns=critique_of(labels),
            shows="ISSUES",
        )
        for seat, critique in given.items():
            allowed = {draft.label: draft for draft in shown[seat]}
            for issue in critique.issues:
                if issue.version in allowed and allowed[issue.version].author != seat:
                    _raise(forge, seat, allowed[issue.version], issue.severity, issue.claim, issue.case)
    return idle


def _read_by(forge: Forge, seat: Seat) -> list[Draft]:
    """The current versions of others that a seat may read."""
    allowed = forge.reads(PHASE, seat.id) - {seat.id}
    return [draft for author in forge.board.held if author in allowed and (draft := forge.board.current(author))]


def _to_criticize(forge: Forge, seat: Seat, drafts: list[Draft]) -> Prompt:
    versions = [
        f"{draft.label}, {forge.called(draft)}. {figures(forge.board, draft)}\n"
        + code_of(draft, seat, forge.author(draft), forge.key(0, PHASE, seat))
        + after(found_part(seat, forge.board, draft, forge.key(0, PHASE, seat)))
        for draft in drafts
    ]
    return prompts("critique", task=forge.task(seat), versions="\n\n".join(versions))


def _raise(forge: Forge, seat: str, draft: Draft, severity: str, claim: str, line: str) -> None:
    case = case_of(line) if forge.repo is None else None  # no single call can be made to a repository
    if case is not None and not case.problem:
        forge.board.claims.setdefault(seat, []).append(case)
        forge.board.pooled([case], seat)
    forge.issues.append(
        RaisedIssue(
            number=len(forge.issues) + 1,
            by=seat,
            version=draft.number,
            severity=severity,
            claim=claim,
            call=None if case is None or case.problem else case.call,
        )
    )
