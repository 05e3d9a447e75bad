"""What the API takes: the bodies of requests."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from moot.core.gates import MAX_WORDS
from moot.core.lifecycle import OVER, RESTING, RestingStatus
from moot.core.outcome import MOST_NOTED
from moot.core.settings import MAX_TOPIC_CHARS
from moot.formats.format import Effort
from moot.runtime.labels import MAX_TAG, MAX_TITLE, MOST_TAGS

MOST_FIELDS = 50

GivenText = Annotated[str, StringConstraints(max_length=MAX_WORDS)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


def _size(given: object) -> int:
    return len(cast("dict[str, Any]", given)) if isinstance(given, dict) else 0


class Given(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)  # true is no number

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: object) -> object:
        """Refuse a body with very many fields at once: each unknown one would be an error of its own."""
        count = _size(given)
        if count > MOST_FIELDS:
            raise ValueError(f"must have at most {MOST_FIELDS} fields; it has {count:,}")
        return given


class NewDebate(Given):
    topic: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOPIC_CHARS)] = Field(
        description="the question", examples=["Should we use Redis or PostgreSQL for caching?"]
    )
    format: str | None = Field(
        None,
        max_length=100,
        description="its rules, or a preset of this server; when left out or `auto`, those that suit the question",
    )
    effort: Effort | None = Field(None, description="how much is asked and checked; `settings` win over it")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="settings of the format: `GET /v1/formats/{name}` has their schema"
    )
    private: bool = Field(False, description="only this token, and the scope `admin`, will see it")
    follows: str | None = Field(
        None, max_length=64, description="id of a debate with an answer: every seat is told its question and its answer"
    )
    start: bool = Field(True, description="whether it begins at once")


class Fork(Given):
    at: Key | None = Field(None, description="key of the step to ask anew; where it stands when left out")
    settings: dict[str, Any] = Field(default_factory=dict, description="settings that differ from the parent's")
    guidance: GivenText | None = Field(None, description="what the branch should look at, from that step on")
    start: bool = Field(True, description="whether it begins at once")


class Rating(Given):
    rating: int = Field(ge=1, le=5, description="1 (poor) to 5 (very good)")


class HowItTurnedOut(Given):
    right: float | None = Field(ge=0, le=1, description="1: right; 0: wrong; between: partly; null: take it back")
    note: str = Field("", max_length=MOST_NOTED, description="what happened")


class Guidance(Given):
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORDS)] = Field(
        description="the seats that are asked next hear it"
    )


class Privacy(Given):
    private: bool = Field(True, description="false: let everyone with a token see it")


class Quarantine(Given):
    on: bool = Field(True, description="false: let the decision be recalled again")


class LabelChanges(Given):
    """What people put on a debate to find it again. What is left out stays as it is."""

    title: str | None = Field(None, max_length=10 * MAX_TITLE, description="empty: the question is its title again")
    pinned: bool | None = None
    archived: bool | None = Field(None, description="lists leave it out, unless they are asked for it")
    tags: list[Annotated[str, StringConstraints(max_length=10 * MAX_TAG)]] | None = Field(
        None, max_length=10 * MOST_TAGS, description="all tags that it is to have, in place of those that it has"
    )


class ShareTerms(Given):
    expires_in_days: float | None = Field(None, gt=0, le=36_500, description="when it ends by itself; null: never")


class Purge(Given):
    older_than_days: float = Field(ge=0, le=36_500, description="only debates that have not changed for so long")
    statuses: list[RestingStatus] = Field(
        default_factory=lambda: list[RestingStatus](OVER), min_length=1, max_length=len(RESTING)
    )
    dry_run: bool = Field(False, description="only say which debates it would be")


class GateAnswer(Given):
    """`choice` where the gate has choices, `text` where it asks for words or the choice calls for some."""

    key: Key | None = Field(None, description="which question; needed when several are open")
    choice: str | None = Field(None, max_length=100)
    text: GivenText = ""


class Verdict(Given):
    key: Key | None = Field(None, description="which approval; needed when several are open")
    reason: GivenText = Field("", description="why, for the record")


class Login(Given):
    token: str = Field(min_length=1, max_length=200)
