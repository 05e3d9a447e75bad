"""Who does what. For one piece of code, everyone writes it, each in another way and to one interface."""

from __future__ import annotations

from moot.core.script import Seat
from moot.formats.forge.answers import Approaches, OwnPlan
from moot.formats.forge.prompting import APPROACHES, names_interface, prompts, said
from moot.formats.forge.state import Forge
from moot.formats.shared.roles import agent
from moot.reasoning.planning import Assignment, Style, choose_style, different_approaches, negotiated

WORK = "code"
INTERFACE = "interface"


async def plan(forge: Forge) -> None:
    """Settle the interface, and an approach for each engineer. Without planning, the leader is still asked for the
    interface of a task that names none: blind seats could not call the code otherwise. A repository has its own."""
    asked = forge.settings.planning
    named = names_interface(forge.stage.topic) or bool(forge.board.given)
    if (asked == "none" and named) or forge.repo is not None:
        _assign(forge, APPROACHES)
        return
    style: Style = (
        "cpde" if asked == "none" else choose_style(asked, seats=len(forge.engineers), ambiguity=forge.ambiguity)
    )
    await (_by_leader(forge) if style == "cpde" else _by_everyone(forge))


def _assign(forge: Forge, approaches: tuple[str, ...] | list[str]) -> None:
    work = different_approaches(Assignment(id=WORK), approaches, [agent(each.spec) for each in forge.engineers])
    forge.approaches = {task.owner: task.approach for task in work}


async def _by_leader(forge: Forge) -> None:
    leader = forge.stage.seat(forge.topology.leader("planning"))
    given = await forge.ask_one(
        leader,
        "plan",
        prompts("plan", task=forge.task(leader), count=str(len(forge.engineers))),
        returns=Approaches,
        shows="PLAN",
    )
    forge.interface = "" if given is None else given.interface
    forge.planner = leader
    forge.approached_by = None if given is None else leader
    _assign(forge, APPROACHES if given is None else given.approaches)


async def _by_everyone(forge: Forge) -> None:
    """Everyone states a plan, then states it again knowing those of its neighbours. Of different interfaces, that of
    the engineer who suits design best is kept."""
    plans = await forge.ask(
        forge.engineers, "plan", lambda seat: prompts("own_plan", task=forge.task(seat)), returns=OwnPlan, shows="PLAN"
    )
    if len(plans) > 1:

        def others(reader: Seat) -> str:
            read = forge.reads("planning", reader.id) - {reader.id}
            return "\n\n".join(
                said(reader, plan.prose(), of=forge.stage.seat(each), at=f"negotiate/{reader.id}/{each}")
                for each, plan in plans.items()
                if each in read
            )

        plans |= await forge.ask(
            [seat for seat in forge.engineers if seat.id in plans],
            "negotiate",
            lambda seat: prompts("negotiate", task=forge.task(seat), plans=others(seat) or "(nothing)"),
            returns=OwnPlan,
            shows="PLAN",
        )
    if not plans:
        _assign(forge, APPROACHES)
        return
    claims = {
        seat: [Assignment(id=INTERFACE, domain="design", interface=plan.interface)] for seat, plan in plans.items()
    }
    (settled,) = negotiated(claims, [agent(seat.spec) for seat in forge.engineers])
    forge.interface, forge.planner = settled.interface, forge.stage.seat(settled.owner)
    forge.approaches = {seat: plan.approach for seat, plan in plans.items()}
