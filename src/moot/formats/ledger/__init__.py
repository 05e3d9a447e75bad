"""A ledger of claims beside the debate, for any format: after each public statement its speaker lists the claims in it.
Nobody in the debate reads the ledger, and nothing in the debate depends on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, create_model

from moot.errors import LimitReached
from moot.formats import Format
from moot.formats.prompts import Prompts
from moot.reasoning.claims import Claim, Ledger, Listed, Statement, entered, read_ledger, settled
from moot.reasoning.fence import clean, fence
from moot.script import Failed, Running, Seat, Stage, together
from moot.settings import DebateSettings
from moot.types import HUMAN, Answer, Debate, Json, Turn, record

prompts = Prompts("ledger")

NAME = "ledger"  # in the outcome's details
MOST = 5  # claims of one statement
SHOWN = 60  # earlier claims that a speaker is shown: the latest
PHASE = "claims-"  # and the phase of the statement
BY_A_PERSON = "A person spoke, and nobody lists claims for them."

Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)]


class ListedClaim(Answer):
    text: Words = Field(min_length=1)
    stance: Literal["supports", "attacks", "none"]
    target: Words
    quote: Words
    evidence: Words
    concedes: list[Words]

    def prose(self) -> str:
        to = f" ({self.stance} {self.target})" if self.target else ""
        quote = f' Answers: "{self.quote}".' if self.quote else ""
        evidence = f" Evidence: {self.evidence}" if self.evidence else ""
        conceded = f" Concedes {', '.join(self.concedes)}." if self.concedes else ""
        return f"- {self.text}{to}{quote}{evidence}{conceded}"


class Claims(Answer):
    claims: list[ListedClaim] = Field(max_length=MOST)

    def prose(self) -> str:
        return "\n".join(claim.prose() for claim in self.claims) or "(no claim)"

    def listed(self) -> list[Listed]:
        return [
            Listed(
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
    """The shape when there are so many claims. Only the schema says which ids there are: a claim that names another is
    still a claim, and code drops the id."""
    ids = [f"c{n}" for n in range(max(1, count - SHOWN + 1), count + 1)]
    named: Any = {"enum": ["", *ids]}
    conceded: Any = {"enum": ids} if ids else None
    most: Any = {"minItems": 0, "maxItems": len(ids), "uniqueItems": True}
    claim = create_model(
        "ListedClaim",
        __base__=ListedClaim,
        target=(Words, Field(json_schema_extra=named)),
        concedes=(list[Annotated[Words, Field(json_schema_extra=conceded)]], Field(json_schema_extra=most)),
    )
    listed: Any = list[claim]
    return create_model("Claims", __base__=Claims, claims=(listed, Field(max_length=MOST)))


@record
class _Heard:
    statement: Statement
    seat: Seat  # as it was when it had just spoken
    phase: str
    round: int


class Clerk:
    """Asks each speaker for the claims in a statement, beside the debate, and keeps the ledger."""

    def __init__(self, stage: Stage, settings: DebateSettings) -> None:
        self.stage, self.settings = stage, settings
        self.ledger = Ledger()
        self._wave = 0
        self._heard: list[_Heard] = []
        self._asking: Running[None] | None = None
        self._order = [seat.id for seat in stage.seats]
        stage.notebook[NAME] = lambda: settled(self.ledger)

    def hear(self, seat: Seat, phase: str, round: int, text: str) -> None:
        """Call it as soon as the statement is made, before its speaker is asked anything else."""
        if self.settings.claims:
            statement = Statement(key=f"{round}/{phase}/{seat.id}", seat=seat.id, wave=self._wave, text=clean(text))
            beside = seat.aside(self.settings.claims_max_tokens)
            self._heard.append(_Heard(statement=statement, seat=beside, phase=phase, round=round))

    def ask(self) -> None:
        """Begin to ask those who were heard since the last time, who did not know of one another."""
        if self._heard:
            heard = sorted(self._heard, key=lambda each: self._order.index(each.seat.id))
            self._heard, self._wave = [], self._wave + 1
            self._asking = self.stage.start(self._enter(heard, after=self._asking))

    async def finish(self) -> None:
        """Wait for everything that was begun."""
        if self._asking is not None:
            await self._asking

    def details(self) -> Json:
        """For the outcome's details."""
        return {NAME: settled(self.ledger).as_json()} if self.settings.claims else {}

    async def _enter(self, heard: Sequence[_Heard], after: Running[None] | None) -> None:
        """One wave after the other, since each names claims of those before."""
        if after is not None:
            await after
        self.ledger = entered(self.ledger, await together(*(self._listed(each) for each in heard)))

    async def _listed(self, heard: _Heard) -> tuple[Statement, list[Listed]]:
        statement, seat = heard.statement, heard.seat
        if seat.spec.model == HUMAN:
            return replace(statement, gap=BY_A_PERSON), []
        known = self.ledger.claims
        key = f"{heard.round}/{PHASE}{heard.phase}/{seat.id}"
        try:
            given = await seat.ask(
                f"{PHASE}{heard.phase}",
                prompts("claims", known=_told(known[-SHOWN:], seat.id, key), most=str(MOST)),
                returns=claims_after(len(known)),
                tolerant=True,
                round=heard.round,
                shows="CLAIMS",
                record=lambda _: {"statement": statement.key},
            )
        except LimitReached as limit:
            return replace(statement, gap=f"Not asked: {limit}"), []
        if isinstance(given, Failed):
            return replace(statement, gap=given.failure.message), []
        return statement, given.listed()


def ledger_of(format_: Format, debate: Debate, turns: Sequence[Turn]) -> Ledger | None:
    """The ledger of a debate, as far as it has come; None when it keeps none. Raises ScriptChanged when a turn is not
    what the rules ask for."""
    outcome: Json = debate.outcome or {}
    stored = outcome.get("details", {}).get(NAME)
    if stored is not None:
        return read_ledger(stored)
    if not debate.config.get("claims"):
        return None
    script = format_.script(debate)
    script.replay(turns)
    kept = script.stage.notebook.get(NAME)
    script.close()
    found = None if kept is None else kept()
    return found if isinstance(found, Ledger) else None


def _told(known: Sequence[Claim], seat: str, at: str) -> str:
    """One line for each claim, in quotation marks, so that no claim can pass for another. Nobody is named: the speakers
    of some formats must not know each other."""
    if not known:
        return "No claim is listed yet."
    lines: list[str] = []
    for claim in known:
        stance = f", {claim.stance} {claim.target}" if claim.target else ""
        whose = "yours" if claim.seat == seat else "another's"
        lines.append(f"{claim.id}, {whose}{stance}: {json.dumps(claim.text, ensure_ascii=False)}")
    return "These claims are listed so far:\n\n" + fence("\n".join(lines), of="the ledger", at=at)
