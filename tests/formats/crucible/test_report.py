"""The outcome of a crucible, its record, and the page that documents both."""

from __future__ import annotations

from pathlib import Path

from moot.core.settings import DebateSettings
from moot.core.types import Section
from moot.formats.crucible.report import ENDINGS
from moot.formats.crucible.settings import CrucibleSettings
from moot.formats.crucible.trace import Timing, Trace, TracedModels, TracedRound
from tests.formats.crucible.answers import STUCK, critique, issue, marked, run


def test_the_record_has_the_open_issues_as_caveats_and_the_grave_ones_as_dissent():
    outcome = run(critique(issue(problem="No proof."), issue("minor", "A typo.", fix=""))).outcome
    record = outcome.record
    assert record.recommendation == "The final answer."
    assert record.caveats[:2] == ("i1, critical: No proof. To fix it: Show it.", "i2, minor: A typo.")
    assert record.dissent[0] == "Skeptic: i1, critical: No proof."
    assert not any("typo" in text for text in record.dissent)
    assert record.sections == ()


def test_settled_issues_are_a_section_of_their_own_and_no_agreements():
    record = run(STUCK, critique(earlier=marked(i1="resolved"))).outcome.record
    settled = Section(title="Issues Settled", items=("In round 2: i1, critical: A step is missing.",))
    assert (record.agreements, record.sections) == (None, (settled,))


def test_the_docs_name_every_field_of_outcome_and_trace_and_every_ending():
    text = (Path(__file__).parents[3] / "docs" / "crucible.md").read_text()
    details = run(STUCK).outcome.details
    shapes = (Trace, TracedRound, TracedModels, Timing)
    for name in [*details, *details["issues"][0], *(n for s in shapes for n in s.__dataclass_fields__)]:
        assert f"`{name}`" in text, name
    for ending in ENDINGS:
        assert f"| `{ending}` |" in text
    for name in CrucibleSettings.model_fields.keys() - DebateSettings.model_fields.keys():
        assert name in text or name.replace("skeptic", "proposer").replace("synthesizer", "proposer") in text, name
