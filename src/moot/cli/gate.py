"""What debates ask people: gates, answer; and the question at the terminal while a debate runs."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from argparse import Namespace

from moot.app import person
from moot.cli.commands import DONE
from moot.cli.door import database, find, opened
from moot.cli.download import Download
from moot.cli.paper import note
from moot.cli.words import count, one_line
from moot.errors import InputError
from moot.reasoning.fence import clean
from moot.types import Gate, Json


async def gates(args: Namespace) -> int:
    async with opened(args) as app:
        if not app.database.exists():
            note("No debate waits for anybody.")
            return DONE
        runtime = await database(app)
        await runtime.expire()
        found = await find(app, args.id) if args.id else None
        waiting = [gate for gate in await runtime.store.gates(found.id if found else None) if gate.status == "open"]
        for gate in waiting:
            print(f"{gate.debate_id[:8]}  {gate.kind}  {gate.key}  {_until(gate)}")
            print(f"  {clean(one_line(gate.question, 200))}")
            print(f"  moot answer {gate.debate_id[:8]} {'|'.join(gate.choices) or 'WORDS'}")
        note(f"{count(len(waiting), 'question')} open." if waiting else "No debate waits for anybody.")
    return DONE


async def answer(args: Namespace) -> int:
    from moot.cli.run import drive, go_on

    download = Download()
    async with opened(args, download) as app:
        found = await find(app, args.id)
        gate = await app.runtime.open_gate(found.id, args.key)
        if args.words:
            given = read_words(gate, args.words)
        elif can_ask(args):
            print(clean(gate.question))
            given = await ask(gate)
            if given is None:
                return DONE
        else:
            raise InputError(f"{one_line(gate.question, 300)} Answer with: moot answer {found.short} {_how(gate)}")
        decided = await app.runtime.answer(found.id, given, by=person(), key=gate.key)
        note(f"Answered {decided.key}.")
        if args.no_run:
            note(f"Go on with: moot resume {found.short}")
            return DONE
        debate = await app.runtime.store.get(found.id)
        return await drive(app, args, debate, lambda debate_id: go_on(app, debate_id), download)


def read_words(gate: Gate, words: list[str]) -> Json:
    """`guide look at cost` as choice and text; a choice can be shortened to its first letter."""
    if not gate.choices:
        return {"text": " ".join(words)}
    first = words[0].casefold()
    fits = [choice for choice in gate.choices if first and choice.startswith(first)]
    if len(fits) != 1:
        raise InputError(f"{words[0]!r} is not a choice here. Choose one of: {', '.join(gate.choices)}.")
    return {"choice": fits[0], "text": " ".join(words[1:])}


def can_ask(args: Namespace) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not getattr(args, "json", False)


async def ask(gate: Gate) -> Json | None:
    """Ask at the terminal. Enter takes the first choice; None when the input or the time ends."""
    while True:
        if not gate.choices:
            line = await _line("> ", gate)
            return None if line is None else {"text": line}
        print("  ".join(f"[{choice[0].upper()}]{choice[1:]}" for choice in gate.choices))
        line = await _line("> ", gate)
        if line is None:
            return None
        try:
            given = read_words(gate, line.split() or [gate.choices[0]])
        except InputError as error:
            note(str(error))
            continue
        if given["choice"] == "guide" and not given["text"]:
            text = await _line("Your guidance: ", gate)
            if not text:
                continue
            given["text"] = text
        return given


async def _line(prompt: str, gate: Gate) -> str | None:
    """A line from the terminal, read by the event loop: a thread that waits for one could not be stopped."""
    loop, terminal = asyncio.get_running_loop(), sys.stdin.fileno()
    got: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        if not got.done():
            got.set_result(os.read(terminal, 65536))

    print(prompt, end="", flush=True)
    loop.add_reader(terminal, read)
    try:
        line = await asyncio.wait_for(got, None if gate.expires_at is None else max(0.0, gate.expires_at - time.time()))
    except TimeoutError:
        return None
    finally:
        loop.remove_reader(terminal)
    return clean(line.decode("utf-8", "replace")).strip() if line else None


def _how(gate: Gate) -> str:
    return "|".join(gate.choices) if gate.choices else '"your words"'


def _until(gate: Gate) -> str:
    if gate.expires_at is None:
        return "no time limit"
    minutes = max(0, round((gate.expires_at - time.time()) / 60))
    return f"{count(minutes, 'minute')} left"
