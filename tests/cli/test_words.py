from __future__ import annotations

import pytest

from moot.cli.download import Download
from moot.cli.words import ago, duration, money


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "0.0s"), (9.94, "9.9s"), (42.4, "42s"), (72, "1m 12s"), (3600, "1h 00m"), (7325, "2h 02m")],
)
def test_duration(seconds, said):
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [(None, "cost unknown"), (0.0, "$0"), (0.00001, "under $0.0001"), (0.0031, "$0.0031"), (12.5, "$12.50")],
)
def test_money(usd, said):
    assert money(usd) == said


@pytest.mark.parametrize(("seconds", "said"), [(-5, "just now"), (90, "1m ago"), (7200, "2h ago"), (200_000, "2d ago")])
def test_ago(seconds, said):
    assert ago(1_000_000_000 - seconds, 1_000_000_000) == said


def test_a_download_in_a_pipe_says_two_lines(capsys):
    download = Download()
    for done in range(0, 101, 10):
        download(done * 1_000_000, 100_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "Fetching the embedded model's weights, once (100 MB).",
        "The embedded model's weights are here.",
    ]


def test_a_download_that_something_else_shows(capsys):
    download = Download()
    download.embedded = True
    download(50_000_000, 100_000_000)
    assert "50 of 100 MB" in download.text
    download(100_000_000, 100_000_000)
    assert download.text == ""
    assert capsys.readouterr().err == ""
