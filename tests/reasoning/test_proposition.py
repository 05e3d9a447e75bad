from __future__ import annotations

import pytest

from moot.reasoning.proposition import answers_in_full

KNOWN = {
    "Should cars be banned from city centres?": (
        "Cars should be banned from city centres",
        "Cars should not be banned from city centres",
    ),
    "Should we deploy on Fridays?": ("We should deploy on Fridays", "We should not deploy on Fridays"),
    "Is the use of AI in schools good for pupils?": (
        "The use of AI in schools is good for pupils",
        "The use of AI in schools is not good for pupils",
    ),
    "Is a hot dog a sandwich?": ("A hot dog is a sandwich", "A hot dog is not a sandwich"),
    "Is it safe to migrate?": ("It is safe to migrate", "It is not safe to migrate"),
    "Are small companies more innovative than large ones?": (
        "Small companies are more innovative than large ones",
        "Small companies are not more innovative than large ones",
    ),
    "Do unit tests pay off?": ("Unit tests pay off", "Unit tests do not pay off"),
    "Does pair programming help?": ("Pair programming does help", "Pair programming does not help"),
    "Can we trust benchmarks?": ("We can trust benchmarks", "We cannot trust benchmarks"),
    "Faut-il interdire les téléphones à l'école ?": (
        "Il faut interdire les téléphones à l'école",
        "Il ne faut pas interdire les téléphones à l'école",
    ),
    "Sollten wir freitags ausliefern?": ("Wir sollten freitags ausliefern", "Wir sollten nicht freitags ausliefern"),
    "Devemos trabalhar em casa?": ("Devemos trabalhar em casa", "Não devemos trabalhar em casa"),
}
NOT_KNOWN = [
    "Is nuclear power necessary?",  # a word that is not known to be an adjective
    "Must engineers be on call?",  # what they must not do is more than what they need not
    "Redis or PostgreSQL?",
    "How should we deploy?",
    "Tea beats coffee.",
    "Should I quit? I am tired.",
    "Est-ce que le thé est bon ?",
    "Ist Tee gut für uns alle?",
    "Стоит ли запретить машины?",
    "",
]


@pytest.mark.parametrize(("question", "answers"), KNOWN.items())
def test_a_yes_and_a_no_in_full(question: str, answers: tuple[str, str]):
    assert answers_in_full(question) == answers


@pytest.mark.parametrize("question", NOT_KNOWN)
def test_what_is_not_known_has_none(question: str):
    assert answers_in_full(question) is None
