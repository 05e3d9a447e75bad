"""Running git: argument lists only, an environment of its own, and no program that a repository names is run."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from moot.core.errors import ToolError

TIMEOUT_SECONDS = 60.0
MAX_OUTPUT = 16 * 1024 * 1024
AUTHOR = {"NAME": "moot", "EMAIL": "moot@localhost"}

# The only configuration above that of a repository: the user's and the system's are not read.
_GLOBAL = """\
[safe]
	directory = *
[protocol]
	allow = never
[protocol "file"]
	allow = always
[gc]
	auto = 0
[maintenance]
	auto = false
[init]
	defaultBranch = main
[advice]
	detachedHead = false
"""

# What a repository's own configuration can't change: given with each command, these win over it. Each of them could
# otherwise run a program, write to the index, or follow a link out of the tree.
_OVERRIDES = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.symlinks": "false",
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.alternateRefsCommand": "true",  # the program of that name, which prints nothing
    "core.pager": "cat",
    "core.editor": "true",
    "commit.gpgSign": "false",
    "diff.external": "",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "submodule.recurse": "false",
}


class GitError(ToolError):
    """Git could not do what it was asked. `said` is what it printed."""

    def __init__(self, message: str, *, said: str = "") -> None:
        super().__init__(message)
        self.said = said


class GitTooSlow(GitError):
    """Git did not end in time: nothing is known of what it was asked."""


class Git:
    """Runs git for one private folder, which holds its configuration."""

    def __init__(self, home: Path, *, holds: int) -> None:
        """`home` is created; it must belong to moot alone. `holds`: a descriptor that each command keeps open until it
        ends, even if this process is killed."""
        program = shutil.which("git")
        if program is None:
            raise GitError("Git is not installed here. Install it (Debian: the package git), then try again.")
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = home / "gitconfig"
        if not config.exists():
            temporary = home / f"gitconfig.{os.getpid()}"
            temporary.write_text(_GLOBAL)
            temporary.replace(config)
        self._program, self._holds = program, holds
        self._options = [part for name, value in _OVERRIDES.items() for part in ("-c", f"{name}={value}")]
        self._environ = {
            "PATH": os.defpath,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }

    async def __call__(
        self, folder: Path, *arguments: str, given: bytes = b"", environ: Mapping[str, str] | None = None
    ) -> bytes:
        """Run a command of git in a folder and return what it prints. Raises GitError if it fails, takes too long or
        prints too much."""
        process = await asyncio.create_subprocess_exec(
            self._program,
            *self._options,
            *arguments,
            cwd=folder,
            env={**self._environ, **(environ or {})},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(self._holds,),
            start_new_session=True,
        )
        what = f"git {arguments[0]}"
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                printed, said, _ = await asyncio.gather(
                    _read(process.stdout), _read(process.stderr), _write(process.stdin, given)
                )
                code = await process.wait()
        except TimeoutError:
            raise GitTooSlow(f"{what} took longer than {TIMEOUT_SECONDS:g} s and was ended.") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # with the programs that git has started
                await process.wait()
        words = said.decode(errors="replace").strip()
        if code:
            raise GitError(
                f"{what} failed: {words.splitlines()[-1][:300] if words else f'exit code {code}'}", said=words
            )
        return printed

    async def line(self, folder: Path, *arguments: str, **options: Mapping[str, str]) -> str:
        """What a command prints, without white space around it."""
        return (await self(folder, *arguments, environ=options.get("environ"))).decode(errors="replace").strip()


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    assert stream is not None
    found = bytearray()
    while chunk := await stream.read(65_536):
        found += chunk
        if len(found) > MAX_OUTPUT:
            raise GitError(f"Git printed more than {MAX_OUTPUT // 1024 // 1024} MiB, and was ended.")
    return bytes(found)


async def _write(stream: asyncio.StreamWriter | None, given: bytes) -> None:
    assert stream is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it has ended without reading: its exit code says why
        stream.write(given)
        await stream.drain()
    stream.close()
