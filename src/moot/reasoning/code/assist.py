"""What rules ask of the tool `assist`, and what they get: help with code that is no judgement of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from moot.core.types import Answer, Corpus, NonEmpty
from moot.reasoning.code.requests import Finding, RunLimits, Sha256

MAX_QUERY_CHARS = 4_000
MAX_RECALLED = 10

Scalar = str | int | float | bool
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}/[A-Za-z0-9_./-]{1,128}$")]


class Format(Answer):
    """Lay code out as its language's formatter does."""

    what: Literal["format"] = "format"
    version: Sha256
    language: NonEmpty = "python"


class Diagnose(Answer):
    """Name what linters, type checkers and the listed language servers find in code."""

    what: Literal["diagnose"] = "diagnose"
    version: Sha256
    language: NonEmpty = "python"


class Retrieve(Answer):
    """Look something up in memory."""

    what: Literal["retrieve"] = "retrieve"
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY_CHARS)]
    corpus: Corpus = "decisions"
    k: Annotated[int, Field(ge=1, le=MAX_RECALLED)] = 3


class UseServer(Answer):
    """Use a tool of an MCP server that the operator has listed.

    What debaters wrote may stand in `arguments` of a tool that only reads. One with effects gets numbers and truth
    values there, and texts by `artifacts` alone: names of arguments, each with the sha256 of a text handed over.
    """

    what: Literal["mcp"] = "mcp"
    tool: ToolName  # SERVER/TOOL
    arguments: Mapping[NonEmpty, Scalar] = Field(default_factory=dict[str, Scalar])
    artifacts: Mapping[NonEmpty, Sha256] = Field(default_factory=dict[str, Sha256])


class Assist(Answer):
    """A request for help, of one of four kinds."""

    request: Annotated[Format | Diagnose | Retrieve | UseServer, Field(discriminator="what")]


class AssistRun(Answer):
    text: str = ""  # formatted code, what was recalled, what a tool said
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()  # tools that are not installed: nothing is known of what they would find
    failed: tuple[str, ...] = ()  # tools that gave no result, and why
    truncated: bool = False  # the text was longer
    tokens_in: int = 0  # what an embedder used
    cost_usd: float | None = 0.0  # None: not known
    limits: RunLimits | None = None  # None: nothing was run
    fingerprint: str

    def prose(self) -> str:
        parts = [f"{len(self.text):,} characters, {len(self.findings)} findings."]
        parts += [f"Not installed: {', '.join(self.missing)}."] if self.missing else []
        parts += [f"Without a result: {'; '.join(self.failed)}."] if self.failed else []
        return " ".join(parts)
