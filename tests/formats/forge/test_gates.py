"""What a forge asks people: questions about the task, and approvals after phases."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.artifacts import Version
from moot.core.gates import TIMED_OUT
from moot.core.steps import AskPerson, Step
from moot.core.types import UNDECIDED, Gate, Turn
from moot.formats import wording_of
from moot.records.record import record_of
from moot.runtime.executors.gate import turn_of_decision
from tests.formats.forge.world import LIMIT, TASK, World, asked, doubts, forge
from tests.playing import Played, finished, play, script_of, turn_for

GATE = {"gates": ["proposal"]}


def test_questions_go_to_a_person_where_the_task_is_ambiguous_and_has_no_tests():
    open_ = doubts("Which numbers?")
    meant = World(**{"1/clarify/e1": open_, "1/meant/you": {"text": "Whole numbers."}})
    played = forge(meant)
    assert asked(played, "meant") == ["you"]
    assert not asked(played, "readings")
    assert all("Whole numbers." in step.prompt.text for step in played.steps if step.phase in ("write", "predict"))

    nothing = World(**{"1/clarify/e1": open_, "1/meant/you": {"text": ""}})
    played = forge(nothing)
    assert asked(played, "readings") == ["judge"]
    assert played.outcome.details["assumptions"] == ["Numbers only."]

    judged = forge(World(**{"1/clarify/e1": open_}), clarify="judge")
    assert not asked(judged, "meant")
    tested = forge(World(**{"1/clarify/e1": open_}), cases=["mid(1, 2) == 2"])
    assert not asked(tested, "clarify")


def test_a_gate_shows_code_matrix_and_scores_and_goes_on_when_approved():
    played = forge(**GATE)
    gate = played.step("0/approve-proposal/you")
    assert gate.kind == "gate"
    assert set(gate.artifacts) == {"version", "code", "diff", "matrix", "scores"}
    assert gate.artifacts["code"]
    assert gate.timeout_seconds == 1800
    assert gate.otherwise is None
    assert played.outcome.answer is not None


def test_a_rejection_without_words_ends_it_undelivered():
    played = forge(World(**{"0/approve-proposal/you": {"choice": "reject", "text": ""}}), **GATE)
    assert (played.outcome.winner, played.outcome.answer, played.outcome.ended_by) == (UNDECIDED, None, "rejected")
    assert "nothing is delivered" in played.outcome.headline
    assert not asked(played, "critique")


@pytest.mark.parametrize(("choice", "delivered"), [("approve", True), ("reject", False)])
def test_a_limit_before_a_gate_delivers_nothing_unasked(choice, delivered):
    world = World(**{"approve-convergence": {"choice": choice, "text": ""}})
    played = forge(
        lambda step: LIMIT if step.phase == "critique" else world(step), gates=["proposal", "critique", "review"]
    )
    assert [step.phase for step in played.steps if step.kind == "gate"] == ["approve-proposal", "approve-convergence"]
    assert (played.outcome.answer is not None) == delivered


def test_a_limit_after_all_gates_asks_nothing_more():
    played = forge(lambda step: LIMIT if step.phase == "critique" else World()(step), gates=["proposal"])
    assert [step.phase for step in played.steps if step.kind == "gate"] == ["approve-proposal"]
    assert played.outcome.answer is not None


def test_a_rejection_with_words_redoes_the_phase_once():
    world = World(**{"0/approve-critique/you": {"choice": "reject", "text": "Look at zero."}})
    played = forge(world, gates=["critique"])
    redone = [step for step in played.steps if step.phase == "critique-again"]
    assert len(redone) == 4
    assert all("The person in charge says: Look at zero." in step.prompt.text for step in redone)
    assert played.outcome.answer is not None
    twice = {"choice": "reject", "text": "Still not."}
    world = World(**{"approve-critique": twice})
    assert forge(world, gates=["critique"]).outcome.ended_by == "rejected"


@pytest.mark.parametrize(("text", "delivered"), [("", False), ("Explain it better.", True)])
def test_the_last_gate_decides_about_delivery(text, delivered):
    world = World(**{"0/approve-convergence/you": {"choice": "reject", "text": text}})
    played = forge(world, gates=["convergence"])
    assert (played.outcome.answer is not None) == delivered


@pytest.mark.parametrize("choice", ["approve", "reject"])
def test_what_becomes_of_a_gate_that_no_one_answers(choice):
    gate = forge(on_timeout=choice, gate_timeout_seconds=5, **GATE).step("0/approve-proposal/you")
    assert (gate.otherwise, gate.timeout_seconds) == ({"choice": choice}, 5)


def timed_out(world: World, **settings: Any) -> Played:
    """A forge in which no person ever answers."""

    def unanswered(step: Step) -> dict[str, Any]:
        """What the runtime puts into the turn of a gate that no one has answered."""
        if not isinstance(step, AskPerson):
            return {}
        gate = Gate(
            debate_id="d", key=step.key, kind=step.gate, question="", decision=step.otherwise, reviewer=TIMED_OUT
        )
        turn = turn_of_decision(step, gate, 1)
        return {"content": turn.content, "data": turn.data, "metadata": turn.metadata}

    return play(script_of("forge", TASK, **settings), world, times=unanswered)


def timed_out_after(phase: str, choice: str) -> Played:
    world = World(**{f"approve-{phase}": {"choice": choice, "text": ""}})
    return timed_out(world, gates=[phase], on_timeout=choice)


def markdown(played: Played) -> str:
    debate = finished("forge", played, TASK)
    return record_of(debate, played.turns, wording_of(debate), demonstration=False).markdown


@pytest.mark.parametrize("phase", ["proposal", "convergence"])
def test_a_rejection_by_time_out_is_no_persons(phase):
    played = timed_out_after(phase, "reject")
    outcome, text = played.outcome, markdown(played)
    assert (outcome.winner, outcome.answer, outcome.ended_by) == (UNDECIDED, None, "timed_out")
    assert outcome.headline == (
        f"No one answered in time after {phase}; it was rejected, as `on_timeout` says. Nothing is delivered."
    )
    assert "erson rejected" not in text
    assert "- Decided by: the setting on\\_timeout, because no one answered in time" in text
    assert "- Ended because: no one answered in time, so it was rejected, as \\`on\\_timeout\\` says" in text
    (said,) = [line for line in text.splitlines() if line.startswith(f"- `0/approve-{phase}/you`: ")]
    assert said.endswith("No one answered in time; it was rejected, as `on_timeout` says.")


@pytest.mark.parametrize("phase", ["proposal", "convergence"])
def test_an_approval_by_time_out_is_no_persons(phase):
    played = timed_out_after(phase, "approve")
    text = markdown(played)
    assert played.outcome.answer is not None
    note = f"No one answered in time after {phase}: it was approved, as `on_timeout` says."
    assert note in played.outcome.notes
    assert note in (played.outcome.record.caveats or ())
    (said,) = [line for line in text.splitlines() if line.startswith(f"- `0/approve-{phase}/you`: ")]
    assert said.endswith("No one answered in time; it was approved, as `on_timeout` says.")
    assert "Approved." not in text


def test_the_record_of_a_rejection_names_who_rejected():
    world = World(**{"0/approve-proposal/you": {"choice": "reject", "text": ""}})
    by_ann = {"metadata": {"by": "ann", "asked_at": 0.0}}
    played = play(
        script_of("forge", TASK, **GATE), world, times=lambda step: by_ann if isinstance(step, AskPerson) else {}
    )
    text = markdown(played)
    assert "- Decided by: a person, ann" in text
    assert "- Ended because: a person rejected the result" in text
    assert "- `0/approve-proposal/you`: Rejected." in text


def test_a_question_about_the_task_that_no_one_answers_in_time_is_no_answer_of_a_person():
    world = World(**{"1/clarify/e1": doubts("Which numbers?"), "1/meant/you": {"text": ""}})
    text = markdown(timed_out(world, on_timeout="approve"))
    assert "No one answered in time; it went on without an answer, as `on_timeout` says." in text
    assert "nothing to add" not in text


@pytest.mark.parametrize(
    ("phase", "answers", "authors"),
    [
        ("self_evolvement", [], ["e1", "e2", "e3", "e3"]),
        (
            "self_evolvement",
            [{"choice": "reject", "text": "Mind the sign."}],
            ["e1", "e2", "e3", "e3", "e1", "e2", "e3"],
        ),
        ("critique", [{"choice": "reject", "text": "Mind the sign."}], ["e1", "e2", "e3", "e3", "e1", "e2"]),
    ],
)
def test_what_a_gate_shows_is_stored_before_it_asks(phase, answers, authors):
    """Whoever is asked may cancel the debate instead of answering."""
    script, world, left = script_of("forge", TASK, gates=[phase]), World(), list(answers)
    turns: list[Turn] = []
    script.begin()
    while True:
        step = next(iter(script.open.values()))
        if isinstance(step, AskPerson) and not left:
            break
        answer = left.pop(0) if isinstance(step, AskPerson) else world(step)
        if left != answers and step.phase in ("write-again", "revise-again", "revise"):
            answer = {**answer, "code": f"{answer['code']}# {step.seat.id}, anew\n"}
        turns.append(turn_for(step, answer, seq=len(turns) + 1))
        script.resolve(turns[-1])
    stored = [each for each in script.artifacts if isinstance(each, Version)]
    assert [each.author for each in stored] == authors
    assert [each.label for each in stored] == step.artifacts["matrix"]["versions"]
    again = script_of("forge", TASK, gates=[phase])
    again.replay(turns)
    assert again.artifacts == script.artifacts


def test_versions_that_were_stored_for_a_gate_are_shown_when_tests_count():
    def shown(**settings: Any) -> list[dict[str, Any]]:
        return [event.data for event in forge(**settings).shown if event.type == "CODE_VERSION"]

    assert shown(gates=["self_evolvement"]) == shown()


def test_one_answer_of_a_person_belongs_to_all_that_was_asked():
    asks = ["Which numbers?", "What of equal ones?", "And of none?"]
    meant = World(**{"1/clarify/e1": doubts(*asks), "1/meant/you": {"text": "Whole numbers; either; zero."}})
    told = [step.prompt.text for step in forge(meant).steps if step.phase in ("write", "tests", "predict")]
    assert told
    for text in told:
        assert all(each in text for each in asks)
        assert text.count("Whole numbers; either; zero.") == 1
