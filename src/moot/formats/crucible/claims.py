"""The ledger of claims of a crucible, made from its typed critiques without further calls: an issue is a claim of the
skeptic, and the words of the answer that it is about are a claim of the proposer."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.script import Failed
from moot.formats.crucible.issues import Issues, RaisedIssue
from moot.formats.crucible.shapes import Round
from moot.reasoning.claims import (
    TEXT_CHARS,
    ClaimDraft,
    Ledger,
    LedgerStatement,
    add_wave,
    contains_quote,
    normalized,
    settle,
)
from moot.reasoning.fence import one_line

IN_PART = "Of an answer, only the words are listed that an issue is about."


def ledger_of_rounds(rounds: Sequence[Round], issues: Issues) -> Ledger:
    ledger = Ledger()
    for round in rounds:
        raised = [each for each in issues.raised if each.round == round.number]
        ledger = _add_answer(ledger, round, raised)
        if round.critique is not None:
            ledger = _add_critique(ledger, round, raised, issues)
    return settle(ledger)


def _add_answer(ledger: Ledger, round: Round, raised: Sequence[RaisedIssue]) -> Ledger:
    """Claims of earlier answers that this answer no longer contains are withdrawn."""
    own = [claim for claim in ledger.claims if claim.seat == "proposer"]
    abouts = [each.issue.about for each in raised if len(each.issue.about) <= TEXT_CHARS]
    quoted = [words for words in abouts if contains_quote(round.answer, words)]
    statement = LedgerStatement(
        key=f"{round.number}/{'propose' if round.number == 1 else 'defend'}/proposer",
        seat="proposer",
        wave=2 * round.number,
        text=round.answer,
        gap=IN_PART,
        withdraws=tuple(claim.id for claim in own if not contains_quote(round.answer, claim.text)),
    )
    known = {normalized(claim.text) for claim in own}
    return add_wave(
        ledger, [(statement, [ClaimDraft(text=words) for words in quoted if normalized(words) not in known])]
    )


def _add_critique(ledger: Ledger, round: Round, raised: Sequence[RaisedIssue], issues: Issues) -> Ledger:
    """A resolved issue whose words are still in the answer was answered: the skeptic withdraws it and concedes the
    words. If they are gone, the issue was right, and stands."""
    concedes, withdraws, notes = list[str](), list[str](), list[str]()
    disputed = {normalized(each.issue.about) for each in issues.open}
    for each in issues.resolved:
        if each.resolved_in == round.number:
            notes.append(f"{each.id} is resolved. {each.why}".rstrip())
            about, issue = _id(ledger, "proposer", each.issue.about), _id(ledger, "skeptic", each.headline)
            if not about or contains_quote(round.answer, each.issue.about):
                concedes += [about] if about and normalized(each.issue.about) not in disputed else []
                withdraws += [issue] if issue else []
    statement = LedgerStatement(
        key=f"{round.number}/critique/skeptic",
        seat="skeptic",
        wave=2 * round.number + 1,
        gap=round.critique.failure.message if isinstance(round.critique, Failed) else "",
        concedes=tuple(concedes),
        withdraws=tuple(withdraws),
        notes=tuple(notes),
    )
    return add_wave(ledger, [(statement, [_draft(ledger, each) for each in raised])])


def _draft(ledger: Ledger, each: RaisedIssue) -> ClaimDraft:
    about = _id(ledger, "proposer", each.issue.about)
    return ClaimDraft(text=each.headline, stance="attacks" if about else "none", target=about, quote=each.issue.about)


def _id(ledger: Ledger, seat: str, text: str) -> str:
    same = normalized(one_line(text, TEXT_CHARS))
    return next((claim.id for claim in ledger.claims if claim.seat == seat and normalized(claim.text) == same), "")
