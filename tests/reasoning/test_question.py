"""What a question asks for, by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.question import MAX_OPTION_CHARS, read_question

CHOICES = {
    "Should we use Redis or PostgreSQL for caching?": ("Redis", "PostgreSQL"),
    "Tabs or spaces?": ("Tabs", "spaces"),
    "Should we rewrite the service in Rust or keep it in Python?": ("rewrite the service in Rust", "keep it in Python"),
    "Is a monolith or a set of microservices better for a small team?": ("a monolith", "a set of microservices"),
    "Should I buy a house or rent?": ("buy a house", "rent"),
    "Is it better to buy or to rent?": ("buy", "rent"),
    "Is Python or Go better for command-line tools?": ("Python", "Go"),
    "Do cats or dogs make better pets?": ("cats", "dogs"),
    "Should a startup hire a generalist or a specialist first?": ("a generalist", "a specialist"),
    "Can we ship on Friday or should we wait until Monday?": ("ship on Friday", "wait until Monday"),
    "Should our small team write services in Go or Rust?": ("Go", "Rust"),
    "Should we build it as a monolith or as microservices?": ("a monolith", "microservices"),
    "Which is better, tabs or spaces?": ("tabs", "spaces"),
    "What should we use: Kafka, RabbitMQ or NATS?": ("Kafka", "RabbitMQ", "NATS"),
    "React, Vue or Svelte for a dashboard?": ("React", "Vue", "Svelte"),
    "GraphQL or REST or gRPC?": ("GraphQL", "REST", "gRPC"),
    "Monolith vs microservices": ("Monolith", "microservices"),
    "REST vs. GraphQL for a public API?": ("REST", "GraphQL"),
    "How should we deploy: Kubernetes or plain VMs?": ("Kubernetes", "plain VMs"),
    "We have 3 engineers. Should we use Celery or a cron job?": ("Celery", "a cron job"),
    "Should tests be written before or after the code?": ("before the code", "after the code"),
    "Should we charge customers monthly or yearly?": ("monthly", "yearly"),
    "Should we charge per seat or per use?": ("per seat", "per use"),
    "Sollten wir Redis oder PostgreSQL zum Caching verwenden?": ("Redis", "PostgreSQL"),
    "¿Deberíamos usar Rust o Go?": ("Rust", "Go"),
    "Faut-il choisir Vue ou React pour le tableau de bord?": ("Vue", "React"),
    "我们应该用 Redis 还是 PostgreSQL？": ("Redis", "PostgreSQL"),
}
YES_NO = {
    "Should we adopt a four-day work week?": "We should adopt a four-day work week",
    "Is it worth it or not?": "It is worth it",
    "Is this migration plan safe to run on a Friday?": "",
    "Does remote work suit small teams?": "",
    "Is a hot dog a sandwich?": "",
    "Should code reviews be required for every change?": "",
}
OPEN = [
    "How should we migrate to the cloud?",
    "Why do projects fail?",
    "What is the best way to learn Rust?",
    "Which licence should we choose?",
    "How do we cut costs or raise prices without losing customers?",
    "Design a rate limiter.",
    "Name three risks of the plan.",
    "Wie sollten wir migrieren?",
    "如何学习编程？",
    "?",
    "",
]


@pytest.mark.parametrize(("text", "options"), CHOICES.items())
def test_alternatives_are_read(text: str, options: tuple[str, ...]):
    question = read_question(text)
    assert (question.kind, question.options) == ("choice", options)


@pytest.mark.parametrize(("text", "proposition"), YES_NO.items())
def test_yes_or_no(text: str, proposition: str):
    question = read_question(text)
    assert (question.kind, question.options, question.proposition) == ("yes_no", (), proposition)


@pytest.mark.parametrize("text", OPEN)
def test_open_questions_have_no_sides(text: str):
    assert (read_question(text).kind, read_question(text).options) == ("open", ())


def test_a_claim_is_its_own_proposition():
    question = read_question("Remote work makes teams better.")
    assert (question.kind, question.proposition) == ("claim", "Remote work makes teams better")


@given(st.text(alphabet=st.sampled_from("aB or?,.:vs 还是oder'\"\n"), max_size=200))
def test_any_text_is_read_without_error(text: str):
    question = read_question(text)
    assert (question.kind == "choice") == (len(question.options) > 1)
    assert all(0 < len(option) <= MAX_OPTION_CHARS for option in question.options)
    assert len({option.casefold() for option in question.options}) == len(question.options)
