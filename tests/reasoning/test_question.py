"""What a question asks for, by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.question import MAX_OPTION_CHARS, read_question

# One on a line, and the alternatives that are read
CHOICES = """
Tabs or spaces? Why? => Tabs / spaces
A, B or C? => A / B / C
GraphQL or REST or gRPC? => GraphQL / REST / gRPC
REST vs. GraphQL for a public API? => REST / GraphQL
Compare Redis vs PostgreSQL for caching. => Redis / PostgreSQL
Static or dynamic typing? => Static typing / dynamic typing
Quantity over quality or quality over quantity? => Quantity over quality / quality over quantity
should we use redis or postgres => redis / postgres
Should we use Redis or PostgreSQL? Or something else? => Redis / PostgreSQL
Should I use "Redis" or "PostgreSQL"? => Redis / PostgreSQL
We should use Redis or PostgreSQL? => Redis / PostgreSQL
We have 10 people or so. Should we hire a manager or stay flat? => hire a manager / stay flat
Given our budget, should we buy or rent? => buy / rent
I can't decide whether to buy or rent. => buy / rent
Is it better to buy or to rent? => buy / rent
Should I rent or buy a house? => rent a house / buy a house
Should I stay or should I go? => stay / go
Should we rewrite, refactor or leave the code alone? => rewrite / refactor / leave the code alone
Should we use a SQL or NoSQL database? => a SQL database / a NoSQL database
Should we run 2 or 3 replicas? => 2 replicas / 3 replicas
Should the voting age be 16 or 18? => 16 / 18
Should I major in physics or computer science? => physics / computer science
Should cities invest in bike lanes or more buses? => bike lanes / more buses
Should we charge customers monthly or yearly? => monthly / yearly
Should we charge per seat or per use? => per seat / per use
Should we deploy now or after the holidays? => now / after the holidays
Should we log to stdout or to a file? => stdout / a file
Should anyone under 16 or over 80 drive? => under 16 / over 80 drive
Will interest rates go up or down? => up / down
Should we build it as a monolith or as microservices? => a monolith / microservices
Should we meet in person or online? => in person / online
Should the logo be blue or green? => blue / green
Is Python or Go better for command-line tools? => Python / Go
Is light a wave or a particle? => a wave / a particle
Is water wet or dry? => wet / dry
Is it worth learning Rust or Go in 2025? => Rust / Go
Do cats or dogs make better pets? => cats / dogs
Are you for or against nuclear power? => for nuclear power / against nuclear power
Which is better, tabs or spaces? => tabs / spaces
What should we use: Kafka, RabbitMQ or NATS? => Kafka / RabbitMQ / NATS
Sollten wir Redis oder PostgreSQL zum Caching verwenden? => Redis / PostgreSQL
Faut-il acheter une maison ou louer un appartement ? => acheter une maison / louer un appartement
¿Trabajar desde casa o en la oficina? => desde casa / en la oficina
¿Deberíamos usar Rust o Go? => Rust / Go
¿Qué es mejor, Rust o Go? => Rust / Go
Devemos comprar ou alugar? => comprar / alugar
我们应该用 Redis 还是 PostgreSQL？ => Redis / PostgreSQL
犬と猫、どちらがいい？ => 犬 / 猫
猫ですか、それとも犬ですか？ => 猫 / 犬
"""
# A wrong reading is worse than none: what is asked of both, or can't be told, is left whole
YES_NO = """
Should we adopt a four-day work week?
Can we ship this in a day or two?
Do we need 10 servers or more?
Can an AI be conscious or feel pain?
Should we use "trial or error" learning?
Is consciousness an illusion or is it real?
Is Rust faster than C or C++?
Is there life on Mars or Venus?
Is it safe to eat raw eggs or chicken?
Are microservices worth it or just hype?
Does sugar cause cancer or diabetes?
Do people buy or rent more in Berlin?
Should we require tests or reviews?
Should I run in the morning or evening?
Should users or admins be able to delete posts?
Should we deprecate v1 in June or wait until v3 or v4 is out?
To be or not to be?
Should I have kids or not?
Pineapple on pizza: yes or no?
Soll ich kündigen oder noch warten?
¿Es buena o mala idea?
¿Deberíamos migrar o no?
Is een hond of een kat beter?
我们还是应该用Redis吗？
Fiets of auto?
"""
OPEN = """
How should we migrate to the cloud?
What causes cancer or heart disease?
Design a rate limiter.
Use Redis or PostgreSQL.
Wie sollen wir testen, manuell oder automatisch?
如何学习编程？
?
"""
CLAIMS = """
Remote work makes teams better.
Either we raise prices or we die.
Coffee or tea is bad for you.
Remote work or office work is a false choice.
Might makes right.
"""


@pytest.mark.parametrize("row", CHOICES.strip().splitlines())
def test_alternatives_are_read(row: str):
    text, expected = row.split(" => ")
    question = read_question(text)
    assert (question.kind, question.options) == ("choice", tuple(expected.split(" / ")))


@pytest.mark.parametrize(("kind", "texts"), [("yes_no", YES_NO), ("open", OPEN), ("claim", CLAIMS)])
def test_no_alternatives_are_made_up(kind: str, texts: str):
    for text in texts.strip().splitlines():
        question = read_question(text)
        assert (question.kind, question.options) == (kind, ()), text


def test_the_statement_that_yes_affirms():
    assert read_question("Is it worth it or not?").proposition == "It is worth it"
    assert read_question("Is a hot dog a sandwich?").proposition == ""
    assert read_question("Remote work makes teams better.").proposition == "Remote work makes teams better"


def test_a_very_long_sentence_has_no_alternatives():
    assert read_question(f"Should we use {'really ' * 200} Redis or PostgreSQL?").kind == "yes_no"
    background = "We have many servers. " * 200
    assert read_question(f"{background}Redis or PostgreSQL?").options == ("Redis", "PostgreSQL")


@given(st.text(alphabet=st.sampled_from("aB or?,.:vs 还是oder'\"\n"), max_size=200))
def test_any_text_is_read_without_error(text: str):
    question = read_question(text)
    assert (question.kind == "choice") == (len(question.options) > 1)
    assert all(0 < len(option) <= MAX_OPTION_CHARS for option in question.options)
    assert len({option.casefold() for option in question.options}) == len(question.options)


WORDS = 'Should we use Redis or a the in of is be it do, good rent? " ( ) vs. two more from or or oder o'.split()


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_every_alternative_can_stand_alone(text: str):
    options = read_question(text).options
    assert "in" not in options
    for option in options:
        assert option.casefold() not in {"a", "the", "of", "is", "be", "from", "or", "it"}
        assert '"' not in option
        assert option.count("(") == option.count(")")
        assert option.split()[-1] not in {"a", "the", "from", "of", "is", "be"}
