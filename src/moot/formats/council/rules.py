"""Members answer alone, then rank the others' answers blind. While they disagree, each objects to one answer, answers
the objections to its own, and all rank again; first answers stay eligible. Ballots are counted by code and shown to no
participant. The chair has no vote: it writes the resulting answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from moot.core.errors import LimitReached
from moot.core.script import Failed, Seat, Stage
from moot.core.settings import SeatSettings
from moot.core.types import Ballot, Json, Outcome, Prompt
from moot.formats.council.families import shares
from moot.formats.council.report import CouncilResult, order, report, with_names
from moot.formats.council.settings import CouncilSettings
from moot.formats.council.shapes import (
    RankedBallot,
    Rebuttal,
    ShortSynthesis,
    Synthesis,
    ballot_over,
    objection_to,
    opinion_shape,
    rebuttal_shape,
)
from moot.formats.council.vote import (
    LETTERS,
    Labels,
    Submission,
    Tally,
    ballot_of,
    choice_of,
    count,
    labels_for,
    titles,
)
from moot.formats.format import Part
from moot.formats.prompts import Prompts
from moot.formats.shared.answer import asking
from moot.formats.shared.attendance import Attendance, phase_of, put
from moot.formats.shared.ledger import Clerk
from moot.formats.shared.small import POINT_CHARS, Points, points_shape, without_memory
from moot.reasoning.fence import fence, quote

prompts = Prompts("council")

NOBODY_OBJECTED = "Nobody objected to your answer."
MOST_QUOTED = 700  # characters of an answer that a small model reads


def parts(settings: CouncilSettings) -> list[Part]:
    chair = Part(id="chair", name=settings.chair.name, role="chair", **_own(settings.chair))
    return [
        *(
            Part(id=f"m{n}", name=each.name, role="member", tier="debater", voice=True, **_own(each))
            for n, each in enumerate(settings.members, 1)
        ),
        chair,
    ]


def _own(settings: SeatSettings) -> Json:
    own = {"model": settings.model, "max_tokens": settings.max_tokens, "sampling": settings.sampling}
    return {**own, "hats": settings.hats}


async def play(stage: Stage, settings: CouncilSettings) -> Outcome:
    council = Council(stage, settings)
    stage.open(
        members=[member.name for member in council.members],
        chair=council.chair.name,
        depth=settings.depth,
    )
    stage.keep((council.chair, 1), *((member, 1) for member in council.members))
    result = council.result(ended_by=await council.deliberate())
    await council.clerk.finish()
    return report(result, await council.synthesize(result), council.clerk.as_json())


@dataclass(frozen=True, kw_only=True)
class DirectedObjection:
    """An objection with its author and its target."""

    by: str
    against: Submission
    text: str


class Council:
    def __init__(self, stage: Stage, settings: CouncilSettings) -> None:
        self.stage, self.settings = stage, settings
        self.members = [seat for seat in stage.seats if seat.id != "chair"]
        self.chair = stage.seat("chair")
        self.clerk = Clerk(stage, settings)
        self.round = 0
        self.first: dict[str, Submission] = {}  # each member's first answer, by seat
        self.now: dict[str, Submission] = {}  # and its latest
        self.rebuttals: dict[str, Rebuttal] = {}  # the latest of each
        self.rebutted = 0  # how many rebuttals there were
        self.rebutting: list[str] = []  # who has rebutted in this round, in this order
        self.objected: dict[str, DirectedObjection] = {}  # the objections of this round, by their authors
        self.options: dict[str, str] = {}  # the answer that a small model argues for, by seat
        self.failed: dict[str, str] = {}  # why a member has no answer
        self.read: dict[str, Labels] = {}  # what each member read last
        self.tallies: list[Tally] = []
        specs = [member.spec for member in self.members]
        names = {member.id: member.name for member in self.members}
        self.here = Attendance(stage, settings.topology, self.members, names)
        if not self.here.mesh:
            self.clerk.reads = lambda seat: self.here.reads(seat, "object")
        self.weights = shares(specs) if settings.weights == "models" else {}  # of ballots; 1 where it is not set
        size = str(len(self.members))
        for member, own in zip(self.members, settings.members, strict=True):
            name = "member_small" if member.spec.small else "member"
            member.brief(prompts(name, size=size, topic=stage.topic, perspective=own.perspective))
        name = "chair_small" if self.chair.spec.small else "chair"
        self.chair.brief(prompts(name, topic=stage.topic, instructions=settings.chair.instructions))

    async def deliberate(self) -> str:
        """Answer, vote, and debate; return the rule or limit that ended it."""
        ended_by = await self.answers()
        if len(self.now) < 2:
            return ended_by or "too_few_answers"
        await self.vote()
        while not ended_by:
            ended_by = self.ending() or await self.debate()
        return ended_by

    def ending(self) -> str:
        """The rule that ends the debate after the last vote; empty if none does."""
        last = self.tallies[-1]
        if self.settings.depth == "vote":
            return "vote"
        if self.settings.depth == "auto" and not last.quorum:
            return "no_quorum"  # whether they disagree is not known
        if self.settings.depth == "auto" and last.agrees(self.settings.agreement):
            return "agreement"
        return "max_rounds" if self.round == self.settings.max_rounds else ""

    async def answers(self) -> str:
        ended_by = ""
        try:
            await self.list_options()
            await self.here.at_once(self.ids, 0, self.answer)
        except LimitReached as limit:
            ended_by = limit.limit
            for member in self.members:
                if member.id not in self.now:
                    self.failed.setdefault(member.id, str(limit))
        self.clerk.ask()
        return ended_by

    async def list_options(self) -> None:
        """Small models that are asked the same give the same answer. The first of them lists as many as there are, and
        each argues for one; those with a perspective of their own go by that."""
        to_assign = [
            member
            for member, own in zip(self.members, self.settings.members, strict=True)
            if member.spec.small and not own.perspective
        ]
        if len(to_assign) < 2 or self.settings.answer is not None:  # where there is a right answer, it is not assigned
            return
        question = prompts("options_small", topic=self.stage.topic, count=str(len(to_assign)))
        given = await without_memory(to_assign[0]).ask(
            "options", question, spared=True, returns=points_shape(len(to_assign)), shows="POSSIBLE_ANSWERS"
        )
        if isinstance(given, Points):
            self.options = {member.id: point for member, point in zip(to_assign, given.points, strict=True)}

    async def debate(self) -> str:
        """Object, rebut, rank again; return the limit reached, if any. New rebuttals are voted on even then."""
        self.round += 1
        self.here.next_round()
        self.objected, self.rebutting = {}, []
        ended_by, before = "", self.rebutted
        try:
            await self.here.at_once([seat for seat in self.ids if self.answers_to(seat)], self.round, self.object)
            self.clerk.ask()
            await self.here.in_waves("rebut", list(self.now), self.round, self.rebut)
        except LimitReached as limit:
            ended_by = limit.limit
        self.clerk.ask()
        if self.rebutted > before or not ended_by:
            await self.vote()
        return ended_by

    async def vote(self) -> None:
        eligible = self.eligible()
        ballots: dict[str, Ballot] = {}

        async def rank(seat: str, again: bool) -> Failed | None:
            ballots[seat], failed = await self.rank(self.stage.seat(seat), eligible, again=again)
            return failed

        await self.here.at_once(self.ids, self.round, rank)
        cast = [ballots.get(member.id) or self.not_asked(member, eligible) for member in self.members]
        tally = count(self.settings.voting, self.round, eligible, cast, self.names)
        self.tallies.append(tally)
        self.stage.show(
            "TALLY",
            round=self.round,
            valid=tally.valid,
            members=tally.members,
            quorum=tally.quorum,
            agrees=tally.agrees(self.settings.agreement),
            lines=order(tally, tally.poll.titles),
        )

    async def answer(self, seat: str, again: bool) -> Failed | None:
        member = self.stage.seat(seat)
        small = member.spec.small
        question = self.to_answer_small(member) if small else prompts("answer", topic=self.stage.topic)
        question = asking(question, self.settings.answer)
        shape = opinion_shape(self.settings.answer, short=small)
        try:
            given = await put(without_memory(member), "answer", question, again, returns=shape, shows="TURN")
        except LimitReached as limit:
            self.failed[member.id] = str(limit)
            raise
        if isinstance(given, Failed):
            self.failed[member.id] = given.failure.message
            return given
        self.failed.pop(member.id, None)
        if flaw := given.flaw:
            self.failed[member.id] = f"The answer {flaw}."
        else:
            self.first[member.id] = self.now[member.id] = Submission(seat=member.id, round=0, opinion=given)
            self.clerk.hear(member, phase_of("answer", again), 0, given.prose())
        return None

    def to_answer_small(self, member: Seat) -> Prompt:
        option = self.options.get(member.id)
        told = "" if option is None else f"Your answer to it: {quote(option, POINT_CHARS)}"
        return prompts("answer_small", topic=self.stage.topic, option=told)

    async def rank(
        self, member: Seat, submissions: Sequence[Submission], *, again: bool
    ) -> tuple[Ballot, Failed | None]:
        """Ask for a blind ballot on the others' answers. An invalid one is an abstention."""
        round, called = self.round, titles(submissions, self.names)
        labels = labels_for(member.id, submissions, topic=self.stage.topic, round=round)
        small = member.spec.small
        answers = self.all_quoted(labels, f"{round}/rank/{member.id}", small=small)
        if small:
            question = prompts("rank_small", topic=self.stage.topic, answers=answers, labels=quoted_labels(labels))
        else:
            occasion = "After the debate, everyone ranks again." if round else "Everyone has answered."
            question = prompts("rank", occasion=occasion, answers=answers, labels=quoted_labels(labels))
        held, weight = self.now.get(member.id), self.weights.get(member.id, Fraction(1))

        def ballot(given: RankedBallot | Failed | str) -> Ballot:
            return ballot_of(given, member.id, round, labels, held, weight)

        def on_record(given: RankedBallot | Failed) -> Json:
            cast = ballot(given)
            ranks = [called[each] for each in cast.ranking]
            return {**cast.model_dump(mode="json"), "choice": choice_of(cast), "ranks": ranks}

        try:
            given = await put(
                self.voter(member),
                "rank",
                question,
                again,
                returns=ballot_over(tuple(labels), short=small),
                round=round,
                closing=True,
                shows="BALLOT",
                record=on_record,
            )
        except LimitReached as limit:
            return ballot(str(limit)), None
        self.read[member.id] = labels
        return ballot(given), given if isinstance(given, Failed) else None

    def voter(self, member: Seat) -> Seat:
        """Who ranks. Everyone reads all answers then; where not all hear all, the member must not remember them."""
        return without_memory(member) if self.here.mesh else member.fresh()

    def not_asked(self, member: Seat, submissions: Sequence[Submission]) -> Ballot:
        """The abstention of one that can't be heard in this round."""
        labels = labels_for(member.id, submissions, topic=self.stage.topic, round=self.round)
        weight = self.weights.get(member.id, Fraction(1))
        return ballot_of("Its model could not be had.", member.id, self.round, labels, self.now.get(member.id), weight)

    def answers_to(self, seat: str) -> Labels:
        """The answers that a member can object to: of those it read last, the ones that their authors still hold and
        that it hears in the debate."""
        if seat not in self.now:
            return {}
        hears = set(self.ids) if self.here.mesh else self.here.reads(seat, "object")
        read = self.read.get(seat, {})
        return {label: each for label, each in read.items() if self.now[each.seat] == each and each.seat in hears}

    async def object(self, seat: str, again: bool) -> Failed | None:
        member, labels = self.stage.seat(seat), self.answers_to(seat)
        if not labels:
            return None
        small = member.spec.small
        question = prompts("object", labels=quoted_labels(labels))
        if not self.here.mesh:
            answers = self.all_quoted(labels, f"{self.round}/object/{seat}", small=False)
            question = prompts("object_among", answers=answers, labels=quoted_labels(labels))
        if small:
            held = {label: each.opinion.position for label, each in labels.items()}  # it would copy more
            answers = "\n".join(f"Answer {label}: {quote(text, MOST_QUOTED)}" for label, text in held.items())
            question = prompts("object_small", topic=self.stage.topic, answers=answers, labels=quoted_labels(labels))
        speaker = without_memory(member)
        given = await put(
            speaker,
            "object",
            question,
            again,
            returns=objection_to(tuple(labels), short=small),
            round=self.round,
            shows="TURN",
            record=lambda given: {} if isinstance(given, Failed) else {"to": labels[given.against].seat},
        )
        if isinstance(given, Failed):
            return given
        self.clerk.hear(speaker, phase_of("object", again), self.round, given.prose())
        self.objected[seat] = DirectedObjection(by=seat, against=labels[given.against], text=given.objection)
        return None

    def heard_by(self, seat: str) -> list[DirectedObjection]:
        """The objections that reach a member: in a mesh all of them, else those to its own answer and those of members
        whom it hears."""
        objections = [self.objected[each] for each in self.ids if each in self.objected]
        if self.here.mesh:
            return objections
        hears = self.here.reads(seat, "rebut")
        return [each for each in objections if each.against.seat == seat or each.by in hears]

    async def rebut(self, seat: str, again: bool) -> Failed | None:
        """Ask for a rebuttal of all objections. An answer that is not revised stays the same, word for word."""
        member, objections = self.stage.seat(seat), self.heard_by(seat)
        small, speaker = member.spec.small, without_memory(member)
        given = await put(
            speaker,
            "rebut",
            asking(
                self.objections_small(member, objections) if small else self.objections(member, objections),
                self.settings.answer,
                inside="revised",
            ),
            again,
            returns=rebuttal_shape(self.settings.answer, short=small),
            round=self.round,
            shows="TURN",
            record=lambda given: {"changed": isinstance(given, Rebuttal) and given.revised is not None},
        )
        if isinstance(given, Failed):
            return given
        self.clerk.hear(speaker, phase_of("rebut", again), self.round, given.prose())
        self.rebutted += 1
        self.rebutting.append(seat)
        self.rebuttals[member.id] = given
        if given.revised is not None and not given.revised.flaw:
            self.now[member.id] = Submission(seat=member.id, round=self.round, opinion=given.revised)
        return None

    def rebuttals_read(self, seat: str) -> str:
        """What those whom a member hears have answered before it in this round; nothing in a mesh, where all answer at
        once."""
        key = f"{self.round}/rebut/{seat}"
        read = [each for each in self.rebutting if each in self.here.fresh(seat, "rebut")]
        said = [fence(self.rebuttals[each].prose(), of="a member", at=f"{key}/{each}") for each in read]
        return "\n\n".join(f"A member whom you hear has answered the objections:\n\n{each}" for each in said)

    def objections(self, member: Seat, objections: Sequence[DirectedObjection]) -> Prompt:
        """All that was objected, for a rebuttal."""
        key = f"{self.round}/rebut/{member.id}"
        called = {each.id: f"answer {label}" for label, each in self.read.get(member.id, {}).items()}
        own, others = list[str](), list[str]()
        for n, each in enumerate(objections):
            said = fence(each.text, of="another member", at=f"{key}/{n}")
            if each.against.seat == member.id:
                own.append(f"This was said against your answer:\n\n{said}")
            elif each.by != member.id and each.against.id in called:
                others.append(f"This was said against {called[each.against.id]}:\n\n{said}")
        others += filter(None, [self.rebuttals_read(member.id)])
        return prompts("rebut", own="\n\n".join(own) or NOBODY_OBJECTED, others="\n\n".join(others))

    def objections_small(self, member: Seat, objections: Sequence[DirectedObjection]) -> Prompt:
        """Only what was objected to the member's own answer."""
        against = [each for each in objections if each.against.seat == member.id]
        said = "\n".join(f"Someone objects: {quote(each.text, MOST_QUOTED)}" for each in against)
        read = [each for each in self.rebutting if each in self.here.fresh(member.id, "rebut")]
        answers = [f"Another says: {quote(self.rebuttals[each].rebuttal, MOST_QUOTED)}" for each in read]
        said = "\n".join(filter(None, [said, *answers]))
        held = quote(self.now[member.id].opinion.position, MOST_QUOTED)
        return prompts("rebut_small", topic=self.stage.topic, held=held, own=said or NOBODY_OBJECTED)

    async def synthesize(self, result: CouncilResult) -> Synthesis | str:
        """The chair's answer, or the reason why there is none."""
        ranked = result.in_order()
        if not ranked:
            return "There was nothing to write about."
        labels = dict(zip(LETTERS, ranked, strict=False))
        small = self.chair.spec.small
        question = self.to_synthesize_small(ranked) if small else self.to_synthesize(result, labels)
        try:
            given = await self.chair.ask(
                "synthesize",
                question,
                returns=ShortSynthesis if small else Synthesis,
                tolerant=True,
                round=self.round,
                closing=True,
            )
        except LimitReached as limit:
            return str(limit)
        if isinstance(given, Failed):
            return given.failure.message
        if isinstance(given, ShortSynthesis):
            said = [each.opinion.prose() for each in ranked]
            return Synthesis(answer=given.after(ranked[0].opinion.position, said), departs=False)
        return Synthesis(answer=with_names(given.answer, labels, titles(ranked, self.names)), departs=given.departs)

    def to_synthesize(self, result: CouncilResult, labels: Labels) -> Prompt:
        key = f"{self.round}/synthesize/chair"
        return prompts(
            "synthesize",
            result=result.summary({each.id: f"answer {label}" for label, each in labels.items()}),
            answers="\n\n".join(self.quoted(each, label, key) for label, each in labels.items()),
        )

    def to_synthesize_small(self, ranked: Sequence[Submission]) -> Prompt:
        first, *others = (each.opinion for each in ranked)
        return prompts(
            "synthesize_small",
            topic=self.stage.topic,
            first=quote(f"{first.position} {first.answer}", MOST_QUOTED),
            others="\n".join(f"Another way: {quote(each.position, MOST_QUOTED)}" for each in others),
        )

    def eligible(self) -> list[Submission]:
        """The first answer of each member, and its latest if that is another."""
        eligible: list[Submission] = []
        for seat in (member.id for member in self.members if member.id in self.now):
            eligible.append(self.first[seat])
            if self.now[seat] != self.first[seat]:
                eligible.append(self.now[seat])
        return eligible

    def all_quoted(self, labels: Labels, key: str, *, small: bool) -> str:
        if small:
            short = {label: f"{each.opinion.position} {each.opinion.answer}" for label, each in labels.items()}
            return "\n".join(f"Answer {label}: {quote(text, MOST_QUOTED)}" for label, text in short.items())
        return "\n\n".join(self.quoted(each, label, key) for label, each in labels.items())

    def quoted(self, submission: Submission, label: str, key: str) -> str:
        text = submission.opinion.prose()
        rebuttal = self.rebuttals.get(submission.seat)
        if rebuttal is not None and self.now[submission.seat] == submission:
            text += f"\n\nTo what was objected: {rebuttal.rebuttal}"
        return fence(text, of=f"answer {label}", at=f"{key}/{label}")

    @property
    def ids(self) -> list[str]:
        return [member.id for member in self.members]

    @property
    def names(self) -> dict[str, str]:
        return {member.id: member.name for member in self.members}

    def result(self, *, ended_by: str) -> CouncilResult:
        return CouncilResult(
            settings=self.settings,
            members=[member.spec for member in self.members],
            submissions=self.eligible(),
            tallies=self.tallies,
            failed=self.failed,
            ended_by=ended_by,
            absences=self.here.absences,
            first=self.first,
        )


def quoted_labels(labels: Labels) -> str:
    return ", ".join(f'"{label}"' for label in labels)
