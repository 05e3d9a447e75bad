"""What the API gives of formats, models, settings, templates and past decisions."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from moot.core.types import Tier
from moot.server.schemas import Seconds


class FormatPart(BaseModel):
    id: str
    name: str
    role: str
    tier: Tier
    voice: bool
    optional: bool
    stance: str


class CatalogEntry(BaseModel):
    """Something that the rules can choose from."""

    name: str
    about: str


class Example(BaseModel):
    title: str
    topic: str
    settings: dict[str, Any]


class Format(BaseModel):
    name: str
    version: int
    purpose: str = Field(description="what a person would choose it for, in a few words")
    summary: str
    package: str | None = Field(description="the package of a plug-in, with its version; null: it is built in")
    default: bool = Field(description="it is what a new debate gets when nothing is said")
    settings_schema: dict[str, Any] = Field(description="JSON Schema of its settings")
    defaults: dict[str, Any] = Field(description="its settings when nothing is said")
    length: str = Field(description="the setting that says how many rounds or turns there are")
    parts: list[FormatPart] = Field(description="its seats with these defaults")
    catalog: list[CatalogEntry] = Field(description="what its rules choose from, beside the settings")
    examples: list[Example]
    dialects: list[str] = Field(description="other wordings of its event stream: the parameter `dialect`")
    ledger: bool = Field(description="it can keep a ledger of claims: the setting `claims`")
    unattended: dict[str, Any] = Field(
        description="settings that leave out what a person is asked; empty: the format asks nothing"
    )


class FormatProblem(BaseModel):
    name: str
    package: str
    problem: str


class FormatList(BaseModel):
    items: list[Format]
    problems: list[FormatProblem] = Field(description="formats that are installed but can't be used, and why")


class Role(BaseModel):
    """What a seat can take on beside its own role: a name for its setting `hats`."""

    name: str
    about: str = Field(description="what a seat with it does, in a few words")
    prompt: str = Field(description="what its briefing says")
    tools: list[str] = Field(description="what it may use, where a format has tools")
    affinities: dict[str, float] = Field(description="how well it suits kinds of work, 0 to 1")
    leads: list[str] = Field(description="the phases that it leads, where a topology has no fixed leader")
    package: str | None = Field(description="the package of a plug-in, with its version; null: it is built in")


class RoleList(BaseModel):
    items: list[Role]
    problems: list[str] = Field(description="catalogs of plug-ins that can't be used, and why")


class ModelChoice(BaseModel):
    tier: Tier
    model: str
    reason: str
    demonstration: bool


class Provider(BaseModel):
    name: str
    example: str = Field(description="how one of its models is written")
    about: str
    key_variable: str | None = Field(description="the variable that its key is taken from; null: it needs none")
    usable: bool = Field(description="its key is set, or it needs none")
    package: str | None = Field(description="the package of a plug-in, with its version; null: it is built in")


class EmbeddedModel(BaseModel):
    """A model that runs inside of moot."""

    model: str = Field(description="how it is written")
    title: str
    about: str
    licence: str
    bytes: int = Field(description="the size of its weights")
    here: bool = Field(description="its weights are on the server; else its first use fetches them")


class DetectedModel(BaseModel):
    """A model that can be used as this server is set up."""

    model: str
    reason: str = Field(description="why it can be used; completes `because`")
    usd_in: float | None = Field(description="US dollars for a million tokens; null: not known")
    usd_out: float | None
    context: int | None = Field(description="tokens that one call can hold; null: not known")
    demonstration: bool = Field(description="what it decides means nothing")


class Providers(BaseModel):
    chosen: list[ModelChoice] = Field(description="what a new debate would take now, and why")
    detected: list[DetectedModel] = Field(description="what could be chosen instead; what would be chosen comes first")
    items: list[Provider]
    embedded: list[EmbeddedModel]


class ConfigEntry(BaseModel):
    name: str
    value: Any
    layer: Literal["default", "user", "project", "environment", "flag"]


class ConfigList(BaseModel):
    items: list[ConfigEntry]


class Hit(BaseModel):
    """A past debate that was found."""

    id: str
    topic: str
    format: str
    winner: str | None
    headline: str
    demonstration: bool
    quarantined: bool = Field(description="its decision is kept out of new debates")
    score: float = Field(description="0 to 1; larger fits better")
    completed_at: Seconds | None


class Search(BaseModel):
    query: str
    items: list[Hit]
    by: str = Field(description="how they were found")
    note: str
    more: bool = Field(description="not all debates have been looked at yet: search again")
    tokens_in: int = Field(description="that the embedder has read")
    cost_usd: float | None


class Lesson(BaseModel):
    """Something general that a debate has learnt."""

    id: str
    text: str
    applies_when: str
    debate: str = Field(description="the id of the debate that it comes from")
    episodes: list[str] = Field(description="the ids of the attempts that it cites")
    model: str
    confirmed: int = Field(description="how often: where it was learnt, and in debates that recalled it")
    contradicted: int = Field(description="how often it was recalled and did not hold")
    demonstration: bool = Field(description="it is only recalled in demonstrations")
    score: float = Field(description="larger fits better; only comparable within one search")
    created_at: Seconds


class LessonList(BaseModel):
    items: list[Lesson]
    by: str = Field(description="how they were found")
    note: str


class Version(BaseModel):
    """A version of a piece of code."""

    id: str
    number: int
    author: str = Field(description="a seat's id")
    language: str
    sha256: str
    parent: str | None = Field(description="the id of the version that it changes")
    test_pass_rate: float | None = Field(description="0 to 1; null: nothing was run")
    quality_score: float | None = Field(description="0 to 1; null: nothing was run")
    metrics: dict[str, Any]
    diff_from_previous: str = Field(description="from its parent")
    label: str
    turn: str = Field(description="the key of the turn that it follows; empty: before all turns")
    round: int
    phase: str
    created_at: Seconds
    code: str | None = Field(description="null in lists")


class VersionList(BaseModel):
    items: list[Version]


class TemplateSummary(BaseModel):
    id: str
    name: str
    summary: str
    domains: list[str]
    keywords: list[str]
    own: bool = Field(description="it is the user's own")
    package: str | None = Field(description="the package of a plug-in, with its version; null: it is not from one")


class Template(TemplateSummary):
    questions: list[str]
    text: str
    html: str | None


class TemplateList(BaseModel):
    items: list[TemplateSummary]
    problems: list[str] = Field(description="files of the user, and plug-ins, that can't be used, and why")
