from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self, cast, get_args

from pydantic import Field, field_validator, model_validator

from moot.core.settings import ON_THIS_MACHINE, DebateSettings, OutputTokens, RunningSeconds, Tokens
from moot.core.types import Json
from moot.formats.shared.voting import RankingMethod
from moot.reasoning.code.cases import Case
from moot.reasoning.code.requests import MAX_CODE_CHARS
from moot.reasoning.code.test_files import flaw_in_repository, flaw_of
from moot.reasoning.code.written import case_of
from moot.reasoning.topology import Kind

Phase = Literal[
    "dehallucination",
    "self_evolvement",
    "proposal",
    "critique",
    "review",
    "optimization",
    "adversarial",
    "convergence",
]
PHASES: tuple[Phase, ...] = get_args(Phase)
ALWAYS: tuple[Phase, ...] = ("self_evolvement", "convergence")  # these end even where they are off: code is written
WORDS: dict[Phase, str] = {
    "dehallucination": "Dehallucination",
    "self_evolvement": "Self-evolvement",
    "proposal": "Proposal",
    "critique": "Critique",
    "review": "Review",
    "optimization": "Optimization",
    "adversarial": "Adversarial rounds",
    "convergence": "Convergence",
}
Hook = Literal["proposal", "optimization", "adversarial", "convergence"]
Preset = Literal["default", "quick"]

MOST_GIVEN = 100

# What a preset changes where nothing else is said.
PRESETS: Mapping[str, Json] = {
    "default": {},
    "quick": {
        "max_calls": 12,
        "engineers": 2,
        "oracles": 1,
        "attempts": 1,
        "red_rounds": 1,
        "planning": "none",
        "dehallucination": False,
        "critique": False,
        "review": False,
        "optimization": False,
    },
}


# What a repository changes: these take single calls, or one file that can be checked.
OF_REPOSITORIES: Json = {"optimization": False, "adversarial": False, "hooks": []}


class ForgeSettings(DebateSettings):
    max_runtime_seconds: RunningSeconds = 1800
    max_total_output_tokens: OutputTokens = 120_000
    max_calls: int | None = Field(
        39, ge=1, le=100_000, description="calls of models, with those that had to be made again"
    )
    debater_max_tokens: Tokens = Field(4000, description="tokens in one answer of an engineer")
    judge_max_tokens: Tokens = Field(
        2000, description="tokens in one answer of the tester, an oracle, the critic or the judge"
    )
    model_debater: str | None = Field(None, description="model of the engineers")
    model_judge: str | None = Field(None, description="model of the tester, the oracles, the critic and the judge")
    preset: Preset = Field(
        "default",
        description="quick: two engineers and one oracle, no clarification, critique or optimization, 12 calls at most",
    )
    language: Literal["python", "javascript"] = Field("python", description="the language of the code")
    cases: tuple[Case, ...] = Field(
        (),
        max_length=MOST_GIVEN,
        description="tests that the code must pass, each a line: `add(1, 2) == 3`, `pop([]) raises IndexError`",
    )
    tests: Annotated[str, Field(max_length=MAX_CODE_CHARS)] = Field(
        "", description="a test file that the code must pass; weaker than cases: it runs in the process of the code"
    )
    repo: str = Field(
        "",
        max_length=4096,
        json_schema_extra=ON_THIS_MACHINE,
        description="the whole path of a git repository to change: its own tests count, the result is a branch",
    )
    lessons: int = Field(3, ge=0, le=10, description="lessons of earlier debates that engineers are given; 0: none")
    engineers: int = Field(3, ge=1, le=6, description="how many write code")
    oracles: int = Field(2, ge=1, le=4, description="how many predict results without seeing any code")
    dehallucination: bool = Field(
        True, description="questions about the task before anything is written; left out for short tasks with tests"
    )
    self_evolvement: bool = Field(True, description="engineers run their own code, and repair it")
    proposal: bool = Field(
        True, description="all inputs are pooled, and oracles predict those on which versions differ"
    )
    critique: bool = Field(True, description="issues with the versions, with tests where possible")
    review: bool = Field(True, description="the best two authors answer each issue and revise")
    optimization: bool = Field(True, description="a refactorer and a performance analyzer improve the leading version")
    adversarial: bool = Field(True, description="attacks on the leading version, and patches")
    convergence: bool = Field(True, description="ballots where the evidence ties, an explanation, lessons")
    clarify: Literal["auto", "person", "judge"] = Field(
        "auto", description="who answers questions about the task; auto: a person if it is ambiguous and has no tests"
    )
    topology: Kind = Field("mesh", description="who reads whom, and who works at once")
    planning: Literal["adaptive", "cpde", "dpde", "none"] = Field(
        "adaptive", description="a leader plans (cpde), everyone plans (dpde), by the task (adaptive), or no one"
    )
    voting: RankingMethod = Field("auto", description="how ballots are counted; auto: by the number of voters")
    attempts: int = Field(2, ge=0, le=5, description="repairs of an engineer's own code")
    fresh_starts: int = Field(
        0,
        ge=0,
        le=5,
        description="how often engineers write from nothing again, while no version passes the given tests",
    )
    by_need: int = Field(
        0,
        ge=0,
        le=6,
        description="engineers write one after another until so many have code that passes the given tests; 0: at once",
    )
    red_rounds: int = Field(3, ge=1, le=5, description="rounds of attack and patch")
    gates: tuple[Phase, ...] = Field((), description="phases after which a person approves or rejects")
    gate_timeout_seconds: int = Field(1800, ge=1, le=2_592_000, description="how long such a gate waits")
    on_timeout: Literal["pause", "approve", "reject"] = Field("pause", description="what becomes of it then")
    hooks: tuple[Hook, ...] = Field(
        ("proposal", "optimization", "adversarial", "convergence"),
        description="phases after which new versions are checked by linters, type and security checkers",
    )

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        own = cast("Mapping[str, Any]", given)
        preset = own.get("preset", "default")
        repository = OF_REPOSITORIES if own.get("repo") else {}
        return {**PRESETS.get(preset if isinstance(preset, str) else "", {}), **repository, **own}

    @field_validator("cases", mode="before")
    @classmethod
    def _lines(cls, given: Any) -> Any:
        """Each a line, or call, expected and raises; one text has several lines."""
        if isinstance(given, str):
            given = [line for line in given.splitlines() if line.strip()]
        return [_case(each) for each in cast("list[Any]", given)] if isinstance(given, list | tuple) else given

    @field_validator("gates", "hooks", mode="before")
    @classmethod
    def _one_or_more(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for phase in self.gates:
            if not self.plays(phase) and phase not in ALWAYS:
                raise ValueError(
                    f"there can be no gate after {phase}: it is off; set {phase}=true, or leave the gate out"
                )
        if self.by_need > self.engineers:
            raise ValueError(
                f"by_need is {self.by_need}, and engineers only {self.engineers}: "
                f"set engineers={self.by_need}, or by_need={self.engineers}"
            )
        for case in self.cases:
            if case.problem:
                raise ValueError(f"the test {case.call[-1]!r} can't be used: {case.problem}")
        if self.repo:
            self._check_repository()
        flaw = ""
        if self.tests.strip():
            flaw = flaw_in_repository(self.tests) if self.repo else flaw_of(self.tests, self.language)
        if flaw:
            raise ValueError(f"the test file can't be used: {flaw}")
        different = {case.call: case for case in reversed(self.cases)}
        for case in self.cases:
            if different[case.call] != case:
                raise ValueError(
                    f"two tests expect different things of {case.call[-1]!r}, so no code can pass both: leave one out"
                )
        return self

    def _check_repository(self) -> None:
        if not PurePath(self.repo).is_absolute():
            raise ValueError(f"repo must be a whole path, such as /home/me/project; {self.repo!r} is none")
        if self.language != "python":
            raise ValueError("the tests of a repository can be run in python only")
        if self.cases:
            raise ValueError("a repository has no single calls: give a test file (tests) instead of cases")
        for name in ("optimization", "adversarial"):
            if self.plays(name):
                raise ValueError(f"{name} can't be played with a repository: it takes single calls")

    def plays(self, phase: Phase) -> bool:
        return bool(getattr(self, phase))


def _case(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    case = case_of(given)
    if case is None:
        raise ValueError(f"{given!r} is no test; write a call and what it gives, such as add(1, 2) == 3")
    return case
