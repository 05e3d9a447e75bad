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
    default: bool = Field(description="it is what a new debate gets when nothing is said")
    settings_schema: dict[str, Any] = Field(description="JSON Schema of its settings")
    defaults: dict[str, Any] = Field(description="its settings when nothing is said")
    length: str = Field(description="the setting that says how many rounds or turns there are")
    parts: list[FormatPart] = Field(description="its seats with these defaults")
    catalog: list[CatalogEntry] = Field(description="what its rules choose from, beside the settings")
    examples: list[Example]
    dialects: list[str] = Field(description="other wordings of its event stream: the parameter `dialect`")
    ledger: bool = Field(description="it can keep a ledger of claims: the setting `claims`")


class FormatProblem(BaseModel):
    name: str
    problem: str


class FormatList(BaseModel):
    items: list[Format]
    problems: list[FormatProblem] = Field(description="formats that are installed but can't be used, and why")


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


class EmbeddedModel(BaseModel):
    """A model that runs inside of moot."""

    model: str = Field(description="how it is written")
    title: str
    about: str
    licence: str
    bytes: int = Field(description="the size of its weights")
    here: bool = Field(description="its weights are on the server; else its first use fetches them")


class Providers(BaseModel):
    chosen: list[ModelChoice] = Field(description="what a new debate would take now, and why")
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


class TemplateSummary(BaseModel):
    id: str
    name: str
    summary: str
    domains: list[str]
    keywords: list[str]
    own: bool = Field(description="it is the user's own")


class Template(TemplateSummary):
    questions: list[str]
    text: str
    html: str | None


class TemplateList(BaseModel):
    items: list[TemplateSummary]
    problems: list[str] = Field(description="files of the user that can't be read")
