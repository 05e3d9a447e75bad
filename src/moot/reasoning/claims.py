"""The ledger of claims: what speakers list as their claims, checked, and the status of each claim, computed.

Statuses follow from typed data alone; no speaker's words decide one. docs/claims.md has the rules in full."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from moot.core.errors import ScriptError
from moot.core.explaining import in_words, sentence
from moot.core.types import Json, record
from moot.reasoning.fence import clean, one_line

Stance = Literal["supports", "attacks", "none"]
ClaimStatus = Literal["conceded", "standing", "open", "refuted"]
CLAIM_STATUSES: tuple[ClaimStatus, ...] = ("conceded", "standing", "open", "refuted")

FALSE_QUOTE = "the words it quotes were said by no one else before"
TEXT_CHARS = 500
ID_CHARS = 20

_SAME_MARKS = str.maketrans(dict.fromkeys('"‘’‚‛“”„‟«»‹›「」『』′″`´', "'") | dict.fromkeys("‐‑‒–—―−", "-"))
_EMPHASIS = str.maketrans("", "", "*_~`")
_ENDS = " '.,;:!?-()[]"


@record
class ClaimDraft:
    """A claim as its speaker lists it, unchecked."""

    text: str
    stance: Stance = "none"
    target: str = ""
    quote: str = ""
    evidence: str = ""
    concedes: tuple[str, ...] = ()


@record
class LedgerStatement:
    """A public statement, and what its speaker did in it with earlier claims."""

    key: str
    seat: str
    wave: int  # statements of one wave were made at the same time, without knowing each other
    text: str = ""
    gap: str = ""  # why its claims are not known; empty: they are
    concedes: tuple[str, ...] = ()  # others' claims that the speaker accepts
    withdraws: tuple[str, ...] = ()  # own claims that the speaker gives up
    notes: tuple[str, ...] = ()

    def as_json(self) -> Json:
        """All but the text, which is in the transcript."""
        return {name: value for name, value in asdict(self).items() if name != "text"}


@record
class Claim:
    id: str
    seat: str
    statement: str  # the key of the statement that makes it
    wave: int
    text: str
    stance: Stance = "none"
    target: str = ""
    quote: str = ""  # of another speaker
    quote_ok: bool | None = None  # whether it was found; None: nothing is quoted
    quote_of: str = ""  # the key of the statement that it is from
    evidence: str = ""
    counts: bool = False  # its support or attack is valid
    conceded_by: tuple[str, ...] = ()
    status: ClaimStatus = "standing"
    notes: tuple[str, ...] = ()


@record
class Ledger:
    statements: tuple[LedgerStatement, ...] = ()
    claims: tuple[Claim, ...] = ()

    def counts(self) -> dict[ClaimStatus, int]:
        return {status: sum(claim.status == status for claim in self.claims) for status in CLAIM_STATUSES}

    def as_json(self) -> Json:
        return {
            "statements": [each.as_json() for each in self.statements],
            "claims": [asdict(each) for each in self.claims],
        }


def read_ledger(stored: Json) -> Ledger:
    """The reverse of `Ledger.as_json`. Raises ScriptError when `stored` has another shape."""
    try:
        return TypeAdapter(Ledger).validate_python(stored)
    except ValidationError as invalid:
        problem = in_words(dict(invalid.errors()[0]))
        path = ".".join(["ledger", *(str(part) for part in invalid.errors()[0]["loc"])])
        raise ScriptError(
            f"The ledger of claims can't be read: {sentence(path, problem)}. This is a bug of the format that made it; "
            "docs/claims.md has the shape."
        ) from None


def add_wave(ledger: Ledger, wave: Sequence[tuple[LedgerStatement, Sequence[ClaimDraft]]]) -> Ledger:
    """Add the statements of one wave and their claims, checked and numbered. `settle` computes the statuses."""
    statements, claims = list(ledger.statements), list(ledger.claims)
    for statement, drafts in wave:
        concedes, notes = list[str](), list[str]()
        for draft in drafts:
            conceded, dropped = _concessions(draft, statement.seat, ledger.claims)
            concedes += conceded
            claim = _check(draft, f"c{len(claims) + 1}", statement, ledger)
            text = normalized(claim.text)
            same = [old.id for old in claims if old.seat == statement.seat and normalized(old.text) == text]
            if same:
                notes += [*dropped, f"says {same[0]} again"]
            elif claim.text:
                claims.append(replace(claim, notes=(*claim.notes, *dropped)))
        statements.append(
            replace(
                statement,
                concedes=tuple(dict.fromkeys((*statement.concedes, *concedes))),
                notes=tuple(dict.fromkeys((*statement.notes, *notes))),
            )
        )
    return Ledger(statements=tuple(statements), claims=tuple(claims))


def settle(ledger: Ledger) -> Ledger:
    """Compute who concedes what, which stances count, and the status of each claim."""
    by_id = {claim.id: claim for claim in ledger.claims}
    accepted = {id: frozenset(_conceders(id, by_id[id].seat, ledger.statements)) for id in by_id}
    withdrawn = {
        id for each in ledger.statements for id in each.withdraws if id in by_id and by_id[id].seat == each.seat
    }
    attacks = {claim.id: claim.target for claim in ledger.claims if _attacks(claim, by_id, accepted)}
    attackers: dict[str, list[str]] = {id: [] for id in by_id}
    for attacker, target in attacks.items():
        attackers[target].append(attacker)

    last_wave = dict[str, int]()  # in which each seat has listed claims
    for each in ledger.statements:
        if not each.gap:
            last_wave[each.seat] = max(each.wave, last_wave.get(each.seat, each.wave))

    def given_up(id: str) -> bool:
        """Whether its author withdraws it or concedes an attack on it."""
        return id in withdrawn or any(by_id[id].seat in accepted[attacker] for attacker in attackers[id])

    def decides(attacker: str, target: str) -> bool:
        """Whether the target's author made the attack, or could have answered it and did not."""
        one, author = by_id[attacker], by_id[target].seat
        return one.seat == author or last_wave.get(author, one.wave) > one.wave

    holds: dict[str, bool] = {id: False for id in by_id if given_up(id)}
    while True:
        # Uses only what was known before this pass, so that the order of claims can't matter.
        found: dict[str, bool] = {}
        for id in by_id.keys() - holds.keys():
            if all(holds.get(attacker) is False for attacker in attackers[id]):
                found[id] = True
            elif any(holds.get(attacker) is True and decides(attacker, id) for attacker in attackers[id]):
                found[id] = False
        if not found:
            break
        holds |= found

    def status(id: str) -> ClaimStatus:
        if id not in holds:
            return "open"
        return "refuted" if not holds[id] else "conceded" if accepted[id] else "standing"

    return replace(
        ledger,
        claims=tuple(
            replace(
                claim,
                counts=claim.id in attacks or _supports(claim, by_id),
                conceded_by=tuple(sorted(accepted[claim.id])),
                status=status(claim.id),
            )
            for claim in ledger.claims
        ),
    )


def why_void(claim: Claim, ledger: Ledger) -> str:
    """Why the support or attack of a settled claim does not count; empty if it counts, or if there is none."""
    target = next((each for each in ledger.claims if each.id == claim.target), None)
    if target is None or claim.counts:
        return ""
    if claim.quote_ok is False:
        return FALSE_QUOTE
    return "the claim is of the same speaker" if claim.stance == "supports" else "its speaker concedes what it attacks"


@lru_cache(maxsize=4096)
def normalized(text: str) -> str:
    """A text for comparison: case, emphasis, invisible characters, and kinds of quotation marks, dashes and white space
    make no difference."""
    same = unicodedata.normalize("NFKC", clean(text)).translate(_EMPHASIS).translate(_SAME_MARKS).casefold()
    return " ".join(same.split())


def contains_quote(text: str, quote: str) -> bool:
    """Whether the quote occurs in the text, in one piece and as whole words; punctuation at its ends is ignored."""
    words, within = normalized(quote).strip(_ENDS), normalized(text)
    at = within.find(words) if words else -1
    while at >= 0:
        end = at + len(words)
        if not _inside_word(within[max(0, at - 1) : at + 1]) and not _inside_word(within[end - 1 : end + 1]):
            return True
        at = within.find(words, at + 1)
    return False


def _inside_word(pair: str) -> bool:
    # Scripts without upper and lower case may not put spaces between words.
    return len(pair) == 2 and all(c.isdigit() or c.lower() != c.upper() for c in pair)


def _check(draft: ClaimDraft, id: str, statement: LedgerStatement, ledger: Ledger) -> Claim:
    notes: list[str] = []
    stance, target = draft.stance, _id(draft.target)
    by_id = {claim.id: claim for claim in ledger.claims}
    if target and target not in by_id:
        notes.append(f"{stance if stance != 'none' else 'names'} {target!r}, which is no claim made before: dropped")
        stance, target = "none", ""
    elif target and stance == "none":
        notes.append(f"names {target}, but neither supports nor attacks it")
        target = ""
    elif stance != "none" and not target:
        notes.append(f"{stance} no claim that is listed")
        stance = "none"
    quote, quote_ok, quote_of = one_line(draft.quote, TEXT_CHARS), None, ""
    if quote:
        author = by_id[target].seat if target else ""
        quote_of = _find_quote(draft.quote, statement, ledger.statements, author)
        quote_ok = bool(quote_of)
        if not quote_ok:
            notes.append(FALSE_QUOTE)
    return Claim(
        id=id,
        seat=statement.seat,
        statement=statement.key,
        wave=statement.wave,
        text=one_line(draft.text, TEXT_CHARS),
        stance=stance,
        target=target,
        quote=quote,
        quote_ok=quote_ok,
        quote_of=quote_of,
        evidence=one_line(draft.evidence, TEXT_CHARS),
        notes=tuple(notes),
    )


def _concessions(draft: ClaimDraft, seat: str, claims: Sequence[Claim]) -> tuple[list[str], list[str]]:
    """The ids that the seat can concede, and notes on the others: only claims of other seats can be conceded."""
    by_id = {claim.id: claim for claim in claims}
    conceded, notes = list[str](), list[str]()
    for given in dict.fromkeys(map(_id, draft.concedes)):
        if given not in by_id:
            notes.append(f"concedes {given!r}, which is no claim made before: dropped")
        elif by_id[given].seat == seat:
            notes.append(f"concedes {given}, which is a claim of the same speaker: dropped")
        else:
            conceded.append(given)
    return conceded, notes


def _find_quote(quote: str, by: LedgerStatement, statements: Sequence[LedgerStatement], author: str) -> str:
    """The key of a statement that contains the quote, by preference one of `author`; empty if none does."""
    found = [each for each in statements if each.seat != by.seat and contains_quote(each.text, quote)]
    found.sort(key=lambda each: each.seat != author)
    return found[0].key if found else ""


def _conceders(id: str, author: str, statements: Sequence[LedgerStatement]) -> Collection[str]:
    return {each.seat for each in statements if id in each.concedes and each.seat != author}


def _attacks(claim: Claim, by_id: Mapping[str, Claim], accepted: Mapping[str, Collection[str]]) -> bool:
    """An attack is void with a false quote, or if its speaker concedes the target."""
    return (
        claim.stance == "attacks"
        and claim.target in by_id
        and claim.quote_ok is not False
        and claim.seat not in accepted[claim.target]
    )


def _supports(claim: Claim, by_id: Mapping[str, Claim]) -> bool:
    """Support is shown, not weighed. It is void with a false quote, or for a claim of the same speaker."""
    return (
        claim.stance == "supports"
        and claim.target in by_id
        and claim.quote_ok is not False
        and claim.seat != by_id[claim.target].seat
    )


def _id(given: str) -> str:
    return one_line(given.strip().casefold(), ID_CHARS)
