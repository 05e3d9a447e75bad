"""What must hold after every write, at every call of a model, and in the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from moot.core.artifacts import ARTIFACTS, Artifact, placed
from moot.core.script import Script
from moot.core.types import TERMINAL, Cursor, Debate, Event, Shown, Status, Turn, Usage
from moot.formats import Format
from moot.runtime.hub import Flight
from moot.runtime.isolation import LONE_DEATHS
from moot.runtime.replay import prove, transcript
from moot.store import Commit
from moot.store.artifacts import artifact_of
from moot.store.rows import debate_of, event_of, turn_of
from moot.store.sqlite import sql
from tests.simulation.database import CLAIMED, Job
from tests.simulation.plan import Play

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

LIVE = ("running", "stopping")
DELETED = "deleted"  # what the audit calls a debate of which only the tombstone is left
TABLES = (
    "debate_turns", "debate_events", "debate_gates", "memories", "code_versions", "episodes", "lessons", "lesson_uses",
)  # fmt: skip
# What each verb may change a status to. Claims lead to running, whatever was before.
COMMITTED: Mapping[str, Sequence[Status]] = {
    "running": ("running", "waiting", "stopped", "failed", "completed"),
    "stopping": ("stopping", "waiting", "stopped", "failed", "completed"),
}
RECOVERABLE = ("unavailable", "timeout", "overloaded", "invalid", "crashed")  # what a debate may fail of here
SLACK = 1e-6
RENEWING = 12.0  # seconds within which a process that is well has renewed its leases
HEARING = 4.0  # seconds after which a process that is well has heard what people want


class Violation(Exception):
    """Something happened that must never happen."""


@dataclass(kw_only=True)
class Known:
    """What is known of a debate. It only ever grows."""

    name: str
    id: str
    play: Play
    format: Format
    script: Script
    comparable: bool  # nothing but the play decides what it says
    most_tokens: int
    row: Mapping[str, Any] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    events: list[tuple[Any, ...]] = field(default_factory=list)
    uppers: list[tuple[str, str, Any]] = field(default_factory=list)
    shown: list[tuple[str, str, Any]] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    gates: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)  # for each key, the epoch that stored it
    drivers: dict[int, str] = field(default_factory=dict)  # for each epoch, who
    called: set[tuple[int, str]] = field(default_factory=set)
    told: dict[int, float] = field(default_factory=dict)  # epochs whose driver knows that it has lost, since when
    paid: Usage = field(default_factory=Usage)
    calls: int = 0
    flying: set[tuple[str, int, str]] = field(default_factory=set)  # who asks in which epoch for which key, just now
    words: dict[str, list[str]] = field(default_factory=dict)  # what was said, by key
    loaded: bool = False
    crashes: int = 0  # drivers in a row that were taken over from before a step was stored
    lone: int = 0  # of these in a row, those that drove nothing else
    orphaned_since: float | None = None
    halted_since: float | None = None  # nothing more should be asked
    guided: list[float] = field(default_factory=list)  # when someone said something between steps

    @property
    def unheard_since(self) -> float | None:
        """Since when there is guidance that the debate has not heard."""
        heard = sum(turn.kind == "guidance" for turn in self.turns)
        return self.guided[heard] if heard < len(self.guided) else None

    @property
    def status(self) -> str:
        return self.row["status"] if self.row else ""


class Audit:
    def __init__(self, world: World) -> None:
        self.world = world
        self.debates: dict[str, Known] = {}

    def __getitem__(self, name: str) -> Known:
        return next(known for known in self.debates.values() if known.name == name)

    def add(self, debate: Debate, play: Play, name: str, *, comparable: bool) -> Known:
        format_ = self.world.formats[debate.format]
        script = format_.script(debate)
        known = self.debates[debate.id] = Known(
            name=name,
            id=debate.id,
            play=play,
            format=format_,
            script=script,
            comparable=comparable,
            most_tokens=debate.config["max_total_output_tokens"],
        )
        known.shown += map(_comparable, script.begin())
        self.look(known, ())
        for turn in known.turns:  # a fork has some
            known.paid += turn.usage
        return known

    # At every write.

    def wrote(self, process: Process, jobs: Sequence[Job]) -> None:
        """Writes have landed, in one transaction."""
        verbs: dict[str, list[str]] = {}
        for job in jobs:
            known = self.debates.get(job.debate_id or "")
            if known is None:
                continue
            verbs.setdefault(known.id, []).append(job.verb)
            if job.result is None:
                continue  # it was refused
            if job.verb == "commit":
                self._committed(process, known, job)
            elif job.verb == "claim":
                self._claimed(process, known, job)
            elif job.verb == "decide":
                was = job.gate_before
                self.check(was == "open", known, f"the gate {job.given} was {was}, and is decided")
        if any(job.verb == "sweep" and job.result for job in jobs):
            verbs |= {debate_id: [*verbs.get(debate_id, ()), "sweep"] for debate_id in self.debates}
        for debate_id, done in verbs.items():
            self.look(self.debates[debate_id], done)

    def _committed(self, process: Process, known: Known, job: Job) -> None:
        commit, before = job.given, job.before
        assert isinstance(commit, Commit)
        assert before is not None
        self.check(
            before["epoch"] == commit.epoch,
            known,
            f"{process.name} commits with epoch {commit.epoch}, but it is {before['epoch']}",
        )
        self.check(before["status"] in LIVE, known, f"{process.name} commits while it is {before['status']}")
        driver = known.drivers.setdefault(commit.epoch, process.owner)
        self.check(driver == process.owner, known, f"{process.owner} commits in epoch {commit.epoch} of {driver}")
        # A queue takes an expired lease away before anyone claims the debate anew.
        owner = before["owner"]
        self.check(owner in (None, process.owner), known, f"{process.owner} commits while {owner} owns it")
        for turn in commit.turns:
            known.committed[turn.key] = commit.epoch
            known.crashes = known.lone = 0
        known.loaded |= commit.cursor is not None

    def _claimed(self, process: Process, known: Known, job: Job) -> None:
        before, world = job.before, self.world
        assert before is not None
        epoch = before["epoch"] + 1
        self.check(epoch not in known.drivers, known, f"epoch {epoch} is claimed twice")
        known.drivers[epoch] = process.owner
        world.claimed(known.id)
        owner, given_up = before["owner"], job.given
        if before["status"] not in LIVE:
            known.crashes = known.lone = 0
        if owner not in (None, process.owner):
            known.crashes += 1
            known.lone = self._lone(known, owner)
        if owner is None:
            return
        expired = before["lease_until"] <= process.now() + SLACK
        dead = owner == given_up
        self.check(expired or dead, known, f"{process.name} takes it while the lease of {owner} is alive")
        world.count("take-over")
        victim = world.processes.get(owner)
        if victim is None or not victim.alive:
            return
        self.check(not dead or expired, known, f"{owner} is taken for dead, and lives")
        calm = victim.calm(RENEWING) and process.skew == 0 == victim.skew
        drives = victim.epoch_of(known.id) == before["epoch"]
        self.check(not (calm and drives), known, f"{process.name} takes it from {owner}, which is alive and well")

    def _lone(self, known: Known, owner: str) -> int:
        """How many of its last drivers drove nothing else when they crashed. One that did not drive the debate, but had
        claimed it to set it aside, changes nothing."""
        driver = self.world.processes.get(owner)
        if driver is None or not driver.drove - {known.id}:
            return known.lone + 1
        return 0 if known.id in driver.drove else known.lone

    def look(self, known: Known, verbs: Sequence[str]) -> None:
        """Read what is new of a debate and compare it with what the rules say."""
        database = self.world.database
        row = database.execute(sql("get_session"), {"id": known.id}).fetchone()
        if row is None or known.status == DELETED:
            self._deleted(known, row, verbs)
            return
        before, known.row = known.row, row
        if before:
            self._moved(known, before, row, verbs)
            if before["status"] not in LIVE and row["status"] in LIVE:
                known.crashes = known.lone = 0  # someone lets it go on
        values = {"id": known.id, "after": len(known.turns)}
        for found in database.execute(sql("turns"), values):
            self._turn(known, turn_of(found))
        for found in database.execute(
            "select seq, type, key, data from debate_events where session_id = :id and seq > :after order by seq",
            {"id": known.id, "after": len(known.events)},
        ):
            self.check(
                found["seq"] == len(known.events) + 1, known, f"event {found['seq']} follows {len(known.events)}"
            )
            known.events.append(tuple(found))
            if found["type"] == "status" and json.loads(found["data"]).get("kind") == "crashed":
                self.world.count(f"{known.name} set aside")
            if found["type"].isupper():
                known.uppers.append((found["type"], found["key"], json.loads(found["data"])))
        now = self.world.loop.time()
        known.halted_since = None if row["status"] == "running" else known.halted_since or now
        known.guided += [now] * (row["guided"] - len(known.guided))
        self._counted(known, row)
        self.check(row["crashes"] == known.crashes, known, f"{row['crashes']} crashes, but there were {known.crashes}")
        self._stands(known, row)
        self._produced(known, row)
        self._gates(known, row)

    def _deleted(self, known: Known, row: Mapping[str, Any] | None, verbs: Sequence[str]) -> None:
        """What was deleted on purpose is gone from every table, and nothing brings any of it back."""
        database = self.world.database
        self.check(row is None, known, f"{' and '.join(verbs)} brings it back")
        self.check(known.status == DELETED or "delete" in verbs, known, f"{' and '.join(verbs)} makes it disappear")
        buried = database.execute("select count(*) from deleted_debates where id = ?", [known.id]).fetchone()[0]
        self.check(buried == 1, known, "it is gone without a tombstone")
        for table in TABLES:
            left = database.execute(f"select count(*) from {table} where session_id = ?", [known.id]).fetchone()[0]
            self.check(not left, known, f"{left} rows of {table} are left of it")
        if known.status != DELETED:
            known.halted_since = self.world.loop.time()
            known.row = {**known.row, "status": DELETED}

    def _moved(self, known: Known, before: Mapping[str, Any], row: Mapping[str, Any], verbs: Sequence[str]) -> None:
        verb, raised = " and ".join(verbs), row["epoch"] - before["epoch"]
        self.check(0 <= raised <= verbs.count("claim"), known, f"{verb} changes the epoch by {raised}")
        old, new = before["status"], row["status"]
        if old in TERMINAL:
            changed = [name for name in row.keys() if row[name] != before[name]]  # noqa: SIM118
            self.check(not changed, known, f"it was {old}, and {verb} changes {', '.join(changed)}")
        if verb == "commit" and old in LIVE:
            self.check(new in COMMITTED[old], known, f"a commit leads from {old} to {new}")
        if verb in ("decide", "guide"):
            self.check(old == new, known, f"{verb} leads from {old} to {new}")
        for name in ("turn_count", "last_seq", "shown_count", "lost_tokens_in", "lost_tokens_out", "guided"):
            self.check(row[name] >= before[name], known, f"{verb} lowers {name} from {before[name]} to {row[name]}")

    def _turn(self, known: Known, turn: Turn) -> None:
        self.check(turn.seq == len(known.turns) + 1, known, f"turn {turn.seq} follows {len(known.turns)}")
        known.turns.append(turn)
        known.tokens_in += turn.tokens_in
        known.tokens_out += turn.tokens_out
        known.cost_usd += turn.cost_usd or 0.0
        try:
            known.shown += map(_comparable, known.script.resolve(turn))
        except Exception as error:
            self.check(False, known, f"turn {turn.seq}, {turn.key}, is not what the rules ask for: {error}")

    def _counted(self, known: Known, row: Mapping[str, Any]) -> None:
        counts = {
            "turn_count": len(known.turns),
            "last_seq": len(known.events),
            "shown_count": len(known.uppers),
            "tokens_in": known.tokens_in,
            "tokens_out": known.tokens_out,
        }
        for name, count in counts.items():
            self.check(row[name] == count, known, f"{name} is {row[name]}, but the rows say {count}")
        self.check(abs(row["cost_usd"] - known.cost_usd) < SLACK, known, f"cost_usd is {row['cost_usd']}")
        used = row["tokens_out"] + row["lost_tokens_out"]
        self.check(used <= known.most_tokens, known, f"{used} output tokens are used, {known.most_tokens} is the most")

    def _stands(self, known: Known, row: Mapping[str, Any]) -> None:
        if not known.loaded:
            self.check(not known.uppers, known, "something is shown before it was ever driven")
            return
        cursor = Cursor(
            open=tuple(json.loads(row["open_keys"])), next_round=row["next_round"], next_actor=row["next_actor"]
        )
        script = known.script
        self.check(cursor == script.cursor, known, f"the cursor is {cursor}, by the turns it is {script.cursor}")
        if known.shown != known.uppers:
            self.check(False, known, f"{len(known.uppers)} events are not those {len(known.shown)} that the rules show")
        done = script.outcome is not None
        self.check(
            (row["status"] == "completed") == done, known, f"it is {row['status']}, its rules have ended: {done}"
        )
        self.check((row["outcome"] is not None) == done, known, "an outcome belongs to a completed debate")
        if row["status"] not in LIVE:
            self.check(row["owner"] is None, known, f"{row['owner']} owns it although it is {row['status']}")
        if row["status"] == "failed":
            kind = json.loads(row["error"])["kind"]
            self.check(kind in RECOVERABLE, known, f"it failed: {row['error']}")
            if kind == "crashed":
                enough = known.lone >= LONE_DEATHS
                self.check(enough, known, f"it is set aside after {known.lone} deaths with no other beside it")

    def _produced(self, known: Known, row: Mapping[str, Any]) -> None:
        """What the rules produce of the stored turns is stored: all of it, once, and nothing else."""
        made = known.script.artifacts if known.loaded else ()
        self.check(row["artifact_count"] == len(made), known, f"{row['artifact_count']} artifacts, not {len(made)}")
        if not made:
            return
        stored = self._stored(known)
        expected = {each.id: each for each in (placed(each, debate_of(row)) for each in made)}
        self.check(
            {each.id: each for each in stored} == expected, known, "artifacts are not those that the rules produce"
        )
        self.check(len(stored) == len(expected), known, "an artifact is stored twice")

    def _stored(self, known: Known) -> list[Artifact]:
        return [
            artifact_of(kind, found)
            for kind in ARTIFACTS
            for found in self.world.database.execute(sql(f"{kind}s"), {"id": known.id})
        ]

    def _gates(self, known: Known, row: Mapping[str, Any]) -> None:
        gates = {
            found["key"]: tuple(found)
            for found in self.world.database.execute(
                "select key, status, decision, reviewer, decided_at from debate_gates where session_id = ?", [known.id]
            )
        }
        for key, gate in known.gates.items():
            self.check(key in gates, known, f"the gate {key} is gone")
            if gate[1] == "decided":
                self.check(gates[key] == gate, known, f"the gate {key} was decided, and is decided anew")
        known.gates = gates
        if row["status"] == "waiting":
            missing = [key for key in json.loads(row["open_keys"]) if key not in gates]
            self.check(not missing, known, f"it waits, but nobody is asked: {missing}")

    # At every call of a model.

    @contextmanager
    def called(self, process: Process, name: str, key: str) -> Iterator[None]:
        """While the call lasts."""
        known = self[name]
        epoch = (CLAIMED.get() or {})[known.id]
        self._may_ask(process, known, epoch, key)
        flight = (process.owner, epoch, key)
        known.flying.add(flight)
        try:
            yield
        finally:
            known.flying.discard(flight)

    def _may_ask(self, process: Process, known: Known, epoch: int, key: str) -> None:
        known.calls += 1
        self.check((epoch, key) not in known.called, known, f"{key} is asked twice in epoch {epoch}")
        known.called.add((epoch, key))
        told = known.told.get(epoch)
        self.check(
            told is None or told > self.world.loop.time() - SLACK,
            known,
            f"{process.name} asks {key} though it was told that epoch {epoch} is over",
        )
        if process.calm(HEARING) and process.skew == 0:
            longest = self.world.loop.time() - HEARING
            for since, what in ((known.halted_since, known.status), (known.unheard_since, "guided")):
                heard = since is None or since > longest
                self.check(heard, known, f"{process.name} asks {key} and has not heard that it is {what}")
        stored = known.committed.get(key)
        if stored is None and all(turn.key != key for turn in known.turns):
            return
        self.check(
            stored is not None and stored > epoch,
            known,
            f"{process.name} asks {key} in epoch {epoch}, but it was stored in epoch {stored}",
        )
        # No process begins a step past its lease. With clocks that jump, others may think that it is over too early.
        self.check(
            "clock" in self.world.plan.faults,
            known,
            f"{process.name} asks {key}, which was stored in epoch {stored}: it does not know that it has lost",
        )
        self.world.count("call by a process that does not know yet that it has lost")

    def paid(self, name: str, usage: Usage) -> None:
        known = self[name]
        known.paid += usage + Usage(tokens_in=1, tokens_out=1)  # what was cut off is rounded up

    def says(self, name: str, key: str, text: str) -> None:
        self[name].words.setdefault(key, []).append(text)

    def told_lost(self, debate_id: str, epoch: int) -> None:
        known = self.debates.get(debate_id)
        if known is not None:
            known.told.setdefault(epoch, self.world.loop.time())
            self.world.count("refused")

    # Now and then.

    def nobody_drives(self) -> None:
        """The deadlock detector: a debate that should run has a driver, or will be taken over soon."""
        world = self.world
        for known in self.debates.values():
            row = known.row
            orphan = row["status"] in LIVE and (row["owner"] is None or self._lease(known) < world.wall())
            if not orphan:
                known.orphaned_since = None
            elif known.orphaned_since is None or not world.calm(3 * world.plan.lease):
                known.orphaned_since = world.loop.time()
            waited = 0.0 if known.orphaned_since is None else world.loop.time() - known.orphaned_since
            # What was written by a clock that is ahead looks fresh until the others are there, too.
            most = 4 * world.plan.lease + world.trouble.furthest
            self.check(waited < most, known, f"nobody has driven it for {waited:.0f} s")

    def _lease(self, known: Known) -> float:
        row = self.world.database.execute("select lease_until from debate_sessions where id = ?", [known.id]).fetchone()
        return row["lease_until"] or 0.0

    # In the end.

    def ended(self, known: Known) -> bytes | None:
        """Everything once more, from the beginning. Gives the transcript."""
        database = self.world.database
        self.look(known, ())
        if known.status == DELETED:
            return None
        debate = debate_of(database.execute(sql("get_session"), {"id": known.id}).fetchone())
        turns = [turn_of(row) for row in database.execute(sql("turns"), {"id": known.id, "after": 0})]
        values = {"id": known.id, "after": 0, "limit": 10_000}
        events = [event_of(row) for row in database.execute(sql("events"), values)]
        self.check(turns == known.turns, known, "turns that were stored have changed")
        self.check(
            [(e.seq, e.type, e.key) for e in events] == [e[:3] for e in known.events],
            known,
            "events that were stored have changed",
        )
        self.check(debate.terminal, known, f"it is {debate.status} in the end")
        self.check(len({turn.key for turn in turns}) == len(turns), known, "a key is stored twice")
        used, paid = debate.usage, known.paid
        self.check(
            used.tokens_in <= paid.tokens_in and used.tokens_out <= paid.tokens_out,
            known,
            f"{used} is on the books, but no more than {paid} was used",
        )
        if debate.status != "completed":
            return None
        outcome = known.script.outcome
        self.check(outcome is not None and debate.outcome == outcome, known, "another outcome is stored")
        proof = prove(known.format, debate, turns, events, self._stored(known))
        self.check(proof.same, known, f"the replay differs: {proof.first_difference}")
        return transcript(debate, [event for event in events if event.type.isupper()], debate.outcome)

    def seen(self, known: Known, events: Sequence[Event], after: int = 0) -> None:
        """What a watcher was shown is what is stored: no hole, nothing twice, nothing else."""
        for n, event in enumerate(events[after:], after):
            stored = known.events[n] if n < len(known.events) else None
            if stored is None and known.status == DELETED:
                continue  # stored and deleted in one transaction
            self.check(
                stored is not None and stored[:3] == (event.seq, event.type, event.key),
                known,
                f"a watcher saw {(event.seq, event.type, event.key)} where {stored and stored[:3]} is stored",
            )

    def overheard(self, process: Process, known: Known, flights: Mapping[str, Flight]) -> None:
        """A watcher sees every step in flight in this process, and only text of that step."""
        epoch = process.epoch_of(known.id)
        flying = {key for owner, under, key in known.flying if (owner, under) == (process.owner, epoch)}
        unseen = sorted(flying - flights.keys())
        self.check(not unseen, known, f"{process.name} does not show that {', '.join(unseen)} is under way")
        for key, flight in flights.items():
            said = flight.text
            words = known.words.get(key, ())
            fits = not said or any(text.startswith(said) for text in words)
            self.check(fits, known, f"{process.name} shows {said!r} at {key}, where {words} was said")

    def check(self, holds: bool, known: Known | None, what: str) -> None:
        if not holds:
            self.world.violated(f"{known.name} ({known.play}): {what}" if known else what)

    def close(self) -> None:
        for known in self.debates.values():
            known.script.close()


def _comparable(shown: Shown) -> tuple[str, str, Any]:
    return shown.type, shown.key, _json(shown.data) if shown.data else {}


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))
