"""Who takes part in a forge. The tester and the oracles see the task and calls only: they stand outside of every
topology, and nothing that was written about code reaches them."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.types import SeatSpec
from moot.formats.forge.settings import ForgeSettings
from moot.formats.format import Part
from moot.formats.shared.roles import agent
from moot.reasoning.topology import Topology, build

ENGINEER, TESTER, ORACLE, CRITIC, JUDGE = "engineer", "tester", "oracle", "critic", "judge"
BLIND = (TESTER, ORACLE)  # roles that never see code

HATS = ("implementer", "generator", "designer")  # of the engineers, in turn
LETTERS = "ABCDEF"


def parts(settings: ForgeSettings) -> list[Part]:
    """The cast. The preset without a judge leaves its work to the critic."""
    engineers = [
        Part(
            id=f"e{n + 1}",
            name=f"Engineer {LETTERS[n]}",
            role=ENGINEER,
            tier="debater",
            voice=True,
            hats=(HATS[n % len(HATS)],),
        )
        for n in range(settings.engineers)
    ]
    oracles = [
        Part(id=f"o{n}", name=f"Oracle {n}" if settings.oracles > 1 else "Oracle", role=ORACLE)
        for n in range(1, settings.oracles + 1)
    ]
    judge = [] if settings.preset == "quick" else [Part(id=JUDGE, name="Judge", role=JUDGE, hats=("moderator",))]
    return [
        *engineers,
        Part(id=TESTER, name="Tester", role=TESTER),
        *oracles,
        Part(id=CRITIC, name="Critic", role=CRITIC, voice=True, hats=("security", "red_team")),
        *judge,
    ]


def topology_of(settings: ForgeSettings, seats: Sequence[SeatSpec]) -> Topology:
    """The topology of those who write and criticize code. The judge leads from outside of it."""
    return build(settings.topology, [agent(seat) for seat in seats if seat.role in (ENGINEER, CRITIC)])
