"""Checks what debates about code need: the sandbox, and the programs that run and check code in it."""

from __future__ import annotations

from moot.app import App
from moot.core.amounts import listed
from moot.core.errors import InputError
from moot.models.check import Finding
from moot.runtime.threads import in_thread
from moot.tools.checks import linters, servers
from moot.tools.git.snapshots import git_version
from moot.tools.runners.declared import Runners
from moot.tools.runners.toolchain import installed, node
from moot.tools.sandbox import PROCESS
from moot.tools.sandbox.mounts import interpreter

INSTALL = 'Install them with: pip install "moot[forge]"'


async def check_code(app: App) -> list[Finding]:
    """Try to get out of the sandbox, and name what runs and checks code. Without a sandbox, the formats that need one
    are unavailable; the machine is none the worse for all others."""
    standing = await PROCESS.probe()
    if standing.problem is None:
        return [Finding(ok=True, what=str(standing)), *await in_thread(lambda: _programs(app))]
    needed = [name for name, each in app.formats.items() if "code" in each.needs]
    who = f"the format{'s' * (len(needed) > 1)} {listed(needed)} can't be used: no code can be run"
    return [
        Finding(
            ok=True,
            lacks=True,
            what=f"{who if needed else 'no code can be run here'}. {standing.problem.what}",
            fix=standing.problem.fix,
        )
    ]


def _programs(app: App) -> list[Finding]:
    """What is missing takes nothing but itself away, so it is named and not wrong."""
    javascript = node()
    there = {
        "python": f"Python {interpreter().version}",
        "node": f"Node {javascript.version}" if javascript else "",
        "git": git_version(),
    }
    findings = [Finding(ok=True, what=f"code is run with {', '.join(filter(None, there.values()))}")]
    lacking = [name for name, version in there.items() if not version]
    findings += [Finding(ok=True, what=f"not installed: {', '.join(lacking)}")] if lacking else []
    missing = linters.missing(linters.LINTERS)
    checks = [f"{tool} {installed(tool)}" for tool in linters.LINTERS if tool not in missing]
    findings += [Finding(ok=True, what=f"code is checked with {', '.join(checks)}")] if checks else []
    if missing:
        what = f"check tools that are not installed: {', '.join(missing)}; what they would find is never known"
        findings.append(Finding(ok=True, what=what, fix=INSTALL))
    return [*findings, *_servers(app), *_languages(app)]


def _servers(app: App) -> list[Finding]:
    listed_servers = app.settings.language_servers
    missing = [name for name, server in listed_servers.items() if servers.located(server) is None]
    there = [name for name in listed_servers if name not in missing]
    findings = (
        [Finding(ok=True, what=f"code is checked by the language server{'s' * (len(there) > 1)} {listed(there)}")]
        if there
        else []
    )
    for name in missing:
        what = f"the language server {name} is not installed; what it would find is never known"
        fix = f"Install it so that {listed_servers[name].command[0]!r} is found, or take it out of language_servers."
        findings.append(Finding(ok=False, what=what, fix=fix))
    return findings


def _languages(app: App) -> list[Finding]:
    try:
        Runners(app.runners_file)
    except InputError as error:
        return [Finding(ok=False, what="your list of languages", fix=str(error))]
    return []
