"""Requests while another process holds the SQLite database."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from moot.store.patience import patience
from tests.holding import held
from tests.server.serving import served


def test_what_is_read_is_answered_and_what_is_written_is_refused_soon(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("moot.server.guard.REQUEST_SECONDS", 0.5)
    monkeypatch.setattr(patience.get(), "seconds", math.inf)  # what has no patience of its own waits for the release
    with served(tmp_path) as server:
        done = server.completed(settings={"max_rounds": 1})
        with held(tmp_path / "moot.db") as holder:
            assert server.debate(done["id"])["status"] == "completed"
            assert len(server.get("/v1/debates").json()["items"]) == 1
            refused = server.ask()
            assert refused.status_code == 503
            assert refused.json()["type"] == "urn:moot:problem:store-unavailable"
            assert "can't write to its database just now" in refused.json()["detail"]
            assert "Another process holds the database" in caplog.text, "the log says why"
            assert int(refused.headers["Retry-After"]) > 0
            holder.release()
        assert len(server.get("/v1/debates").json()["items"]) == 1, "what was refused is not stored"
        assert server.completed(settings={"max_rounds": 1})["id"] != done["id"]
