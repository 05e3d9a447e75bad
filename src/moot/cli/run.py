"""Commands that drive a debate in this process: debate, resume, retry, fork."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from moot import formats
from moot.app import App, person
from moot.cli import record
from moot.cli.blocks import DEMONSTRATION, RenderContext
from moot.cli.commands import DONE, FAILED, INTERRUPTED
from moot.cli.download import Download
from moot.cli.follow import Follower
from moot.cli.gate import LOOK_SECONDS, already_answered, ask_or_learn, can_ask
from moot.cli.interrupts import Interrupts
from moot.cli.printer import note
from moot.cli.session import find_debate, open_app, open_database
from moot.cli.views import View, view_of
from moot.cli.words import count, exit_code, listed, money, next_step, progress, rating, spent
from moot.core.errors import InputError, MootError, WrongStatus
from moot.core.lifecycle import running_seconds
from moot.core.settings import MAX_TOPIC_CHARS
from moot.core.types import Debate, Gate, Json
from moot.estimate import Estimate, estimated
from moot.planning import Plan
from moot.reasoning.fence import one_line
from moot.request import Request, merged, read_assignments, read_effort, read_spec, read_topic

HINT = "Ctrl-C stops"
RESUME_LOOKS = 7  # about two seconds
FLAGS = {
    "rounds": "max_rounds",
    "turns": "turns",
    "stance": "a_stance",
    "sides": "sides",
    "perspectives": "perspectives",
}

Take = Callable[[str], Awaitable[Debate]]


async def debate(args: Namespace) -> int:
    if args.list:
        from moot.cli import browse  # it imports this module

        filters = dict.fromkeys(("status", "format", "contains", "parent", "after"))
        return await browse.list(Namespace(db=args.db, json=args.json, limit=20, **filters))
    if args.resume:
        return await resume(Namespace(**{**vars(args), "id": args.resume, "all": False}))
    download = Download()
    async with open_app(args, download) as app:
        plan = app.plan(requested(args))
        if args.detach:
            app.workers_queue()  # refused before anything is written
        runtime = await open_database(app)
        created = await app.create(plan, remedy="--set recall_decisions=true")
        if args.detach:
            return await _hand_over(app, created)
        notes = [*choices(plan), size(await estimated(app, plan))]
        return await drive(app, args, created, runtime.start, download, notes=notes)


async def resume(args: Namespace) -> int:
    if args.all:
        if args.id:
            raise InputError("Give an id or --all, not both.")
        return await _resume_all(args)
    if not args.id:
        raise InputError("Which debate? `moot resume ID`, or `moot resume --all` for those whose process died.")
    download = Download()
    async with open_app(args, download) as app:
        found = await find_debate(app, args.id)
        app.check(found)  # refused before anything changes, rather than failed at the first step
        await app.check_budget(found.token_id)
        if args.detach:
            return await _hand_over(app, found)
        pending = found.status == "pending"
        return await drive(app, args, found, app.runtime.start if pending else app.runtime.resume, download)


async def retry(args: Namespace) -> int:
    download = Download()
    async with open_app(args, download) as app:
        found = await find_debate(app, args.id)
        app.check(found)  # refused before anything changes, rather than failed at the first step
        await app.check_budget(found.token_id)
        return await drive(app, args, found, app.runtime.retry, download)


async def fork(args: Namespace) -> int:
    changes = read_assignments(args.assignments)
    download = Download()
    async with open_app(args, download) as app:
        parent = await find_debate(app, args.id)
        if args.at is None and parent.outcome is not None:
            last = (await app.runtime.store.turns(parent.id))[-1].key
            raise InputError(
                f"Debate {parent.short} is complete: say which step to ask anew, for example --at {last}. "
                f"`moot show {parent.short}` has each step's key."
            )
        made = await app.fork(parent.id, args.at, changes, guidance=args.guide)
        if args.no_run:
            print(made.id)
            note(f"It has the {count(made.turn_count, 'turn')} before that step. {next_step(made)}")
            return DONE
        return await drive(app, args, made, app.runtime.start, download)


def requested(args: Namespace) -> Request:
    """The request that flags and spec file describe. Flags win over the file, `--set` over other flags."""
    spec = read_spec(Path(args.file)) if args.file is not None else Request()
    question = _from_stdin() if args.question == "-" else args.question
    if question is not None and spec.topic and read_topic(question) != read_topic(spec.topic):
        raise InputError(f"The question and the topic in {args.file} differ; give one of them.")
    if question is None and args.file is None:
        raise InputError('What is the question? moot "Should we use Redis or PostgreSQL for caching?"')
    format_ = args.format or spec.format
    topic = read_topic(spec.topic if question is None else question)
    settings = merged(merged(spec.settings, _flags(args, format_)), read_assignments(args.assignments))
    return Request(topic=topic, format=format_, settings=settings, effort=read_effort(args.effort) or spec.effort)


def _flags(args: Namespace, format_: str | None) -> Json:
    """Settings from flags. Without a format, they are among what decides which it is."""
    settings: Json = {}
    chosen = None if format_ in (None, formats.AUTO) else formats.get(format_ or "")
    names = FLAGS if chosen is None else {**FLAGS, f"{chosen.unit}s": chosen.length}
    for flag, name in names.items():
        value = getattr(args, flag)
        if value is None:
            continue
        if chosen is not None and name not in chosen.settings.model_fields:
            has = [f"--{other}" for other, its_name in names.items() if its_name in chosen.settings.model_fields]
            raise InputError(f"The format {format_!r} has no --{flag}; it has {listed(has) if has else 'only --set'}.")
        settings[name] = value
    if args.no_checkpoints:
        able = [chosen] if chosen is not None else [each for each in formats.installed().values() if each.unattended]
        if not able or not able[0].unattended:
            raise InputError(f"The format {format_!r} has no checkpoints to leave out.")
        settings |= able[0].unattended
    if args.model is not None:
        settings |= {"model_debater": args.model, "model_judge": args.model}
    if args.judge_model is not None:
        settings["model_judge"] = args.judge_model
    return settings


def _from_stdin() -> str:
    if sys.stdin.isatty():
        note("Type the question, then Ctrl-D.")
    try:
        # More than can be used, so that too much is noticed.
        return sys.stdin.buffer.read(200 * MAX_TOPIC_CHARS).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("The question on standard input is not UTF-8 text.") from None


def choices(plan: Plan) -> list[str]:
    """Notes that say which model was chosen for which seats, and why."""
    notes: list[str] = []
    for spec, reason in plan.reasons.items():
        seats = [seat.name for seat in plan.cast if seat.model == spec]
        if seats:
            whom = "everyone" if len(seats) == len(plan.cast) else listed(seats)
            notes.append(f"Model for {whom}: {spec}, because {reason}.")
    notes = [*plan.notes, *notes]
    return [*notes, DEMONSTRATION] if plan.demonstration else notes


def size(estimate: Estimate) -> str:
    """How large a debate is at full length."""
    usage = estimate.usage
    calls = f"{count(estimate.calls, 'call')}{' and more' if estimate.counted_in_part else ''}"
    return f"At full length: {calls}, {count(usage.tokens_out, 'token')} written, {money(usage.cost_usd)}."


async def drive(
    app: App, args: Namespace, debate: Debate, take: Take, download: Download, notes: Sequence[str] = ()
) -> int:
    """Drive a debate in this process until it rests, showing its events. `take` starts or resumes it."""
    context = RenderContext.of(debate, demonstration=app.is_demonstration(debate))
    view = view_of(args, context, hint=HINT, download=download)
    # Only new events are shown; a new debate has none yet but that it is pending.
    after = debate.last_seq if debate.started_at is not None else 0
    for text in notes:
        view.note(text)
    if after:
        await app.learn(context.wording, debate)  # names of seats are in events that are not shown again
        view.note(f"Debate {debate.short}, {progress(debate)}: {one_line(debate.topic, 100)}")
    interrupts = Interrupts(app.runtime, view.note)
    with interrupts.caught():
        await take(debate.id)
        interrupts.drives([debate.id])
        try:
            left = await Follower(app.runtime, debate.id, view).follow(after)
            while left.debate.status == "waiting" and can_ask(args) and await _asked(app, left.debate, interrupts):
                left = await Follower(app.runtime, debate.id, view).follow(left.debate.last_seq)
        except BrokenPipeError:
            await _leave(app, debate)
            raise
    debate = await app.runtime.store.get(debate.id) if left.debate.status == "waiting" else left.debate
    await close_with(app, args, view, debate, interrupted=left.interrupted)
    if can_ask(args):
        await record.offer(app, debate)
    return INTERRUPTED if interrupts.at_once and debate.status == "stopped" else exit_code(debate)


async def _hand_over(app: App, debate: Debate) -> int:
    queued = await app.hand_over(debate)
    print(queued.id)
    note(f"The workers drive it. Follow it with: moot watch {queued.short}")
    return DONE


async def _asked(app: App, waiting: Debate, interrupts: Interrupts) -> bool:
    """Ask the debate's question at the terminal. Returns False if it stays open."""
    gate = await _open_gate(app, waiting)
    if gate is None:
        return True
    asking = asyncio.create_task(ask_or_learn(app, gate))
    interrupted = asyncio.create_task(interrupts.came.wait())
    await asyncio.wait({asking, interrupted}, return_when=asyncio.FIRST_COMPLETED)
    interrupted.cancel()
    given = asking.result() if asking.done() else None
    asking.cancel()
    await asyncio.gather(asking, interrupted, return_exceptions=True)
    if given is None:
        await app.runtime.expire()
        return (await app.runtime.store.get(waiting.id)).status != "waiting"  # what has become of it is shown
    if not isinstance(given, Gate):
        try:
            await app.runtime.answer(waiting.id, given, by=person(), key=gate.key)
        except WrongStatus:
            return await _open_gate(app, waiting, gate.key) is None  # someone else was faster
        await go_on(app, waiting.id)
        return True
    note(already_answered(given))
    await _resumed(app, waiting)
    return True


async def _open_gate(app: App, waiting: Debate, key: str | None = None) -> Gate | None:
    """The question to ask; None if it has been answered meanwhile, which is said."""
    try:
        return await app.runtime.open_gate(waiting.id, key)
    except WrongStatus:
        decided = [gate for gate in await app.runtime.store.gates(waiting.id) if gate.status == "decided"]
        if not decided:
            raise
        note(already_answered(decided[-1]))
        await _resumed(app, waiting)
        return None


async def _resumed(app: App, waiting: Debate) -> None:
    """Wait until the process in which a question was answered resumes the debate; resume it here if none does."""
    for _ in range(RESUME_LOOKS):
        if (await app.runtime.store.get(waiting.id)).status != "waiting":
            return
        await asyncio.sleep(LOOK_SECONDS)
    with suppress(WrongStatus):
        await go_on(app, waiting.id)


async def go_on(app: App, debate_id: str) -> Debate:
    """Resume after an answer. On a shared store a worker may have resumed it already."""
    try:
        return await app.runtime.resume(debate_id)
    except WrongStatus:
        if not app.runtime.store.shared:
            raise
        return await app.runtime.store.get(debate_id)


async def close_with(app: App, args: Namespace, view: View, debate: Debate, *, interrupted: bool = False) -> None:
    """Print the summary and the next step."""
    if not args.json:
        await summary(app, view, debate)
    view.note(next_step(debate, interrupted=interrupted))


async def summary(app: App, view: View, debate: Debate) -> None:
    seconds = running_seconds(await app.events(debate.id))
    parts = [debate.status, progress(debate), *spent(debate, seconds)]
    parts += [rating(debate)] if debate.user_rating is not None else []
    view.note(f"Debate {debate.short}: {', '.join(parts)}.")


async def _leave(app: App, debate: Debate) -> None:
    """Stop the debate because its output is no longer read, so that it costs nothing more."""
    with suppress(MootError):  # it has just ended by itself
        await app.runtime.stop(debate.id, now=True)
    left = await app.runtime.wait(debate.id)
    if left.status == "stopped":
        note(f"The output is no longer read, so debate {left.short} was stopped. {next_step(left)}")


async def _resume_all(args: Namespace) -> int:
    async with open_app(args) as app:
        if not app.database.exists():
            note("There are no debates yet.")
            return DONE
        interrupts = Interrupts(await open_database(app), note)
        with interrupts.caught():
            left: list[Debate] = []
            # Those that must not be driven beside others are found again when the others have come to rest.
            while taken := await app.runtime.recover():
                interrupts.drives([each.id for each in taken])
                note(f"{count(len(taken), 'interrupted debate')} found.")
                left += await asyncio.gather(*(_follow_quietly(app, args, each) for each in taken))
                if interrupts.at_once or {each.id for each in taken} & {each.id for each in left[: -len(taken)]}:
                    break
            if not left:
                note("No debate lost its process.")
    if interrupts.at_once and any(each.status == "stopped" for each in left):
        return INTERRUPTED
    return _worst([exit_code(each) for each in left])


async def _follow_quietly(app: App, args: Namespace, debate: Debate) -> Debate:
    """Wait for a debate's end and print one line; with --json, print its events."""
    context = RenderContext.of(debate, demonstration=app.is_demonstration(debate))
    if args.json:
        left = await Follower(app.runtime, debate.id, view_of(args, context)).follow(debate.last_seq)
        return left.debate
    note(f"{debate.short} goes on: {one_line(debate.topic, 100)}")
    ended = await app.runtime.wait(debate.id)
    headline = ended.outcome.headline if ended.outcome else ended.error.message if ended.error else ""
    label = f" {DEMONSTRATION}" if ended.outcome and context.demonstration else ""
    print(f"{ended.short} {ended.status}{': ' if headline else ''}{one_line(headline)}{label}", flush=True)
    note(next_step(ended))
    return ended


def _worst(codes: Sequence[int]) -> int:
    return FAILED if FAILED in codes else max(codes, default=DONE)
