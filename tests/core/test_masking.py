"""What is masked in the texts of providers, and what stays readable."""

from __future__ import annotations

import pytest

from moot.core.masking import without_secrets

SECRETS = {
    "Incorrect API key provided: sk-proj-abc*****3456. See": ("abc", "3456"),
    "invalid x-api-key: 9f8e7d6c5b4a": ("9f8e7d6c5b4a",),
    "{'Authorization': 'Bearer xyz-12345'}": ("xyz-12345",),
    "Authorization: Basic dXNlcjpwYXNzd29yZA==": ("dXNlcj",),
    "could not connect to http://bob:hunter2@proxy.corp:3128/": ("hunter2",),
    "proxy bob:hunter2@proxy.corp:3128 refused": ("hunter2",),
    "https://ghp_abcdefghijkl@github.com/x": ("ghp_abcdefghijkl",),
    "postgresql://moot:p/w@d@db.example/moot": ("p/w@d",),
    "?key=AIzaSyD-abc123_defghi&alt=sse": ("AIzaSyD",),
    "the password: letmein": ("letmein",),
    "api_key='abcdef'": ("abcdef",),
    "AKIAIOSFODNN7EXAMPLE is not allowed": ("AKIAIOSFODNN7EXAMPLE",),
    "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def expired": ("eyJ", "abc-def"),
    "hf_aBcDeFgHiJ1234567 has no access": ("aBcDeF",),
    "no such token moot_PvM7UbuCT5VFcxxqDEduYqjtzw9EWW-qWOuOnrOsYZY.": ("PvM7U", "qWOuO"),
    "moot_aaaaaaaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaaa_aaa": ("aaaa",),
    "key 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d is disabled": ("1a2b3c4d",),
}
READABLE = (
    "This model's maximum context length is 128000 tokens; token limit: 4096.",
    "The model claude-haiku-4-5-20251001 does not exist or you lack access.",
    "token_limit_exceeded: basic authentication is required (req_011CSHoEeqs5C35K2UUqR7Fy)",
    "The cookie moot_session and the setting moot_settings are moot's own.",
    "Ask me@example.org at 12:30, or see https://example.org/help?x=1.",
    "Rate limit reached for gpt-6-luna in organization on tokens per min: Limit 30000, Used 29500.",
)


@pytest.mark.parametrize("text", SECRETS)
def test_what_looks_like_a_key_or_a_password_is_masked(text: str):
    shown = without_secrets(text)
    assert "***" in shown
    for secret in SECRETS[text]:
        assert secret not in shown


@pytest.mark.parametrize("text", READABLE)
def test_ordinary_errors_stay_readable(text: str):
    assert without_secrets(text) == text
