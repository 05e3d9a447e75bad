"""What a forge has not done: phases that were off, left out, cut short or not reached, and what no one looked at."""

from __future__ import annotations

from collections.abc import Mapping

from moot.formats.forge.board import NOT_CHECKED, Draft
from moot.formats.forge.settings import PHASES, WORDS, Phase
from moot.formats.forge.state import Forge
from moot.reasoning.code.evidence import Standing

# What is not done where a phase is not played, beside attacks, of which more is said.
UNDONE: Mapping[Phase, str] = {
    "dehallucination": "no one asked what is meant",
    "self_evolvement": "no engineer ran and repaired its own code",
    "proposal": "no one who saw no code said what is right",
    "critique": "no one looked for issues",
    "review": "no author answered issues",
    "optimization": "no one tried to make it simpler or faster",
    "convergence": "no one voted or explained",
}
DOUBTS: Mapping[Standing, str] = {
    "disputed": "those who saw no code disagree on what is right",
    "unspecified": "the task does not say what is right",
    "unconfirmed": "no two who saw no code have said what is right",
    "quarantined": "the code of most authors gave different results in two runs",
}


def not_checked(forge: Forge, draft: Draft | None) -> list[str]:
    """What a reader might take for checked, and is not."""
    standings = forge.board.standings()
    found = [
        f"{standings[name]} input{'s' * (standings[name] > 1)}: {why}."
        for name, why in DOUBTS.items()
        if standings[name]
    ]
    checked = None if draft is None else forge.board.checks.get(draft.name)
    if draft is not None and checked in (None, NOT_CHECKED):
        found.append("No linter, type or security checker looked at it.")
    if checked is not None and checked.missing:
        found.append(f"Not installed, or without a result: {', '.join(checked.missing)}.")
    if not forge.attacked:
        found.append("No one tried to break it.")
    found += _phases(forge)
    found.append("Behaviour with other inputs, under load, or on other machines.")
    return found


def _phases(forge: Forge) -> list[str]:
    """The phases that were not played to their end, and what that leaves undone."""
    on: list[Phase] = [phase for phase in PHASES if forge.settings.plays(phase)]
    idle: dict[Phase, str] = {phase: why for phase, why in forge.idle.items() if phase not in forge.finished}
    ended = {*forge.finished, *idle}
    told: dict[str, list[str]] = {
        "were off": [UNDONE[phase] for phase in UNDONE if phase not in on],
        "were left out": [f"{UNDONE[phase]} ({why})" for phase, why in idle.items() if phase in UNDONE],
        "were cut short": [WORDS[phase].lower() for phase in on if phase in forge.begun and phase not in ended],
        "were not reached": [UNDONE[phase] for phase in on if phase in UNDONE and phase not in forge.begun],
    }
    return [f"Phases that {what}: {'; '.join(each)}." for what, each in told.items() if each]


def attacks(forge: Forge) -> str:
    """What came of the critic's attacks."""
    if not forge.attacks and forge.repeated_attacks:
        return "The critic looked for an attack, and made none that was new: tests that count have the same calls."
    if not forge.attacks:
        return "The critic looked for an attack, and made none that could be run."
    return f"{forge.held_attacks} of {forge.attacks} attacks held."
