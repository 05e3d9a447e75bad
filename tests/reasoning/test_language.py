from __future__ import annotations

import pytest

from moot.reasoning.language import language_of

QUESTIONS = {
    "Sollten wir Rust oder C++ für die neue Firmware nehmen?": "German",
    "Redis oder PostgreSQL?": "German",
    "¿Debería la semana laboral tener cuatro días?": "Spanish",
    "¿Redis o PostgreSQL?": "Spanish",
    "Faut-il interdire les téléphones portables à l'école ?": "French",
    "Dovremmo usare React o Vue?": "Italian",
    "Devemos usar Redis ou PostgreSQL?": "Portuguese",
    "Moeten we thuiswerken of naar kantoor?": "Dutch",
    "Czy powinniśmy pracować zdalnie?": "Polish",
    "Bör vi arbeta hemifrån eller på kontoret?": "Swedish",
    "Стоит ли запретить машины в центре?": "Russian",
    "我们应该用 Redis 还是 PostgreSQL？": "Chinese",
    "リモートワークは良いですか？": "Japanese",
    "재택근무가 더 좋을까요?": "Korean",
}
NOT_SURE = [
    "Should we use Redis or PostgreSQL?",
    "Redis o PostgreSQL?",  # Spanish, Italian or Portuguese
    "Should we read Die Zeit?",
    "Café au lait or tea?",
    "Is naïve Bayes worth it?",
    "",
]


@pytest.mark.parametrize(("question", "name"), QUESTIONS.items())
def test_the_language_of_a_question(question: str, name: str):
    found = language_of(question)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("question", NOT_SURE)
def test_what_is_english_or_not_sure(question: str):
    assert language_of(question) is None
