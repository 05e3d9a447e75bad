"""A moderator chooses opposing perspectives. Each round they argue at once, then answer each other in turn; the
moderator assesses; the person in charge may steer. A panel ends by agreement, a clear winner, stagnation, the last
round, a limit or the person's choice, and always with a synthesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot.core.errors import LimitReached
from moot.core.gates import Checkpoint, Clarification
from moot.core.marks import guidance
from moot.core.script import Cap, Failed, Stage
from moot.core.seat import Asking
from moot.core.types import Json, Likeness, Outcome, Prompt
from moot.formats.format import Part
from moot.formats.panel.catalog import balanced, catalog, choose
from moot.formats.panel.measures import RoundMeasures, copied_from, measure_round, pairs_to_compare
from moot.formats.panel.panelist import Panelist
from moot.formats.panel.prompting import (
    MOST_QUOTED,
    chosen,
    full_analysis,
    latest,
    latest_short,
    options_of,
    prompts,
    said,
    said_short,
    short_analysis,
    told,
)
from moot.formats.panel.report import NOTHING_SAID, TOO_FEW, PanelResult, ending_words, report
from moot.formats.panel.settings import PanelSettings
from moot.formats.panel.shapes import (
    MAX_PERSPECTIVES,
    Analysis,
    Assessment,
    Framing,
    Rebuttal,
    ShortSynthesis,
    Synthesis,
    short_assessment,
    short_rebuttal,
)
from moot.formats.shared.answer import asking, with_final
from moot.formats.shared.attendance import Attendance, phase_of, put
from moot.formats.shared.ledger import Clerk
from moot.formats.shared.sides import capital
from moot.formats.shared.small import POINT_CHARS, without_memory
from moot.reasoning.fence import clean, fence, quote
from moot.reasoning.statements import CUT_OFF, LOST, flaw_of

LEFT_THE_QUESTION = "The moderator found that you left the question. Come back to it: answer what was asked."

NOBODY_SPOKE = "(nobody has spoken)"


def parts(settings: PanelSettings) -> list[Part]:
    seats = MAX_PERSPECTIVES if settings.perspectives == "auto" else settings.perspectives
    return [
        Part(id="moderator", name="Moderator", role="moderator"),
        *(
            Part(id=f"p{n}", name=f"Perspective {n}", role="perspective", tier="debater", voice=True, optional=True)
            for n in range(1, seats + 1)
        ),
    ]


async def play(stage: Stage, settings: PanelSettings) -> Outcome:
    panel = Panel(stage, settings)
    stage.open(max_rounds=settings.max_rounds)
    stage.keep((panel.moderator, 1))
    try:
        await panel.convene()
        ended_by = await panel.rounds()
    except LimitReached as limit:
        ended_by = limit.limit
    return await panel.conclude(ended_by)


class Panel:
    def __init__(self, stage: Stage, settings: PanelSettings) -> None:
        self.stage, self.settings = stage, settings
        self.moderator = stage.seat("moderator")
        name = "moderator_small" if self.moderator.spec.small else "moderator"
        self.moderator.brief(prompts(name, topic=stage.topic))
        self.clerk = Clerk(stage, settings)
        self.catalog = catalog(settings.custom_perspectives)
        self.question = stage.topic
        self.panelists: list[Panelist] = []
        self.round = 0
        self.framing: Framing | None = None  # None: the moderator gave no valid one
        self.clarification = ""  # what the person answered when asked back
        self.guidance: list[tuple[int, str]] = []  # after which round, and the words
        self.written: dict[str, int] = {}  # output tokens by seat before this round
        self.copied: dict[str, str] = {}  # who repeated whose words instead of agreeing, by name
        self.not_own: list[str] = []  # what was not in its speaker's own words, each as a clause
        self.cut_off: list[str] = []  # and what was cut off
        self.assessment: Assessment | None = None
        self.measures: list[RoundMeasures] = []  # from the second round on
        self.stagnation = ""  # why the panel stagnates, if it does
        self.prevailing: Panelist | None = None
        self.cut_short: list[int] = []  # rounds in which some could not answer in time
        self.attendance: Attendance | None = None  # once the perspectives are chosen

    @property
    def names(self) -> dict[str, str]:
        return {panelist.seat.id: panelist.name for panelist in self.panelists}

    @property
    def here(self) -> Attendance:
        assert self.attendance is not None, "the perspectives are chosen first"
        return self.attendance

    @property
    def speaking(self) -> list[Panelist]:
        """Those who take part, also if they can't be heard in this round."""
        return [
            panelist
            for panelist in self.panelists
            if panelist.muted_in is None and not self.here.has_left(panelist.seat.id)
        ]

    @property
    def present(self) -> list[Panelist]:
        """Those who were heard in this round."""
        return [panelist for panelist in self.speaking if panelist.argued_in == self.round]

    def read_by(self, panelist: Panelist, phase: str) -> list[Panelist]:
        """Those whose words a panelist gets, as far as they have said anything."""
        reads = self.here.reads(panelist.seat.id, phase)
        return [each for each in self.panelists if each.seat.id in reads and each.arguments]

    def left(self, panelist: Panelist) -> int | None:
        """Tokens that a panelist may still write in this round; None: any number."""
        seat, budget = panelist.seat.id, self.settings.token_budget_per_round
        return budget - self.stage.spent.written.get(seat, 0) + self.written.get(seat, 0) if budget else None

    def share(self, left: int | None) -> Cap | None:
        """Token cap of an argument or a rebuttal: half the budget, or what is left; None: only the seat's own cap."""
        half = max(1, self.settings.token_budget_per_round // 2)
        return Cap(tokens=min(left, half), setting="token_budget_per_round") if left else None

    async def convene(self) -> None:
        """Analyze the question, ask the person back if it is too vague, choose the perspectives."""
        count = self.settings.perspectives
        if self.moderator.spec.small:
            assigned = self.settings.default_perspectives if count == "auto" else count
            shape, question = short_analysis(self.stage.topic, tuple(self.catalog), assigned)
        else:
            shape, question = full_analysis(self.catalog.values())
        analysis = await self.moderator.ask("analyze", question, returns=shape, tolerant=True, shows="TURN")
        self.framing = None if isinstance(analysis, Failed) else analysis
        asked = analysis.clarifying_question.strip() if isinstance(analysis, Analysis) else ""
        if asked and self.settings.checkpoints:
            meant = await self.stage.gate(
                "clarify",
                prompts("clarify", question=clean(asked)),
                returns=Clarification,
                kind="clarification",
                timeout_seconds=self.settings.checkpoint_timeout_seconds,
            )
            if meant.text:
                self.clarification = meant.text
                self.question = f"{self.stage.topic}\n\nAsked what exactly is meant, the person said: {meant.text}"
                again = await self.moderator.ask(
                    "frame", prompts("frame", answer=meant.text), returns=Framing, tolerant=True, shows="TURN"
                )
                self.framing = self.framing if isinstance(again, Failed) else again
        wanted: Sequence[str] = self.framing.perspectives if self.framing else ()
        if count == "auto":
            count = self.framing.debaters if self.framing else self.settings.default_perspectives
        for n, perspective in enumerate(choose(self.question, wanted, count, self.catalog), 1):
            seat = self.stage.seat(f"p{n}")
            seat.brief(
                prompts(
                    "debater_small" if seat.spec.small else "debater",
                    name=perspective.name,
                    topic=self.question,
                    priorities=", ".join(perspective.priorities),
                    trade_offs=perspective.trade_offs,
                )
            )
            self.panelists.append(Panelist(perspective=perspective, seat=seat, arguments=[]))
        self.stage.name_seats(self.names)
        seats = [panelist.seat for panelist in self.panelists]
        self.attendance = Attendance(self.stage, self.settings.topology, seats, self.names)
        if not self.attendance.mesh:
            self.clerk.reads = lambda seat: self.here.reads(seat, "argue")

    def option(self, panelist: Panelist) -> str:
        """The answer that a small model argues for; empty if there is none to assign."""
        options = options_of(self.stage.topic, self.framing)
        return capital(options[self.panelists.index(panelist) % len(options)]) if options else ""

    async def rounds(self) -> str:
        """Play the rounds; return the rule that ended the panel."""
        for round in range(1, self.settings.max_rounds + 1):
            self.round = round
            for panelist in self.panelists:
                panelist.last, panelist.copies = None, ""
            self.written = dict(self.stage.spent.written)
            began = self.stage.spent.seconds
            before = {panelist.name: panelist.words for panelist in self.panelists}
            self.here.next_round()
            try:
                await self.here.in_waves("argue", list(self.names), round, self.argue)
            finally:
                for panelist in self.speaking:
                    self.check_argument(panelist, self.read_before(panelist, before))
            self.clerk.ask()
            comparing = self.stage.start(self.compare())  # no one waits for it before the moderator does
            try:
                await self.rebuttals(began)
            except LimitReached:
                await comparing
                raise
            speaking = self.speaking
            ended_by = self.converged(speaking, await self.evaluate(await comparing))
            if ended_by is not None:
                return ended_by
            if len(speaking) < 2:
                return TOO_FEW
            if round < self.settings.max_rounds and await self.person_ends():
                return "person"
        return "max_rounds"

    def read_before(self, panelist: Panelist, before: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
        """What a panelist could have repeated in its argument: what was said before the round, and, where arguments
        are read within it, those that it read."""
        read = self.here.fresh(panelist.seat.id, "argue")
        return {**before, **{each.name: each.words for each in self.panelists if each.seat.id in read}}

    async def rebuttals(self, began: float) -> None:
        """In a mesh one after the other, each hearing those before; else in the topology's waves. A round that takes
        too long is cut short."""
        unheard = [panelist.seat.id for panelist in self.present]

        async def answer(seat: str, again: bool) -> Failed | None:
            if not again:
                unheard.remove(seat)
            return await self.rebut(self.panelist(seat), again=again)

        def in_time() -> bool:
            self.clerk.ask()
            late = self.stage.spent.seconds - began >= self.settings.round_timeout_seconds
            if late:
                self.cut_short.append(self.round)  # what was said is assessed
                self.stage.show("CUT", round=self.round, unheard=[self.names[seat] for seat in unheard])
            return not late

        if self.here.mesh:
            await self.here.one_by_one(list(unheard), self.round, answer, in_time)
        else:
            await self.here.in_waves("rebut", list(unheard), self.round, answer, in_time)
        self.clerk.ask()

    def panelist(self, seat: str) -> Panelist:
        return next(each for each in self.panelists if each.seat.id == seat)

    async def argue(self, seat: str, again: bool) -> Failed | None:
        panelist = self.panelist(seat)
        speaker = without_memory(panelist.seat)
        left = self.left(panelist)
        prompt = self.to_argue_small(panelist) if speaker.spec.small else self.to_argue(panelist)
        asked: Asking = {"round": self.round, "share": self.share(left), "most_tokens": left, "shows": "TURN"}
        phase = phase_of("argue", again)
        spared = speaker.ask(phase, prompt, spared=True, **asked)
        text = await (speaker.ask(phase, prompt, **asked) if again else spared)
        if isinstance(text, Failed):
            return text
        panelist.arguments.append(text)
        panelist.said.append(text)
        panelist.argued_in, panelist.ended = self.round, speaker.finish_reason
        self.clerk.hear(speaker, phase, self.round, text)
        return None

    def to_argue_small(self, panelist: Panelist) -> Prompt:
        opening = f"The question: {self.question}"
        if self.assessment is None and self.framing is not None and self.framing.constraints:
            opening += f"\nKeep in mind: {quote('; '.join(self.framing.constraints), MOST_QUOTED)}"
        if self.assessment is not None:
            if self.here.mesh:
                opening += f"\nThe moderator sums up: {quote(self.assessment.summary, MOST_QUOTED)}"
            opening += f"\nNext: {quote(self.assessment.redirect, MOST_QUOTED)}"
            if panelist.is_among(self.assessment.off_topic):
                opening += f"\n{LEFT_THE_QUESTION}"
        if read := self.read_to_argue(panelist):
            opening += f"\n{latest_short(read)}"
        option = self.option(panelist)
        return prompts(
            "argue_small",
            opening=opening,
            guidance=self.guidance_words(),
            option=told(option),
            begin=f"Begin with the words {quote(option, POINT_CHARS)}." if option else "",
            name=panelist.name,
            priorities=", ".join(panelist.perspective.priorities),
        )

    def to_argue(self, panelist: Panelist) -> Prompt:
        opening = f"The question: {self.question}"
        at = f"{self.round}/argue/{panelist.seat.id}"
        if self.assessment is None and self.framing is not None:
            put = fence(self.framing.prose(), of="the moderator", at=at)
            opening += f"\n\nThe moderator puts it to the panel so, with the constraints to keep in mind:\n\n{put}"
        if self.assessment is not None:
            summary = f"{self.assessment.summary}\n\nNext: {self.assessment.redirect}"
            opening = "The moderator sums up:\n\n" + fence(summary, of="the moderator", at=at)
            if not self.here.mesh:  # a summary would bring everyone's words to everyone
                asked = fence(self.assessment.redirect, of="the moderator", at=at)
                opening = f"The moderator asks to look at this next:\n\n{asked}"
            if panelist.is_among(self.assessment.off_topic):
                opening += f"\n\n{LEFT_THE_QUESTION}"
        if read := self.read_to_argue(panelist):
            opening += f"\n\nThose whom you hear have said last:\n\n{latest(read, at)}"
        advice = guidance(self.guidance_words(), at=at, among=[opening])
        return prompts("argue", round=str(self.round), opening=opening, guidance=advice, name=panelist.name)

    def read_to_argue(self, panelist: Panelist) -> list[Panelist]:
        """Those whose latest words an argument can build on: none in a mesh, where all argue at once."""
        return [] if self.here.mesh else self.read_by(panelist, "argue")

    async def rebut(self, panelist: Panelist, *, again: bool) -> Failed | None:
        key, left = f"{self.round}/rebut/{panelist.seat.id}", self.left(panelist)
        if left is not None and left <= 0:
            budget = self.settings.token_budget_per_round
            self.stage.show("SPENT", seat=panelist.seat.id, name=panelist.name, round=self.round, budget=budget)
            return None
        speaker = without_memory(panelist.seat)
        heard = [each for each in self.read_by(panelist, "rebut") if each.argued_in == self.round]
        shape, question = Rebuttal, prompts("rebut", said=said(heard, key))
        if speaker.spec.small:
            shape = short_rebuttal(tuple(each.name for each in heard))
            question = prompts(
                "rebut_small",
                question=self.question,
                said=said_short(heard, answering=True),
                name=panelist.name,
                option=told(self.option(panelist)),
            )
        asked: Json = {"round": self.round, "share": self.share(left), "most_tokens": left, "shows": "TURN"}
        rebuttal = await put(speaker, "rebut", question, again, returns=shape, **asked)
        if isinstance(rebuttal, Failed):
            panelist.last = None
            return rebuttal
        panelist.last = rebuttal
        self.check_for_copies(panelist, rebuttal)
        panelist.rebuttals.append(rebuttal)
        panelist.said.append(rebuttal.prose())
        self.clerk.hear(speaker, phase_of("rebut", again), self.round, rebuttal.prose())
        return None

    def check_argument(self, panelist: Panelist, before: Mapping[str, Sequence[str]]) -> None:
        """Note what is wrong with a panelist's argument in this round, if it has argued."""
        if panelist.argued_in != self.round:
            return
        text, where = panelist.arguments[-1], f"{panelist.name}'s argument in round {self.round}"
        flaw = flaw_of(text, panelist.ended)
        if flaw:
            (self.cut_off if flaw == LOST else self.not_own).append(f"{where} {flaw}")
        elif of := self.copied_words(panelist, [text], before):
            self.not_own.append(f"{where} repeats {of}'s words")
        if panelist.ended == "length":
            self.cut_off.append(f"{where} {CUT_OFF}")

    def check_for_copies(self, panelist: Panelist, rebuttal: Rebuttal) -> None:
        """Note whose words a panelist repeats where it says that it no longer disagrees."""
        words = {each.name: each.words for each in self.panelists}
        texts = [text for text in (rebuttal.recommendation, rebuttal.rebuttal) if not flaw_of(text, "stop")]
        panelist.copies = self.copied_words(panelist, texts, words)
        if panelist.copies:
            self.not_own.append(f"{panelist.name}'s answer in round {self.round} repeats {panelist.copies}'s words")
        if panelist.copies and rebuttal.position != "hold":
            self.copied[panelist.name] = panelist.copies
            self.stage.show("COPIED", seat=panelist.seat.id, name=panelist.name, of=panelist.copies, round=self.round)

    def copied_words(self, panelist: Panelist, texts: Sequence[str], said: Mapping[str, Sequence[str]]) -> str:
        """The name of the one whose words a panelist repeats; empty if they are its own, which they become then."""
        others = {name: words for name, words in said.items() if name != panelist.name}
        found = {text: copied_from(text, panelist.own, others) or "" for text in texts}
        panelist.own += [text for text, of in found.items() if not of]
        return next(filter(None, found.values()), "")

    async def evaluate(self, likeness: Likeness | None) -> Assessment | None:
        measures = self.measure(likeness)
        moderator, person = without_memory(self.moderator), self.from_the_person()
        shape: type[Assessment] = Assessment
        if moderator.spec.small:
            shape = short_assessment(tuple(each.name for each in self.present))
            question = prompts("evaluate_small", question=self.question, said=said_short(self.present), person=person)
        else:
            at = f"{self.round}/evaluate/moderator"
            heard = said(self.present, at)
            question = prompts(
                "evaluate",
                round=str(self.round),
                said=heard,
                person=guidance(person, at=at, among=[heard]),
                repetition="; ".join([str(measures), *self.copies()]),
            )
        assessment = await moderator.ask(
            "evaluate",
            question,
            returns=shape,
            tolerant=True,
            round=self.round,
            shows="TURN",
            record=lambda _: measures.as_json(),
        )
        self.assessment = None if isinstance(assessment, Failed) else assessment
        for panelist in self.speaking:
            if self.assessment and panelist.is_among(self.assessment.mute) and self.can_do_without(panelist):
                panelist.muted_in = self.round  # from the next round on: what it said in this one counts
                self.here.exclude(panelist.seat.id)
                panelist.left_the_question = panelist.is_among(self.assessment.off_topic)
                self.stage.show(
                    "MUTED",
                    seat=panelist.seat.id,
                    name=panelist.name,
                    round=self.round,
                    off_topic=panelist.left_the_question,
                )
        return self.assessment

    def can_do_without(self, panelist: Panelist) -> bool:
        """At least two must remain, and the panel must stay balanced if it is."""
        stay = [each.perspective for each in self.speaking if each is not panelist]
        return len(stay) >= 2 and (balanced(stay) or not balanced([*stay, panelist.perspective]))

    @property
    def arguments(self) -> dict[str, list[str]]:
        return {panelist.name: panelist.arguments for panelist in self.present}

    async def compare(self) -> Likeness | None:
        """How alike this round's arguments are to earlier ones of the same speaker; None: there are none."""
        pairs = pairs_to_compare(self.arguments)
        try:
            return await self.stage.compare("compare", pairs, round=self.round) if pairs else None
        except LimitReached as limit:
            return Likeness(note=str(limit))

    def measure(self, likeness: Likeness | None) -> RoundMeasures:
        """Measure how far this round's arguments repeat earlier ones."""
        measures = measure_round(self.round, self.arguments, likeness)
        if likeness is not None:
            self.measures.append(measures)
            seats = {name: seat for seat, name in self.names.items()}
            shares = {seats[each.name]: each.repetition for each in measures.measures}
            self.stage.show("MEASURED", **measures.as_json(), shares=shares)
        return measures

    def converged(self, speaking: Sequence[Panelist], assessment: Assessment | None) -> str | None:
        """The rule that ends the panel now, if any, from typed positions, the typed assessment and measures."""
        positions = [panelist.position for panelist in speaking]
        recommended = [each.last.recommendation for each in speaking if each.last is not None]
        divided = len(chosen(recommended, options_of(self.stage.topic, self.framing))) > 1
        if all(position == "agree" for position in positions) and not divided:
            return "agreement"
        self.prevailing = self.leader(speaking)
        if self.prevailing is not None:
            return "clear_winner"
        if assessment and assessment.state == "converging" and "hold" not in positions and not divided:
            return "agreement"
        if self.measures:
            stagnating = assessment is not None and assessment.state == "stagnating"
            self.stagnation = self.measures[-1].stagnation(stagnating)
        return "stagnation" if self.stagnation else None

    def leader(self, speaking: Sequence[Panelist]) -> Panelist | None:
        """The panelist who holds its position while all others concede to it."""
        for candidate in speaking:
            others = [panelist for panelist in speaking if panelist is not candidate]
            holds = candidate.last is not None and candidate.last.position == "hold" and bool(candidate.own)
            if holds and others and all(panelist.concedes_to(candidate) for panelist in others):
                return candidate
        return None

    async def person_ends(self) -> bool:
        if not self.settings.checkpoints:
            return False
        assessment = self.assessment
        summary = assessment.summary if assessment else "The moderator gave no valid assessment of this round."
        latest = self.measures[-1] if self.measures else None
        measures = "" if latest is None else f"Measured: {latest}."
        checkpoint = await self.stage.gate(
            "checkpoint",
            prompts("checkpoint", round=str(self.round), summary=clean(summary), measured=measures),
            returns=Checkpoint,
            kind="checkpoint",
            timeout_seconds=self.settings.checkpoint_timeout_seconds,
            artifacts={
                "summary": summary,
                "state": assessment.state if assessment else None,
                "measured": None if latest is None else latest.as_json(),
            },
            round=self.round,
        )
        if checkpoint.choice == "guide":
            self.guidance.append((self.round, checkpoint.text))
        return checkpoint.choice == "end"

    async def conclude(self, ended_by: str) -> Outcome:
        self.clerk.ask()  # what was said before a limit cut the round short
        await self.clerk.finish()
        spoken = any(panelist.own for panelist in self.panelists)
        written = await self.synthesize(ended_by) if spoken else NOTHING_SAID
        return report(self.result(ended_by), written, self.clerk.as_json(), self.settings.answer)

    async def synthesize(self, ended_by: str) -> Synthesis | str:
        """The moderator's synthesis, or the reason why there is none."""
        moderator = without_memory(self.moderator)
        small, spec = moderator.spec.small, self.settings.answer
        shape: type[Synthesis] = ShortSynthesis if small else Synthesis
        try:
            given = await moderator.ask(
                "synthesize",
                asking(self.to_synthesize_small() if small else self.to_synthesize(ended_by), spec),
                returns=shape if spec is None else with_final(shape, spec),
                tolerant=True,
                round=self.round,
                closing=True,
            )
        except LimitReached as limit:
            return str(limit)
        return given.failure.message if isinstance(given, Failed) else given

    def to_synthesize(self, ended_by: str) -> Prompt:
        at = f"{self.round}/synthesize/moderator"
        positions = "\n\n".join(
            f"{d.name}:\n" + fence(d.recommends, of=d.name, at=f"{at}/{d.seat.id}") for d in self.panelists
        )
        return prompts(
            "synthesize",
            ending=ending_words(ended_by),
            positions=positions or NOBODY_SPOKE,
            person=guidance(self.from_the_person(), at=at, among=[positions]),
        )

    def to_synthesize_small(self) -> Prompt:
        held = [f"{each.name} recommends: {quote(each.recommends, MOST_QUOTED)}" for each in self.panelists]
        positions = "\n".join(held) or NOBODY_SPOKE
        return prompts("synthesize_small", question=self.question, positions=positions, person=self.from_the_person())

    def result(self, ended_by: str) -> PanelResult:
        return PanelResult(
            panelists=self.panelists,
            ended_by=ended_by,
            prevailing=self.prevailing,
            stagnation=self.stagnation,
            measures=self.measures,
            cut_short=self.cut_short,
            copied=self.copied,
            not_own=self.not_own,
            cut_off=self.cut_off,
            clarification=self.clarification,
            guidance=[text for _, text in self.guidance],
            absences=self.attendance.absences if self.attendance else (),
        )

    def guidance_words(self) -> str:
        return f"Guidance from the person who asked: {self.guidance[-1][1]}" if self.guidance else ""

    def from_the_person(self) -> str:
        """Everything that the person who asked has said, for the moderator."""
        said = [f"Asked what exactly is meant: {self.clarification}"] if self.clarification else []
        said += [f"Guidance after round {round}: {text}" for round, text in self.guidance]
        return "\n\n".join(["The person who asked has said this; take it into account:", *said]) if said else ""

    def copies(self) -> list[str]:
        """Who repeats whose words in this round, for the moderator."""
        return [
            f"{each.name} repeats the words of {each.copies}, which is no agreement"
            for each in self.speaking
            if each.copies
        ]
