"""What a run may use."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one run, over all its processes together."""

    wall_seconds: float = 60.0
    cpu_seconds: float = 60.0
    memory_bytes: int = 512 * MEGABYTE
    processes: int = 64  # threads count, too
    output_bytes: int = 64 * 1024  # more is thrown away, and said to be
    results_bytes: int = 8 * MEGABYTE  # more ends the run
    scratch_bytes: int = 64 * MEGABYTE  # of the writable folder, where there is one
    scratch_files: int = 10_000
