"""How the built files are served; no browser is needed for that."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from moot.server.dashboard import PAGES, STATIC, routes
from tests.server.serving import served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>moot</title>")
    (tmp_path / "assets" / "main-ABC.js").write_text("let a = 1\n" * 50)
    (tmp_path / "secret.txt").write_text("no")
    return tmp_path


def client_of(folder: Path) -> TestClient:
    return TestClient(Starlette(routes=routes(folder)))


@pytest.mark.parametrize("path", PAGES)
def test_every_path_of_the_page_is_the_page(folder: Path, path: str):
    response = client_of(folder).get(path.replace("{", "").replace("}", ""))
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert response.headers["cache-control"] == "no-cache"


def test_the_page_is_not_sent_again_while_it_is_the_same(folder: Path):
    client = client_of(folder)
    tag = client.get("/").headers["etag"]
    assert client.get("/", headers={"If-None-Match": tag}).status_code == 304
    (folder / "index.html").write_text("<!doctype html><title>other</title>")
    assert client.get("/", headers={"If-None-Match": tag}).status_code == 200


def test_assets_are_kept_for_good_and_sent_small(folder: Path):
    response = client_of(folder).get("/assets/main-ABC.js", headers={"Accept-Encoding": "gzip"})
    assert response.text == "let a = 1\n" * 50
    assert response.headers["content-encoding"] == "gzip"
    assert "immutable" in response.headers["cache-control"]
    assert response.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("name", ["other.js", "..%2Fsecret.txt", "%2e%2e%2fsecret.txt", "assets"])
def test_nothing_else_is_served(folder: Path, name: str):
    assert client_of(folder).get(f"/assets/{name}").status_code == 404


def test_the_built_page_is_small(built: None):
    sent = [gzip.compress(each.read_bytes()) for each in (STATIC / "assets").iterdir()]
    assert 0 < sum(map(len, sent)) <= 80_000


def test_a_page_that_was_not_built_says_how_to(tmp_path: Path):
    response = client_of(tmp_path).get("/")
    assert response.status_code == 503
    assert "make web" in response.text
    assert client_of(tmp_path).get("/assets/main.js").status_code == 404


def test_the_page_comes_with_a_strict_policy_and_the_api_beside_it(tmp_path: Path):
    with served(tmp_path) as site:
        page = site.get("/")
        assert page.status_code in (200, 503)  # built, or says how to
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert site.get("/v1/session").status_code == 200
        assert httpx2.get(f"{site.url}/nothing").status_code == 404
