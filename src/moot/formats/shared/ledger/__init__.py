"""A ledger of claims, for any format: after each public statement, its speaker is asked off the record to list the
claims in it. Participants never read the ledger's statuses, and nothing in the debate depends on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, create_model

from moot.core.errors import LimitReached
from moot.core.script import Cap, Failed, Running, Seat, Stage, together
from moot.core.settings import DebateSettings, Tokens
from moot.core.types import HUMAN, Answer, Debate, Json, Turn, record
from moot.formats.format import EventType, Format
from moot.formats.prompts import Prompts
from moot.reasoning.claims import Claim, ClaimDraft, Ledger, LedgerStatement, add_wave, read_ledger, settle
from moot.reasoning.fence import clean, fence

prompts = Prompts("ledger", "moot.formats.shared.ledger")

NOTEBOOK_KEY = "ledger"
MAX_CLAIMS = 5  # in one statement
MAX_SHOWN = 60  # earlier claims that a speaker is shown, the latest ones
PHASE_PREFIX = "claims-"  # before the phase of the statement
BY_A_PERSON = "A person spoke, and no model lists claims for them."

EVENTS = {"CLAIMS": EventType(verb="lists claims", failed="gave no valid list of claims", public=False, quiet=True)}


class LedgerSettings(DebateSettings):
    """Settings of formats that can keep a ledger of claims."""

    claims: bool = Field(
        False, description="keep a ledger: each speaker lists the claims in each statement, which is one more call each"
    )
    claims_max_tokens: Tokens = Field(800, description="tokens in one list of claims")


def phases(*of: str) -> dict[str, str]:
    """Words for the steps that list the claims in statements of these phases."""
    return {f"{PHASE_PREFIX}{phase}": "Claims" for phase in of}


ClaimText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)]


class ListedClaim(Answer):
    text: ClaimText = Field(min_length=1)
    stance: Literal["supports", "attacks", "none"]
    target: ClaimText
    quote: ClaimText
    evidence: ClaimText
    concedes: list[ClaimText]

    def prose(self) -> str:
        to = f" ({self.stance} {self.target})" if self.target else ""
        quote = f' Answers: "{self.quote}".' if self.quote else ""
        evidence = f" Evidence: {self.evidence}" if self.evidence else ""
        conceded = f" Concedes {', '.join(self.concedes)}." if self.concedes else ""
        return f"- {self.text}{to}{quote}{evidence}{conceded}"


class Claims(Answer):
    claims: list[ListedClaim] = Field(max_length=MAX_CLAIMS)

    def prose(self) -> str:
        return "\n".join(claim.prose() for claim in self.claims) or "(no claim)"

    def drafts(self) -> list[ClaimDraft]:
        return [
            ClaimDraft(
                text=each.text,
                stance=each.stance,
                target=each.target,
                quote=each.quote,
                evidence=each.evidence,
                concedes=tuple(each.concedes),
            )
            for each in self.claims
        ]


@lru_cache(maxsize=256)
def claims_after(count: int) -> type[Claims]:
    """The answer's shape when `count` claims are listed. Their ids are in the schema only: a claim that names another
    id is still valid, and code drops the id."""
    ids = [f"c{n}" for n in range(max(1, count - MAX_SHOWN + 1), count + 1)]
    named: Any = {"enum": ["", *ids]}
    conceded: Any = {"enum": ids} if ids else None
    most: Any = {"minItems": 0, "maxItems": len(ids), "uniqueItems": True}
    claim = create_model(
        "ListedClaim",
        __base__=ListedClaim,
        target=(ClaimText, Field(json_schema_extra=named)),
        concedes=(list[Annotated[ClaimText, Field(json_schema_extra=conceded)]], Field(json_schema_extra=most)),
    )
    listed: Any = list[claim]
    return create_model("Claims", __base__=Claims, claims=(listed, Field(max_length=MAX_CLAIMS)))


@record
class _Pending:
    """A statement whose claims have not been asked for."""

    statement: LedgerStatement
    seat: Seat  # branched off when it had just spoken
    phase: str
    round: int


class Clerk:
    """Asks speakers for the claims in their statements, off the record, and keeps the ledger."""

    def __init__(self, stage: Stage, settings: LedgerSettings) -> None:
        self.stage, self.settings = stage, settings
        self.ledger = Ledger()
        self._wave = 0
        self._pending: list[_Pending] = []
        self._asking: Running[None] | None = None
        self._order = [seat.id for seat in stage.seats]
        self.reads: Callable[[str], Collection[str]] | None = None  # whose claims a seat is shown; None: everyone's
        stage.notebook[NOTEBOOK_KEY] = lambda: settle(self.ledger)

    def hear(self, seat: Seat, phase: str, round: int, text: str) -> None:
        """Note a statement. Call it before its speaker is asked anything else."""
        if self.settings.claims:
            key = f"{round}/{phase}/{seat.id}"
            statement = LedgerStatement(key=key, seat=seat.id, wave=self._wave, text=clean(text))
            branch = seat.branch(Cap(tokens=self.settings.claims_max_tokens, setting="claims_max_tokens"))
            self._pending.append(_Pending(statement=statement, seat=branch, phase=phase, round=round))

    def ask(self) -> None:
        """Start asking for the claims of one wave: the statements noted since the last call."""
        if self._pending:
            wave = sorted(self._pending, key=lambda each: self._order.index(each.seat.id))
            self._pending, self._wave = [], self._wave + 1
            self._asking = self.stage.start(self._enter(wave, after=self._asking))

    async def finish(self) -> None:
        """Wait until all claims that were asked for are entered."""
        if self._asking is not None:
            await self._asking

    def as_json(self) -> Json | None:
        """The ledger for the outcome; None if the settings ask for none."""
        return settle(self.ledger).as_json() if self.settings.claims else None

    async def _enter(self, wave: Sequence[_Pending], after: Running[None] | None) -> None:
        """Waits for the wave before: claims refer to earlier ones."""
        if after is not None:
            await after
        self.ledger = add_wave(self.ledger, await together(*(self._list(each) for each in wave)))

    async def _list(self, pending: _Pending) -> tuple[LedgerStatement, list[ClaimDraft]]:
        statement, seat, phase = pending.statement, pending.seat, f"{PHASE_PREFIX}{pending.phase}"
        if seat.spec.model == HUMAN:
            return replace(statement, gap=BY_A_PERSON), []
        known = self.ledger.claims
        shown = known[-MAX_SHOWN:]
        if self.reads is not None:
            shown = [claim for claim in shown if claim.seat == seat.id or claim.seat in self.reads(seat.id)]
        quoted = _quoted(shown, seat.id, at=f"{pending.round}/{phase}/{seat.id}")
        try:
            given = await seat.ask(
                phase,
                prompts("claims", known=quoted, most=str(MAX_CLAIMS)),
                returns=claims_after(len(known)),
                tolerant=True,
                round=pending.round,
                shows="CLAIMS",
                record=lambda _: {"statement": statement.key},
            )
        except LimitReached as limit:
            return replace(statement, gap=f"Not asked: {limit}"), []
        if isinstance(given, Failed):
            return replace(statement, gap=given.failure.message), []
        return statement, given.drafts()


def ledger_of(format_: Format, debate: Debate, turns: Sequence[Turn]) -> Ledger | None:
    """The ledger of a debate, finished or not; None if it keeps none. Raises ScriptChanged if a turn is not what the
    rules ask for."""
    if debate.outcome is not None and debate.outcome.ledger is not None:
        return read_ledger(debate.outcome.ledger)
    if not format_.keeps_ledger or not debate.config.get("claims"):
        return None
    script = format_.script(debate)
    script.replay(turns)
    kept = script.stage.notebook.get(NOTEBOOK_KEY)
    script.close()
    found = None if kept is None else kept()
    return found if isinstance(found, Ledger) else None


def _quoted(known: Sequence[Claim], seat: str, at: str) -> str:
    """A fenced line of JSON for each claim, so that no claim can pass for another. Speakers are not named: in some
    formats they must not know each other."""
    if not known:
        return "No claim is listed yet."
    lines: list[str] = []
    for claim in known:
        stance = f", {claim.stance} {claim.target}" if claim.target else ""
        whose = "yours" if claim.seat == seat else "another's"
        lines.append(f"{claim.id}, {whose}{stance}: {json.dumps(claim.text, ensure_ascii=False)}")
    return "These claims are listed so far:\n\n" + fence("\n".join(lines), of="the ledger", at=at)
