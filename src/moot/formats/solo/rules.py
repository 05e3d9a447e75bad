"""Independent answers to one question, without a debate: samples know nothing of each other. Code takes the most
frequent one, or a judge or tests pick. It is what a debate must beat."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from moot.core.answers import same_as
from moot.core.errors import LimitReached
from moot.core.script import Failed, Seat, Stage, together
from moot.core.types import Answer, Json, Outcome, Prompt, Sampling
from moot.core.values import sha256_of
from moot.formats.format import Part
from moot.formats.prompts import Prompts
from moot.formats.shared.answer import asked_for, final_in
from moot.formats.shared.small import CODE_ENDS, CODE_VARIES
from moot.formats.solo.report import SoloResult, report
from moot.formats.solo.settings import MOST_SAMPLES, SoloSettings
from moot.formats.solo.shapes import CODE, Pick, confidence_in, pick_among, sample_shape
from moot.reasoning.code.requests import RunScript, ScriptRun
from moot.reasoning.fence import fence, quote

prompts = Prompts("solo")

LABELS = tuple(str(n) for n in range(1, MOST_SAMPLES + 1))
SEEDS = 2**31
MOST_QUOTED = 700  # characters of an answer that a small model reads


def parts(settings: SoloSettings) -> list[Part]:
    solvers = [
        Part(
            id=f"s{n}",
            name=f"Sample {n}",
            role="solver",
            tier="debater",
            voice=True,
            model=settings.models[(n - 1) % len(settings.models)] if settings.models else None,
            sampling=_sampling(settings, n),
        )
        for n in range(1, settings.samples + 1)
    ]
    judge = [Part(id="judge", name="Judge", role="judge")] if settings.picked_by == "judge" else []
    return [*solvers, *judge]


def _sampling(settings: SoloSettings, n: int) -> Sampling:
    """Samples with the same seed would be one sample, many times."""
    seed = settings.sampling.seed
    return Sampling() if seed is None else Sampling(seed=(seed + n - 1) % SEEDS)


@dataclass(kw_only=True)
class Sample:
    """What one seat has answered."""

    seat: str
    first: str | None = None
    last: str | None = None
    confidence: float | None = None  # of the last, as the seat states it
    first_confidence: float | None = None
    reasoning: str = ""
    key: str = ""
    failed: str = ""  # why there is no answer


async def play(stage: Stage, settings: SoloSettings) -> Outcome:
    solo = Solo(stage, settings)
    stage.open(samples=settings.samples, picked_by=settings.picked_by)
    if solo.judge is not None:
        stage.keep((solo.judge, 1))
    ended_by = await solo.sample()
    result = await solo.picked(ended_by)
    return report(result)


class Solo:
    def __init__(self, stage: Stage, settings: SoloSettings) -> None:
        self.stage, self.settings, self.spec = stage, settings, settings.wanted
        self.solvers = [self._briefed(seat) for seat in stage.seats if seat.id != "judge"]
        self.judge = stage.seat("judge") if settings.picked_by == "judge" else None
        self.samples = {seat.id: Sample(seat=seat.id) for seat in self.solvers}
        if self.judge is not None:
            self.judge.brief(prompts("judge", topic=stage.topic))

    def _briefed(self, seat: Seat) -> Seat:
        """A small model that writes code is cut short where it begins to try it out, as in a debate about code."""
        seat.brief(prompts("solver"))
        if not self._brief_code(seat):
            return seat
        return seat.fresh(CODE_ENDS, temperature=CODE_VARIES if self.settings.samples > 1 else None)

    def _brief_code(self, seat: Seat) -> bool:
        return seat.spec.small and self.spec.kind == "code"

    async def sample(self) -> str:
        """Ask everyone; return the rule or limit that ended it."""
        limits = await together(*(self._answers(seat, again=False) for seat in self.solvers))
        absent = [seat for seat in self.solvers if self.samples[seat.id].failed and not self.samples[seat.id].key]
        if absent and all(each.last is None for each in self.samples.values()) and not any(limits):
            # No model could be had at all: a failure now must fail the debate, so that it can be retried.
            limits = await together(*(self._answers(seat, again=True) for seat in absent))
        return next(filter(None, limits), "") or "samples"

    async def _answers(self, seat: Seat, *, again: bool) -> str:
        """One seat's answer, read again as often as the settings say. Returns the limit that was reached, if any."""
        sample, shape = self.samples[seat.id], sample_shape(self.spec, small=seat.spec.small)
        phase, round = "answer-again" if again else "answer", _number(seat)
        try:
            given = await self._ask(seat, phase, self._question(seat), shape, again=again)
            self._take(sample, given, f"{round}/{phase}/{seat.id}", first=True)
            for time in range(1, self.settings.reflections + 1):
                if sample.last is None:
                    break
                name, phase = "reflect_code" if self.spec.kind in CODE else "reflect", f"reflect-{time}"
                given = await seat.ask(
                    phase,
                    prompts(name, final=asked_for(self.spec)),
                    returns=shape,
                    tolerant=True,
                    round=round,
                    shows="TURN",
                    record=self._record,
                )
                if not isinstance(given, Failed):  # what can't be read changes nothing
                    self._take(sample, given, f"{round}/{phase}/{seat.id}", first=False)
        except LimitReached as limit:
            sample.failed = sample.failed or str(limit)
            return limit.limit
        return ""

    async def _ask(
        self, seat: Seat, phase: str, question: Prompt, shape: type[Answer], *, again: bool
    ) -> Answer | Failed:
        common: Any = {"round": _number(seat), "shows": "TURN", "record": self._record}
        if self._brief_code(seat):  # an answer that is cut off has gone astray
            common["most_tokens"] = seat.spec.max_tokens
        if again:
            return await seat.ask(phase, question, returns=shape, tolerant=True, **common)
        return await seat.ask(phase, question, spared=True, returns=shape, **common)

    def _question(self, seat: Seat) -> Prompt:
        if self._brief_code(seat):
            return prompts("answer_code_small", topic=self.stage.topic)
        if self.spec.kind in CODE:
            return prompts("answer_code", topic=self.stage.topic, what=self.spec.kind)
        return prompts("answer", topic=self.stage.topic, final=asked_for(self.spec))

    def _record(self, given: Answer | Failed) -> Json:
        if isinstance(given, Failed) or self.spec.kind in CODE:
            return {}
        return {"final": final_in(given)}

    def _take(self, sample: Sample, given: Answer | Failed, key: str, *, first: bool) -> None:
        if isinstance(given, Failed):
            sample.failed = given.failure.message
            sample.key = "" if given.absent else key
            return
        sample.failed, sample.key = "", key
        sample.last, sample.confidence = final_in(given), confidence_in(given)
        sample.reasoning = str(getattr(given, "reasoning", ""))
        if first:
            sample.first, sample.first_confidence = sample.last, sample.confidence

    async def picked(self, ended_by: str) -> SoloResult:
        """The answer, and how it was picked."""
        answered = [each for each in self.samples.values() if each.last is not None]
        result = SoloResult(
            settings=self.settings,
            answers=[(each.seat, each.last, each.key) for each in self.samples.values()],
            first=[(each.seat, each.first, each.first_confidence) for each in self.samples.values()],
            reasoning={each.seat: each.reasoning for each in answered},
            names={seat.id: seat.name for seat in self.solvers},
            failed={each.seat: each.failed for each in self.samples.values() if each.failed},
            ended_by=ended_by,
        )
        different = {same_as(each.last or "", self.spec): each for each in reversed(answered)}
        if len(different) > 1 and self.settings.picked_by == "tests":
            return await self._by_tests(result, answered)
        if len(different) > 1 and self.judge is not None:
            return await self._by_judge(result, list(reversed(different.values())))
        return result

    async def _by_judge(self, result: SoloResult, different: Sequence[Sample]) -> SoloResult:
        """Have the judge pick among the different answers, in an order that follows from the question."""
        assert self.judge is not None
        topic = self.stage.topic
        order = sorted(different, key=lambda each: hashlib.sha256(f"{topic}\0{each.seat}".encode()).hexdigest())
        labels = dict(zip(LABELS, order, strict=False))
        texts = {label: f"{each.reasoning}\n\nAnswer: {each.last}".strip() for label, each in labels.items()}
        if self.judge.spec.small:
            said = "\n".join(f"Answer {label}: {quote(text, MOST_QUOTED)}" for label, text in texts.items())
        else:
            fenced = (fence(text, of=f"answer {label}", at=f"0/pick/{label}") for label, text in texts.items())
            said = "\n\n".join(fenced)
        question = prompts("pick", answers=said, labels=", ".join(f'"{label}"' for label in labels))
        try:
            given = await self.judge.ask(
                "pick",
                question,
                returns=pick_among(tuple(labels)),
                tolerant=True,
                round=self.settings.samples,
                closing=True,
                shows="PICK",
                record=lambda given: {"pick": labels[given.best].seat} if isinstance(given, Pick) else {},
            )
        except LimitReached as limit:
            return result.without_pick(str(limit))
        if isinstance(given, Failed):
            return result.without_pick(given.failure.message)
        return result.with_pick(labels[given.best].seat, by="judge")

    async def _by_tests(self, result: SoloResult, answered: Sequence[Sample]) -> SoloResult:
        """Run the tests over each different code; the one that passes most is picked, of equals the earliest."""
        tests = self.settings.tests
        if not tests:
            return result.without_pick("There are no tests to pick by.")
        seen: dict[str, Sample] = {}
        for each in answered:
            seen.setdefault((each.last or "").strip(), each)
        runs = await together(*(self._run(each, tests) for each in seen.values()))
        ran = [(share, each) for share, each in zip(runs, seen.values(), strict=True) if share is not None]
        if not ran:
            return result.without_pick("The tests could not be run.")
        best = max(share for share, _ in ran)
        return result.with_pick(next(each.seat for share, each in ran if share == best), by="tests", passed=best)

    async def _run(self, sample: Sample, tests: str) -> float | None:
        code = sample.last or ""
        request = RunScript(version=sha256_of(code), tests=sha256_of(tests))
        try:
            run = await self.stage.use(
                "script",
                "test",
                request.model_dump(mode="json"),
                returns=ScriptRun,
                texts=(code, tests),
                subject=sample.seat,
                round=self.settings.samples,
                closing=True,
                tolerant=True,
                shows="TESTS",
            )
        except LimitReached:
            return None
        if isinstance(run, Failed):
            return None
        return sum(test.outcome == "passed" for test in run.tests) / max(1, len(run.tests))


def _number(seat: Seat) -> int:
    """Samples are counted like turns."""
    return int(seat.id.removeprefix("s"))
