"""How many calls of models a phase takes at most, and how many it takes once more after a rejection."""

from __future__ import annotations

from moot.formats.forge.dehallucination import ROUNDS
from moot.formats.forge.review import AUTHORS
from moot.formats.forge.settings import ForgeSettings, Phase


def calls_of(settings: ForgeSettings, phase: Phase) -> int:
    """Calls of a phase, at most; those that have to be made again are not among them."""
    engineers, blind = settings.engineers, _blind(settings)
    match phase:
        case "dehallucination":
            return 2 * ROUNDS
        case "self_evolvement":
            plans = 1 if settings.planning in ("none", "cpde") else 2 * engineers
            repairs = settings.attempts if settings.self_evolvement else 0
            return plans + engineers * (1 + repairs + settings.fresh_starts) + 1
        case "proposal":  # where given tests count alone, no blind seat is asked, and engineers may start afresh
            return max(blind, engineers * settings.fresh_starts)
        case "critique":
            return engineers + 1
        case "review":
            return blind + AUTHORS
        case "optimization":
            return 2
        case "adversarial":
            return settings.red_rounds * (2 + blind)
        case "convergence":
            return engineers + 2 + 1 if settings.convergence else 0  # ballots of all who see code, the explanation


def redone_calls(settings: ForgeSettings, phase: Phase) -> int:
    """Calls, at most, of a phase that is played once more, with those by which everyone heeds what a person said."""
    blind = _blind(settings)
    match phase:
        case "dehallucination" | "self_evolvement":
            heeding = 0
        case "proposal":
            heeding = settings.engineers + 1 + blind
        case "review":
            heeding = blind
        case _:
            heeding = AUTHORS + blind
    return heeding + calls_of(settings, phase)


def calls_of_people(settings: ForgeSettings) -> int:
    """Calls, at most, that people add to `max_calls` by rejecting with words, once after each phase with a gate."""
    return sum(redone_calls(settings, phase) for phase in dict.fromkeys(settings.gates))


def _blind(settings: ForgeSettings) -> int:
    """The oracles, and the tester where they differ."""
    return settings.oracles + 1
