"""Model families, and what they say about shared errors."""

from __future__ import annotations

import pytest

from moot.core.types import SeatSpec
from moot.formats.council.families import shared_error_risk
from moot.reasoning.model_family import family_of
from tests.formats.council.answers import council, outcome_of


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ("openai:gpt-6-luna", "gpt"),
        ("openai:o4-mini", "gpt"),
        ("openrouter:meta-llama/llama-4:free", "llama"),
        ("ollama:mixtral:8x7b", "mistral"),
        ("openai:my-model@http://127.0.0.1:8000/v1", "my"),
        ("openai:gpt-6 | local", "gpt"),
        ("local", "qwen"),
        ("local:small", "smollm"),
        ("local:~/models/Mistral-7B.gguf", "mistral"),
        ("scripted:/tmp/gpt.yaml", "scripted"),
        ("ollama:7b-custom", "7b-custom"),
    ],
)
def test_families(spec, family):
    assert family_of(spec) == family


def seats(*specs: str) -> list[SeatSpec]:
    return [SeatSpec(id=f"m{n}", name="", role="debater", model=spec, max_tokens=1) for n, spec in enumerate(specs, 1)]


def test_shared_errors_are_said():
    alike = shared_error_risk(seats("openai:gpt-6", "openrouter:openai/gpt-5", "openai:o4"), 3, 1.0)
    assert alike["families"] == {"gpt": ["m1", "m2", "m3"]}
    assert alike["note"].startswith("All 3 members are gpt models")
    assert "3 voters may be worth as few as 1.0" in alike["note"]
    mixed = shared_error_risk(seats("openai:gpt-6", "local", "openai:gpt-5"), 0, None)
    assert mixed["distinct_families"] == 2
    assert "(2 gpt, 1 qwen)" in mixed["note"]
    assert "independent" not in mixed["note"]
    apart = shared_error_risk(seats("openai:gpt-6", "local"), 2, 2.0)["note"]
    assert "different model families" in apart
    assert "independent" not in apart
    assert outcome_of(council()).details["shared_errors"]["effective_voters"] is not None


@pytest.mark.parametrize("effective", [3.0, None])
def test_a_council_of_one_model_counts_as_one_voter(effective):
    found = shared_error_risk(seats("sim:", "sim:", "sim:"), 3, effective)
    assert found["note"] == (
        "All 3 members are the same model: their errors are likely shared, so they count as about 1 voter."
    )
    assert found["effective_voters"] == (None if effective is None else 1.0)
