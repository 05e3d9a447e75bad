"""A forge under way: its seats, its board, and how seats are asked and code is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from moot.core.artifacts import Episode, Version, difference
from moot.core.errors import LimitReached
from moot.core.limits import LIMITS
from moot.core.script import AGAIN, Failed, Seat, Stage, ask_each, together
from moot.core.types import Answer, Json, Prompt, Recalled
from moot.core.values import sha256_of
from moot.formats.forge.answers import Repair
from moot.formats.forge.board import NOT_CHECKED, Board, Checked, Draft, counted
from moot.formats.forge.cast import BLIND, CRITIC, ENGINEER, JUDGE, ORACLE, TESTER, topology_of
from moot.formats.forge.prompting import Clarified, brief, interface_line, repository_part, spec_for
from moot.formats.forge.settings import MOST_GIVEN, ForgeSettings, Phase
from moot.formats.shared.small import CODE_ENDS, CODE_VARIES
from moot.reasoning.code.evidence import Calls, by_call
from moot.reasoning.code.examples import examples_in
from moot.reasoning.code.requests import (
    ApplyChange,
    CasesRun,
    ChangeApplied,
    Check,
    CheckRun,
    CheckTool,
    RepositoryOpened,
    RunCases,
    RunRepository,
    RunScript,
    ScriptRun,
)
from moot.reasoning.topology import Topology, fresh

A = TypeVar("A", bound=Answer)
T = TypeVar("T")

CHECKS: tuple[CheckTool, ...] = ("ruff", "mypy", "bandit", "radon", "servers")


@dataclass(kw_only=True)
class RaisedIssue:
    """An issue with a version, and what became of it."""

    number: int
    by: str
    version: int
    severity: str
    claim: str
    call: Calls | None = None  # a test that would show it
    answer: str = ""  # of the version's author; empty: none


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A version that its author ran, and the reflection that led to it."""

    draft: Draft
    attempt: int
    reflection: Repair | None


class Forge:
    def __init__(self, stage: Stage, settings: ForgeSettings) -> None:
        self.stage, self.settings = stage, settings
        self.engineers = [seat for seat in stage.seats if seat.spec.role == ENGINEER]
        self.oracles = [seat for seat in stage.seats if seat.spec.role == ORACLE]
        self.tester, self.critic = stage.seat(TESTER), stage.seat(CRITIC)
        self.judge = next((seat for seat in stage.seats if seat.spec.role == JUDGE), self.critic)
        self._topology: Topology = topology_of(settings, [seat.spec for seat in stage.seats])
        self.repo: RepositoryOpened | None = None
        stated = by_call([] if settings.repo else [*settings.cases, *examples_in(stage.topic)])
        given = dict(islice(stated.items(), MOST_GIVEN))
        self.left_out = len(stated) - len(given)  # examples of the task
        self.board = Board(given=given, script=settings.tests or ("its own tests" if settings.repo else ""))
        self.answers: list[Clarified] = []
        self.ambiguity = 0.0
        self.interface = ""
        self.planner = self.judge  # whose words the interface is in
        self.approaches: dict[str, str] = {}
        self.approached_by: Seat | None = None  # whose words the approaches are in; None: the rules' own
        self.lessons: Sequence[Recalled] = ()  # of earlier debates
        self.lessons_held: dict[str, bool] = {}  # by their ids, whether attempts confirm or contradict them
        self.attempts: list[Attempt] = []
        self.episodes: list[Episode] = []  # of the attempts that are stored
        self.reflections: dict[str, Repair] = {}  # by author, that of its latest repair
        self.issues: list[RaisedIssue] = []
        self.kept: dict[int, bool] = {}  # by version, whether an improvement was one
        self.lost: dict[str, str] = {}  # seats whose model could not be had, and why
        self.failed: dict[str, str] = {}  # seats that gave no valid answer last, and why
        self.refused: dict[str, str] = {}  # seats whose latest change could not be used, and why
        self.approved: set[Phase] = set()  # phases with a gate
        self.unanswered: list[Phase] = []  # approved because no one answered in time
        self.rejected: list[str] = []  # what a person said when rejecting
        self.again = False  # a phase is played once more
        self.starts = 0  # how often engineers have started afresh
        self.begun: set[Phase] = set()
        self.finished: set[Phase] = set()  # phases that were played to their end
        self.idle: dict[Phase, str] = {}  # phases in which there was nothing to do, and why
        self.attacked = False  # red was heard, whether it found anything or not
        self.attacks = self.held_attacks = 0
        self.repeated_attacks = 0  # those whose calls are in tests that count: nothing was to be learned from them
        self._occasions: Counter[str] = Counter()
        self.shown_matrix: Json = {}  # as it was shown last
        self._produced: dict[int, str] = {}  # ids of versions as artifacts, by number: the first so many
        self._published = 0  # so many of them were shown
        for seat in stage.seats:
            brief(seat, settings)

    def task(self, reader: Seat) -> str:
        """The specification: the task, what was answered about it, and what a person said when rejecting."""
        at = self.occasion(reader)
        spec = spec_for(reader, self.stage.topic, self.answers, self.rejected, at)
        if self.repo is None or reader.spec.role in BLIND:
            return spec
        return f"{spec}\n\n{repository_part(reader, self.repo, at)}"

    def occasion(self, reader: Seat) -> str:
        """A place for fences that this seat has not read before: no mark must be known before its fence is made."""
        self._occasions[reader.id] += 1
        return f"{reader.id}/{self._occasions[reader.id]}"

    @property
    def by_given_alone(self) -> bool:
        """Whether given tests are all that is believed: small blind seats guess, and are not asked beside them."""
        return bool(self.board.given) and self.tester.spec.small

    @property
    def by_need(self) -> bool:
        """Whether engineers write one after another, until versions of enough of them pass what decides."""
        return bool(self.settings.by_need) and self.board.decides

    @property
    def is_first(self) -> bool:
        """Whether the next engineer is the first to write."""
        return self.by_need and not self.board.drafts and not self.failed

    @property
    def suffices(self) -> bool:
        """Whether no more code is needed."""
        return self.by_need and len(self.board.passing) >= self.settings.by_need

    def interface_for(self, reader: Seat) -> str:
        return interface_line(reader, self.interface, self.planner, self.occasion(reader))

    @property
    def names(self) -> dict[str, str]:
        return {seat.id: seat.name for seat in self.stage.seats}

    def in_order(self, told: Mapping[str, str]) -> list[tuple[str, str]]:
        """What some seats have said, by their names and in their order."""
        return [(seat.name, told[seat.id]) for seat in self.stage.seats if seat.id in told]

    @property
    def voters(self) -> list[Seat]:
        """Everyone who sees code and can still be asked."""
        return [seat for seat in self.stage.seats if seat.spec.role not in BLIND and seat.id not in self.lost]

    @property
    def topology(self) -> Topology:
        """Who reads whom, among those who can still be asked. It closes gaps in the order of seats, so that it makes no
        difference whose failure was known first."""
        for seat in self.stage.seats:
            agents = {each.id for each in self._topology.agents}
            if seat.id in self.lost and seat.id in agents and len(agents) > 1:
                self._topology = self._topology.without(seat.id)
        return self._topology

    def called(self, draft: Draft) -> str:
        return f"Version {draft.number} by {self.names[draft.author]}"

    def author(self, draft: Draft) -> str:
        return self.names[draft.author]

    def key(self, round: int, phase: str, seat: Seat) -> str:
        """The key of a step of this seat, as it is played now."""
        return f"{round}/{self.step(phase)}/{seat.id}"

    def step(self, phase: str) -> str:
        """What a step is called now: one that is played once more has a name of its own."""
        return f"{phase}{AGAIN}" if self.again else phase

    def waves(self, phase: str, among: Iterable[Seat]) -> list[tuple[list[Seat], Mapping[str, tuple[str, ...]]]]:
        """Who of these is asked at once, wave by wave, and whose words of this phase each of them reads."""
        seats = {seat.id: seat for seat in among if seat.id not in self.lost}
        earlier = fresh(self.topology, phase)
        found = [[seats[each] for each in wave if each in seats] for wave in self.topology.waves(phase)]
        return [(wave, earlier) for wave in found if wave]

    def reads(self, phase: str, seat: str) -> frozenset[str]:
        """Whose versions a seat may read: its own, and those of its neighbours."""
        return frozenset({seat, *self.topology.reads(phase).get(seat, ())})

    async def ask(
        self,
        seats: Sequence[Seat],
        phase: str,
        prompt: Callable[[Seat], Prompt],
        *,
        returns: type[A],
        round: int = 0,
        shows: str,
    ) -> dict[str, A]:
        """Ask several at once, each with nothing in mind but its briefing; go on without those that can't be had."""
        asked = [seat.fresh() for seat in seats if seat.id not in self.lost]
        if not asked:
            return {}
        answers = await ask_each(asked, self.step(phase), prompt, returns=returns, round=round, shows=shows)
        for seat, failed in answers.failed.items():
            self.missed(seat, failed)
        return answers.given

    async def ask_one(
        self, seat: Seat, phase: str, prompt: Prompt, *, returns: type[A], round: int = 0, shows: str
    ) -> A | None:
        """Ask one seat, and go on without its answer if there is none."""
        if seat.id in self.lost:
            return None
        given = await seat.fresh().ask(self.step(phase), prompt, spared=True, returns=returns, round=round, shows=shows)
        return self._given(seat, given)

    async def ask_for_code(
        self, seat: Seat, phase: str, prompt: Prompt, *, returns: type[A], start: int = 0
    ) -> A | None:
        """Have an engineer write from nothing, for the time `start`, and go on without its code if there is none. A
        small one is cut short where it begins to try its code out, and what it leaves unfinished is not asked for
        again: it has gone astray, and another start costs less. Code that is to differ from other code varies more."""
        small = seat.spec.small
        varies = small and not self.is_first
        stop = CODE_ENDS if small and self.repo is None else ()  # a change may have several blocks
        asked = seat.fresh(stop, again=start, temperature=CODE_VARIES if varies else None)
        most = seat.spec.max_tokens if small else None
        given = await asked.ask(
            self.step(phase), prompt, spared=True, returns=returns, round=start, shows="CODE", most_tokens=most
        )
        return self._given(seat, given)

    def _given(self, seat: Seat, given: A | Failed) -> A | None:
        if isinstance(given, Failed):
            self.missed(seat.id, given)
            return None
        return given

    def missed(self, seat: str, failed: Failed) -> None:
        """A seat gave no answer. One whose model can't be had is left out from here on."""
        self.failed[seat] = failed.failure.message
        if failed.absent:
            self.lost[seat] = failed.failure.message

    async def at_once(self, *writing: Coroutine[Any, Any, T]) -> tuple[T, ...]:
        """Have several seats write versions at once, and number these when all are there. Until then, nothing that a
        seat does may depend on another's: a run that was killed and resumed would take another course."""
        self.board.numbered = len(self.board.drafts)
        try:
            return await together(*writing)
        finally:
            self.board.number([seat.id for seat in self.stage.seats])
            self.attempts[:] = [replace(each, draft=self.board.renewed(each.draft)) for each in self.attempts]

    async def run(
        self, draft: Draft, calls: Sequence[Calls], phase: str, round: int = 0, *, unnumbered: bool = False
    ) -> None:
        """Make calls to a version, and run the given test file on it once. `unnumbered`: others are being written at
        the same time, so it has no number yet, and what is known of code that is the same does not matter."""
        subject = draft.author if unnumbered else draft.label
        script = self.run_script(draft, phase, round, subject, anew=unnumbered)
        if not calls:
            await script
            return
        request = RunCases(version=draft.name, language=self.settings.language, calls=tuple(calls))
        cases = self.stage.use(
            "cases",
            self.step(phase),
            request.model_dump(mode="json"),
            returns=CasesRun,
            texts=[draft.code],
            subject=subject,
            round=round,
            closing=True,
        )
        ran, _ = await together(cases, script)
        self.board.runs.add(draft.name, calls, ran.results)

    async def written(self, seat: Seat, code: str, phase: str, round: int = 0) -> str | None:
        """The code of a new version: as it was written or, with a repository, the patch that a change comes to. None if
        it changes nothing or can't be applied, which is kept as the reason."""
        if self.repo is None:
            return code
        request = ApplyChange(path=self.settings.repo, base=self.repo.base, change=sha256_of(code))
        applied = await self.stage.use(
            "repository",
            self.step(f"apply-{phase}"),
            request.model_dump(mode="json"),
            returns=ChangeApplied,
            texts=[code],
            subject=seat.id,
            round=round,
        )
        if not applied.patch:
            self.refused[seat.id] = applied.problem or "The change leaves everything as it was."
            self.failed[seat.id] = self.refused[seat.id]
            return None
        return applied.patch

    async def run_repository(self, repo: RepositoryOpened, draft: Draft, phase: str, round: int, subject: str) -> None:
        """Run the tests of the repository over a patch."""
        given = self.settings.tests
        request = RunRepository(
            path=self.settings.repo, base=repo.base, version=draft.name, tests=sha256_of(given) if given else None
        )
        run = await self.stage.use(
            "repository",
            self.step(phase),
            request.model_dump(mode="json"),
            returns=ScriptRun,
            texts=[draft.code, *([given] if given else [])],
            subject=subject,
            round=round,
            closing=True,
        )
        self.board.scripts[draft.name] = counted(run, self.board.expected)

    async def run_script(self, draft: Draft, phase: str, round: int, subject: str, *, anew: bool) -> None:
        if not self.board.script or (draft.name in self.board.scripts and not anew):
            return
        if self.repo is not None:
            await self.run_repository(self.repo, draft, phase, round, subject)
            return
        request = RunScript(version=draft.name, language=self.settings.language, tests=sha256_of(self.board.script))
        self.board.scripts[draft.name] = await self.stage.use(
            "script",
            self.step(phase),
            request.model_dump(mode="json"),
            returns=ScriptRun,
            texts=[draft.code, self.board.script],
            subject=subject,
            round=round,
            closing=True,
        )

    async def run_all(self, phase: str, round: int = 0) -> None:
        """Make every call to every version that has not had it; new ones twice, to see whether the results differ."""

        async def one(draft: Draft) -> None:
            new = [call for call in self.board.calls if not self.board.runs.of(draft.name, call)]
            once = [call for call in self.board.calls if len(self.board.runs.of(draft.name, call)) == 1]
            await self.run(draft, [*new, *new, *once], phase, round)

        await together(*(one(draft) for draft in self.board.drafts))

    async def check(self, drafts: Iterable[Draft]) -> None:
        """Have linters, type and security checkers look at versions that they have not seen."""

        async def one(draft: Draft) -> None:
            request = Check(version=draft.name, language=self.settings.language, tools=CHECKS)
            found = await self.stage.use(
                "checks",
                self.step("check"),
                request.model_dump(mode="json"),
                returns=CheckRun,
                texts=[draft.code],
                subject=draft.label,
                closing=True,
                tolerant=True,
            )
            self.board.checks[draft.name] = NOT_CHECKED if isinstance(found, Failed) else Checked.of(found)

        await together(*(one(draft) for draft in drafts if draft.name not in self.board.checks))

    def store_versions(self) -> None:
        """Store the versions that are not stored yet, with the figures that are known now."""
        for draft in self.board.drafts[len(self._produced) :]:
            made = self.stage.produce(
                Version(
                    turn_key=draft.key,
                    author=draft.author,
                    language=self.settings.language,
                    code=draft.code,
                    parent=None if draft.parent is None else self._produced[draft.parent],
                    test_pass_rate=self.board.measured(draft).pass_rate,
                    quality_score=self.board.quality(draft),
                    metrics=self.board.metrics(draft),
                    label=draft.label,
                )
            )
            self._produced[draft.number] = made.id

    def publish(self) -> None:
        """Store the versions that are not stored yet, and show those that were not shown, with what is known now."""
        self.store_versions()
        new, self._published = self.board.drafts[self._published :], len(self.board.drafts)
        for draft in new:
            measured, quality = self.board.measured(draft), self.board.quality(draft)
            self.stage.show(
                "CODE_VERSION",
                version=draft.label,
                author=draft.author,
                name=self.called(draft),
                round=draft.number,
                passed=measured.passed,
                counted=measured.counted,
                pass_rate=measured.pass_rate,
                quality=quality,
                ran=measured.ran,
                parent=None if draft.parent is None else self.board.draft(draft.parent).label,
            )

    def note(self, words: str) -> None:
        """Show words under the heading of a phase, where nothing more follows."""
        self.stage.show("PHASE_NOTE", words=words)

    def leave_out(self, phase: Phase, why: str) -> None:
        self.idle[phase] = why
        self.note(f"Left out: {why}.")

    def cut_short(self, limit: LimitReached) -> None:
        known = LIMITS.get(limit.limit)
        self.note(f"Cut short: {'a limit was reached' if known is None else known.words}.")

    def diff(self, draft: Draft) -> str:
        """What a version changes; empty for a first one."""
        if draft.parent is None:
            return ""
        before = self.board.draft(draft.parent)
        names = before.label, draft.label
        return difference(before.code, draft.code, names)

    def show_matrix(self, phase: str) -> None:
        """Show versions by cases, if that has changed."""
        matrix = self.board.matrix()
        if self.board.drafts and matrix["rows"] and matrix != self.shown_matrix:
            self.shown_matrix = matrix
            self.stage.show("MATRIX", phase=phase, **matrix)
