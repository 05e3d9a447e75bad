"""Pages of other sites (CORS): only those that are listed, with tokens and never with cookies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from moot.core.errors import InputError
from moot.server.origins import Origins
from tests.server.serving import Served, served
from tests.server.test_debates import problem
from tests.server.test_security import token

OURS = "https://app.example"
EVIL = "https://evil.example"
SIM = {"model_debater": "sim:", "model_judge": "sim:"}


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that demands tokens and lists one origin."""
    folder = tmp_path_factory.mktemp("origins")
    with served(folder, serve_tokens="always", serve_origins=[f"{OURS}/"]) as server:
        yield server


@pytest.fixture(scope="module")
def bearer(listing: Served) -> dict[str, str]:
    return token(listing, "page", "read", "run")


def page(origin: str) -> dict[str, str]:
    """What a browser adds to a script's request to another site."""
    return {"Origin": origin, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}


def preflight(server: Served, origin: str, method: str = "POST"):
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,content-type"}
    return server.client.options("/v1/debates", headers=page(origin) | asked)


class TestListed:
    def test_may_ask_and_read(self, listing: Served, bearer: dict[str, str]):
        made = listing.ask(start=False, headers=bearer | page(OURS), settings=SIM)
        assert made.status_code == 201
        for response in (made, listing.get("/v1/debates", headers=bearer | page(OURS))):
            assert response.headers["access-control-allow-origin"] == OURS
            assert response.headers["access-control-expose-headers"] == "*"
            assert "Origin" in response.headers["vary"]
            assert "access-control-allow-credentials" not in response.headers

    def test_is_told_so_before_it_asks(self, listing: Served):
        for method in ("GET", "POST", "DELETE"):
            answer = preflight(listing, OURS, method)
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == OURS
            assert method in answer.headers["access-control-allow-methods"]
            assert answer.headers["access-control-allow-headers"] == "authorization,content-type"
            assert "access-control-allow-credentials" not in answer.headers

    def test_can_read_why_it_was_refused(self, listing: Served):
        refused = listing.get("/v1/debates", headers=page(OURS))
        problem(refused, 401, "token-needed")
        assert refused.headers["access-control-allow-origin"] == OURS

    def test_has_no_use_for_a_cookie(self, listing: Served, bearer: dict[str, str]):
        """The dashboard's session is not the page's, should a browser ever send it."""
        login = listing.post("/v1/session", {"token": bearer["Authorization"].removeprefix("Bearer ")})
        cookie = {"Cookie": login.headers["set-cookie"].partition(";")[0]}
        listing.client.cookies.clear()
        assert listing.get("/v1/debates", headers=cookie).status_code == 200
        for headers in (page(OURS), {"Origin": OURS}):
            problem(listing.get("/v1/debates", headers=cookie | headers), 401, "token-needed")
            problem(listing.ask(start=False, headers=cookie | headers), 401, "token-needed")


class TestOthers:
    @pytest.mark.parametrize("origin", [EVIL, f"{OURS}.evil.example", "http://app.example", f"{OURS}:8443", "null"])
    def test_are_refused_and_can_not_read_it(self, listing: Served, bearer: dict[str, str], origin: str):
        for response in (
            listing.ask(start=False, headers=bearer | page(origin)),
            listing.get("/v1/debates", headers=bearer | page(origin)),
        ):
            problem(response, 403, "cross-origin")
            assert "access-control-allow-origin" not in response.headers
        answer = preflight(listing, origin)
        assert answer.status_code == 400
        assert "access-control-allow-origin" not in answer.headers

    def test_an_unknown_name_is_refused_all_the_same(self, listing: Served, bearer: dict[str, str]):
        headers = bearer | page(OURS) | {"Host": "evil.example"}
        problem(listing.get("/v1/debates", headers=headers), 421, "misdirected")


def test_any_origin_may_where_tokens_are_demanded(tmp_path):
    with served(tmp_path, serve_tokens="always", serve_origins="*") as server:
        answer = server.get("/v1/debates", headers=page(EVIL))
        problem(answer, 401, "token-needed")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


def test_any_origin_is_refused_where_none_are():
    with pytest.raises(InputError, match="set serve_tokens to `always`"):
        Origins.of(["*"], demands_token=False)


@pytest.mark.parametrize(
    "given", ["app.example", f"{OURS}/path", "ftp://app.example", "https://*.example", "https://a@b", "https://a:x"]
)
def test_what_is_no_origin_is_named(given: str):
    with pytest.raises(InputError, match="which is no origin"):
        Origins.of([given], demands_token=True)
