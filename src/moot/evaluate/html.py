"""The report as one self-contained page: no script, no network, charts drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

from moot.core.types import Json
from moot.evaluate.costs import accuracy_over_cost
from moot.evaluate.model_grading import grading_in_words
from moot.evaluate.more import about_arms, added, more_about_arms
from moot.evaluate.plans import called
from moot.evaluate.power import few
from moot.evaluate.sentences import advice, figures, missing
from moot.evaluate.sentences import cost as shown_cost

WIDTH, ROW, LEFT, RIGHT = 760, 26, 190, 60
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:860px;margin:2rem auto;padding:0 1rem;color:#1c1c1c;"
    "background:#fff}table{border-collapse:collapse;width:100%;font-size:13px}td,th{text-align:left;"
    "padding:.25rem .6rem;border-bottom:1px solid #ddd}svg{width:100%;height:auto}"
    "text{font:12px system-ui,sans-serif;fill:#1c1c1c}"
    "h2{margin-top:2rem}.wrong{color:#a40000}code{font-size:12px}p.finding{border-left:3px solid #4361a0;"
    "padding-left:.7rem}"
)
INK, SOFT, GRID = "#4361a0", "#b9770e", "#ddd"


def page(report: Json, dashboard: str = "") -> str:
    """The whole file. `dashboard`: the address of one, to which items link."""
    title = f"Evaluation {report['evaluation'][:8]}: {report['task']}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{_about(report)}</p>",
    ]
    if report["failed"]:
        parts += ["<h2>Debates that failed</h2>", _failures(report, dashboard)]
    if report["complete"]:
        parts += [
            "<h2>Findings</h2>",
            *(_finding(each, report["unit"]) for each in report["comparisons"]),
            f"<p>{escape(advice(report))}</p>" if advice(report) else "",
            "<h2>How often each is right</h2>",
            _intervals(report),
            _table(*about_arms(report)),
            "<h2>More about each arm</h2>",
            _table(*more_about_arms(report)),
            "<h2>Accuracy over cost</h2>",
            _curve(report),
            _table(*accuracy_over_cost(report)),
            "<h2>Differences, item by item</h2>",
            _forest(report),
            "<h2>What the debate changed</h2>",
            _transitions(report),
            "<h2>Can confidence be believed?</h2>",
            _reliability(report),
            "<h2>Items</h2>",
            _items(report, dashboard),
        ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _finding(comparison: Json, unit: str) -> str:
    said, beside = escape(str(comparison["sentence"])), escape(figures(comparison, unit))
    return f'<p class="finding">{said} <small>[{beside}]</small></p>'


def _about(report: Json) -> str:
    spent = report["spent"]
    money = "at an unknown price" if spent["usd"] is None else f"${spent['usd']:.4f}"
    words = (
        f"{report['complete']} of {report['items']} items complete, by {', '.join(report['models'])}; seed "
        f"{report['seed']}; {money}, {spent['tokens_out']:,} tokens written. Cost is counted in {report['unit']}."
    )
    if graded := grading_in_words(report["graded_by"]):
        words += f" {graded}"
    words = " ".join([words, *missing(report), few(report)]).strip()
    return escape(words)


def _svg(height: float, *marks: str, label: str) -> str:
    body = "".join(marks)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">{body}</svg>'


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = INK, width: float = 2) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{colour}" stroke-width="{width}"/>'


def _dot(x: float, y: float, colour: str = INK, size: float = 4) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>'


def _scale(value: float, low: float, high: float) -> float:
    return LEFT + (value - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)


def _grid(values: Sequence[float], low: float, high: float, height: float, unit: str = "%") -> str:
    return "".join(
        _line(_scale(v, low, high), 8, _scale(v, low, high), height - 18, GRID, 1)
        + _text(_scale(v, low, high), height - 4, f"{v * 100:g}{unit}", "middle")
        for v in values
    )


def _intervals(report: Json) -> str:
    shown = [(name, each, SOFT) for name, each in report["baselines"].items() if each["n"]]
    shown += [(name, each, INK) for name, each in report["arms"].items()]
    height = len(shown) * ROW + 34
    marks = [_grid((0, 0.25, 0.5, 0.75, 1), 0, 1, height)]
    for n, (name, each, colour) in enumerate(shown):
        y = 20 + n * ROW
        low, high = each["interval"]
        marks += [
            _text(0, y + 4, name),
            _line(_scale(low, 0, 1), y, _scale(high, 0, 1), y, colour),
            _dot(_scale(each["accuracy"], 0, 1), y, colour),
            _text(WIDTH - 4, y + 4, f"{each['accuracy']:.1%}", "end"),
        ]
    return _svg(height, *marks, label="accuracy of each arm with its 95% interval")


def _curve(report: Json) -> str:
    points: list[tuple[float, float]] = [(each["cost"], each["accuracy"]) for each in report["curve"]]
    arms: list[Json] = report["standing"]["arms"]
    most = max([cost for cost, _ in points] + [each["cost"] for each in arms] + [1e-12])
    height = 280

    def x(cost: float) -> float:
        return 60 + cost / most * (WIDTH - 60 - RIGHT)

    def y(accuracy: float) -> float:
        return 34 + (1 - accuracy) * (height - 78)

    marks = [
        _line(60, y(v), WIDTH - RIGHT, y(v), GRID, 1) + _text(52, y(v) + 4, f"{v:.0%}", "end")
        for v in (0, 0.25, 0.5, 0.75, 1)
    ]
    for (a, b), (c, d) in pairwise(points):
        marks.append(_line(x(a), y(b), x(c), y(d), SOFT))
    marks += [_dot(x(cost), y(right), SOFT, 3) for cost, right in points]
    for each in arms:
        at, right = x(each["cost"]), y(each["accuracy"])
        if each["samples_accuracy"] is not None:
            marks.append(_equal_cost(at, right, x(each["samples_cost"]), y(each["samples_accuracy"])))
        side, anchor = (-8, "end") if at > WIDTH / 2 else (8, "start")
        marks += [_dot(at, right, INK if each["debate"] else SOFT), _text(at + side, right - 8, each["arm"], anchor)]
    drawn = report["standing"]["baseline"]
    marks += [
        _text(60, height - 24, "0", "middle"),
        _text(WIDTH - RIGHT, height - 24, f"{shown_cost(most, report['unit'])} an item", "end"),
        _dot(64, 12, SOFT, 3),
        _text(74, 16, f"{drawn}, by samples"),
        _ring(314, 12),
        _text(324, 16, "as many samples as an arm costs"),
    ]
    return _svg(height, *marks, label="accuracy over cost: samples of the pool, and arms")


def _equal_cost(x1: float, y1: float, x2: float, y2: float) -> str:
    """From an arm to the samples that cost as much."""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="{INK}" stroke-width="1" stroke-dasharray="3 3"/>{_ring(x2, y2)}'


def _ring(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="{INK}" stroke-width="1.5"/>'


def _forest(report: Json) -> str:
    rows = report["comparisons"]
    ends = [abs(end) for each in rows for end in each["interval"]]
    most = min(1.0, max([0.05, *ends]))
    height = len(rows) * ROW + 34
    marks = [_grid((-most, 0, most), -most, most, height, "")]
    for n, each in enumerate(rows):
        y, (low, high) = 20 + n * ROW, each["interval"]
        marks += [
            _text(0, y + 4, f"{each['arm']} – {each['baseline']}"),
            _line(_scale(low, -most, most), y, _scale(high, -most, most), y),
            _dot(_scale(each["difference"], -most, most), y),
            _text(WIDTH - 4, y + 4, f"{each['difference'] * 100:+.1f}", "end"),
        ]
    return _svg(height, *marks, label="paired differences with 95% intervals, in points")


def _transitions(report: Json) -> str:
    rows: list[Sequence[Any]] = []
    for name, each in report["arms"].items():
        moved = each["first_vote"]
        if moved:
            listed = "; ".join(f"{key}: {count}" for key, count in moved["transitions"].items())
            gain = added(moved["added"])
            rows.append((name, f"{moved['accuracy']:.1%}", gain, moved["repaired"], moved["broken"], listed))
    if not rows:
        return "<p>No arm has answers from before its debate.</p>"
    return _table(("arm", "vote before the debate", "added, in points", "repaired", "broken", "all changes"), rows)


def _reliability(report: Json) -> str:
    parts: list[str] = []
    for name, each in report["arms"].items():
        for source, found in each["calibration"].items():
            if not found:
                continue
            size = 180.0
            marks = [_line(10, size - 10, size - 10, 10, GRID, 1)]
            for bin_ in found["reliability"]:
                x, y = (10 + bin_["confidence"] * (size - 20), size - 10 - bin_["accuracy"] * (size - 20))
                marks.append(_dot(x, y, INK, 3 + min(5.0, bin_["n"] ** 0.5 / 3)))
            frame = 'viewBox="0 0 180 180" style="width:180px" role="img" aria-label="reliability"'
            drawn = f"<svg {frame}>{''.join(marks)}</svg>"
            words = f"{name}, {source}: Brier {found['brier']:.3f}, ECE {found['ece']:.3f}, {found['n']} answers"
            parts.append(
                f'<figure style="display:inline-block;width:200px;margin:.5rem">{drawn}'
                f"<figcaption>{escape(words)}</figcaption></figure>"
            )
    return "".join(parts) or "<p>No arm states or implies a confidence.</p>"


def _items(report: Json, dashboard: str) -> str:
    rows: list[Sequence[Any]] = [
        (
            each["item"],
            each["epoch"],
            called(each["arm"]),
            "none" if each["answer"] is None else str(each["answer"])[:80],
            "right" if each["right"] else "wrong",
            _debate(each["debate"], dashboard),
        )
        for each in report["cells"]
    ]
    return _table(("item", "epoch", "arm", "answer", "", "debate"), rows)


def _failures(report: Json, dashboard: str) -> str:
    rows: list[Sequence[Any]] = [
        (each["item"], each["epoch"], called(each["arm"]), each["cause"], _debate(each["debate"], dashboard))
        for each in report["failed"]
    ]
    return _table(("item", "epoch", "arm", "cause", "debate"), rows)


class _Html(str):
    """Text that is escaped already."""


def _debate(id: str, dashboard: str) -> _Html:
    """A link to a debate, or the command that shows it."""
    if not dashboard:
        return _Html(f"<code>moot show {escape(id)}</code>")
    return _Html(f'<a href="{escape(dashboard.rstrip("/"))}/debates/{escape(id)}">{escape(id[:8])}</a>')


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    top = "".join(f"<th>{escape(each)}</th>" for each in head)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return value if isinstance(value, _Html) else escape(str(value))
