"""A sandbox for programs that no one vouches for: bubblewrap, a system-call filter and a supervisor for each run.

docs/sandbox.md says what is promised, and what to do on a machine that refuses it.
"""

from moot.tools.sandbox.errors import SandboxDied, SandboxUnavailable
from moot.tools.sandbox.limits import Limits
from moot.tools.sandbox.mounts import Mount
from moot.tools.sandbox.probe import Standing
from moot.tools.sandbox.recipe import Job
from moot.tools.sandbox.sandbox import PROCESS, Run, Sandbox

__all__ = [
    "PROCESS",
    "Job",
    "Limits",
    "Mount",
    "Run",
    "Sandbox",
    "SandboxDied",
    "SandboxUnavailable",
    "Standing",
]
