"""Gates: the commands `gates` and `answer`, and asking at the terminal while a debate runs."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from argparse import Namespace
from contextlib import suppress
from dataclasses import replace

from moot.cli.commands import DONE
from moot.cli.delivery import delivery_of, refuse_out
from moot.cli.download import Download
from moot.cli.printer import note
from moot.cli.session import open_client
from moot.client import Client
from moot.client.answering import Words, read_words
from moot.core.amounts import count
from moot.core.errors import InputError
from moot.core.gates import TIMED_OUT
from moot.core.types import Gate
from moot.reasoning.fence import clean, one_line
from moot.store import Store

LOOK_SECONDS = 0.3  # between two looks whether a question that is asked here was answered elsewhere


async def gates(args: Namespace) -> int:
    async with open_client(args) as client:
        await client.expire()
        found = await client.find(args.id) if args.id else None
        waiting = [gate for gate in await client.gates(found) if gate.status == "open"]
        for gate in waiting:
            print(f"{gate.debate_id[:8]}  {gate.kind}  {gate.key}  {_until(gate)}")
            print(f"  {clean(one_line(gate.question, 200))}")
            print(f"  moot answer {gate.debate_id[:8]} {'|'.join(gate.choices) or 'WORDS'}")
        note(f"{count(len(waiting), 'question')} open." if waiting else "No question is open.")
    return DONE


async def answer(args: Namespace) -> int:
    from moot.cli.run import drive, go_on

    download = Download()
    async with open_client(args, download) as client:
        found = await client.find(args.id, "decide")
        if args.no_run:
            refuse_out(args, "--no-run only answers")
        delivery = delivery_of(args, found)
        gate = await client.open_gate(found, args.key)
        if args.words:
            given = read_words(gate, " ".join(args.words))
        elif can_ask(args):
            print(clean(gate.question))
            answered = await ask_or_learn(client, gate)
            if isinstance(answered, Gate):
                note(already_answered(answered))
                return DONE
            if answered is None:
                return DONE
            given = answered
        else:
            raise InputError(f"{one_line(gate.question, 300)} Answer with: moot answer {found.short} {_how(gate)}")
        decided = await client.answer(found, given.choice, given.text, key=gate.key, go_on=False)
        note(f"Answered {decided.key}.")
        if args.no_run:
            note(f"Go on with: moot resume {found.short}")
            return DONE
        debate = await client.store.get(found.id)
        return await drive(client, args, debate, lambda: go_on(client, debate), download, delivery=delivery)


def can_ask(args: Namespace) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not getattr(args, "json", False)


async def ask_or_learn(client: Client, gate: Gate) -> Words | Gate | None:
    """Ask at the terminal until the question is answered, here or elsewhere. Returns the answer typed here; the gate if
    it was decided elsewhere; None if it stays open or is no longer asked."""
    asking = asyncio.create_task(ask(gate))
    elsewhere = asyncio.create_task(_no_longer_open(client.store, gate))
    try:
        await asyncio.wait({asking, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
        if not elsewhere.done():
            return asking.result()
        print()
        forget_typed()
        return elsewhere.result()
    finally:
        asking.cancel()
        elsewhere.cancel()
        await asyncio.gather(asking, elsewhere, return_exceptions=True)


async def _no_longer_open(store: Store, gate: Gate) -> Gate | None:
    """Wait until the gate is decided by anyone; return None if its debate no longer waits for it."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        now = next((each for each in await store.gates(gate.debate_id) if each.key == gate.key), None)
        if now is not None and now.status == "decided":
            return now
        if now is None or (await store.get(gate.debate_id)).status != "waiting":
            return None


def forget_typed() -> None:
    """Discard what was typed for a question that is no longer asked, so that it can't answer the next one."""
    if sys.platform == "win32":
        return
    import termios

    with suppress(termios.error):  # not a terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def already_answered(gate: Gate) -> str:
    """Who has answered a question, when and with which words."""
    given = gate.decision or {}
    words = one_line(": ".join(filter(None, map(str, (given.get("choice", ""), given.get("text", ""))))), 200)
    when = "" if gate.decided_at is None else f", at {time.strftime('%H:%M', time.localtime(gate.decided_at))}"
    if gate.reviewer == TIMED_OUT:
        return f"No one answered in time, so it was decided without an answer: {words or 'nothing to add'}{when}."
    return f"Already answered: {words or 'nothing to add'}, by {one_line(gate.reviewer or 'someone')}{when}."


async def ask(gate: Gate) -> Words | None:
    """Ask at the terminal; Enter takes the first choice. Returns None at the end of the input or of the gate's time."""
    while True:
        if not gate.choices:
            line = await _line("> ", gate.expires_at)
            return None if line is None else Words(text=line)
        print("  ".join(f"[{choice[0].upper()}]{choice[1:]}" for choice in gate.choices))
        line = await _line("> ", gate.expires_at)
        if line is None:
            return None
        try:
            given = read_words(gate, line or gate.choices[0])
        except InputError as error:
            note(str(error))
            continue
        if given.choice == "guide" and not given.text:
            text = await _line("Your guidance: ", gate.expires_at)
            if not text:
                continue
            given = replace(given, text=text)
        return given


async def confirm(question: str) -> bool:
    """Ask a yes-or-no question at the terminal. Enter and the end of the input mean no."""
    return (await _line(f"{question} [y/N] ") or "").casefold() in ("y", "yes")


async def _line(prompt: str, until: float | None = None) -> str | None:
    """Read a line from the terminal in the event loop, since a blocked thread could not be stopped."""
    loop, terminal = asyncio.get_running_loop(), sys.stdin.fileno()
    got: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        if not got.done():
            got.set_result(os.read(terminal, 65536))

    print(prompt, end="", flush=True)
    loop.add_reader(terminal, read)
    try:
        line = await asyncio.wait_for(got, None if until is None else max(0.0, until - time.time()))
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
    if gate.expires_at <= time.time():
        return "timed out, but can still be answered"
    minutes = max(0, round((gate.expires_at - time.time()) / 60))
    return f"{count(minutes, 'minute')} left"
