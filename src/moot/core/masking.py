"""Masking passwords and keys in texts that are shown. The texts may be anyone's, so all takes time in proportion to
their length."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<!http)(?<!https)://[^:/?#@\s]*:")
_WEB_LOGIN = re.compile(r"(https?://[^:/?#@\s]*:)[^/?#\s]+@")
_ASSIGNED = re.compile(r"(?i)((?:password|passwd|pwd|secret)=)(?:'[^']*'|[^&\s]+)")


def masked(text: str) -> str:
    """The text with passwords in addresses replaced. Takes time in proportion to its length: it may be anyone's."""
    if "@" in text:
        text = "\n".join(_without_password(line) for line in text.split("\n"))
        text = _WEB_LOGIN.sub(r"\1***@", text)
    return _ASSIGNED.sub(r"\1***", text) if "=" in text else text


def _without_password(line: str) -> str:
    """Passwords in database addresses may contain / and @ unescaped; in web addresses they can't."""
    user, end = _USER.search(line), line.rfind("@")
    return line if user is None or end <= user.end() else f"{line[: user.end()]}***{line[end:]}"


_KEYS = re.compile(
    r"\b(?:moot_(?=[\w-]{43}(?![\w-]))|(?:sk|pk|rk|gsk|xai|pplx|nvapi)[-_]|AIza|AKIA|ASIA|ya29\.|eyJ)[\w.*+-]{6,}"
)
_MAYBE_KEYS = re.compile(r"\b(?:hf|r8|key|token|gh[opsu]|github_pat|glpat|xox[abeprs]|fw|tgp)[-_]([\w.*+-]{6,})")
_NAMED = re.compile(
    r"(?i)((?:key|token|secret|password|passwd|pwd|authorization|credential)s?(?: provided| is)?[\"']?"
    r"\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|token)\s)?)([^\s\"',;&)}\]]+)"
)
_PASSWORD = re.compile(r"(?i)pass|pwd|secret|credential|=")
_SCHEME = re.compile(r"(?i)\b(bearer|basic)(\s{1,4})([\w.~+/=*-]{6,})")
_LOGIN = re.compile(r"(?<![\w.+~%-])([\w.+~%-]{1,64}+:)[^\s@/]{1,256}+@(?=[\w\[])")
_USER_ONLY = re.compile(r"(\w{1,20}+://)[^\s/?#@:]{1,256}+@")
_LONG = re.compile(r"(?<![A-Za-z0-9])(req_)?([A-Za-z0-9]{24,})")


def without_secrets(text: str) -> str:
    """The text without passwords, keys, and what looks like one. For texts of providers, which quote what they were
    sent; it masks more than `masked`, which is for our own."""
    text = _USER_ONLY.sub(r"\1***@", _LOGIN.sub(r"\1***@", masked(text))) if "@" in text else masked(text)
    text = _MAYBE_KEYS.sub(lambda found: "***" if _mixed(found[1]) else found[0], _KEYS.sub("***", text))
    text = _SCHEME.sub(lambda found: f"{found[1]}{found[2]}***" if _mixed(found[3]) else found[0], text)
    text = _NAMED.sub(_unnamed, text)
    return _LONG.sub(lambda found: found[0] if found[1] or not _mixed(found[2]) else "***", text)


def _unnamed(found: re.Match[str]) -> str:
    return f"{found[1]}***" if _mixed(found[2]) or _PASSWORD.search(found[1]) else found[0]


def _mixed(text: str) -> bool:
    """Whether a word has digits beside letters, or ends like base64: hardly one that a person wrote."""
    return text.endswith("=") or (any(map(str.isdigit, text)) and any(map(str.isalpha, text)))
