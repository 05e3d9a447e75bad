"""A debate as a script: a coroutine driven by hand, over turns that are fed to it.

A format is `async def play(stage, settings) -> Outcome`. Each `await` in it hands out a `Step`; the driver of the
script executes the step, persists the result as a `Turn`, and feeds it back with `Script.resolve`. There is no event
loop and no clock here: the same turns in the same order always lead to the same open steps, events and outcome.

Events come out in the order in which the rules read, not in the order in which steps happen to finish: everything a
task says after `stage.start(other)` is shown after what `other` has to say.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Coroutine, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast, overload

from moot.core.artifacts import Artifact, Artifacts
from moot.core.errors import LimitReached, ScriptChanged, ScriptError
from moot.core.limits import Limits
from moot.core.stage import PERSON, VERDICT, Running, Seat, Stage
from moot.core.steps import ABSENT, Ask, Cap, Failed, Step
from moot.core.types import Answer, Cursor, Outcome, Prompt, SeatSpec, Shown, Turn, record

__all__ = [
    "Answers",
    "Cap",
    "Failed",
    "Limits",
    "Play",
    "Running",
    "Script",
    "Seat",
    "Stage",
    "Step",
    "ask_each",
    "together",
]

SILENT = ABSENT | {"limit"}  # failures after which there is nothing to show: nothing was said

T = TypeVar("T")
T2 = TypeVar("T2")
A = TypeVar("A", bound=Answer)
M = TypeVar("M", bound=Artifact)


@dataclass(eq=False)
class _Channel:
    """Events of one task, with its children's channels where they were started."""

    items: list[Shown | _Channel] = field(default_factory=lambda: [])
    drained: int = 0
    closed: bool = False

    def drain(self, out: list[Shown]) -> bool:
        while self.drained < len(self.items):
            item = self.items[self.drained]
            if isinstance(item, Shown):
                out.append(item)
            elif not item.drain(out):
                return False
            self.drained += 1
        return self.closed


class Task(Generic[T]):
    """A part of the script that runs beside the rest. Await it for its result."""

    def __init__(self, coro: Coroutine[Any, Any, T], channel: _Channel) -> None:
        self.coro, self.channel = coro, channel
        self.waiting: list[Task[Any]] = []
        self.done = False
        self._result: T | None = None
        self._error: Exception | None = None

    def finish(self, result: T | None, error: Exception | None) -> None:
        self.done, self._result, self._error = True, result, error
        self.channel.closed = True

    def __await__(self) -> Generator[Any, Any, T]:
        if not self.done:
            yield self
        if self._error is not None:
            raise self._error
        return cast(T, self._result)


@overload
async def together(one: Awaitable[T], two: Awaitable[T2], /) -> tuple[T, T2]: ...
@overload
async def together(*many: Awaitable[T]) -> tuple[T, ...]: ...
async def together(*many: Awaitable[Any]) -> tuple[Any, ...]:
    """Ask several at once; all are waited for, then the first error in the order given is raised."""
    tasks = [await _Spawn(each) for each in many]
    errors: list[Exception] = []
    results: list[Any] = []
    for task in tasks:
        try:
            results.append(await task)
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return tuple(results)


@record
class Answers(Generic[T]):
    """What several seats have answered, by seat: `given` in the order in which they were asked."""

    given: dict[str, T]
    failed: dict[str, Failed]


AGAIN = "-again"  # ends the name of a phase that is played once more; it needs no words of its own


@overload
async def ask_each(
    seats: Iterable[Seat], phase: str, prompt: Callable[[Seat], Prompt], *, round: int = ..., shows: str = ...
) -> Answers[str]: ...
@overload
async def ask_each(
    seats: Iterable[Seat],
    phase: str,
    prompt: Callable[[Seat], Prompt],
    *,
    returns: type[A],
    round: int = ...,
    shows: str = ...,
) -> Answers[A]: ...
async def ask_each(
    seats: Iterable[Seat],
    phase: str,
    prompt: Callable[[Seat], Prompt],
    *,
    returns: Any = None,
    round: int = 0,
    shows: str = "",
) -> Answers[Any]:
    """Ask several seats at once, and go on without those whose model can't be had or gives no valid answer.

    When no seat answers, those whose model could not be had are asked once more, in the phase `PHASE-again`, and a
    failure then fails the debate, so that it can be retried."""
    asked = list(seats)
    typed: Any = {} if returns is None else {"returns": returns}

    def asking(seat: Seat, phase: str, **how: Any) -> Awaitable[Any]:
        ask = cast("Callable[..., Awaitable[Any]]", seat.ask)
        return ask(phase, prompt(seat), round=round, shows=shows, **typed, **how)

    first = await together(*(asking(each, phase, spared=True) for each in asked))
    found = dict(zip(asked, first, strict=True))
    absent = [seat for seat, answer in found.items() if isinstance(answer, Failed) and answer.absent]
    if absent and all(isinstance(answer, Failed) for answer in first):
        again = await together(*(asking(each, f"{phase}{AGAIN}", tolerant=returns is not None) for each in absent))
        found |= dict(zip(absent, again, strict=True))
    return Answers(
        given={seat.id: answer for seat, answer in found.items() if not isinstance(answer, Failed)},
        failed={seat.id: answer for seat, answer in found.items() if isinstance(answer, Failed)},
    )


class _Spawn:
    def __init__(self, what: Awaitable[Any]) -> None:
        self.what = what

    def __await__(self) -> Generator[Any, Any, Task[Any]]:
        return cast("Task[Any]", (yield self))


async def _as_coroutine(what: Awaitable[T]) -> T:
    return await what


Play = Callable[[Stage], Coroutine[Any, Any, Outcome]]


class Script:
    """Drives one format's coroutine over turns."""

    def __init__(
        self,
        play: Play,
        *,
        cast: Sequence[SeatSpec],
        limits: Limits | None = None,
        topic: str = "",
        precedent: str = "",
        reminder: str = "",
        events: Container[str] | None = None,
        private: Container[str] = (),
    ) -> None:
        """`events` are the types that the format may show; None: any. `private` are those of them that stay with their
        seat. `reminder`: with what every question to a small model ends."""
        self.stage = Stage(self, cast, limits or Limits(), topic, precedent, reminder)
        self._events = events
        self._private = private
        self.open: dict[str, Step] = {}
        self.turn_count = 0
        self.total_rounds = 0
        self.shown_count = 0
        self.guided: list[str] = []  # the keys of the guidance heard
        self._artifacts = Artifacts()
        self._turn: Turn | None = None  # the latest that was fed
        self._turns: dict[str, Turn] = {}  # all that were fed, by key
        self._asked: set[str] = set()
        self._waiters: dict[str, Task[Any]] = {}
        self._root = _Channel()
        self._unfinished = 0
        self._current: Task[Any] | None = None
        self._main = self._main_task(play)

    def _main_task(self, play: Play) -> Task[Outcome]:
        self._unfinished += 1
        return Task(play(self.stage), self._root)

    def begin(self) -> list[Shown]:
        """Run to the first steps."""
        self._advance(self._main, None)
        return self._drain()

    def resolve(self, turn: Turn) -> list[Shown]:
        """Feed the turn of an open step, or guidance; gives the events this releases."""
        if turn.kind == "guidance":
            return self._guide(turn)
        step = self.open.get(turn.key)
        if step is None:
            asked = f"one of {', '.join(self.open)}" if self.open else "nothing more"
            raise ScriptChanged(turn.key, f"turn {turn.seq}, {turn.key!r}", asked)
        if turn.prompt_hash != step.prompt_hash:
            raise ScriptChanged(
                turn.key, f"prompt {turn.prompt} ({turn.prompt_hash})", f"{step.prompt.name} ({step.prompt_hash})"
            )
        del self.open[turn.key]
        self.turn_count += 1
        self._count_round(step, turn)
        self.stage.spent.add(turn)
        self._turn = self._turns[turn.key] = turn
        task = self._waiters.pop(turn.key)
        if step.shows and not (turn.failure and turn.failure.kind in SILENT):
            task.channel.items.append(Shown(type=step.shows, key=turn.key, turn=turn))
        self._advance(task, (step, turn))
        return self._drain()

    def _count_round(self, step: Step, turn: Turn) -> None:
        """A round counts once something was said in it: thoughts, and what a limit refused, were not. The closing of a
        debate is no round, whatever its number."""
        if turn.failure is None and not step.closing and step.shows not in self._private:
            self.total_rounds = max(self.total_rounds, turn.round)

    def _guide(self, turn: Turn) -> list[Shown]:
        """What the person in charge says between steps reaches every step that is asked after it, and the open ones
        that were not yet under way: the turn says which those were."""
        self.turn_count += 1
        self.guided.append(turn.key)
        self.stage.guidance.append(turn.content)
        for key in turn.metadata.get("reaches", ()):
            step = self.open.get(key)
            if not isinstance(step, Ask):
                raise ScriptChanged(turn.key, f"guidance that reaches {key!r}", f"one of {', '.join(self.open)}")
            self.open[key] = self.stage.seat(step.seat.id).hear(step)
        self._root.items.append(Shown(type=PERSON, key=turn.key, turn=turn))
        return self._drain()

    def replay(self, turns: Iterable[Turn]) -> list[Shown]:
        shown = self.begin()
        for turn in turns:
            shown += self.resolve(turn)
        return shown

    @property
    def outcome(self) -> Outcome | None:
        return self._main._result if self._main.done else None  # pyright: ignore[reportPrivateUsage]

    @property
    def artifacts(self) -> Sequence[Artifact]:
        """Everything that the rules have produced so far, in order."""
        return self._artifacts.made

    @property
    def cursor(self) -> Cursor:
        if not self.open:
            return Cursor()
        first = next(iter(self.open.values()))
        return Cursor(open=tuple(self.open), next_round=first.round, next_actor=first.seat.id)

    def close(self) -> None:
        """Let go of coroutines that will not be driven further."""
        for task in {id(t): t for t in (*self._waiters.values(), self._main)}.values():
            if not task.done:
                task.coro.close()

    def spawn(self, coro: Coroutine[Any, Any, T]) -> Task[T]:
        assert self._current is not None
        parent, channel = self._current, _Channel()
        parent.channel.items.append(channel)
        task = Task(coro, channel)
        self._unfinished += 1
        self._advance(task, None)
        self._current = parent
        return task

    def show(self, shown: Shown) -> None:
        assert self._current is not None
        self._check_event(shown.type)
        self._current.channel.items.append(shown)

    def produce(self, artifact: M) -> M:
        key = artifact.turn_key
        if key and (key not in self._asked or key in self.open):
            raise ScriptError(f"The rules produce something of the turn {key!r}, which has not ended.")
        return self._artifacts.add(artifact, self._turn, self._turns.get(key))

    def _check_event(self, type: str) -> None:
        if type and self._events is not None and type not in self._events:
            raise ScriptError(f"The rules show an event {type!r} that their format does not declare in `events`.")

    def _drain(self) -> list[Shown]:
        out: list[Shown] = []
        self._root.drain(out)
        self.shown_count += len(out)
        return out

    def _advance(self, task: Task[Any], value: object) -> None:
        """Run a task until it waits for a step or another task."""
        while True:
            self._current = task
            try:
                request: object = task.coro.send(value)
            except StopIteration as stop:
                self._finish(task, stop.value, None)
                return
            except LimitReached as error:
                self._finish(task, None, error)
                return
            except SystemExit as error:  # it would end the process, and with it every other debate
                raise ScriptError("The rules tried to end the process (SystemExit). They may only return.") from error
            if isinstance(request, Step):
                self._ask(request, task)
                return
            if isinstance(request, _Spawn):
                value = self.spawn(_as_coroutine(request.what))
            elif isinstance(request, Task):
                other = cast("Task[Any]", request)
                if not other.done:
                    other.waiting.append(task)
                    return
                value = None
            else:
                raise ScriptError(
                    f"A format awaited {type(request).__name__}; it may only await steps, `together` and what "
                    "`stage.start` gives. Formats do no I/O: move it into a step."
                )

    def _finish(self, task: Task[Any], result: Any, error: Exception | None) -> None:
        self._unfinished -= 1
        if task is self._main and isinstance(result, Outcome):
            task.channel.items.append(Shown(type=VERDICT, data=result.model_dump(mode="json")))
        task.finish(result, error)
        if task is self._main:
            if error is not None:
                raise ScriptError(f"The rules did not handle a limit: {error}") from error
            if self._unfinished:
                raise ScriptError(
                    f"The rules ended while steps are open: {', '.join(self.open)}. Await what you start."
                )
            return
        for waiting in task.waiting:
            self._advance(waiting, None)

    def _ask(self, step: Step, task: Task[Any]) -> None:
        if step.key in self._asked:
            raise ScriptError(f"The rules ask for {step.key!r} twice; a key is unique in its debate.")
        self._check_event(step.shows)
        self._asked.add(step.key)
        self.open[step.key] = step
        self._waiters[step.key] = task
