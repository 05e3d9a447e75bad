"""What MCP says next: in the words of its tools, never in commands."""

from __future__ import annotations

import re

import pytest

from moot.core.lifecycle import refusal
from moot.core.types import STATUSES, Debate, Status
from moot.mcp.service import _next, explained

TOOLS = {"answer_gate", "resume_debate", "wait_for_debate", "read_record", "list_debates", "start_debate"}


def a_debate(status: Status) -> Debate:
    return Debate(id="3f2a91c0-0000", topic="", format="f", format_version=1, status=status, config={}, cast=())


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_names_one_tool(status: Status):
    said = _next(a_debate(status), interrupted=False)
    assert len(set(re.findall(r"\w+_\w+", said)) & TOOLS) == 1
    assert "moot " not in said


def test_an_interrupted_debate_is_resumed():
    assert _next(a_debate("running"), interrupted=True).endswith("Let it go on with resume_debate.")


def test_errors_name_the_tool():
    assert explained(refusal(a_debate("failed"), "resume")).endswith("Try its open steps again with resume_debate.")
    assert "with" not in explained(refusal(a_debate("canceled"), "resume")).partition("verdict.")[2]
