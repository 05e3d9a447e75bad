"""Every member answers alone, then ranks the others' answers without knowing whose they are. While they disagree, each
objects to one answer, meets what is said against its own, and all rank again; first answers stay eligible. Ballots are
counted by code, and nobody on the council ever sees one. The chair has no vote: it writes the answer that came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from moot.errors import LimitReached
from moot.formats import Part
from moot.formats.council.report import Result, named, order, report, titles
from moot.formats.council.settings import CouncilSettings
from moot.formats.council.shapes import Opinion, RankedBallot, Rebuttal, Synthesis, ballot_over, objection_to
from moot.formats.council.vote import LETTERS, Candidate, Labels, PeerVote, Tally, count, labels_for, vote_of
from moot.formats.ledger import Clerk
from moot.formats.prompts import Prompts
from moot.reasoning.fence import fence
from moot.script import Failed, Seat, Stage, together
from moot.settings import SeatSettings
from moot.types import Json, Outcome

prompts = Prompts("council")

NOBODY_OBJECTED = "Nobody objected to your answer."


def parts(settings: CouncilSettings) -> list[Part]:
    members = [_part(f"m{n}", each.name, "debater", each) for n, each in enumerate(settings.members, 1)]
    return [*members, _part("chair", settings.chair.name, "judge", settings.chair)]


def _part(id: str, name: str, role: str, own: SeatSettings) -> Part:
    return Part(id=id, name=name, role=role, model=own.model, max_tokens=own.max_tokens, temperature=own.temperature)


async def play(stage: Stage, settings: CouncilSettings) -> Outcome:
    council = Council(stage, settings)
    stage.show(
        "HEADER",
        topic=stage.topic,
        format="council",
        members=[member.name for member in council.members],
        chair=council.chair.name,
        depth=settings.depth,
    )
    stage.keep((council.chair, 1), *((member, 1) for member in council.members))
    result = council.result(ended_by=await council.deliberate())
    await council.clerk.finish()
    outcome = report(result, await council.synthesize(result))
    outcome = replace(outcome, details={**outcome.details, **council.clerk.details()})
    stage.show("VERDICT", **asdict(outcome))
    return outcome


@dataclass(frozen=True, kw_only=True)
class Objected:
    by: str
    against: Candidate
    text: str


class Council:
    def __init__(self, stage: Stage, settings: CouncilSettings) -> None:
        self.stage, self.settings = stage, settings
        self.members = [seat for seat in stage.seats if seat.id != "chair"]
        self.chair = stage.seat("chair")
        self.clerk = Clerk(stage, settings)
        self.round = 0
        self.first: dict[str, Candidate] = {}  # each member's first answer, by seat
        self.now: dict[str, Candidate] = {}  # and the one it holds now
        self.rebuttals: dict[str, Rebuttal] = {}  # the latest of each
        self.rebutted = 0  # how often anyone rebutted anything
        self.failed: dict[str, str] = {}  # why a member has no answer
        self.read: dict[str, Labels] = {}  # what each read last, under which labels
        self.tallies: list[Tally] = []
        size = str(len(self.members))
        for member, own in zip(self.members, settings.members, strict=True):
            member.brief(prompts("member", size=size, topic=stage.topic, perspective=own.perspective))
        self.chair.brief(prompts("chair", topic=stage.topic, instructions=settings.chair.instructions))

    async def deliberate(self) -> str:
        """Answer, vote, and debate as deep as asked for; gives the rule or limit that ended it."""
        ended_by = await self.answers()
        if len(self.now) < 2:
            return ended_by or "too_few_answers"
        await self.vote()
        while not ended_by:
            ended_by = self.enough() or await self.debate()
        return ended_by

    def enough(self) -> str:
        """The rule by which there is nothing more to debate, or nothing."""
        last = self.tallies[-1]
        if self.settings.depth == "vote":
            return "vote"
        if self.settings.depth == "auto" and not last.quorum:
            return "no_quorum"  # nobody can tell whether they disagree
        if self.settings.depth == "auto" and last.agrees(self.settings.agreement):
            return "agreement"
        return "max_rounds" if self.round == self.settings.max_rounds else ""

    async def answers(self) -> str:
        ended_by = ""
        try:
            await together(*(self.answer(member) for member in self.members))
        except LimitReached as limit:
            ended_by = limit.limit
        self.clerk.ask()
        return ended_by

    async def debate(self) -> str:
        """Object, rebut, rank again. A limit ends it, but what was said until then is voted on."""
        self.round += 1
        ended_by, before = "", self.rebutted
        try:
            objections = await together(*(self.object(member) for member in self.members))
            self.clerk.ask()
            heard = [objection for objection in objections if objection is not None]
            await together(*(self.rebut(member, heard) for member in self.members))
        except LimitReached as limit:
            ended_by = limit.limit
        self.clerk.ask()
        if self.rebutted > before or not ended_by:
            await self.vote()
        return ended_by

    async def vote(self) -> None:
        candidates = self.eligible()
        votes = await together(*(self.rank(member, candidates) for member in self.members))
        tally = count(self.round, candidates, votes)
        self.tallies.append(tally)
        self.stage.show(
            "TALLY",
            round=self.round,
            valid=tally.valid,
            members=tally.members,
            quorum=tally.quorum,
            agrees=tally.agrees(self.settings.agreement),
            lines=order(tally, self.titles(candidates)),
        )

    async def answer(self, member: Seat) -> None:
        question = prompts("answer", topic=self.stage.topic)
        try:
            given = await member.ask("answer", question, returns=Opinion, tolerant=True, shows="TURN")
        except LimitReached as limit:
            self.failed[member.id] = str(limit)
            raise
        if isinstance(given, Failed):
            self.failed[member.id] = given.failure.message
        else:
            self.first[member.id] = self.now[member.id] = Candidate(seat=member.id, round=0, opinion=given)
            self.clerk.hear(member, "answer", 0, given.prose())

    async def rank(self, member: Seat, candidates: Sequence[Candidate]) -> PeerVote:
        """Blind: letters instead of names, and never one's own. No valid ballot is an abstention."""
        round, titles = self.round, self.titles(candidates)
        labels = labels_for(member.id, candidates, topic=self.stage.topic, round=round)
        key = f"{round}/rank/{member.id}"
        question = prompts(
            "rank",
            occasion="After the debate, everyone ranks again." if round else "Everyone has answered.",
            answers="\n\n".join(self.quoted(each, label, key) for label, each in labels.items()),
            labels=listed(labels),
        )

        def on_record(given: RankedBallot | Failed) -> Json:
            vote = vote_of(given, member.id, round, labels)
            return {**vote.as_json(), "ranks": [titles[each] for each in vote.ranking]}

        try:
            ballot = await member.ask(
                "rank",
                question,
                returns=ballot_over(tuple(labels)),
                tolerant=True,
                round=round,
                closing=True,
                shows="BALLOT",
                record=on_record,
            )
        except LimitReached as limit:
            return PeerVote(seat=member.id, round=round, reason=str(limit))
        self.read[member.id] = labels
        return vote_of(ballot, member.id, round, labels)

    async def object(self, member: Seat) -> Objected | None:
        """To one of the answers read last that its author still holds."""
        labels = {label: each for label, each in self.read.get(member.id, {}).items() if self.now[each.seat] == each}
        if not labels or member.id not in self.now:
            return None
        given = await member.ask(
            "object",
            prompts("object", labels=listed(labels)),
            returns=objection_to(tuple(labels)),
            tolerant=True,
            round=self.round,
            shows="TURN",
            record=lambda given: {} if isinstance(given, Failed) else {"to": labels[given.against].seat},
        )
        if isinstance(given, Failed):
            return None
        self.clerk.hear(member, "object", self.round, given.prose())
        return Objected(by=member.id, against=labels[given.against], text=given.objection)

    async def rebut(self, member: Seat, objections: Sequence[Objected]) -> None:
        """Everyone hears every objection; those who keep their answer keep it word for word."""
        if member.id not in self.now:
            return
        key = f"{self.round}/rebut/{member.id}"
        called = {each.id: f"answer {label}" for label, each in self.read.get(member.id, {}).items()}
        own, others = list[str](), list[str]()
        for n, each in enumerate(objections):
            quote = fence(each.text, of="another member", at=f"{key}/{n}")
            if each.against.seat == member.id:
                own.append(f"This was said against your answer:\n\n{quote}")
            elif each.by != member.id and each.against.id in called:
                others.append(f"This was said against {called[each.against.id]}:\n\n{quote}")
        given = await member.ask(
            "rebut",
            prompts("rebut", own="\n\n".join(own) or NOBODY_OBJECTED, others="\n\n".join(others)),
            returns=Rebuttal,
            tolerant=True,
            round=self.round,
            shows="TURN",
            record=lambda given: {"revised": isinstance(given, Rebuttal) and given.revised is not None},
        )
        if isinstance(given, Failed):
            return
        self.clerk.hear(member, "rebut", self.round, given.prose())
        self.rebutted += 1
        self.rebuttals[member.id] = given
        if given.revised is not None:
            self.now[member.id] = Candidate(seat=member.id, round=self.round, opinion=given.revised)

    async def synthesize(self, result: Result) -> Synthesis | str:
        """What the chair writes, or why it wrote nothing."""
        ranked = result.in_order()
        if not ranked:
            return "There was nothing to write about."
        labels = dict(zip(LETTERS, ranked, strict=False))
        key = f"{self.round}/synthesize/chair"
        question = prompts(
            "synthesize",
            result=result.told({each.id: f"answer {label}" for label, each in labels.items()}),
            answers="\n\n".join(self.quoted(each, label, key) for label, each in labels.items()),
        )
        try:
            given = await self.chair.ask(
                "synthesize", question, returns=Synthesis, tolerant=True, round=self.round, closing=True
            )
        except LimitReached as limit:
            return str(limit)
        if isinstance(given, Failed):
            return given.failure.message
        return Synthesis(answer=named(given.answer, labels, self.titles(ranked)), departs=given.departs)

    def eligible(self) -> list[Candidate]:
        """First answers always; and what their authors made of them."""
        candidates: list[Candidate] = []
        for seat in (member.id for member in self.members if member.id in self.now):
            candidates.append(self.first[seat])
            if self.now[seat] != self.first[seat]:
                candidates.append(self.now[seat])
        return candidates

    def quoted(self, candidate: Candidate, label: str, key: str) -> str:
        text = candidate.opinion.prose()
        rebuttal = self.rebuttals.get(candidate.seat)
        if rebuttal is not None and self.now[candidate.seat] == candidate:
            text += f"\n\nTo what was objected: {rebuttal.rebuttal}"
        return fence(text, of=f"answer {label}", at=f"{key}/{label}")

    def titles(self, candidates: Sequence[Candidate]) -> dict[str, str]:
        return titles(candidates, {member.id: member.name for member in self.members})

    def result(self, *, ended_by: str) -> Result:
        return Result(
            settings=self.settings,
            members=[member.spec for member in self.members],
            candidates=self.eligible(),
            tallies=self.tallies,
            failed=self.failed,
            rounds=self.round,
            ended_by=ended_by,
        )


def listed(labels: Labels) -> str:
    return ", ".join(f'"{label}"' for label in labels)
