from __future__ import annotations

import pytest

from moot.reasoning.proposition import answers_in_full

KNOWN = {
    "Should cars be banned from city centres?": (
        "Cars should be banned from city centres",
        "Cars should not be banned from city centres",
    ),
    "Should we deploy on Fridays?": ("We should deploy on Fridays", "We should not deploy on Fridays"),
    "Would a four-day week work?": ("A four-day week would work", "A four-day week would not work"),
    "Is a four-day week good for a small company?": (
        "A four-day week is good for a small company",
        "A four-day week is not good for a small company",
    ),
    "Is the use of AI in schools good for pupils?": (
        "The use of AI in schools is good for pupils",
        "The use of AI in schools is not good for pupils",
    ),
    "Is a hot dog a sandwich?": ("A hot dog is a sandwich", "A hot dog is not a sandwich"),
    "Is it safe to migrate on a Friday?": (
        "It is safe to migrate on a Friday",
        "It is not safe to migrate on a Friday",
    ),
    "Are small companies more innovative than large ones?": (
        "Small companies are more innovative than large ones",
        "Small companies are not more innovative than large ones",
    ),
    "Do unit tests pay off in a prototype?": (
        "Unit tests pay off in a prototype",
        "Unit tests do not pay off in a prototype",
    ),
    "Does pair programming help?": ("Pair programming does help", "Pair programming does not help"),
    "Can we trust benchmarks?": ("We can trust benchmarks", "We cannot trust benchmarks"),
    "Faut-il interdire les téléphones à l'école ?": (
        "Il faut interdire les téléphones à l'école",
        "Il ne faut pas interdire les téléphones à l'école",
    ),
    "Sollten wir freitags ausliefern?": ("Wir sollten freitags ausliefern", "Wir sollten nicht freitags ausliefern"),
    "¿Debería la semana tener cuatro días?": (
        "Debería la semana tener cuatro días",
        "No debería la semana tener cuatro días",
    ),
    "Devemos trabalhar em casa?": ("Devemos trabalhar em casa", "Não devemos trabalhar em casa"),
}
NOT_KNOWN = [
    "Is nuclear power necessary?",  # a word that is not known to be an adjective
    "Is coding in a team fun?",
    "Is the new logo of our company ugly?",
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
