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
    "Is nuclear power necessary?",
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
