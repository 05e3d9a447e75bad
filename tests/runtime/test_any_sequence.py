"""A stateful test: after any sequence of verbs, crashes and duplicate deliveries, debates are consistent."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from moot.app import App
from moot.core.errors import WrongStatus
from moot.core.lifecycle import RULES, Verb
from moot.core.settings import Settings
from moot.core.types import TERMINAL, Debate
from moot.runtime.drive import Drive
from moot.runtime.owner import this_process
from tests.running import answers_file, new_debate

pytestmark = pytest.mark.slow

BUDGETS = {"classic": 700, "duel": 2400}  # each a little too small
LONG = "Reasons and evidence, at some length. " * 12


class Passes:
    """A counter of steps that may go on; the others wait until it is raised."""

    def __init__(self) -> None:
        self.left = 0
        self.held: dict[tuple[str, str], asyncio.Future[None]] = {}  # by debate and step, in the order they came

    async def acquire(self, debate: str, key: str) -> None:
        if self.left:
            self.left -= 1
            return
        held = self.held[debate, key] = asyncio.get_running_loop().create_future()
        try:
            await held
        finally:
            if self.held.get((debate, key)) is held:
                del self.held[debate, key]

    def release(self) -> None:
        if self.held:
            self.held.pop(next(iter(self.held))).set_result(None)
        else:
            self.left += 1


class Held:
    """A model that answers when it gets a pass."""

    def __init__(self, model, passes: Passes, paid: dict[str, list[str]]):
        self.model, self.passes, self.paid = model, passes, paid

    async def __call__(self, call, hear):
        hear("Some words that a stop would cut off.")
        debate = asyncio.current_task().get_name().partition("/")[0]
        await self.passes.acquire(debate, call.key)
        hear(None)
        self.paid.setdefault(debate, []).append(call.key)
        return await self.model(call, hear)


class Lifecycle(RuleBasedStateMachine):
    debates = Bundle("debates")

    @initialize()
    def begin(self):
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        once = [{"fail": "unavailable", "message": "once"}, LONG]
        self.model = answers_file(self.path, {"1/speak/b": once, "*/speak/*": LONG})
        self.ended: dict[str, Debate] = {}
        self.turns: dict[str, list] = {}
        self.app = self.open()

    def open(self) -> App:
        """A process: its own app on the shared database."""
        app = App(Settings(database_url=str(self.path / "moot.db"), lease_seconds=3600), environ={})
        app.runtime.pulse_seconds = 30
        self.passes = Passes()
        self.paid: dict[str, list[str]] = {}
        original = app.models.open
        app.models.open = lambda spec: Held(original(spec), self.passes, self.paid)  # type: ignore[method-assign]
        return app

    def run(self, coro):
        return self.loop.run_until_complete(coro)

    def change(self, statement: str, *values: str) -> None:
        with closing(sqlite3.connect(self.path / "moot.db", isolation_level=None)) as other:
            other.execute(statement, values)

    def debate(self, debate_id: str) -> Debate:
        return self.run(self.app.runtime.store.get(debate_id))

    def attempt(self, verb: Verb, debate_id: str):
        """Every verb works in the statuses of its rule and is refused in all others, without changing anything."""
        before = self.debate(debate_id)
        driven = debate_id in self.app.runtime._drives
        try:
            self.run(getattr(self.app.runtime, verb)(debate_id))
        except WrongStatus:
            assert before.status not in RULES[verb].sources or (verb == "resume" and driven)
            assert self.debate(debate_id) == before
        else:
            assert before.status in RULES[verb].sources
        self.settle()

    def settle(self):
        """Run until every step in flight waits for a pass, and its drive for the step."""

        async def quiet():
            async with asyncio.timeout(60):
                while not all(map(self.rests, self.app.runtime._drives.values())):
                    await asyncio.sleep(0.0005)

        self.run(quiet())

    def rests(self, drive: Drive) -> bool:
        held = {key for debate, key in self.passes.held if debate == drive.debate.short}
        waits = bool(drive._wake._waiters) and not drive._wake.is_set()
        return waits and not drive._ended and held == set(drive._flying)

    @rule(target=debates, format_=st.sampled_from(["classic", "duel"]), started=st.booleans())
    def create(self, format_, started):
        if len(self.turns) >= 4:
            return multiple()
        options = {"max_rounds": 2} if format_ == "classic" else {"turns": 2}
        options |= {"max_total_output_tokens": BUDGETS[format_], "debater_max_tokens": 120}
        debate = self.run(new_debate(self.app, self.model, format_, **options))
        self.turns[debate.id] = []
        if started:
            self.attempt("start", debate.id)
        return debate.id

    @rule(debate=debates)
    def start(self, debate):
        self.attempt("start", debate)

    @rule(debate=debates, steps=st.integers(0, 6))
    def resume(self, debate, steps):
        self.attempt("resume", debate)
        self.step(steps)

    @rule(debate=debates, steps=st.integers(0, 6))
    def retry(self, debate, steps):
        self.attempt("retry", debate)
        self.step(steps)

    @rule(debate=debates)
    def stop(self, debate):
        self.attempt("stop", debate)

    @rule(debate=debates)
    def stop_now(self, debate):
        before = self.debate(debate)
        if before.status in ("running", "stopping") and debate in self.app.runtime._drives:
            self.run(self.app.runtime.stop(debate, now=True))
            after = self.run(self.app.runtime.wait(debate))
            assert after.status in ("stopped", "failed", "completed")
            assert after.turn_count >= before.turn_count
        self.settle()

    @rule(debate=debates, sure=st.sampled_from([True, False, False, False, False]))
    def cancel(self, debate, sure):
        if not sure:
            return  # few debates would get anywhere
        self.attempt("cancel", debate)

    @rule(steps=st.integers(1, 12))
    def many_steps(self, steps):
        self.step(steps)

    @rule(steps=st.integers(1, 3))
    def step(self, steps):
        for _ in range(steps):
            self.passes.release()
        self.settle()

    @rule()
    def crash(self):
        """The process dies: its tasks are gone, its lease is not given back."""

        async def die():
            for task in list(self.app.runtime._tasks.values()):
                task.cancel()
            if self.app.runtime._keeper is not None:
                self.app.runtime._keeper.cancel()
            await asyncio.gather(*self.app.runtime._tasks.values(), return_exceptions=True)
            await self.app.runtime.store.close()

        self.run(die())
        host, _, rest = this_process().partition("/")
        dead = f"{host}/999999999/1/{rest[-4:]}"
        self.change("update debate_sessions set owner = ? where owner is not null", dead)
        self.app = self.open()

    @rule()
    def recover(self):
        self.run(self.app.runtime.recover())
        self.settle()

    @rule(debate=debates)
    def deliver_twice(self, debate):
        """A second worker drives the debate with an older epoch: it can commit nothing."""
        current = self.debate(debate)
        stale = replace(current, epoch=current.epoch - 1)
        format_ = self.app.formats[current.format]
        runtime = self.app.runtime
        self.run(Drive(stale, format_, store=runtime.store, executors=runtime.executors, hub=runtime.hub).run())
        after = self.debate(debate)
        assert (after.turn_count, after.status, after.epoch) == (current.turn_count, current.status, current.epoch)

    @rule(debate=debates, garbage=st.sampled_from(["[]", "nonsense", '["9/x/y"]', '["1/speak/a","1/speak/a"]']))
    def corrupt_cursor(self, debate, garbage):
        """Change the stored cursor, which is only derived from the turns."""
        self.change("update debate_sessions set open_keys = ?, next_round = 77 where id = ?", garbage, debate)

    @invariant()
    def whole(self):
        if not hasattr(self, "turns"):
            return
        for debate_id, known in self.turns.items():
            debate = self.debate(debate_id)
            turns = list(self.run(self.app.runtime.store.turns(debate_id)))
            keys = [turn.key for turn in turns]
            assert len(keys) == len(set(keys)) == debate.turn_count
            assert [turn.seq for turn in turns] == list(range(1, len(turns) + 1))
            assert turns[: len(known)] == known, "a turn that was there is gone or has changed"
            self.turns[debate_id] = turns
            assert debate.tokens_out == sum(turn.tokens_out for turn in turns)
            assert debate.tokens_out + debate.lost.tokens_out <= BUDGETS[debate.format]
            kept = {turn.key for turn in known}
            again = [key for key in self.paid.get(debate_id[:8], []) if key in kept]
            assert not again, f"{again} had been paid for and stored"
            self.paid.pop(debate_id[:8], None)
            if debate_id in self.ended:
                assert debate.status == self.ended[debate_id].status
                assert debate.turn_count == self.ended[debate_id].turn_count
            elif debate.status in TERMINAL:
                self.ended[debate_id] = debate
            script = self.app.formats[debate.format].script(debate)
            script.replay(turns)
            if debate.status == "completed":
                assert script.outcome is not None
                assert script.cursor.open == ()
            else:
                assert script.cursor.open
            script.close()
            events = self.run(self.app.runtime.store.events(debate_id))
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            shown = [event for event in events if event.type.isupper()]
            assert len(shown) == debate.shown_count <= script.shown_count

    def teardown(self):
        if hasattr(self, "app"):
            # Whatever was done to them, debates that are not terminal can be brought to an end.
            self.crash()
            for debate_id in self.turns:
                status = self.debate(debate_id).status
                if status not in TERMINAL:
                    verb = {"pending": "start", "failed": "retry"}.get(status, "resume")
                    self.run(getattr(self.app.runtime, verb)(debate_id))
            for _ in range(200):
                self.passes.release()
            for debate_id in self.turns:
                done = self.run(self.app.runtime.wait(debate_id))
                if done.status == "failed":
                    self.run(self.app.runtime.retry(debate_id))
                    done = self.run(self.app.runtime.wait(debate_id))
                assert done.status in TERMINAL
            self.whole()
            self.run(self.app.close())
            self.loop.close()
            self.folder.cleanup()


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=15,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # each step waits for the disk: it is slow by nature
    print_blob=True,
)
