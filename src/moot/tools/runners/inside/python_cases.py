"""Makes calls to Python code, each in a forked process of its own. Runs inside the sandbox.

The code never runs in this process, which alone holds the descriptor for results: a child can say what its own call
gave, and nothing else. What was expected is not known in here at all.

Input: frames of `marshal`: the settings, with the versions of the code, then for each call the number of its version
and its statements. Results: a frame for each call.
"""

from __future__ import annotations

import builtins
import gc
import marshal
import os
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any, cast

RESULTS = 3
LENGTH = struct.Struct(">I")
TOKEN = struct.Struct(">cI")
REPORT = struct.Struct(">IIIi?")  # ms, CPU µs, peak in KB, how the process ended, whether it was for its time
MAX_MESSAGE = 2000
LOOK_SECONDS = 0.05
MODULE = "solution"
CALL_READ, CALL_UNREADABLE = b"C", b"I"  # the first byte of a child: it is written before the code has run


class Unreadable(Exception):
    pass


def make_encode(depth_limit: int, size_limit: int) -> Callable[[Any], bytes]:
    """A function that writes a value as tokens. It looks at exact types alone, and at names that it has kept: code that
    replaces built-ins, or makes classes that pass for others, does not change what it does."""
    kinds: dict[type, bytes] = {list: b"l", tuple: b"t", set: b"S", frozenset: b"F"}
    exactly = cast("Callable[[Any], Any]", type)
    length, join, pack = len, b"".join, TOKEN.pack
    text, number, real, raw = str, int, float, bytes
    to_text, to_hex, to_repr, to_raw = str.encode, int.__format__, float.__repr__, bytes.hex
    items: Callable[[Any], Any] = vars(dict)["items"]
    real_part: Callable[[Any], float] = vars(complex)["real"].__get__
    imaginary_part: Callable[[Any], float] = vars(complex)["imag"].__get__
    nothing, yes, no, mapping, two_parts = None, True, False, dict, complex

    def parts(value: Any, depth: int) -> Iterator[bytes]:
        if depth > depth_limit:
            raise Unreadable(f"It is nested more than {depth_limit} deep.")
        kind = exactly(value)
        if value is nothing:
            yield pack(b"n", 0)
        elif value is yes or value is no:
            yield pack(b"b", 1) + (b"1" if value is yes else b"0")
        elif kind is text:
            content = to_text(value, "utf-8", "surrogatepass")
            yield pack(b"s", length(content)) + content
        elif kind is number:
            content = to_text(to_hex(value, "x"), "ascii")
            yield pack(b"i", length(content)) + content
        elif kind is real:
            content = to_text(to_repr(value), "ascii")
            yield pack(b"f", length(content)) + content
        elif kind is raw:
            content = to_text(to_raw(value), "ascii")
            yield pack(b"y", length(content)) + content
        elif kind is two_parts:
            content = to_text(f"{to_repr(real_part(value))},{to_repr(imaginary_part(value))}", "ascii")
            yield pack(b"c", length(content)) + content
        elif kind is mapping:
            for key, item in items(value):
                yield from parts(key, depth + 1)
                yield from parts(item, depth + 1)
            yield pack(b"d", length(value))
        elif kind in kinds:
            for item in value:
                yield from parts(item, depth + 1)
            yield pack(kinds[kind], length(value))
        else:
            raise Unreadable(f"It holds a {kind.__name__}, which is no built-in value.")

    def encode(value: Any) -> bytes:
        made: list[bytes] = []
        size = 0
        for part in parts(value, 0):
            size += length(part)
            if size > size_limit:
                raise Unreadable(f"It is longer than {size_limit:,} bytes.")
            made.append(part)
        return join(made)

    return encode


def fields(*texts: str) -> bytes:
    made: list[bytes] = []
    for text in texts:
        content = text.encode("utf-8", "backslashreplace")[:MAX_MESSAGE]
        made.append(LENGTH.pack(len(content)) + content)
    return b"".join(made)


def words_of(error: BaseException) -> str:
    """What an exception says, if it can be got to say anything."""
    try:
        return str(error)
    except BaseException:
        return ""


def make_name_of() -> Callable[[BaseException], str]:
    """A function that names the class of an exception. One that has the name of a built-in exception, and is another
    class, is named as the code's own: `solution.IndexError`."""
    known = {name: each for name, each in vars(builtins).items() if isinstance(each, type)}
    exactly = cast("Callable[[Any], Any]", type)
    plain_name: Callable[[Any], str] = vars(type)["__name__"].__get__
    prefix = f"{MODULE}."

    def name_of(error: BaseException) -> str:
        kind = exactly(error)
        name = plain_name(kind)
        return name if name not in known or known[name] is kind else prefix + name

    return name_of


def steps_of(call: list[str]) -> list[CodeType]:
    """The statements of a call, compiled. Raises SyntaxError, ValueError, RecursionError or MemoryError."""
    return [compile(text, "call", "eval" if _is_expression(text) else "exec") for text in call]


def perform(code: str, steps: list[CodeType], encode: Callable[[Any], bytes]) -> bytes:
    """Run the code and then the call; gives the message for outside."""
    to_fields, to_words, compiled, run, evaluate = fields, words_of, compile, exec, eval
    name_of = make_name_of()
    module = ModuleType(MODULE)
    module.__file__ = f"{MODULE}.py"
    sys.modules[MODULE] = module
    space = module.__dict__
    space["__builtins__"] = builtins
    value: Any = None
    try:
        run(compiled(code, f"{MODULE}.py", "exec"), space)
        for step in steps:
            value = evaluate(step, space)
    except BaseException as error:
        return b"E" + to_fields(name_of(error), to_words(error))
    try:
        return b"R" + encode(value)
    except Unreadable as why:
        return b"U" + to_fields(type(value).__name__, to_words(why))
    except BaseException as error:
        return b"U" + to_fields(type(value).__name__, to_words(error))


def _is_expression(text: str) -> bool:
    try:
        compile(text, "call", "eval")
    except SyntaxError:
        return False
    return True


def child(settings: dict[str, Any], code: str, call: list[str], tell: int) -> None:
    write, leave, size = os.write, os._exit, LENGTH.pack
    encode = make_encode(settings["depth"], settings["value_bytes"])
    os.close(RESULTS)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    most = int(settings["cpu_seconds"]) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    gc.enable()
    try:
        steps = steps_of(call)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = fields(type(error).__name__, words_of(error))
        write(tell, CALL_UNREADABLE + size(len(why)) + why)
        leave(0)
        raise AssertionError from None
    write(tell, CALL_READ)
    message = perform(code, steps, encode)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    message = size(len(message)) + message
    while message:
        message = message[write(tell, message) :]
    leave(0)


def make(settings: dict[str, Any], code: str, call: list[str]) -> bytes:
    """One call, in a child that is killed when its time is over, with all that it has started."""
    ready, tell = os.pipe()
    begun = time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ready)
            child(settings, code, call, tell)
        finally:
            os._exit(1)
    os.close(tell)
    message, late = listen(ready, pid, settings, begun)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    _, status, used = os.wait4(pid, 0)
    os.close(ready)
    report = REPORT.pack(
        min(round((time.monotonic() - begun) * 1000), 0xFFFFFFFF),
        min(round((used.ru_utime + used.ru_stime) * 1_000_000), 0xFFFFFFFF),
        used.ru_maxrss,
        os.waitstatus_to_exitcode(status),
        late,
    )
    return report + message


def listen(ready: int, pid: int, settings: dict[str, Any], begun: float) -> tuple[bytes, bool]:
    """The whole message of a child, or nothing; and whether its time was over. That the call can't be read is believed
    only if it is said before the code has run."""
    heard = bytearray()
    begin = 1 + LENGTH.size
    most = settings["value_bytes"] + LENGTH.size + 1
    processor = ((~pid) << 3) | 2  # the clock of its CPU time
    poll = select.poll()
    poll.register(ready, select.POLLIN)
    while True:
        used = cpu_of(processor)
        if used > settings["cpu_seconds"] or time.monotonic() - begun > settings["wall_seconds"]:
            return b"", True
        if not poll.poll(LOOK_SECONDS * 1000):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            return b"", False  # it has ended; someone else holds its end of the pipe
        part = os.read(ready, 1 << 16)
        if not part:
            return b"", False
        heard += part
        if len(heard) >= begin:
            (size,) = LENGTH.unpack_from(heard, 1)
            if size > most:
                return b"", False
            if len(heard) >= begin + size:
                message = bytes(heard[begin : begin + size])
                if bytes(heard[:1]) == CALL_UNREADABLE:
                    return CALL_UNREADABLE + message, False
                return (b"" if message[:1] == CALL_UNREADABLE else message), False


def cpu_of(clock: int) -> float:
    try:
        return time.clock_gettime(clock)
    except OSError:
        return 0.0


def frames() -> Iterator[Any]:
    while head := os.read(0, LENGTH.size):
        (size,) = LENGTH.unpack(head)
        content = b""
        while len(content) < size:
            content += os.read(0, size - len(content))
        yield marshal.loads(content)


def main() -> None:
    given = frames()
    settings: dict[str, Any] = next(given)
    sys.argv = [f"{MODULE}.py"]
    gc.disable()
    gc.freeze()
    for version, call in given:
        report = make(settings, settings["versions"][version], call)
        os.write(RESULTS, LENGTH.pack(len(report)) + report)


if __name__ == "__main__":
    main()
