"""What a forge says that it has not done."""

from __future__ import annotations

import pytest

from tests.formats.forge.world import INVALID, LIMIT, WORSE, World, criticize, forge

UNREACHED = "Phases that were not reached: "
TESTED = {"cases": ["mid(1, 2) == 2"]}


def left(played) -> list[str]:
    (section,) = [each for each in played.outcome.record.sections if each.title == "Not checked"]
    return [line for line in section.items if line.startswith("Phases")]


def notes(played) -> list[str]:
    return [event.data["words"] for event in played.shown if event.type == "PHASE_NOTE"]


def limited(phase: str):
    return lambda step: LIMIT if step.phase == phase else World()(step)


def test_phases_that_a_limit_cut_short_or_kept_from_being_played_are_named():
    played = forge(limited("critique"))
    assert left(played) == [
        "Phases that were cut short: critique.",
        f"{UNREACHED}no author answered issues; no one tried to make it simpler or faster.",
    ]
    assert notes(played) == ["Cut short: the tokens were used up."]
    early = forge(limited("write"))
    assert left(early) == [
        "Phases that were left out: no one voted or explained (there is no version).",
        "Phases that were cut short: self-evolvement.",
        f"{UNREACHED}no one who saw no code said what is right; no one looked for issues; no author answered issues; "
        "no one tried to make it simpler or faster.",
    ]
    assert left(forge(limited("teach"))) == [
        "Phases that were left out: no author answered issues (no issue was raised).",
        "Phases that were cut short: convergence.",
    ]


def test_phases_in_which_there_was_nothing_to_do_are_named_with_the_reason():
    played = forge(**TESTED)
    assert left(played) == [
        "Phases that were left out: no one asked what is meant (the task is short and comes with tests); "
        "no author answered issues (no issue was raised)."
    ]
    assert notes(played) == [
        "Left out: the task is short and comes with tests.",
        "Left out: no issue was raised.",
    ]
    assert left(forge(World(critique=criticize))) == []


def test_phases_after_a_rejection_were_not_reached():
    world = World(**{"0/approve-proposal/you": {"choice": "reject", "text": ""}})
    (said,) = left(forge(world, gates=["proposal"]))
    assert said.startswith(f"{UNREACHED}no one looked for issues; ")
    assert said.endswith("; no one voted or explained.")
    done = World(**{"0/approve-convergence/you": {"choice": "reject", "text": ""}})
    assert not any("convergence" in line or "voted" in line for line in left(forge(done, gates=["convergence"])))


@pytest.mark.parametrize(
    ("answer", "settings"),
    [
        (None, {}),
        (None, TESTED),
        (None, {"preset": "quick", "adversarial": False, "convergence": False, **TESTED}),
        (World(write=INVALID), {"convergence": False}),
        (World(write=INVALID), {}),
        (
            World({"e1": WORSE, "e2": WORSE, "e3": WORSE}, repair=INVALID),
            {**TESTED, "proposal": False},
        ),
        *((limited(phase), {}) for phase in ("clarify", "write", "predict", "critique", "refactor", "attack", "teach")),
        (limited("plan"), TESTED),
    ],
)
def test_no_phase_has_a_bare_heading(answer, settings):
    kinds = [event.type for event in forge(answer, **settings).shown]
    assert "PHASE_BEGINS" in kinds
    for at, kind in enumerate(kinds):
        if kind == "PHASE_BEGINS":
            assert kinds[at + 1] not in ("PHASE_BEGINS", "VERDICT")
