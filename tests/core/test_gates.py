"""Who decided belongs to a decision, and comes from its turn."""

from __future__ import annotations

import pytest

from moot.core.errors import InputError
from moot.core.gates import TIMED_OUT, Approval, Checkpoint, Clarification
from moot.core.script import Script, Stage
from moot.core.settings import read
from moot.core.types import Outcome, Prompt
from tests.playing import play

DONE = Outcome(winner="tie", headline="Done.", ended_by="played", verdict_source="rules")


@pytest.mark.parametrize(
    ("decision", "said", "untold"),
    [
        (Approval(choice="approve"), "Approved.", "it was approved"),
        (Approval(choice="reject", text="No."), "Rejected. No.", "it was rejected"),
        (Checkpoint(choice="continue"), "Continue.", "it went on"),
        (Checkpoint(choice="end"), "End.", "it ended here"),
        (Checkpoint(choice="guide", text="Cost."), "Guidance: Cost.", "it counts as answered (Guidance: Cost.)"),
        (Clarification(), "(nothing to add)", "it went on without an answer"),
        (Clarification(text="Whole numbers."), "Whole numbers.", "it counts as answered (Whole numbers.)"),
    ],
)
def test_a_time_out_is_worded_as_one_and_a_person_as_before(decision, said, untold):
    assert decision.prose() == decision.decided("ann").prose() == said
    assert decision.decided(TIMED_OUT).prose() == f"No one answered in time; {untold}, as `on_timeout` says."


@pytest.mark.parametrize("by", ["ann", TIMED_OUT, ""])
def test_the_rules_read_who_decided_from_the_turn(by):
    async def rules(stage: Stage) -> Outcome:
        ask = Prompt(name="t/fine", text="Fine?")
        given = await stage.gate("fine", ask, returns=Approval, kind="approval")
        return DONE.model_copy(update={"headline": f"{given.choice} {given.by} {given.timed_out}"})

    played = play(
        Script(rules, cast=()), lambda step: {"choice": "approve"}, times=lambda step: {"metadata": {"by": by}}
    )
    assert played.outcome.headline == f"approve {by} {by == TIMED_OUT}"


def test_no_answer_can_say_who_gave_it():
    for name in ("by", "_by", "timed_out"):
        with pytest.raises(InputError, match=name):
            read(Approval, {"choice": "approve", name: TIMED_OUT}, "answer")
