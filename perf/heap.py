"""JavaScript heap of the dashboard over minutes: a page on which four debaters stream, and a page that goes from debate
to debate.

Only the models are simulated: the server, the stream and the pages are real."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from moot.core.amounts import count
from moot.core.types import Json
from perf.frames import ALL_STREAMING, CHARACTERS, DEBATERS, FLAGS, chromium, missing_requirement, panel_request
from perf.servers import RunningServer, moot_serve
from perf.table import Goal, Row

FLAT = 1.1  # heap in the end over heap half-way and the text that came since, at most
_ENDLESS = "sim:?tps=200&latency_ms=50&tokens=1000000"
_SHORT = "sim:?tps=200&latency_ms=50&tokens=300"
_TIMEOUT_MS = 120_000
_SIZE = {"width": 1440, "height": 900}


def measure(folder: Path, *, seconds: float = 600) -> list[Row]:
    streams = f"heap of a page on which {DEBATERS} debaters stream for {seconds / 60:.3g} minutes"
    missing = missing_requirement()
    if missing:
        return [Row(name=streams, error=missing)]
    with moot_serve(folder, folder / "moot.db") as server:
        streaming, walking = _samples(server, seconds)
    characters = streaming[-1]["characters"] - streaming[0]["characters"]
    note = f"after garbage collection; {characters:,} characters were written meanwhile"
    return [
        _row(streams, streaming, note),
        _row(
            f"heap of a page that showed {count(len(walking) - 1, 'debate')}, one after the other",
            walking,
            "seen when it was left",
        ),
    ]


def _row(name: str, samples: list[Json], note: str) -> Row:
    chosen = [samples[at] for at in (0, len(samples) // 2, -1)]
    start, middle, end = (each["bytes"] / 2**20 for each in chosen)
    text = (chosen[2]["characters"] - chosen[1]["characters"]) / 2**20  # a byte each
    nodes = ", ".join(f"{each['nodes']:,}" for each in chosen)
    since = f" and {text:.3g} MiB of text since" if text else ""
    return Row(
        name=name,
        value=end,
        unit="MiB",
        reference=middle + text,
        against=f"{middle:.3g} MiB half-way{since}; {start:.3g} MiB at the start",
        goal=Goal(sign="<=", bound=FLAT),
        note=f"{note}; DOM nodes at the start, half-way and in the end: {nodes}",
        details={"samples": samples},
    )


def _samples(server: RunningServer, seconds: float) -> tuple[list[Json], list[Json]]:
    """Samples of a page that streams, and of one that goes from debate to debate."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            streaming, walking = _Heap(browser), _Heap(browser)
            endless = server.post("/v1/debates", panel_request(_ENDLESS))
            streaming.page.goto(f"{server.url}/debates/{endless['id']}")
            streaming.page.wait_for_function(ALL_STREAMING)
            walking.page.goto(server.url)
            _walk(server, walking.page)  # what is loaded once is there before the first sample
            until = time.monotonic() + seconds
            streaming.sample()
            walking.sample()
            while time.monotonic() < until:
                _walk(server, walking.page)
                walking.sample()
                streaming.sample()
            server.post(f"/v1/debates/{endless['id']}/cancel", {})
        finally:
            browser.close()
    if streaming.samples[-1]["characters"] <= streaming.samples[0]["characters"]:
        raise RuntimeError("no text was drawn during the measurement")
    return streaming.samples, walking.samples


def _walk(server: RunningServer, page: Any) -> None:
    """Start a debate, open it from the list, watch it to its end and leave it for a page that looks always the same."""
    debate = server.post("/v1/debates", panel_request(_SHORT))
    page.click("nav a[href='/']")
    page.click(f"main a[href='/debates/{debate['id']}']")
    page.locator("section.answer").wait_for()  # the handle of an element would keep it in memory
    page.click("a[href='/new']")
    page.locator("main textarea").first.wait_for()


class _Heap:
    """A page of its own browser context, and samples of its heap."""

    def __init__(self, browser: Any) -> None:
        self.page = browser.new_context(viewport=_SIZE).new_page()
        self.page.set_default_timeout(_TIMEOUT_MS)
        self.samples: list[Json] = []
        self._cdp = self.page.context.new_cdp_session(self.page)
        self._cdp.send("Performance.enable")
        self._started = time.monotonic()

    def sample(self) -> None:
        self._cdp.send("HeapProfiler.collectGarbage")
        used: float = self._cdp.send("Runtime.getHeapUsage")["usedSize"]
        metrics = {each["name"]: each["value"] for each in self._cdp.send("Performance.getMetrics")["metrics"]}
        self.samples.append(
            {
                "seconds": time.monotonic() - self._started,
                "bytes": used,
                "characters": self.page.evaluate(CHARACTERS),
                "nodes": int(metrics["Nodes"]),
                "listeners": int(metrics["JSEventListeners"]),
            }
        )
