"""Who may ask what, and what no answer ever holds."""

from __future__ import annotations

import logging
import re
import socket

import pytest

from moot.core.errors import InputError, StoreError
from moot.core.types import SCOPES
from moot.server import openapi, problems
from moot.server.app import ROUTERS
from moot.server.guard import ClientRates, Names, is_loopback
from moot.tokens import new_token
from tests.models.wire import Say, Wire
from tests.server.serving import Served, served, wait_for, watching
from tests.server.test_debates import problem

OPEN = {"isAlive", "isReady", "login", "logout"}  # these need no token
ROUTES = openapi.routes(ROUTERS)


def token(server: Served, name: str, *scopes: str) -> dict[str, str]:
    secret, made = new_token(name, scopes)
    assert server.in_loop(server.app.runtime.store.add_token(made))
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """As if bound to an address that others can reach."""
    with served(tmp_path_factory.mktemp("public"), host="0.0.0.0") as server:
        yield server


def path_of(route, debate_id: str) -> str:
    return (
        re.sub(r"\{(debate_id|other_id)\}", debate_id, route.path)
        .replace("{name}", "duel")
        .replace("{name:path}", "moot/duel")
        .replace("{template_id}", "premortem")
    )


def detail_of(response, route, status: int, slug: str) -> str:
    """What a refusal says, in the shape that clients of the route know."""
    if route.tags != ["chat"]:
        return problem(response, status, slug)["detail"]
    told = response.json()["error"]
    assert (response.status_code, told["code"]) == (status, slug.replace("-", "_"))
    return told["message"]


class TestTokens:
    @pytest.mark.parametrize("route", [r for r in ROUTES if r.operation_id not in OPEN], ids=lambda r: r.operation_id)
    def test_every_route_demands_one(self, public: Served, route):
        [method] = route.methods
        response = public.client.request(method, path_of(route, "0" * 36), json={} if method == "POST" else None)
        assert "operator of this server makes tokens" in detail_of(response, route, 401, "token-needed")
        assert response.headers["www-authenticate"].startswith("Bearer")

    @pytest.mark.parametrize("route", [r for r in ROUTES if r.operation_id not in OPEN], ids=lambda r: r.operation_id)
    def test_every_route_demands_its_scope(self, public: Served, route):
        needed = openapi.scope_of(route)
        if needed is None:
            assert route.operation_id == "getSession"
            return
        others = [scope for scope in SCOPES if scope not in (needed, "admin")]
        [method] = route.methods
        headers = token(public, f"all but {needed} for {route.operation_id}", *others)
        body = BODIES.get(route.operation_id, {}) if method == "POST" else None
        path = path_of(route, "0" * 36)
        response = public.client.request(method, path, json=body, params={"q": "x"}, headers=headers)
        assert needed in detail_of(response, route, 403, "scope-missing")

    def test_a_name_that_can_not_be_is_told_why(self):
        for name, why in {"x" * 61: "1 to 60 characters", "ann\u200b": "can't be seen"}.items():
            with pytest.raises(InputError, match=why):
                new_token(name, ["read"])

    def test_a_wrong_one_is_no_one(self, public: Served):
        for given in ("Bearer wrong", "Bearer", "Basic abc", "nonsense"):
            problem(public.get("/v1/debates", headers={"Authorization": given}), 401, "token-needed")
        problem(public.get("/v1/debates", headers={"Cookie": "moot_session=wrong"}), 401, "token-needed")
        problem(public.post("/v1/session", {"token": "wrong"}), 401, "token-needed")

    @pytest.mark.parametrize(
        "spec", ["openai:m@http://evil.example/v1", "scripted:/etc/passwd", "replay:3f2a", "local:/etc/mine.gguf"]
    )
    def test_only_an_admin_names_models_that_reach_elsewhere(self, public: Served, spec):
        runner, admin = token(public, f"runner {spec}", "run"), token(public, f"admin {spec}", "admin")
        body = {"topic": "Why?", "start": False, "settings": {"seats": {"a": {"model": spec}}}}
        for path in ("/v1/debates", "/v1/debates/estimate"):
            assert "admin" in problem(public.post(path, body, headers=runner), 403, "scope-missing")["detail"]
            assert public.post(path, body, headers=admin).status_code != 403

    def test_only_an_admin_names_folders_of_the_machine(self, public: Served, tmp_path):
        """A repository that a forge is to change."""
        runner, admin = token(public, "runner of folders", "run", "read"), token(public, "admin of folders", "admin")
        chosen = {"model_debater": "sim:", "model_judge": "sim:", "repo": str(tmp_path)}
        body = {"topic": "Write f.", "format": "forge", "start": False, "settings": chosen}
        for path in ("/v1/debates", "/v1/debates/estimate"):
            said = problem(public.post(path, body, headers=runner), 403, "scope-missing")["detail"]
            assert "repo" in said
            assert "admin" in said
            assert "is no git repository" in public.post(path, body, headers=admin).json()["detail"]
        without = public.post("/v1/debates", {**body, "settings": {**chosen, "repo": ""}}, headers=runner).json()
        fork = {"at": "start", "settings": {"repo": str(tmp_path)}}
        said = problem(public.post(f"/v1/debates/{without['id']}/fork", fork, headers=runner), 403, "scope-missing")
        assert "repo" in said["detail"]

    def test_a_revoked_one_ends_its_streams_too(self, tmp_path):
        with served(tmp_path, host="0.0.0.0", serve_heartbeat_seconds=0.02) as server:
            secret, made = new_token("ann", ["read"])
            headers = {"Authorization": f"Bearer {secret}"}
            server.in_loop(server.app.runtime.store.add_token(made))
            with watching(server, "/v1/stream?newest=true", headers=headers) as events:
                assert next(events).event == ":"
                server.in_loop(server.app.runtime.store.drop_token(made.id))
                assert all(each.event == ":" for each in events)
            problem(server.get("/v1/debates", headers=headers), 401, "token-needed")

    def test_on_loopback_none_is_needed_unless_asked_for(self, server: Served, tmp_path):
        assert server.get("/v1/debates").status_code == 200
        problem(server.get("/v1/debates", headers={"Authorization": "Bearer wrong"}), 401, "token-needed")
        assert server.get("/v1/session").json()["token_needed"] is False
        with served(tmp_path, serve_tokens="always") as strict:
            problem(strict.get("/v1/debates"), 401, "token-needed")


BODIES = {
    "createDebate": {"topic": "Why?"},
    "estimateDebate": {"topic": "Why?"},
    "rateDebate": {"rating": 3},
    "guideDebate": {"text": "Now."},
    "purgeDebates": {"older_than_days": 1},
    "createChatCompletion": {"model": "moot/classic", "messages": [{"role": "user", "content": "Why?"}]},
}


class TestSessions:
    def test_a_browser_logs_in_and_out(self, public: Served):
        secret = token(public, "browser", "read")["Authorization"].removeprefix("Bearer ")
        login = public.post("/v1/session", {"token": secret})
        assert login.json()["name"] == "browser"
        cookie = login.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        session = cookie.partition(";")[0]
        assert secret not in cookie
        public.client.cookies.clear()
        problem(public.post("/v1/session", {"token": session.partition("=")[2]}), 401, "token-needed")  # no token
        assert public.get("/v1/debates", headers={"Cookie": session}).status_code == 200
        assert public.client.delete("/v1/session", headers={"Cookie": session}).status_code == 204
        problem(public.get("/v1/debates", headers={"Cookie": session}), 401, "token-needed")
        public.client.cookies.clear()


class TestNames:
    @pytest.mark.parametrize(
        "name", ["evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example", "192.0.2.1"]
    )
    def test_a_name_that_is_not_ours_is_refused(self, server: Served, name):
        problem(server.get("/v1/debates", headers={"Host": name}), 421, "misdirected")

    def test_our_own_is_not(self, server: Served):
        for name in ("localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:8421"):
            assert server.get("/healthz", headers={"Host": name}).status_code == 200

    def test_elsewhere_addresses_and_listed_names_are_known(self):
        names = Names("0.0.0.0", ["moot.example.org"])
        for known in ("192.0.2.1:8421", "[2001:db8::1]:8421", "moot.example.org", "Moot.Example.org:443", "localhost"):
            assert names.know(known)
        for unknown in ("evil.example", "example.org", "a.moot.example.org", "", "[", "x:y:z"):
            assert not names.know(unknown)
        assert names.know(socket.gethostname())

    def test_what_is_loopback(self):
        assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.9.9.9")))
        assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "example.org", "")))


class TestOtherSites:
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": "http://["},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_can_change_nothing(self, server: Served, headers):
        made = server.made(start=False)
        problem(server.post(f"/v1/debates/{made['id']}/cancel", headers=headers), 403, "cross-origin")
        problem(server.client.delete("/v1/session", headers=headers), 403, "cross-origin")
        assert server.debate(made["id"])["status"] == "pending"

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_can_open_no_streams_but_may_link_to_us(self, server: Served, site):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "cors"}
        problem(server.get("/v1/stream?newest=true", headers=headers), 403, "cross-origin")
        problem(server.get("/v1/debates", headers=headers), 403, "cross-origin")
        assert server.get("/v1/debates", headers={**headers, "Sec-Fetch-Mode": "navigate"}).status_code == 200

    def test_our_own_pages_can(self, server: Served):
        made = server.made(start=False)
        headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
        assert server.post(f"/v1/debates/{made['id']}/cancel", headers=headers).status_code == 200

    def test_forms_can_not_be_sent(self, server: Served):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            headers = {"Content-Type": kind}
            refused = server.client.post("/v1/debates", content=b'{"topic": "x"}', headers=headers)
            problem(refused, 415, "unsupported-media-type")

    def test_nothing_can_be_read_from_there(self, server: Served):
        for response in (
            server.get("/v1/debates", headers={"Origin": "http://evil.example"}),
            server.client.options("/v1/debates", headers={"Origin": "http://evil.example"}),
        ):
            assert not [name for name in response.headers if name.startswith("access-control")]


def test_every_response_has_its_headers(server: Served):
    for path in ("/healthz", "/v1/debates", "/v1/nothing", "/openapi.json"):
        headers = server.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        csp = headers["content-security-policy"]
        assert csp.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in csp
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


class TestSizes:
    def test_a_body_that_is_too_large(self, server: Served):
        body = b'{"topic": "' + b"x" * 1_000_001 + b'"}'
        headers = {"Content-Type": "application/json"}
        problem(server.client.post("/v1/debates", content=body, headers=headers), 413, "too-large")

    def test_a_body_that_does_not_say_how_large_it_is(self, server: Served):
        def pieces():
            yield b'{"topic": "'
            for _ in range(20):
                yield b"x" * 100_000

        headers = {"Content-Type": "application/json"}
        problem(server.client.post("/v1/debates", content=pieces(), headers=headers), 413, "too-large")

    def test_too_many_streams(self, tmp_path):
        with served(tmp_path, serve_streams=1) as server, watching(server, "/v1/stream?newest=true"):
            wait_for(lambda: server.server._api.state.context.live.streams == 1, "the stream to begin")
            problem(server.get("/v1/stream?newest=true"), 503, "too-many-streams")


class TestRates:
    def test_too_many_requests(self, tmp_path):
        with served(tmp_path, serve_rate=0.5) as server:
            responses = [server.get("/healthz") for _ in range(8)]
            codes = [response.status_code for response in responses]
            assert codes[:5] == [200] * 5
            assert problem(responses[-1], 429, "too-many-requests")
            assert int(responses[-1].headers["retry-after"]) >= 1

    def test_a_client_that_was_quiet_may_catch_up(self):
        now = [0.0]
        rates = ClientRates(2, clock=lambda: now[0])
        assert [rates.wait("a") for _ in range(20)] == [0.0] * 20
        assert rates.wait("a") == 0.5
        assert rates.wait("b") == 0.0
        now[0] += 0.5
        assert rates.wait("a") == 0.0
        now[0] += 1000
        assert [bool(rates.wait("a")) for _ in range(21)] == [False] * 20 + [True]


@pytest.mark.slow
class TestSecrets:
    """Canaries in every place that holds a secret; no answer, event or log may have one."""

    KEY, PASSWORD, HOOK = "canary-key-5f3a", "canary-password-81bc", "canary-hook-77d0"
    ENVIRON = {
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
        "MOOT_API_KEY": KEY,
        "MOOT_WEBHOOK_SECRET": HOOK,
        "MOOT_WEBHOOK_URL": f"https://user:{PASSWORD}@hook.example/",
    }

    def test_none_ever_comes_out(self, tmp_path, caplog):
        caplog.set_level(logging.DEBUG)
        echo = {"error": {"message": f"Incorrect API key provided: {self.KEY}", "code": "invalid_api_key"}}
        with (
            Wire(Say(status=401, error=echo)) as wire,
            served(tmp_path, environ=self.ENVIRON, model=f"openai:m@{wire.openai}", backoff_tries=0) as server,
        ):
            there = f"openai:m@{wire.openai}"
            secret, made = new_token("ann", ["admin"])
            server.in_loop(server.app.runtime.store.add_token(made))
            session = server.post("/v1/session", {"token": secret})
            cookie = session.cookies["moot_session"]
            failed = server.rested(server.made(settings={"model_debater": there, "model_judge": there})["id"])
            assert failed["status"] == "failed"
            assert self.KEY in wire.requests[0].headers["authorization"]
            cascade = {"seats": {"judge": {"model": f"{there} | {server.model}"}}}
            done = server.completed(settings={"max_rounds": 1, **cascade})
            seen = {"login": session.text}
            for debate_id in (failed["id"], done["id"]):
                for route in ROUTES:
                    if route.operation_id not in ("watchMany", "deleteDebate"):
                        seen[f"{route.operation_id} {debate_id}"] = self.answer(server, route, debate_id)
                with watching(server, f"/v1/debates/{debate_id}/events?until=rest") as events:
                    seen[f"events {debate_id}"] = " ".join(str(each) for each in events)
                seen[f"markdown {debate_id}"] = server.get(f"/v1/debates/{debate_id}/record?format=markdown").text
                seen[f"deleted {debate_id}"] = server.client.delete(f"/v1/debates/{debate_id}").text
            chat = {**BODIES["createChatCompletion"], "stream": True}
            seen["chat"] = server.post("/v1/chat/completions", chat).text
            assert "model_failed" in seen["chat"]
            assert "502" in str(server.post("/v1/chat/completions", BODIES["createChatCompletion"]))
        assert len(seen) > 70
        logged = "".join(each.getMessage() for each in caplog.records if each.name.startswith(("moot", "uvicorn")))
        for canary in (self.KEY, self.PASSWORD, self.HOOK, secret, made.hash, cookie):
            for where, text in {**seen, "log": logged}.items():
                assert canary not in text, where

    def answer(self, server: Served, route, debate_id: str) -> str:
        [method] = route.methods
        path, accept = path_of(route, debate_id), {"Accept": "application/json"}
        if method == "GET":
            response = server.get(path, params={"q": "Redis"}, headers=accept)
        else:
            body = BODIES.get(route.operation_id, {})
            response = server.client.request(method, path, json=body, headers=accept)
        return response.text + str(response.headers)

    def test_a_database_that_fails_does_not_tell_its_password(self):
        error = StoreError(f"connection to postgresql://moot:{self.PASSWORD}@db.example/moot failed")
        told = problems.response(problems.refusal(error), "/v1/debates")
        assert told.status_code == 503
        assert self.PASSWORD not in bytes(told.body).decode()
        assert "db.example" in bytes(told.body).decode()

    def test_secrets_are_kept_as_hashes_only(self, tmp_path):
        with served(tmp_path) as server:
            secret, made = new_token("ann", ["read"])
            server.in_loop(server.app.runtime.store.add_token(made))
            cookie = server.post("/v1/session", {"token": secret}).cookies["moot_session"]
        kept = b"".join(file.read_bytes() for file in tmp_path.glob("moot.db*"))
        assert made.hash.encode() in kept
        for canary in (secret, cookie):
            assert canary.encode() not in kept
