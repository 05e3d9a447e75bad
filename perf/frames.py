"""Frame rate of the dashboard in Chromium while four debaters stream 200 tokens a second each.

Only the models are simulated: the server, the stream and the page are real."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

from moot.core.types import Json
from moot.server.dashboard import STATIC
from perf.servers import RunningServer, moot_serve
from perf.table import Goal, Row

SMOOTH = 55  # frames a second, of 60
DEBATERS = 4
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_STREAMING = "sim:?tps=200&latency_ms=50&tokens=20000"  # longer than the measurement
_TIMEOUT_MS = 60_000
_SETTINGS: Json = {
    "perspectives": DEBATERS,
    "max_rounds": 1,
    "checkpoints": False,
    "debater_max_tokens": 1_000_000,
    "token_budget_per_round": 0,
    "max_total_output_tokens": 10_000_000,
    "round_timeout_seconds": 3600,
    "max_runtime_seconds": 3600,
    "model_judge": "sim:",
}
_FRAMES = """(seconds) => new Promise((done) => {
  const times = []
  const step = (now) => {
    times.push(now)
    if (now - times[0] < seconds * 1000) requestAnimationFrame(step)
    else done(times)
  }
  requestAnimationFrame(step)
})"""
CHARACTERS = "() => [...document.querySelectorAll('[data-flight]')].reduce((sum, e) => sum + e.textContent.length, 0)"
ALL_STREAMING = f"() => document.querySelectorAll('[data-flight]').length === {DEBATERS}"


def chromium() -> str | None:
    """Path of a Chromium: $CHROMIUM, or the first one on PATH. The shell without a window takes a third less time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def measure(folder: Path, *, seconds: float = 10) -> list[Row]:
    name = f"frames of the dashboard, {DEBATERS} debaters at 200 tokens/s"
    missing = missing_requirement()
    if missing:
        return [Row(name=name, error=missing)]
    with moot_serve(folder, folder / "moot.db") as server:
        idle, drawn, characters = _frames(server, seconds)
    slow, slowest = drawn[int(len(drawn) * 0.99)], drawn[-1]
    return [
        Row(
            name=name,
            value=1000 * len(drawn) / sum(drawn),
            unit=f"/s (1% take {slow:.0f} ms or more, the slowest {slowest:.0f} ms)",
            reference=SMOOTH,
            against=f"{SMOOTH} /s; an empty page in the same browser: {1000 * len(idle) / sum(idle):.3g} /s",
            goal=Goal(sign=">=", bound=1),
            note=f"{characters / seconds:,.0f} characters a second were drawn, in headless Chromium without a GPU",
            details={"frames_ms": drawn, "idle_ms": idle},
        )
    ]


def panel_request(model: str) -> Json:
    """A panel of one round whose debaters speak at once, with `model`."""
    return {"topic": "Four at once?", "format": "panel", "settings": {**_SETTINGS, "model_debater": model}}


def missing_requirement() -> str:
    """What is not there that a measurement in the browser needs, or ""."""
    if chromium() is None:
        return "there is no Chromium on this machine: install one, or name it in CHROMIUM"
    if not (STATIC / "index.html").exists():
        return "the dashboard is not built: make web"
    try:
        import playwright  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        return "Playwright is not installed: pip install playwright"
    return ""


def _frames(server: RunningServer, seconds: float) -> tuple[list[float], list[float], int]:
    """Sorted frame times in ms of an empty page and of a debate that streams, and the characters drawn for it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(_TIMEOUT_MS)
            page.goto("about:blank")
            idle = _frame_times(page, min(3, seconds))
            debate = server.post("/v1/debates", panel_request(_STREAMING))
            page.goto(f"{server.url}/debates/{debate['id']}")
            page.wait_for_function(ALL_STREAMING)
            before: int = page.evaluate(CHARACTERS)
            drawn = _frame_times(page, seconds)
            characters: int = page.evaluate(CHARACTERS) - before
            server.post(f"/v1/debates/{debate['id']}/cancel", {})
        finally:
            browser.close()
    if characters <= 0:
        raise RuntimeError("no text was drawn during the measurement")
    return idle, drawn, characters


def _frame_times(page: Any, seconds: float) -> list[float]:
    times: list[float] = page.evaluate(_FRAMES, seconds)
    return sorted(after - before for before, after in pairwise(times))
