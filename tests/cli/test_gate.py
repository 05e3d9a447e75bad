"""Gates: checkpoints at the terminal, answers from other processes, a person at a seat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from moot.cli.gate import already_answered
from moot.core.gates import TIMED_OUT
from moot.core.types import Gate

pytestmark = pytest.mark.slow

PANEL = {
    "*/analyze/*": {
        "framing": "Redis or PostgreSQL?",
        "domain": "data",
        "constraints": [],
        "debaters": 2,
        "perspectives": ["Performance Advocate", "Operational Simplicity"],
        "clarifying_question": "",
    },
    "1/argue/*": "Memory is faster than any disk, and a cache is there to be fast, says {seat}.",
    "2/argue/*": "Nobody has counted yet what a second system costs to run at night, {seat} adds.",
    "3/argue/*": "Whoever measures first will know more than all who argue here, {seat} concludes.",
    "*/rebut/*": {"rebuttal": "No.", "recommendation": "Mine.", "position": "hold", "concedes_to": ""},
    "*/evaluate/*": {
        "summary": "Both have a point.",
        "state": "new_ground",
        "off_topic": [],
        "redirect": "Cost.",
        "mute": [],
    },
    "*/synthesize/*": {
        "recommendation": "Start with PostgreSQL.",
        "confidence": "High",
        "caveats": [],
        "agreements": [],
        "tensions": ["Latency"],
        "dissent": "",
    },
}


def panel(moot, *more: str):
    return ["Redis or PostgreSQL?", "--format", "panel", "--model", moot.script(PANEL), *more]


def decline(terminal) -> None:
    """Leave what is offered at the end."""
    for question in ("Write the decision to docs/decisions/? [y/N] ", "Draft a follow-up issue"):
        terminal.until(question)
        terminal.press("\n")
    assert terminal.end() == 0


def test_enter_alone_takes_a_panel_to_its_end(moot):
    terminal = moot.terminal(*panel(moot, "--max-rounds", "3"))
    for n in (1, 2):
        terminal.until(f"Round {n} is complete.")
        terminal.until("[C]ontinue  [G]uide  [E]nd")
        terminal.until("> ")
        terminal.press("\n")
    decline(terminal)
    assert "Performance Advocate, round 1" in terminal.text
    answer, how = "Not settled; recommended: Start with PostgreSQL.", "The recommendation has low confidence."
    assert terminal.text.index(answer) < terminal.text.rindex(how)
    assert not (moot.folder / "docs").exists()


def written(moot) -> list[str]:
    return sorted(path.name for path in (moot.folder / "docs" / "decisions").iterdir())


@pytest.mark.parametrize(
    ("keys", "files"),
    [
        (("y\n", "n\n"), ["0001-redis-or-postgresql.md"]),
        (("\n", "y\n"), ["0001-redis-or-postgresql.issue.md", "0001-redis-or-postgresql.md"]),
    ],
)
def test_the_document_and_a_follow_up_are_offered_where_someone_sits(moot, keys, files):
    terminal = moot.terminal(*panel(moot, "--max-rounds", "1"))
    terminal.until("Write the decision to docs/decisions/? [y/N] ")
    terminal.press(keys[0])
    terminal.until("Draft a follow-up issue" + ("? [y/N]" if "y" in keys[0] else " (this writes the decision, too)?"))
    terminal.press(keys[1])
    assert terminal.end() == 0
    assert written(moot) == files
    assert "Start with PostgreSQL." in (moot.folder / "docs" / "decisions" / files[-1]).read_text()


def test_a_prompt_whose_question_was_answered_elsewhere_says_so_and_answers_nothing_else(moot):
    terminal = moot.terminal(*panel(moot, "--max-rounds", "3"))
    terminal.until("[E]nd")
    terminal.press("end")  # not sent yet
    assert moot("answer", moot.ids[0], "guide", "Mind the team.", "--no-run").code == 0
    terminal.until("Already answered: guide: Mind the team., by ")
    terminal.until("Round 2 is complete.")
    terminal.until("[C]ontinue")
    terminal.press("\n")  # what was typed for round 1 is gone: this is Enter alone, which continues
    decline(terminal)
    assert moot.turns().count("2/checkpoint/you") == 1
    assert "3/argue/p1" in moot.turns()


def test_the_terminal_that_is_answered_elsewhere_follows_the_debate_there(moot):
    terminal = moot.terminal(*panel(moot, "--max-rounds", "3"))
    terminal.until("[E]nd")
    assert moot("answer", moot.ids[0], "end").code == 0
    terminal.until("Already answered: end, by ")
    decline(terminal)
    assert moot.turns()[-1] == "1/synthesize/moderator"


def test_a_checkpoint_that_timed_out_says_so(moot):
    terminal = moot.terminal(*panel(moot, "--set", "checkpoint_timeout_seconds=1"))
    terminal.until("1/checkpoint/you timed out: no one answered within 1 second.")
    assert terminal.end() == 3
    assert "timed out: no one answered" in moot("show", moot.ids[0]).out
    assert "1/checkpoint/you  timed out, but can still be answered" in moot("gates").out


def test_guidance_at_the_terminal_reaches_the_next_round(moot):
    terminal = moot.terminal(*panel(moot, "--max-rounds", "2"))
    terminal.until("[E]nd")
    terminal.press("x\n")
    terminal.until("is not a choice here")
    terminal.press("g\n")
    terminal.until("Your guidance: ")
    terminal.press("Mind the team.\n")
    decline(terminal)
    shown = moot("show", moot.ids[0]).out
    assert "Guidance: Mind the team." in shown
    sent = moot("audit", moot.ids[0], "--json").out
    assert "Guidance from the person who asked: Mind the team." in sent


def test_a_piped_panel_waits_and_is_answered_from_another_terminal(moot):
    waiting = moot(*panel(moot))
    assert waiting.code == 3
    short = moot.ids[0][:8]
    assert f"moot answer {short}" in waiting.err
    listed = moot("gates")
    assert listed.code == 0
    assert "checkpoint" in listed.out
    assert "continue|guide|end" in listed.out
    unsaid = moot("answer", short)
    assert unsaid.code == 2
    assert "continue|guide|end" in unsaid.err
    wrong = moot("answer", short, "perhaps")
    assert wrong.code == 2
    assert "Choose one of: continue, guide, end." in wrong.err
    assert moot("answer", short, "guide", "Look", "at", "cost.", "--no-run").code == 0
    again = moot("answer", short, "end")
    assert again.code == 2
    assert "has been answered by" in again.err
    resumed = moot("resume", short)
    assert resumed.code == 3
    assert "Guidance: Look at cost." in resumed.out
    ended = moot("answer", short, "e")
    assert ended.code == 0
    assert "Verdict" in ended.out
    assert "No question is open." in moot("gates").err


def test_flags_that_only_a_panel_has_choose_it_and_without_checkpoints_nobody_is_asked(moot):
    flags = ("--no-checkpoints", "--max-rounds", "2", "--perspectives", "3")
    done = moot("Redis or PostgreSQL?", *flags, "--model", moot.script(PANEL))
    assert done.code == 0
    assert moot.sql("select format from debate_sessions") == [("panel",)]
    assert "[y/N]" not in done.out + done.err
    assert "Your turn" not in done.out
    refused = moot("Is it so?", "--format", "classic", "--no-checkpoints", "--model", moot.script())
    assert refused.code == 2
    assert "no checkpoints" in refused.err


def test_resume_and_list_as_flags(moot):
    moot(*panel(moot))
    short = moot.ids[0][:8]
    assert short in moot("debate", "--list").out
    assert moot("answer", short, "end", "--no-run").code == 0
    done = moot("debate", "--resume", short)
    assert done.code == 0
    assert "Verdict" in done.out


def test_ctrl_c_at_a_checkpoint_leaves_it_open(moot):
    terminal = moot.terminal(*panel(moot))
    terminal.until("[E]nd")
    terminal.press("\x03")
    assert terminal.end() == 3
    assert moot("answer", moot.ids[0], "end").code == 0


def test_a_question_that_its_time_out_decided_was_answered_by_no_one():
    gate = Gate(debate_id="d", key="0/fine/you", kind="approval", question="Fine?", decision={"choice": "reject"})
    assert already_answered(replace(gate, reviewer="ann")) == "Already answered: reject, by ann."
    untold = already_answered(replace(gate, reviewer=TIMED_OUT))
    assert untold == "No one answered in time, so it was decided without an answer: reject."
