"""The ledger of claims of a crucible. Its critiques are typed already, so it costs no call: an issue is a claim of the
skeptic, and the words of the answer that it is about are a claim of the proposer."""

from __future__ import annotations

from collections.abc import Sequence

from moot.formats.crucible.issues import Issues, Raised
from moot.formats.crucible.wording import Round
from moot.reasoning.claims import TEXT_CHARS, Ledger, Listed, Statement, entered, one_line, plain, says, settled
from moot.script import Failed

IN_PART = "Of an answer, only the words are listed that an issue is about."


def ledger(rounds: Sequence[Round], issues: Issues) -> Ledger:
    kept = Ledger()
    for round in rounds:
        raised = [each for each in issues.raised if each.round == round.number]
        kept = _answered(kept, round, raised)
        if round.critique is not None:
            kept = _criticized(kept, round, raised, issues)
    return settled(kept)


def _answered(kept: Ledger, round: Round, raised: Sequence[Raised]) -> Ledger:
    """Claims of earlier answers that this one no longer has are given up."""
    own = [claim for claim in kept.claims if claim.seat == "proposer"]
    abouts = [each.issue.about for each in raised if len(each.issue.about) <= TEXT_CHARS]
    quoted = [words for words in abouts if says(round.answer, words)]
    statement = Statement(
        key=f"{round.number}/{'propose' if round.number == 1 else 'defend'}/proposer",
        seat="proposer",
        wave=2 * round.number,
        text=round.answer,
        gap=IN_PART,
        withdraws=tuple(claim.id for claim in own if not says(round.answer, claim.text)),
    )
    known = {plain(claim.text) for claim in own}
    return entered(kept, [(statement, [Listed(text=words) for words in quoted if plain(words) not in known])])


def _criticized(kept: Ledger, round: Round, raised: Sequence[Raised], issues: Issues) -> Ledger:
    """An issue that is resolved was answered, and then the words that it is about are accepted; or they are gone, and
    then it was right."""
    concedes, withdraws, notes = list[str](), list[str](), list[str]()
    disputed = {plain(each.issue.about) for each in issues.open}
    for each in issues.resolved:
        if each.resolved_in == round.number:
            notes.append(f"{each.id} is resolved. {each.why}".rstrip())
            about, issue = _id(kept, "proposer", each.issue.about), _id(kept, "skeptic", each.told)
            if not about or says(round.answer, each.issue.about):
                concedes += [about] if about and plain(each.issue.about) not in disputed else []
                withdraws += [issue] if issue else []
    statement = Statement(
        key=f"{round.number}/critique/skeptic",
        seat="skeptic",
        wave=2 * round.number + 1,
        gap=round.critique.failure.message if isinstance(round.critique, Failed) else "",
        concedes=tuple(concedes),
        withdraws=tuple(withdraws),
        notes=tuple(notes),
    )
    return entered(kept, [(statement, [_listed(kept, each) for each in raised])])


def _listed(kept: Ledger, each: Raised) -> Listed:
    about = _id(kept, "proposer", each.issue.about)
    return Listed(text=each.told, stance="attacks" if about else "none", target=about, quote=each.issue.about)


def _id(kept: Ledger, seat: str, text: str) -> str:
    same = plain(one_line(text))
    return next((claim.id for claim in kept.claims if claim.seat == seat and plain(claim.text) == same), "")
