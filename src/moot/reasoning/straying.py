"""Whether a statement has left its side, by its words alone. Pure and careful: what it finds is asked for once more, so
that an error costs one answer; what it does not find stays with the judge."""

from __future__ import annotations

import re

_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_CONCEDES = re.compile(
    r"\b(?:I|we) (?:\w+ ){0,2}agree (?:with|that) (?:my|your|our|the) opponent"
    r"|\bopponent (?:is|was) (?:right|correct)\b"
    r"|^(?:I agree\b|you are right\b|that is (?:right|true|correct)\b)",
    re.IGNORECASE,
)
# Instructions of ours in a speaker's mouth.
_LEAKS = re.compile(
    r"\byour (?:opponent|side|point now|answer to it)\b|\bshort sentences\b|\bthe language of the question\b"
    r"|\byou argue (?:for|that)\b",
    re.IGNORECASE,
)
_BEST = r"(?:better|best|superior|preferable|right|wiser|smarter|preferred|ideal)"
_MORE = (
    r"(?:better|rather|safer|faster|quicker|cheaper|easier|simpler|stronger|wiser|smarter|healthier|cleaner|"
    r"more (?:affordable|convenient|effective|efficient|flexible|important|popular|powerful|practical|reliable|"
    r"scalable|secure|suitable|sustainable|useful|valuable))"
)
_CHOICE = r"(?:choice|option|one|way|fit|solution|answer)\b"
_NOT = re.compile(r"\b(?:not|no|never|nor|isn't|aren't|doesn't|don't|can't|cannot|hardly|less)\b", re.IGNORECASE)


def strays(text: str, own: str, other: str) -> bool:
    """Whether a statement for `own` speaks for `other`: it begins or ends with it, prefers it, or agrees with the
    opponent."""
    flat = " ".join(text.replace("’", "'").split())
    sentences = _SENTENCES.split(flat)
    ends = (sentences[0], sentences[-1])
    about_other = any(_is_about(each, other) and not _names(each, own) and not _NOT.search(each) for each in ends)
    return about_other or concedes(flat) or any(_prefers(each, other, own) for each in sentences)


def answers_otherwise(text: str, other: str) -> bool:
    """Whether a statement begins with `other`, the answer of the other side, such as "No", or says that this is the
    answer."""
    flat = " ".join(text.split())
    says = rf"^\W*{re.escape(other)}\b|\bthe answer (?:to \w+ question )?is \W?{re.escape(other)}\b"
    return re.search(says, flat, re.IGNORECASE) is not None or concedes(flat)


def concedes(text: str) -> bool:
    return _CONCEDES.search(text) is not None


def leaks(text: str) -> str:
    """The words of a statement that are from instructions, which only its speaker has read; empty if there are none."""
    found = _LEAKS.search(text)
    return found[0] if found else ""


def _prefers(sentence: str, other: str, own: str) -> bool:
    """Whether a sentence calls `other` the better one, or better than `own`."""
    known, less = _pattern(other), _pattern(own)
    if _NOT.search(sentence):
        no_better = rf"\bnot (?:\w+ ){{0,4}}{_MORE}(?: \w+)? than (?:(?:the|an?) )?{known}"
        return re.search(no_better, sentence, re.IGNORECASE) is not None
    found = (
        rf"{known} (?:(?:is|are|as|remains?|would be|will be) )?(?:\w+ ){{0,2}}(?:the|a) {_BEST}(?: \w+)? {_CHOICE}",
        rf"\b{_MORE} (?:\w+ ){{0,3}}than (?:(?:the|an?) )?{less}",
        rf"\b(?:superior|preferable) to (?:(?:the|an?) )?{less}",
        rf"\b(?:it is|it's) {_BEST} to {known}",
        rf"\bshould (?:choose|use|take|prefer|go with) (?:(?:the|an?) )?{known}",
    )
    return any(re.search(each, sentence, re.IGNORECASE) for each in found)


def _is_about(sentence: str, name: str) -> bool:
    """Whether a sentence begins with a name, after a few words at most."""
    few = r"(?:(?!(?:than|unlike|over|against|to|of)\b)\w+,? ){0,4}"
    return re.match(rf"\W*{few}(?:(?:the|an?) )?{_pattern(name)}", sentence, re.IGNORECASE) is not None


def _names(text: str, name: str) -> bool:
    return re.search(_pattern(name), text, re.IGNORECASE) is not None


def _pattern(name: str) -> str:
    return rf"(?<!\w){re.escape(_ARTICLE.sub('', name))}(?!\w)"
