"""Commands that drive a debate in this process: debate, resume, retry, fork."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from moot.cli import record
from moot.cli.blocks import DEMONSTRATION, RenderContext
from moot.cli.commands import DONE, FAILED, INTERRUPTED
from moot.cli.delivery import Delivery, delivery_of, refuse_out
from moot.cli.download import Download
from moot.cli.follow import Follower
from moot.cli.gate import LOOK_SECONDS, already_answered, ask_or_learn, can_ask
from moot.cli.interrupts import Interrupts
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.cli.stdin import is_piped, read_question
from moot.cli.views import View, view_of
from moot.cli.words import exit_code, next_step, progress, rating, spent
from moot.client import Client
from moot.client.shorthand import SHORT, settings_of
from moot.core.amounts import count
from moot.core.errors import InputError, MootError, WrongStatus
from moot.core.lifecycle import DriveVerb, running_seconds
from moot.core.types import Debate, Gate
from moot.planning import Plan
from moot.reasoning.fence import one_line
from moot.request import Request, merged, read_assignments, read_effort, read_spec, read_topic

HINT = "Ctrl-C stops"
RESUME_LOOKS = 7  # about two seconds

Take = Callable[[], Awaitable[Debate]]


async def debate(args: Namespace) -> int:
    if args.list:
        from moot.cli import browse  # it imports this module

        filters = dict.fromkeys(("status", "format", "contains", "parent", "follows", "tag", "after"))
        return await browse.list(
            Namespace(db=args.db, json=args.json, limit=20, pinned=False, archived=False, **filters)
        )
    if args.resume:
        return await resume(Namespace(**{**vars(args), "id": args.resume, "all": False}))
    download = Download()
    async with open_client(args, download) as client:
        plan = await client.plan(requested(args, client), here=not args.detach)
        if args.detach:
            client.app.workers_queue()  # refused before anything is written
        created = await client.create(plan, start=False, remedy="--set recall_decisions=true")
        if args.detach:
            return await _hand_over(client, created)
        notes = [*choices(plan), (await client.estimate(plan)).words]
        return await drive(client, args, created, lambda: client.go_on(created, "start"), download, notes=notes)


async def resume(args: Namespace) -> int:
    if args.all:
        if args.id:
            raise InputError("Give an id or --all, not both.")
        refuse_out(args, "--all is about many debates")
        return await _resume_all(args)
    if not args.id:
        raise InputError("Which debate? `moot resume ID`, or `moot resume --all` for those whose process died.")
    download = Download()
    async with open_client(args, download) as client:
        await client.expire()  # a question whose time is over is not asked again
        found = await client.find(args.id, "run")
        await client.check_ready(found)
        if args.detach:
            refuse_out(args, "--detach leaves it to the workers")
            return await _hand_over(client, found)
        delivery = delivery_of(args, found)
        verb: DriveVerb = "start" if found.status == "pending" else "resume"
        return await drive(client, args, found, lambda: client.go_on(found, verb), download, delivery=delivery)


async def retry(args: Namespace) -> int:
    download = Download()
    async with open_client(args, download) as client:
        found = await client.find(args.id, "run")
        await client.check_ready(found)
        delivery = delivery_of(args, found)
        return await drive(client, args, found, lambda: client.go_on(found, "retry"), download, delivery=delivery)


async def fork(args: Namespace) -> int:
    changes = read_assignments(args.assignments)
    download = Download()
    async with open_client(args, download) as client:
        parent = await client.find(args.id, "run")
        if args.no_run:
            refuse_out(args, "--no-run only creates it")
        delivery = delivery_of(args, parent)
        made = await client.fork(parent, args.at, changes, guidance=args.guide, start=False)
        if args.no_run:
            print(made.id)
            note(f"It has the {count(made.turn_count, 'turn')} before that step. {next_step(made)}")
            return DONE
        return await drive(client, args, made, lambda: client.go_on(made, "start"), download, delivery=delivery)


def requested(args: Namespace, client: Client) -> Request:
    """The request that flags and spec file describe. Flags win over the file, `--set` over other flags."""
    spec = read_spec(Path(args.file)) if args.file is not None else Request()
    piped = args.question is None and args.file is None and is_piped()
    question = read_question() if piped or args.question == "-" else args.question
    if question is not None and spec.topic and read_topic(question) != read_topic(spec.topic):
        raise InputError(f"The question and the topic in {args.file} differ; give one of them.")
    if question is None and args.file is None:
        raise InputError('What is the question? moot "Should we use Redis or PostgreSQL for caching?"')
    format_ = args.format or spec.format
    topic = read_topic(spec.topic if question is None else question)
    flags = settings_of(
        client.app,
        format_,
        {name: getattr(args, name) for name in SHORT},
        model=args.model,
        judge_model=args.judge_model,
        checkpoints=not args.no_checkpoints,
        spelled=lambda name: f"--{name.replace('_', '-')}",
    )
    settings = merged(merged(spec.settings, flags), read_assignments(args.assignments))
    return Request(
        topic=topic,
        format=format_,
        settings=settings,
        effort=read_effort(args.effort) or spec.effort,
        private=args.private or spec.private,
        follows=args.follows,
    )


def choices(plan: Plan) -> list[str]:
    """Notes that say what was chosen, and why."""
    notes = [*plan.notes, *plan.choices]
    return [*notes, DEMONSTRATION] if plan.demonstration else notes


async def drive(
    client: Client,
    args: Namespace,
    debate: Debate,
    take: Take,
    download: Download,
    notes: Sequence[str] = (),
    *,
    delivery: Delivery | None = None,
) -> int:
    """Drive a debate in this process until it rests, showing its events. `take` starts or resumes it. `delivery`: what
    it delivers when it ends; without it, code that is the answer is part of the verdict."""
    demonstration = client.is_demonstration(debate)
    context = RenderContext.of(debate, demonstration=demonstration, shows_code=delivery is None)
    view = view_of(args, context, hint=HINT, download=download)
    # Only new events are shown; a new debate has none yet but that it is pending.
    after = debate.last_seq if debate.started_at is not None else 0
    for text in notes:
        view.note(text)
    if after:
        await client.learn(context.wording, debate)  # names of seats are in events that are not shown again
        view.note(f"Debate {debate.short}, {progress(debate)}: {one_line(debate.topic, 100)}")
    interrupts = Interrupts(client, view.note)
    with interrupts.caught():
        await take()
        interrupts.drives([debate])
        try:
            left = await Follower(client, debate, view).follow(after)
            while left.debate.status == "waiting" and can_ask(args) and await _asked(client, left.debate, interrupts):
                left = await Follower(client, debate, view).follow(left.debate.last_seq)
        except BrokenPipeError:
            await _leave(client, debate)
            raise
    debate = await client.store.get(debate.id) if left.debate.status == "waiting" else left.debate
    await close_with(client, args, view, debate, interrupted=left.interrupted)
    code = INTERRUPTED if interrupts.at_once and debate.status == "stopped" else exit_code(debate)
    if delivery is not None:  # before anything is asked that could be interrupted
        if code == DONE:
            code = delivery.deliver(debate)
        else:
            delivery.postpone(debate)
    if can_ask(args):
        await record.offer(client, debate)
    return code


async def _hand_over(client: Client, debate: Debate) -> int:
    queued = await client.hand_over(debate)
    print(queued.id)
    note(f"The workers drive it. Follow it with: moot watch {queued.short}")
    return DONE


async def _asked(client: Client, waiting: Debate, interrupts: Interrupts) -> bool:
    """Ask the debate's question at the terminal. Returns False if it stays open."""
    gate = await _open_gate(client, waiting)
    if gate is None:
        return True
    asking = asyncio.create_task(ask_or_learn(client, gate))
    interrupted = asyncio.create_task(interrupts.came.wait())
    await asyncio.wait({asking, interrupted}, return_when=asyncio.FIRST_COMPLETED)
    interrupted.cancel()
    given = asking.result() if asking.done() else None
    asking.cancel()
    await asyncio.gather(asking, interrupted, return_exceptions=True)
    if given is None:
        await client.expire()
        return (await client.store.get(waiting.id)).status != "waiting"  # what has become of it is shown
    if not isinstance(given, Gate):
        try:
            await client.answer(waiting, given.choice, given.text, key=gate.key, go_on=False)
        except WrongStatus:
            return await _open_gate(client, waiting, gate.key) is None  # someone else was faster
        await go_on(client, waiting)
        return True
    note(already_answered(given))
    await _resumed(client, waiting)
    return True


async def _open_gate(client: Client, waiting: Debate, key: str | None = None) -> Gate | None:
    """The question to ask; None if it has been answered meanwhile, which is said."""
    try:
        return await client.open_gate(waiting, key)
    except WrongStatus:
        decided = [gate for gate in await client.gates(waiting) if gate.status == "decided"]
        if not decided:
            raise
        note(already_answered(decided[-1]))
        await _resumed(client, waiting)
        return None


async def _resumed(client: Client, waiting: Debate) -> None:
    """Wait until the process in which a question was answered resumes the debate; resume it here if none does."""
    for _ in range(RESUME_LOOKS):
        if (await client.store.get(waiting.id)).status != "waiting":
            return
        await asyncio.sleep(LOOK_SECONDS)
    with suppress(WrongStatus):
        await go_on(client, waiting)


async def go_on(client: Client, debate: Debate) -> Debate:
    """Resume after an answer. On a shared store a worker may have resumed it already."""
    try:
        return await client.dispatcher.dispatch(debate.id, "resume")
    except WrongStatus:
        if not client.store.shared:
            raise
        return await client.store.get(debate.id)


async def close_with(client: Client, args: Namespace, view: View, debate: Debate, *, interrupted: bool = False) -> None:
    """Print the summary and the next step."""
    if not args.json:
        await summary(client, view, debate)
    view.note(next_step(debate, interrupted=interrupted))


async def summary(client: Client, view: View, debate: Debate) -> None:
    seconds = running_seconds(await client.events(debate))
    parts = [debate.status, progress(debate), *spent(debate, seconds)]
    parts += [rating(debate)] if debate.user_rating is not None else []
    view.note(f"Debate {debate.short}: {', '.join(parts)}.")


async def _leave(client: Client, debate: Debate) -> None:
    """Stop the debate because its output is no longer read, so that it costs nothing more."""
    with suppress(MootError):  # it has just ended by itself
        await client.stop(debate, now=True)
    left = await client.app.runtime.wait(debate.id)
    if left.status == "stopped":
        note(f"The output is no longer read, so debate {left.short} was stopped. {next_step(left)}")


async def _resume_all(args: Namespace) -> int:
    async with open_client(args) as client:
        if not client.app.has_database:
            note("There are no debates yet.")
            return DONE
        runtime = await client.app.open()
        interrupts = Interrupts(client, note)
        with interrupts.caught():
            left: list[Debate] = []
            # Those that must not be driven beside others are found again when the others have come to rest.
            while taken := await runtime.recover():
                interrupts.drives(taken)
                note(f"{count(len(taken), 'interrupted debate')} found.")
                left += await asyncio.gather(*(_follow_quietly(client, args, each) for each in taken))
                if interrupts.at_once or {each.id for each in taken} & {each.id for each in left[: -len(taken)]}:
                    break
            if not left:
                note("No debate lost its process.")
    if interrupts.at_once and any(each.status == "stopped" for each in left):
        return INTERRUPTED
    return _worst([exit_code(each) for each in left])


async def _follow_quietly(client: Client, args: Namespace, debate: Debate) -> Debate:
    """Wait for a debate's end and print one line; with --json, print its events."""
    context = RenderContext.of(debate, demonstration=client.is_demonstration(debate))
    if args.json:
        left = await Follower(client, debate, view_of(args, context)).follow(debate.last_seq)
        return left.debate
    note(f"{debate.short} goes on: {one_line(debate.topic, 100)}")
    ended = await client.app.runtime.wait(debate.id)
    headline = ended.outcome.headline if ended.outcome else ended.error.message if ended.error else ""
    label = f" {DEMONSTRATION}" if ended.outcome and context.demonstration else ""
    print(f"{ended.short} {ended.status}{': ' if headline else ''}{one_line(headline)}{label}", flush=True)
    note(next_step(ended))
    return ended


def _worst(codes: Sequence[int]) -> int:
    return FAILED if FAILED in codes else max(codes, default=DONE)
