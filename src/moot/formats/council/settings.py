from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, cast

from pydantic import Field, field_validator, model_validator

from moot.core.settings import Name, OutputTokens, RunningSeconds, SeatSettings, Text, Tokens
from moot.formats.shared.attendance import TopologySettings
from moot.formats.shared.ledger import LedgerSettings
from moot.formats.shared.voting import RankingMethod

Depth = Literal["auto", "vote", "debate"]

FEWEST, MOST = 2, 9


class Member(SeatSettings):
    name: Name
    perspective: Text = ""


class Chair(SeatSettings):
    name: Name = "The chair"
    instructions: Text = ""


class CouncilSettings(TopologySettings, LedgerSettings):
    max_total_output_tokens: OutputTokens = 48_000
    max_runtime_seconds: RunningSeconds = 1800
    debater_max_tokens: Tokens = Field(800, description="tokens in one answer of a member")
    judge_max_tokens: Tokens = Field(1200, description="tokens in what the chair writes")
    model_debater: str | None = Field(None, description="model of the members")
    model_judge: str | None = Field(None, description="model of the chair")
    members: tuple[Member, ...] = Field(
        (Member(name="Member 1"), Member(name="Member 2"), Member(name="Member 3")),
        min_length=FEWEST,
        max_length=MOST,
        description="who answers and ranks: how many, or a list of models, or a list of name, model, perspective, …",
        json_schema_extra={"by_number": True},
    )
    chair: Chair = Field(Chair(), description="who writes the council's answer, without a vote")
    depth: Depth = Field(
        "auto", description="debate only while they disagree (auto), never (vote), or all rounds (debate)"
    )
    max_rounds: int = Field(2, ge=1, le=10, description="rounds of debate at most, after the first vote")
    agreement: float = Field(
        0.75, gt=0, le=1, description="share of members behind a leading answer with which the council agrees"
    )

    voting: RankingMethod = Field("borda", description="how the ballots are counted; auto: by the number of members")
    weights: Literal["equal", "models"] = Field(
        "equal", description="a vote for each member, or one for each model, which its members share"
    )

    @field_validator("members", mode="before")
    @classmethod
    def _short_forms(cls, given: Any) -> Any:
        if isinstance(given, int) and not isinstance(given, bool):
            if not FEWEST <= given <= MOST:
                raise ValueError(f"a council has {FEWEST} to {MOST} members")
            return tuple(Member(name=f"Member {n}") for n in range(1, given + 1))
        if isinstance(given, list | tuple):
            return tuple(_member(each, n) for n, each in enumerate(cast("list[Any]", given), 1))
        return given

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [each.name.casefold() for each in (*self.members, self.chair)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two of the council are called {name!r}; a result could not tell them apart")
        return self


def _member(given: Any, n: int) -> Any:
    if isinstance(given, str):
        return {"name": f"Member {n}", "model": given}
    return {"name": f"Member {n}", **cast("Mapping[str, Any]", given)} if isinstance(given, Mapping) else given
