"""What happens in a run: which debates, how many processes, which faults. All of it follows from the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any, Literal, get_args

from moot.formats import Format, installed
from tests.runtime.asking import FORMAT as ASKING
from tests.runtime.workshop import WORKSHOP

# What may go wrong, and how often at most in one run.
FAULTS: Mapping[str, int] = {
    "crash": 3,  # a process is gone in mid-air, before or after a write lands, or at any other moment
    "fail": 4,  # a write is refused: the disk is full
    "fail late": 3,  # a write is refused when it is to be committed, and rolled back
    "lost reply": 3,  # a write lands, but its process is told that it failed
    "fail read": 3,
    "poison": 12,  # a debate takes every process down that asks for one of its steps, so often
    "pause": 2,  # a process stands still past its lease, then goes on
    "clock": 3,  # the wall clock of a process jumps
    "lose": 4,  # "advance debate X" is never delivered
    "double": 6,  # it is delivered twice, most often to two processes
    "slow": 8,  # a write or read takes seconds
    "flaky": 6,  # a model fails, or takes longer than a lease
    "stop": 2,
    "stop now": 2,
    "guide": 2,
    "cancel": 1,
    "race": 3,  # two people answer the same question at once
    "drain": 2,  # a process hands its debates back and ends
    "close": 2,  # a process stops its debates and ends
    "fork": 1,
    "delete": 1,
}
# Ways of running that are no faults.
WAYS = (
    "watch",  # someone follows each debate, from any process
    "tight",  # the limits of the debate are too small for it
    "shuffle",  # tasks that are woken together run in any order
    "pool",  # writes of one process overtake each other, as through a pool of connections
    "posthumous",  # a write on its way lands although its process is dead
    "one machine",  # processes can tell that one of them is certainly dead
    "workers",  # processes take debates from a queue
    "told",  # processes hear of most of what others change
    "trusting",  # the person who answers a question tells the debate only once to go on
    "lacking",  # one process lacks the plug-in of a format
    "eager",  # models answer at once: steps end together
)
OnWrite = Literal[
    "crash before", "crash after", "fail", "fail late", "lost reply", "pause", "stop", "stop now", "close"
]
ON_WRITE: tuple[OnWrite, ...] = get_args(OnWrite)

_SMALL: Mapping[str, Any] = {"max_runtime_seconds": 1800}
# A line for each kind of debate that is played. Formats that are not named here are played with their defaults.
PLAYS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "classic": ("classic", {"max_rounds": 2}),
    "classic, every round judged": ("classic", {"max_rounds": 2, "judge_every_round": True}),
    "classic, with readers": ("classic", {"max_rounds": 1, "jury": 2, "swap": True}),
    "classic, with a person": ("classic", {"max_rounds": 2, "seats": {"b": {"model": "human"}}}),
    "duel": ("duel", {"turns": 2}),
    "duel, with readers": ("duel", {"turns": 2, "jury": 1, "swap": True, "blind": True}),
    "panel": ("panel", {"max_rounds": 2, "perspectives": 2, "round_timeout_seconds": 1800}),
    "panel, impatient": (
        "panel",
        {"max_rounds": 3, "perspectives": 2, "round_timeout_seconds": 1800, "checkpoint_timeout_seconds": 8},
    ),
    "council": ("council", {"members": 3, "max_rounds": 1}),
    "council, all rounds": ("council", {"members": 2, "max_rounds": 1, "depth": "debate"}),
    "crucible": ("crucible", {"max_rounds": 2}),
    # Far from its limit of calls: how many tries an answer gets near it depends on what else is under way.
    "forge": ("forge", {"preset": "quick", "clarify": "judge", "max_calls": 39}),
    "forge, with a gate": (
        "forge",
        {"preset": "quick", "clarify": "judge", "max_calls": 39, "gates": ["proposal"], "attempts": 0},
    ),
    "asking": ("asking", {}),
    "asking, decides": ("asking", {"timeout_seconds": 8, "decides": True}),
}
VOICES = 3  # so many different things are said by models and people
GARBLED = 2  # the voice whose judges give no valid answer now and then


@dataclass(frozen=True, kw_only=True)
class Play:
    """One debate of a run. `voice` decides every word that models and people say."""

    name: str
    voice: int = 0
    absent: tuple[tuple[str, str], ...] = ()  # steps whose model can't be had, with the kind of failure

    def __str__(self) -> str:
        return f"{self.name} #{self.voice}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    seed: int
    plays: tuple[Play, ...]
    processes: int = 1
    faults: Mapping[str, int] = field(default_factory=dict)  # which, and how often at most
    ways: frozenset[str] = frozenset()
    chance: float = 0.0  # of a fault, wherever one is possible
    at_write: Mapping[int, OnWrite] = field(default_factory=dict)  # by the number of the write, in order of request
    lease: float = 15.0
    pulse: float = 1.0
    sweep: float = 5.0
    poisoned: tuple[str, ...] = ("d1",)  # the debates that are poisonous, if any is
    at_once: int = 5  # debates that one process drives
    kills: int = 0  # processes that are killed from outside, one every `kill_seconds`
    kill_seconds: float = 4.0
    kills_children: bool = False  # those that they have begun are killed with them
    reborn: tuple[float, float] = (0.2, 12.0)  # seconds until a process that has ended begins anew

    def __str__(self) -> str:
        what = [
            f"{self.processes} process{'es' * (self.processes > 1)}",
            " + ".join(map(str, self.plays)),
            f"faults: {', '.join(f'{name} ≤{most}' for name, most in sorted(self.faults.items())) or 'none'}",
        ]
        what += [f"ways: {', '.join(sorted(self.ways))}"] if self.ways else []
        what += [f"{fault} at write {n}" for n, fault in self.at_write.items()]
        return "; ".join(what)


@cache
def formats() -> Mapping[str, Format]:
    return {**installed(), ASKING.name: ASKING, WORKSHOP.name: WORKSHOP}


@cache
def on_demand() -> frozenset[str]:
    """The formats that are played only when named: one whose rules produce artifacts, and those that run code."""
    return frozenset({WORKSHOP.name, *(name for name, each in formats().items() if each.needs)})


@cache
def plays(format: str | None = None) -> tuple[str, ...]:
    """The names of what can be played here: every installed format has at least one."""
    known = {name: of for name, (of, _) in PLAYS.items() if of in formats()}
    known |= {name: name for name in formats() if name not in known.values()}
    if format is None:
        known = {name: of for name, of in known.items() if of not in on_demand()}
    return tuple(name for name, of in known.items() if format in (None, of, name))


def settings_of(play: Play) -> tuple[Format, Mapping[str, Any]]:
    format_, settings = PLAYS.get(play.name, (play.name, {}))
    return formats()[format_], {**_SMALL, **settings}


def draw(seed: int, format: str | None = None) -> Plan:
    """Each run has some of the faults, so that every mix of a few comes up, and not always all of them."""
    rng = Random(f"plan/{seed}")
    names = plays(format)
    count = rng.choice((1, 1, 1, 2))
    some = rng.choice((0.1, 0.25, 0.45))
    faults = {name: rng.randint(1, most) for name, most in FAULTS.items() if rng.random() < some}
    if rng.random() < 0.8:
        faults.pop("cancel", None)
    if rng.random() < 0.6:
        faults.pop("delete", None)
    ways = frozenset(way for way in WAYS if rng.random() < (0.5 if way == "trusting" else 0.25))
    if "workers" in ways:
        ways |= {"told"}
    return Plan(
        seed=seed,
        plays=tuple(Play(name=rng.choice(names), voice=rng.randrange(VOICES)) for _ in range(count)),
        processes=rng.choice((1, 2, 2, 3)),
        faults=faults,
        ways=ways,
        chance=rng.choice((0.02, 0.06, 0.15)),
    )


def calm(play: Play, seed: int = 0) -> Plan:
    """Nothing goes wrong."""
    return Plan(seed=seed, plays=(play,))
