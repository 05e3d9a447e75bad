"""Roles: what the catalog holds, and that a seat with one is told so in every format, and goes on being told so."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from moot.client import creating, documents
from moot.core.errors import InputError, UnknownName
from moot.core.settings import DebateSettings, read
from moot.core.types import Hat, SeatSpec
from moot.formats import installed
from moot.formats.shared import roles
from moot.reasoning.topology.topology import COORDINATION
from tests.plugins import BUILT_IN
from tests.running import an_app, answers_file, new_debate, run_to_rest

NAMES = (
    *("generator", "refactorer", "performance_analyzer", "security", "teacher", "compiler", "executor", "judge"),
    *("implementer", "designer", "architect", "critic", "reviewer", "optimizer", "tester", "validator", "moderator"),
    *("red_team", "blue_team"),
)
TOOLS = {"cases", "script", "checks", "assist", "snapshot"}
DOMAINS = {
    *("correctness", "security", "performance", "design", "implementation", "testing", "evaluation", "documentation"),
    *("refactoring", COORDINATION),
}
ON_CALL = {"name": "on_call", "prompt": "You are called at three in the morning."}


def built_in() -> dict[str, Hat]:
    return {role.name: role for role, package in roles.installed() if not package}


def test_every_role_has_words_tools_and_affinities():
    assert tuple(built_in()) == NAMES
    for role in built_in().values():
        assert 2 <= len(re.findall(r"[.!?](?:\s|$)", role.prompt)) <= 6, role.name
        assert "\n" not in role.prompt
        assert role.about
        assert set(role.tools) <= TOOLS
        assert role.affinities
        assert set(role.affinities) <= DOMAINS
        assert max(role.affinities.values()) >= 0.8, role.name
    assert len({role.prompt for role in built_in().values()}) == len(NAMES)
    assert {"security": ("critique",), "performance_analyzer": ("optimization",)}.items() <= {
        role.name: role.leads for role in built_in().values()
    }.items()


def test_the_documentation_lists_them():
    text = (Path(__file__).parents[3] / "docs" / "roles.md").read_text()
    for role in built_in().values():
        assert f"| `{role.name}` | {role.about} | {', '.join(role.tools) or 'none'} |" in text


@pytest.mark.parametrize("format", BUILT_IN)
def test_a_seat_of_any_format_is_told_its_roles(format: str, tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            seats = [part.id for part in installed()[format].parts(installed()[format].settings())]
            wearing = {seats[0]: {"hats": ["tester", "critic"]}, seats[1]: {"hats": "on_call"}}
            made = await new_debate(
                app, "sim:", format, seats=wearing, custom_roles=[ON_CALL], **installed()[format].unattended
            )
            done = await run_to_rest(app, made)
            assert done.status == "completed", done.error
            audit = await documents.audit(app, done.id)
            own = {seat.id: tuple(hat.name for hat in seat.hats) for seat in done.cast}
            assert (own[seats[0]], own[seats[1]]) == (("tester", "critic"), ("on_call",))
            words = {name: hat.prompt for name, hat in built_in().items()} | {"on_call": ON_CALL["prompt"]}
            for turn in audit["turns"]:
                if turn["kind"] == "ask" and turn["seat"] in seats:
                    briefing = turn["messages"][0]["text"]
                    heard = {name for name, prompt in words.items() if prompt in briefing}
                    assert heard == set(own.get(turn["seat"], ())), turn["key"]
            assert {turn["seat"] for turn in audit["turns"]} >= wearing.keys()
            assert (await documents.prove(app, done.id)).same

    asyncio.run(main())


def test_the_words_of_a_debate_stay_as_they_were_when_it_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also in a fork, unless the fork says otherwise."""

    async def main() -> None:
        async with an_app(tmp_path) as app:
            model = answers_file(tmp_path)
            made = await new_debate(app, model, "classic", max_rounds=1, seats={"a": {"hats": "teacher"}})
            before = made.cast[0].hats
            assert [hat.name for hat in before] == ["teacher"]
            other = before[0].model_copy(update={"prompt": "Something else."})
            monkeypatch.setattr(roles, "installed", lambda: [(other, "")])
            done = await run_to_rest(app, made)
            assert (await app.runtime.store.get(done.id)).cast == made.cast
            assert (await documents.prove(app, done.id)).same
            fork = await creating.fork(app, done.id, "1/verdict/judge", {})
            assert fork.cast[0].hats == before
            changed = await creating.fork(
                app, done.id, "1/verdict/judge", {"custom_roles": [ON_CALL], "seats": {"judge": {"hats": "on_call"}}}
            )
            assert [hat.name for hat in changed.cast[2].hats] == ["on_call"]
            with pytest.raises(InputError, match="change what was asked"):
                await creating.fork(app, done.id, "1/verdict/judge", {"seats": {"a": {"hats": []}}})

    asyncio.run(main())


def test_a_role_that_there_is_not_is_refused_with_the_nearest(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            with pytest.raises(UnknownName, match="no role 'securty'. Did you mean 'security'"):
                await new_debate(app, "sim:", "classic", seats={"a": {"hats": "securty"}})

    asyncio.run(main())


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"custom_roles": [ON_CALL, ON_CALL]}, "two of them have the same name"),
        ({"custom_roles": [{"name": "On call", "prompt": "x"}]}, "custom_roles"),
        ({"custom_roles": [{"name": "on_call", "prompt": " "}]}, "prompt"),
        ({"custom_roles": [{**ON_CALL, "affinities": {"security": 2}}]}, "affinities"),
        ({"custom_roles": [{**ON_CALL, "tool": []}]}, "'tools'"),
        ({"seats": {"a": {"hats": [3]}}}, "hats"),
    ],
)
def test_bad_roles_are_refused_in_plain_words(given, problem):
    with pytest.raises(InputError, match=problem):
        read(DebateSettings, given)


def test_a_seat_suits_what_any_of_its_roles_suits():
    security, architect = (built_in()[name] for name in ("security", "architect"))
    seat = SeatSpec(id="a", name="A", role="member", model="sim:", max_tokens=1, hats=(security, architect))
    agent = roles.agent(seat)
    assert (agent.affinity("security"), agent.affinity(COORDINATION), agent.affinity("testing")) == (1.0, 1.0, 0.4)
    assert agent.leads == ("critique", "proposal")
    assert roles.worn(["on_call"], [Hat(**ON_CALL)]) == (Hat(**ON_CALL),)
