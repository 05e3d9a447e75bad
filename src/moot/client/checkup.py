"""Checks that everything a debate may need can be used: models, formats, memory, plug-ins."""

from __future__ import annotations

from collections.abc import Sequence

from moot.app import App
from moot.core.errors import InputError, ModelError
from moot.core.types import TIERS
from moot.doors import DOORS
from moot.models.check import Finding, probe
from moot.request import Request
from moot.runtime.executors import Executors
from moot.runtime.executors.ask import REHEARSAL_MODEL
from moot.runtime.rehearsal import missing_words as words_missing
from moot.runtime.rehearsal import rehearse


async def check_models(app: App, specs: Sequence[str]) -> list[Finding]:
    """Check each model with a short call."""
    findings: list[Finding] = []
    for spec in specs:
        try:
            app.models.check(spec)
            findings += await probe(app.models.open(spec), spec)
        except (InputError, ModelError) as error:
            findings.append(Finding(ok=False, what=f"model {spec}", fix=str(error)))
    return findings


async def check_formats(app: App) -> list[Finding]:
    """Rehearse each format with simulated answers."""
    wrong = await missing_words(app)
    findings = [Finding(ok=False, what=f"the format {name}", fix=problem) for name, problem in wrong.items()]
    well = ", ".join(name for name in app.formats if name not in wrong)
    return [*findings, Finding(ok=True, what=f"the formats {well} have all their words")]


async def missing_words(app: App) -> dict[str, str]:
    """Rehearse every usable format; return what went wrong or has no words, by format."""
    found: dict[str, str] = {}
    models = {f"model_{tier}": REHEARSAL_MODEL for tier in TIERS}
    for name, format_ in app.formats.items():
        topic = format_.examples[0].topic if format_.examples else "Is it so?"
        plan = app.plan(Request(topic=topic, format=name, settings=models))
        rehearsals = [await rehearse(format_, plan.debate, Executors(app.models), seed) for seed in range(3)]
        if problems := dict.fromkeys(each for made in rehearsals for each in words_missing(format_, made)):
            found[name] = " ".join(problems)
    return found


async def check_memory(app: App) -> list[Finding]:
    """Check the embedder, if one is configured, and the user's templates."""
    findings = [Finding(ok=False, what="a template of yours", fix=each) for each in app.memory.library.problems]
    try:
        embedder = app.models.embedder() if app.settings.embedder else None
        if embedder is not None:
            await embedder(["Yes."])
            findings.append(Finding(ok=True, what=f"the embedder {embedder.name} answers"))
    except (InputError, ModelError) as error:
        findings.append(Finding(ok=False, what=f"the embedder {app.settings.embedder}", fix=str(error)))
    return findings


def check_plugins() -> list[Finding]:
    """Import every plug-in; say which can't be used and why, and which packages bring the others."""
    findings: list[Finding] = []
    packages: dict[str, list[str]] = {}
    for door in DOORS:
        for problem in door.broken():
            what = f"the {door.noun} {problem.name} ({problem.package})"
            findings.append(Finding(ok=False, what=what, fix=problem.text))
        for name in door.installed():
            if package := door.package(name):
                packages.setdefault(package, []).append(f"{door.noun} {name}")
    findings += [
        Finding(ok=True, what=f"the plug-in {package} brings: {', '.join(brought)}")
        for package, brought in sorted(packages.items())
    ]
    return findings
