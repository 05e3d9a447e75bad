"""The model families of a council's members, and what they mean for its vote: models of one family err alike."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from moot.core.types import Json, SeatSpec
from moot.reasoning.model_family import family_of


def shares(members: Sequence[SeatSpec]) -> dict[str, Fraction]:
    """A weight for each member, with which members that are one model have one vote together."""
    models = [member.model for member in members]
    return {member.id: Fraction(1, models.count(member.model)) for member in members}


def shared_error_risk(members: Sequence[SeatSpec], voters: int, effective: float | None) -> Json:
    """Which families the members are of, how many independent voters they are worth at least, and what that means.

    Members that are one model count as one voter, whatever they stand behind: they would also err alike."""
    same = len({member.model for member in members}) == 1
    if effective is not None and same:
        effective = 1.0
    families: dict[str, list[str]] = {}
    for member in members:
        families.setdefault(family_of(member.model), []).append(member.id)
    return {
        "families": families,
        "distinct_families": len(families),
        "voters": voters,
        "effective_voters": None if effective is None else round(effective, 2),
        "note": _note(families, len(members), voters, effective, same=same),
    }


def _note(families: dict[str, list[str]], members: int, voters: int, effective: float | None, *, same: bool) -> str:
    if same and members > 1:
        return (
            f"All {members} members are the same model: their errors are likely shared, so they count as about 1 voter."
        )
    if len(families) == 1:
        note = (
            f"All {members} members are {next(iter(families))} models: what one gets wrong the others are likely to "
            "get wrong too, so their agreement is weak evidence."
        )
    elif len(families) < members:
        listed = ", ".join(f"{len(seats)} {name}" for name, seats in families.items())
        note = f"The members are of {len(families)} model families ({listed}); those of one are likely to err alike."
    else:
        note = (
            f"The {members} members are of {members} different model families; what all were trained on can still "
            "mislead them alike."
        )
    if effective is not None and round(effective, 1) < voters:
        note += f" By what they stand behind, {voters} voters may be worth as few as {effective:.1f} independent ones."
    return note
