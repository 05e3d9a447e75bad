"""The two answers to a yes-or-no question as full sentences: "Cars should be banned", "Cars should not be banned".

Small models that are told to argue for "yes" lose what it means; told to argue for a sentence, they don't. Pure, by the
shape of the question; what is not known has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from moot.reasoning.language import language_of
from moot.reasoning.question import read_question
from moot.reasoning.question_sides import is_adjective, predicate
from moot.reasoning.question_words import ARTICLES, PREPOSITIONS, PRONOUNS, word_of

# How a question's first word denies. Not "must": what "must not" be done is more than denied.
_DENIED = {
    **{modal: f"{modal} not" for modal in ("should", "would", "will", "shall", "could")},
    **{verb: f"{verb} not" for verb in ("is", "are", "was", "were", "do", "does", "did")},
    "can": "cannot",
}
_COPULAS = ("is", "are", "was", "were")

_FRENCH = {
    "faut-il": ("Il faut", "Il ne faut pas"),
    "doit-on": ("On doit", "On ne doit pas"),
    "devrait-on": ("On devrait", "On ne devrait pas"),
    "peut-on": ("On peut", "On ne peut pas"),
    "devons-nous": ("Nous devons", "Nous ne devons pas"),
    "devrions-nous": ("Nous devrions", "Nous ne devrions pas"),
    "pouvons-nous": ("Nous pouvons", "Nous ne pouvons pas"),
    "dois-je": ("Je dois", "Je ne dois pas"),
}
_GERMAN = re.compile(r"(sollten?|sollen?|müssen|muss|dürfen|darf|können|kann) (wir|man|ich)\s+(.+)", re.IGNORECASE)
# Languages in which a question keeps the order of a statement, and the word that denies it.
_KEEPS_ORDER = {"Spanish": "No", "Italian": "Non", "Portuguese": "Não"}
_THEIR_MODALS = re.compile(
    r"(?:deber[ií]a\w*|deb\w+|podemos|puede\w*|conviene|hay que|dovre\w+|dobbiamo|deve|devono|possiamo|può|conviene|"
    r"bisogna|devemos|dever\w+|devem|pode\w*|convém)\b",
    re.IGNORECASE,
)


def answers_in_full(text: str) -> tuple[str, str] | None:
    """What "yes" and what "no" says; None if that is not known."""
    body = " ".join(text.split()).strip(" ?？!.¿¡")
    if read_question(text).kind != "yes_no" or re.search(r"[.!?:;]\s", body):
        return None
    language = language_of(text)
    if language is None:
        return _english(body)
    if language.name == "French":
        first, _, rest = body.partition(" ")
        begin = _FRENCH.get(first.casefold().replace("’", "'"))
        return (f"{begin[0]} {rest}", f"{begin[1]} {rest}") if begin and rest else None
    if language.name == "German":
        found = _GERMAN.fullmatch(body)
        if found is None:
            return None
        verb, subject, rest = found[1].lower(), found[2].capitalize(), found[3]
        return f"{subject} {verb} {rest}", f"{subject} {verb} nicht {rest}"
    deny = _KEEPS_ORDER.get(language.name)
    if deny is None or not _THEIR_MODALS.match(body):
        return None
    return body, f"{deny} {body[:1].lower()}{body[1:]}"


def _english(body: str) -> tuple[str, str] | None:
    """ "Should cars be banned" as "Cars should be banned", "Are cars useful" as "Cars are useful"."""
    words = body.split()
    first = words[0].lower() if words else ""
    if len(words) < 3 or first not in _DENIED:
        return None
    rest = len(_complement(words) if first in _COPULAS else _done(words, body))
    subject = " ".join(words[1 : len(words) - rest]) if rest else ""
    if not subject:
        return None
    said, begin = " ".join(words[len(words) - rest :]), f"{subject[:1].upper()}{subject[1:]}"
    return f"{begin} {said}" if first == "do" else f"{begin} {first} {said}", f"{begin} {_DENIED[first]} {said}"


def _done(words: Sequence[str], body: str) -> list[str]:
    """What is done, from its verb on; empty if that is not known."""
    return list(words[2:]) if word_of(words[1]) in PRONOUNS else predicate(body).split()


def _complement(words: Sequence[str]) -> list[str]:
    """What is said of the subject of "is" or "are": "good for a team" in "is a short week good for a team". Empty if
    that is not known."""
    if word_of(words[1]) in PRONOUNS:
        return list(words[2:])
    for at in range(2, len(words)):
        word, before = word_of(words[at]), word_of(words[at - 1])
        if before in ARTICLES | PREPOSITIONS | {"of"} or is_adjective(before):  # still within the subject
            continue
        compares = at + 1 < len(words) and word_of(words[at + 1]) == "than"
        if word in ARTICLES or is_adjective(word) or compares:
            return list(words[at:])
    return []
