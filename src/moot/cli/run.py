"""Commands that drive a debate in this process: debate, resume, retry, fork."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from moot import formats
from moot.app import App, Plan, person
from moot.cli.blocks import DEMONSTRATION, Scene
from moot.cli.commands import DONE, FAILED, INTERRUPTED
from moot.cli.door import database, find, opened
from moot.cli.download import Download
from moot.cli.follow import Follower
from moot.cli.gate import ask, can_ask
from moot.cli.interrupts import Interrupts
from moot.cli.lines import View, view_of
from moot.cli.paper import note
from moot.cli.words import count, exit_code, listed, next_step, one_line, progress, rating, spent
from moot.errors import InputError, MootError, WrongStatus
from moot.limits import Spent
from moot.request import Request, merged, read_assignments, read_spec, read_topic
from moot.settings import MAX_TOPIC_CHARS
from moot.types import Debate, Json

HINT = "Ctrl-C stops"
FLAGS = {"rounds": "max_rounds", "turns": "turns", "stance": "a_stance", "perspectives": "perspectives"}

Take = Callable[[str], Awaitable[Debate]]


async def debate(args: Namespace) -> int:
    if args.list:
        from moot.cli import look  # it needs this module

        filters = dict.fromkeys(("status", "format", "contains", "parent", "after"))
        return await look.list(Namespace(db=args.db, json=args.json, limit=20, **filters))
    if args.resume:
        return await resume(Namespace(**{**vars(args), "id": args.resume, "all": False}))
    download = Download()
    async with opened(args, download) as app:
        plan = app.plan(requested(args, app.settings.format))
        if args.detach:
            app.workers_queue()  # refused before anything is written
        runtime = await database(app)
        created = await app.create(plan)
        if args.detach:
            return await _hand_over(app, created)
        return await drive(app, args, created, runtime.start, download, notes=choices(plan))


async def resume(args: Namespace) -> int:
    if args.all:
        if args.id:
            raise InputError("Give an id or --all, not both.")
        return await _resume_all(args)
    if not args.id:
        raise InputError("Which debate? `moot resume ID`, or `moot resume --all` for those whose process died.")
    download = Download()
    async with opened(args, download) as app:
        found = await find(app, args.id)
        app.check(found)  # refused before anything changes, rather than failed at the first step
        if args.detach:
            return await _hand_over(app, found)
        pending = found.status == "pending"
        return await drive(app, args, found, app.runtime.start if pending else app.runtime.resume, download)


async def retry(args: Namespace) -> int:
    download = Download()
    async with opened(args, download) as app:
        found = await find(app, args.id)
        app.check(found)  # refused before anything changes, rather than failed at the first step
        return await drive(app, args, found, app.runtime.retry, download)


async def fork(args: Namespace) -> int:
    changes = read_assignments(args.assignments)
    download = Download()
    async with opened(args, download) as app:
        parent = await find(app, args.id)
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


def requested(args: Namespace, default_format: str) -> Request:
    """What the flags and the file ask for. Flags win over the file, `--set` over other flags."""
    spec = read_spec(Path(args.file)) if args.file is not None else Request()
    question = _from_stdin() if args.question == "-" else args.question
    if question is not None and spec.topic and read_topic(question) != read_topic(spec.topic):
        raise InputError(f"The question and the topic in {args.file} differ; give one of them.")
    if question is None and args.file is None:
        raise InputError('What is the question? moot "Should we use Redis or PostgreSQL for caching?"')
    format_ = args.format or spec.format or default_format
    topic = read_topic(spec.topic if question is None else question)
    settings = merged(merged(spec.settings, _flags(args, format_)), read_assignments(args.assignments))
    return Request(topic=topic, format=format_, settings=settings)


def _flags(args: Namespace, format_: str) -> Json:
    settings: Json = {}
    known = formats.get(format_).settings.model_fields
    for flag, name in FLAGS.items():
        value = getattr(args, flag)
        if value is None:
            continue
        if name not in known:
            has = [f"--{other}" for other, its_name in FLAGS.items() if its_name in known]
            raise InputError(f"The format {format_!r} has no --{flag}; it has {listed(has) if has else 'only --set'}.")
        settings[name] = value
    if args.no_checkpoints:
        if "checkpoints" not in known:
            raise InputError(f"The format {format_!r} has no checkpoints to leave out.")
        settings["checkpoints"] = False
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
    """Which model speaks for whom, and why."""
    said: list[str] = []
    for spec, reason in plan.reasons.items():
        seats = [seat.name for seat in plan.cast if seat.model == spec]
        if seats:
            whom = "everyone" if len(seats) == len(plan.cast) else listed(seats)
            said.append(f"Model for {whom}: {spec}, because {reason}.")
    return [*said, DEMONSTRATION] if plan.demonstration else said


async def drive(
    app: App, args: Namespace, debate: Debate, take: Take, download: Download, notes: Sequence[str] = ()
) -> int:
    """Drive one debate here until it rests, and show what happens."""
    scene = Scene.of(debate, demonstration=app.is_demonstration(debate))
    view = view_of(args, scene, hint=HINT, download=download)
    # What a new debate has recorded by now is only that it is pending; of an older one the reader knows the beginning.
    after = debate.last_seq if debate.started_at is not None else 0
    for text in notes:
        view.note(text)
    if after:
        # Who the seats turned out to be was told in events that are not shown again.
        for event in await app.runtime.store.events(debate.id):
            scene.names.update(event.data.get("names", {}) if event.type == "CAST" else {})
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
    return INTERRUPTED if interrupts.at_once and debate.status == "stopped" else exit_code(debate)


async def _hand_over(app: App, debate: Debate) -> int:
    queued = await app.hand_over(debate)
    print(queued.id)
    note(f"The workers go on with it. Follow it with: moot watch {queued.short}")
    return DONE


async def _asked(app: App, waiting: Debate, interrupts: Interrupts) -> bool:
    """Put the debate's question to whoever sits here; False when it stays open."""
    asking = asyncio.create_task(ask(await app.runtime.open_gate(waiting.id)))
    interrupted = asyncio.create_task(interrupts.came.wait())
    await asyncio.wait({asking, interrupted}, return_when=asyncio.FIRST_COMPLETED)
    interrupted.cancel()
    given = asking.result() if asking.done() else None
    asking.cancel()
    if given is None:
        await app.runtime.expire()
        return False
    await app.runtime.answer(waiting.id, given, by=person())
    await go_on(app, waiting.id)
    return True


async def go_on(app: App, debate_id: str) -> Debate:
    """After an answer. Where there are workers, one may have been faster; then it is only followed here."""
    try:
        return await app.runtime.resume(debate_id)
    except WrongStatus:
        if not app.runtime.store.shared:
            raise
        return await app.runtime.store.get(debate_id)


async def close_with(app: App, args: Namespace, view: View, debate: Debate, *, interrupted: bool = False) -> None:
    """The last lines: where it stands, what it took, what to do next."""
    if not args.json:
        await summary(app, view, debate)
    view.note(next_step(debate, interrupted=interrupted))


async def summary(app: App, view: View, debate: Debate) -> None:
    took = Spent()
    for turn in await app.runtime.store.turns(debate.id):
        took.add(turn)
    parts = [debate.status, progress(debate), *spent(debate, took.seconds)]
    parts += [rating(debate)] if debate.user_rating is not None else []
    view.note(f"Debate {debate.short}: {', '.join(parts)}.")


async def _leave(app: App, debate: Debate) -> None:
    """Nobody reads the output any more; nothing more is paid for then."""
    with suppress(MootError):  # it has just ended by itself
        await app.runtime.stop(debate.id, now=True)
    left = await app.runtime.wait(debate.id)
    if left.status == "stopped":
        note(f"Nobody reads the output any more, so debate {left.short} was stopped. {next_step(left)}")


async def _resume_all(args: Namespace) -> int:
    async with opened(args) as app:
        if not app.database.exists():
            note("There are no debates yet.")
            return DONE
        interrupts = Interrupts(await database(app), note)
        with interrupts.caught():
            taken = await app.runtime.recover()
            interrupts.drives([each.id for each in taken])
            note(f"{count(len(taken), 'interrupted debate')} found." if taken else "No debate lost its process.")
            left = await asyncio.gather(*(_follow_quietly(app, args, each) for each in taken))
    if interrupts.at_once and any(each.status == "stopped" for each in left):
        return INTERRUPTED
    return _worst([exit_code(each) for each in left])


async def _follow_quietly(app: App, args: Namespace, debate: Debate) -> Debate:
    """Of many at once only the ends are told; with --json every event of each."""
    scene = Scene.of(debate, demonstration=app.is_demonstration(debate))
    if args.json:
        left = await Follower(app.runtime, debate.id, view_of(args, scene)).follow(debate.last_seq)
        return left.debate
    note(f"{debate.short} goes on: {one_line(debate.topic, 100)}")
    ended = await app.runtime.wait(debate.id)
    headline = (ended.outcome or {}).get("headline") or (ended.error.message if ended.error else "")
    label = f" {DEMONSTRATION}" if ended.outcome and scene.demonstration else ""
    print(f"{ended.short} {ended.status}{': ' if headline else ''}{one_line(headline)}{label}", flush=True)
    note(next_step(ended))
    return ended


def _worst(codes: Sequence[int]) -> int:
    return FAILED if FAILED in codes else max(codes, default=DONE)
