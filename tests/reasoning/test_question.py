"""What a question asks for, by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.reasoning.question import MAX_OPTION_CHARS, read_question

CHOICES = {
    "Should we use Redis or PostgreSQL for caching?": ("Redis", "PostgreSQL"),
    "Tabs or spaces?": ("Tabs", "spaces"),
    "A or B?": ("A", "B"),
    "a or b?": ("a", "b"),
    "A, B or C?": ("A", "B", "C"),
    "Should we do A or B?": ("A", "B"),
    "Which is better, A or B?": ("A", "B"),
    "Is A or B better?": ("A", "B"),
    "Should we choose option A or B?": ("option A", "B"),
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
    "Should we write tests before or after the code?": ("write tests before the code", "write tests after the code"),
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

# Questions as people ask them, one on a line, and the alternatives that are read
MORE_CHOICES = """
Should employees work from home or in the office? => from home / in the office
Should the logo be blue or green? => blue / green
Is nuclear power good or bad for the climate? => good / bad
Should the CEO or the board decide? => the CEO / the board
Is it worth learning Rust or Go in 2025? => Rust / Go
我们应该用Redis还是PostgreSQL？ => Redis / PostgreSQL
Чай или кофе? => Чай / кофе
Нам использовать Redis или PostgreSQL? => Redis / PostgreSQL
Czy powinniśmy używać Redis czy PostgreSQL? => Redis / PostgreSQL
Kawa czy herbata? => Kawa / herbata
¿Trabajar desde casa o en la oficina? => desde casa / en la oficina
French, Spanish, or German? => French / Spanish / German
Should I learn French, Spanish, or German? => French / Spanish / German
Should we use Python 3.12 or 3.13? => Python 3.12 / 3.13
Should we use Node.js or Deno for the backend? => Node.js / Deno
Should config live in settings.toml or in .env? => settings.toml / .env
Should we store it in config.yaml or settings.json? => config.yaml / settings.json
TCP/IP or UDP? => TCP/IP / UDP
Should we use CI/CD or deploy by hand? => use CI/CD / deploy by hand
Should we use Redis or PostgreSQL? Or something else? => Redis / PostgreSQL
Tabs or spaces? Why? => Tabs / spaces
We have 10 people or so. Should we hire a manager or stay flat? => hire a manager / stay flat
Given our budget, should we buy or rent? => buy / rent
For a small team, Redis or PostgreSQL? => Redis / PostgreSQL
In 2025, is it better to buy a house or rent? => buy a house / rent
If we have 10k users or more, should we use Kafka or RabbitMQ? => Kafka / RabbitMQ
Should we use Kafka or RabbitMQ if we have 10k users or more? => Kafka / RabbitMQ
Should we rewrite, refactor or leave the code alone? => rewrite / refactor / leave the code alone
Should we raise prices, cut costs, or do nothing? => raise prices / cut costs / do nothing
Should I go to grad school or get a job? => go to grad school / get a job
Should I quit my job or negotiate? => quit my job / negotiate
Should I stay or should I go? => stay / go
Should I stay or go? => stay / go
Build or buy? => Build / buy
build or buy => build / buy
should we use redis or postgres => redis / postgres
Redis versus Memcached for sessions => Redis / Memcached
Compare Redis vs PostgreSQL for caching. => Redis / PostgreSQL
I can't decide whether to buy or rent. => buy / rent
Should we either raise prices or cut staff? => raise prices / cut staff
Is light a wave or a particle? => a wave / a particle
Is a tomato a fruit or a vegetable? => a fruit / a vegetable
Is Pluto a planet or a dwarf planet? => a planet / a dwarf planet
Was the moon landing real or staged? => real / staged
Is mathematics invented or discovered? => invented / discovered
Are cats or dogs smarter? => cats / dogs
Did dinosaurs die from an asteroid or from volcanoes? => an asteroid / volcanoes
Did the Romans or the Greeks invent concrete? => the Romans / the Greeks
Does AI make us smarter or dumber? => smarter / dumber
Will interest rates go up or down? => up / down
Would you rather be rich or famous? => rich / famous
Should taxes be raised or lowered? => raised / lowered
Should voting be mandatory or voluntary? => mandatory / voluntary
Should drugs be legal or illegal? => legal / illegal
Should I rent or buy a house? => rent a house / buy a house
Should parents or schools teach manners? => parents / schools
Should governments or companies regulate AI? => governments / companies
Are you for or against nuclear power? => for nuclear power / against nuclear power
Should we use a SQL or NoSQL database? => a SQL database / a NoSQL database
Should we use static or dynamic typing? => static typing / dynamic typing
Should we run 2 or 3 replicas? => 2 replicas / 3 replicas
Should we have more or fewer meetings? => more meetings / fewer meetings
Is it ethical or unethical to eat meat? => ethical / unethical
Is it better to work for a startup or for a big company? => a startup / a big company
Are there more cats or dogs in the world? => cats / dogs
Should we use X or Y for A or B? => X / Y
Should we deploy now or after the holidays? => now / after the holidays
Should we meet in person or online? => in person / online
Should we keep the monolith or move to microservices? => keep the monolith / move to microservices
Which database should we use: PostgreSQL, MySQL, or SQLite? => PostgreSQL / MySQL / SQLite
Which is better tabs or spaces? => tabs / spaces
What's better, iOS or Android? => iOS / Android
What should I do, quit or stay? => quit / stay
Where should we host it: AWS or on-prem? => AWS / on-prem
Do you prefer tea or coffee? => tea / coffee
Should Dr. Smith or Dr. Jones lead the project? => Dr. Smith / Dr. Jones
Should I take the train or drive? => take the train / drive
Should I take the train or the bus? => the train / the bus
Should I get a dog or a cat first? => a dog / a cat
Should we use gRPC or REST, given that we have three clients? => gRPC / REST
Should our startup raise money or bootstrap? => raise money / bootstrap
Should cities invest in bike lanes or more buses? => bike lanes / more buses
Should I use "Redis" or "PostgreSQL"? => Redis / PostgreSQL
Should I use `asyncio` or threads? => asyncio / threads
He asked: "Should we use Redis or Postgres?" => Redis / Postgres
Should tests hit a real database or use mocks? => hit a real database / use mocks
Should children learn coding or a second language? => coding / a second language
Should we launch today, tomorrow or next week? => today / tomorrow / next week
Soll ich mieten oder kaufen? => mieten / kaufen
Ist Python oder Go besser? => Python / Go
Tee oder Kaffee? => Tee / Kaffee
Faut-il acheter une maison ou louer un appartement ? => acheter une maison / louer un appartement
Devrions-nous choisir un monolithe ou des microservices ? => un monolithe / des microservices
Thé ou café ? => Thé / café
¿Perros o gatos? => Perros / gatos
¿Es mejor comprar o alquilar? => comprar / alquilar
¿Qué es mejor, Rust o Go? => Rust / Go
È meglio Roma o Milano? => Roma / Milano
Devemos usar Vue ou React? => Vue / React
Chá ou café? => Chá / café
É melhor o gato ou o cachorro? => o gato / o cachorro
Moeten we Redis of PostgreSQL gebruiken? => Redis / PostgreSQL
Работать из дома или в офисе? => из дома / в офисе
Lepiej kupić czy wynająć mieszkanie? => kupić / wynająć
喝茶还是喝咖啡？ => 喝茶 / 喝咖啡
我们应该远程办公还是去办公室？ => 远程办公 / 去办公室
应该学Python还是Go？ => Python / Go
Redisを使うべきですか、それともPostgreSQLを使うべきですか？ => Redis / PostgreSQL
犬と猫、どちらがいい？ => 犬 / 猫
猫ですか、それとも犬ですか？ => 猫 / 犬
커피 아니면 차? => 커피 / 차
Should we use feature flags or long-lived branches? => feature flags / long-lived branches
Should I use a list or a tuple for fixed-size records in Python? => a list / a tuple
Should we pin versions to ==1.2.3 or use ranges? => pin versions to ==1.2.3 / use ranges
Should we log to stdout or to a file? => stdout / a file
Should we version the API in the URL or in a header? => the URL / a header
Should a function return None or raise an exception? => return None / raise an exception
Should errors be exceptions or return values? => exceptions / return values
Should we migrate to PostgreSQL 17 or stay on 14? => migrate to PostgreSQL 17 / stay on 14
Should we split the repo or keep a monorepo? => split the repo / keep a monorepo
Monorepo or polyrepo for a team of twelve? => Monorepo / polyrepo
Is Kubernetes overkill or necessary for us? => overkill / necessary
Should the voting age be 16 or 18? => 16 / 18
Should the minimum wage be raised to $15 or $20? => $15 / $20
Should we build nuclear plants or wind farms? => nuclear plants / wind farms
Should the state fund art or leave it to the market? => fund art / leave it to the market
Should zoos exist or be abolished? => exist / be abolished
Should judges be elected or appointed? => elected / appointed
Is capitalism or socialism better for the poor? => capitalism / socialism
Is human nature good or evil? => good / evil
Is intelligence inherited or learned? => inherited / learned
Is math an art or a science? => an art / a science
Did COVID-19 come from a lab or from nature? => a lab / nature
Should I text her or wait for her to call? => text her / wait for her to call
Should I study law or medicine? => law / medicine
Should I major in physics or computer science? => physics / computer science
Should I move to Berlin or stay in London? => move to Berlin / stay in London
Should I invest in stocks, bonds or real estate? => stocks / bonds / real estate
Should I run in the morning or in the evening? => the morning / the evening
Should I wear a suit or a dress to the wedding? => a suit / a dress
Should I adopt a dog or buy one from a breeder? => adopt a dog / buy one from a breeder
Should I drink coffee or tea in the morning? => coffee / tea
Should my kids go to a public or private school? => a public school / a private school
My landlord raised the rent. I am 34 and have a cat. Should I move out or negotiate? => move out / negotiate
Quick question: Redis or PostgreSQL? => Redis / PostgreSQL
Thanks in advance! React or Angular? I prefer short answers. => React / Angular
Should we use C++ or C#? => C++ / C#
Should we use .NET or Java? => .NET / Java
Should we use Llama-3.1-8B or Qwen2.5-7B for summaries? => Llama-3.1-8B / Qwen2.5-7B
Should we set temperature to 0.2 or 0.7? => 0.2 / 0.7
Should rate limits be 100 or 1000 requests per minute? => 100 requests / 1000 requests
Should we ship v2.0 or v1.9.1 first? => v2.0 / v1.9.1
Should the config be in src/config.py or in config/settings.py? => src/config.py / config/settings.py
Should we use snake_case, camelCase, or kebab-case? => snake_case / camelCase / kebab-case
Is a hot dog a sandwich or a taco? => a sandwich / a taco
Would it be better to use Redis or PostgreSQL? => Redis / PostgreSQL
Would a carbon tax or cap-and-trade reduce emissions more? => a carbon tax / cap-and-trade
Will Python or JavaScript dominate in 2030? => Python / JavaScript
Which is more important: speed or safety? => speed / safety
Which came first, the chicken or the egg? => the chicken / the egg
What matters more, talent or hard work? => talent / hard work
Should developers, designers, or product managers own the roadmap? => developers / designers / product managers
Should product owners write tests or leave that to QA? => write tests / leave that to QA
Should AI-generated art be copyrighted or in the public domain? => copyrighted / in the public domain
Should a company with ten or more employees have a works council? => a company with ten / more employees
Should anyone under 16 or over 80 drive? => under 16 / over 80 drive
Should we focus on growth or profitability? => growth / profitability
Do we need a data lake or a warehouse? => a data lake / a warehouse
Isn't it better to use Go or Rust? => Go / Rust
is it better to use tabs or spaces => tabs / spaces
what is better redis or postgres => redis / postgres
We should use Redis or PostgreSQL? => Redis / PostgreSQL
Sollte man Homeoffice oder Büroarbeit fördern? => Homeoffice / Büroarbeit
Sollen wir einen Monolithen oder Microservices bauen? => Monolithen / Microservices
Hund oder Katze? => Hund / Katze
Soll ich ein Haus kaufen oder mieten? => kaufen / mieten
Vaut-il mieux Paris ou Lyon ? => Paris / Lyon
Dois-je manger une pomme ou dormir ? => manger une pomme / dormir
Le télétravail est-il bon ou mauvais ? => bon / mauvais
¿Deberíamos comprar una casa o alquilar un piso? => comprar una casa / alquilar un piso
¿Vivir en la ciudad o en el campo? => en la ciudad / en el campo
¿Café o té? => Café / té
Dovremmo usare Rust o Go? => Rust / Go
È meglio un cane o un gatto? => un cane / un gatto
Mare o montagna? => Mare / montagna
Devemos comprar ou alugar? => comprar / alugar
Python ou Java? => Python / Java
Zal ik blijven of gaan? => blijven / gaan
Pies czy kot? => Pies / kot
Что лучше: Rust или Go? => Rust / Go
Кошка или собака? => Кошка / собака
Покупать или арендовать квартиру? => Покупать / арендовать
咖啡还是茶？ => 咖啡 / 茶
你喜欢猫还是狗？ => 猫 / 狗
買うべきか、それとも借りるべきか？ => 買うべき / 借りるべき
東京と大阪ではどちらが住みやすい？ => 東京 / 大阪
在家工作好还是在办公室好？ => 在家工作好 / 在办公室好
Static or dynamic typing? => Static typing / dynamic typing
Should governments tax or ban sugar? => tax sugar / ban sugar
Should I call or text? => call / text
Should teachers be paid more or less than nurses? => more / less
Should the company pay dividends or reinvest profits? => pay dividends / reinvest profits
Should I get a master's degree or start working? => get a master's degree / start working
Should I tell my parents or my sister first? => my parents / my sister
Should I live with my partner or alone? => with my partner / alone
Should we get married in a church or at the beach? => in a church / at the beach
Should the cache be write-through or write-back? => write-through / write-back
Should logs be kept for 30 days or 90 days? => 30 days / 90 days
Should the mobile app be native or cross-platform? => native / cross-platform
Should we go native or use Flutter? => go native / use Flutter
Should our docs live in Notion, Confluence or the repo? => Notion / Confluence / the repo
Should we trust the benchmark or our own measurements? => the benchmark / our own measurements
Should the fix go into 1.4.2 or wait for 1.5? => go into 1.4.2 / wait for 1.5
Should we raise a seed round or grow from revenue? => raise a seed round / grow from revenue
Is AI a threat or an opportunity for artists? => a threat / an opportunity
Is AI more of a threat or an opportunity? => a threat / an opportunity
Is the Mona Lisa overrated or a masterpiece? => overrated / a masterpiece
Does social media do more harm or good? => harm / good
Does money or love make people happier? => money / love
Is it cheaper to lease or buy a car? => lease a car / buy a car
Is water wet or dry? => wet / dry
Is Java or Python easier to learn for beginners? => Java / Python
Is running or swimming better for your knees? => running / swimming
Are electric cars or hybrids cheaper to run? => electric cars / hybrids
Are cats liquid or solid? => liquid / solid
Were the Beatles or the Rolling Stones more influential? => the Beatles / the Rolling Stones
Will the euro survive or collapse? => survive / collapse
Will robots or immigrants take our jobs? => robots / immigrants
Should one follow the heart or the head? => the heart / the head
Should Ukraine join NATO or remain neutral? => join NATO / remain neutral
Should guns be banned or restricted? => banned / restricted
Should companies use personal or corporate credit cards? => personal credit cards / corporate credit cards
Should I store passwords with bcrypt or argon2? => bcrypt / argon2
Should I encrypt at rest or in transit? => at rest / in transit
Should we open the office in Paris, Berlin, or Amsterdam? => Paris / Berlin / Amsterdam
Should the meeting be on Tuesday or Wednesday? => Tuesday / Wednesday
Should the US or China lead AI regulation? => the US / China
Should we store dates as UTC or local time? => UTC / local time
Should I wake up early or stay up late? => wake up early / stay up late
Should I apologize to her or wait? => apologize to her / wait
Windows or Linux for a home server with 8 GB of RAM? => Windows / Linux
Rewrite in Rust or keep the Python code? => Rewrite in Rust / keep the Python code
Socialism vs capitalism => Socialism / capitalism
Quantity over quality or quality over quantity? => Quantity over quality / quality over quantity
Democracy or dictatorship in times of crisis? => Democracy / dictatorship
Star Wars or Star Trek? => Star Wars / Star Trek
Python, Java ou Go ? => Python / Java / Go
Sollten wir Python, Java oder Go nutzen? => Python / Java / Go
¿Francés, español o alemán? => Francés / español / alemán
"""
# A wrong reading is worse than none: what is asked of both, or can't be told, is left whole
MORE_YES_NO = """
Should we stop using email, or at least limit it?
Can we ship this in a day or two?
Can an AI be conscious or feel pain?
Should schools teach cursive, or is it obsolete?
Should we use "trial or error" learning?
Should kids be allowed to use phones or tablets at school?
Should we ban smoking in bars or restaurants?
Should we use X and/or Y?
Should we use Redis (or something like it) for caching?
Is consciousness an illusion or is it real?
Is it safe to eat raw eggs or chicken?
Is there life on Mars or Venus?
Is Rust faster than C or C++?
Should people who smoke or drink pay more?
Is it true that coffee or tea causes cancer?
Should we shut down the site if users or admins complain?
Should we use Kafka instead of RabbitMQ or NATS?
Does sugar cause cancer or diabetes?
Is remote work more or less productive than office work?
Should I have kids or not?
Ist Atomkraft gut oder schlecht fürs Klima?
Soll ich kündigen oder noch warten?
Sollen wir das machen oder nicht?
Est-ce une bonne idée ou pas ?
Fiets of auto?
Bank of America?
State of mind?
Стоит ли нам переходить на Rust?
我们还是应该用Redis吗？
Do we need 10 servers or more?
Kubernetes or not?
Are microservices worth it or just hype?
Should college be free or should students pay?
Did Homer exist or was he a legend?
Does the end justify the means?
Does God exist or not?
Should I run in the morning or evening?
We run on 3 servers. They are old or slow. Is it time to migrate?
Are electric cars really greener or just marketing?
Can dogs or cats see in color?
Could we use Redis or Memcached here?
May employees bring cats or dogs to work?
Has the project failed or succeeded?
Have we tried Redis or Memcached?
Should we choose between A and B?
To be or not to be?
Yes or no?
Is the answer yes or no?
Pineapple on pizza: yes or no?
True or false: the earth is flat?
Should we use the so-called "move fast or die" approach?
Should we say 'trial or error' in the docs?
Should we use (a or b)?
Should AI systems have rights or not?
Should social media companies be liable for lies or hate speech?
Should we deprecate v1 in June or wait until v3 or v4 is out?
Should we let users log in with Google or Apple?
Should we require tests or reviews?
Should I worry about inflation or recession?
Do you think that Rust or Go is better?
Do people buy or rent more in Berlin?
Does pineapple belong on pizza or not?
Ist ein Monolith oder sind Microservices besser?
Sollten wir Visual Studio Code oder IntelliJ IDEA nutzen?
Soll ich mit dem Zug oder mit dem Auto fahren?
Faut-il un chat noir ou un chien blanc ?
¿Es buena o mala idea?
¿Deberíamos migrar o no?
Is een hond of een kat beter?
Czy warto uczyć się Rusta?
Стоит ли покупать квартиру или лучше снимать?
学习法语、西班牙语还是德语？
Should police officers wear body cameras or not?
Should designers code or developers design?
Do violent video games cause aggression or relieve stress?
Is it OK to lie or cheat in an emergency?
Could AI help or hurt democracy?
Should the deadline be Monday or can it be Friday?
Should users or admins be able to delete posts?
Should I say yes or no to the promotion?
Is either Redis or PostgreSQL suitable?
Wenn es regnet, sollen wir Bus oder Bahn nehmen?
"""
MORE_OPEN = """
What causes cancer or heart disease?
When should I buy or sell stocks?
Who or what decides?
How do we choose between Redis or PostgreSQL?
Why do people lie or cheat?
Between Redis and PostgreSQL, which should we use?
Redis and PostgreSQL: which one?
Use Redis or PostgreSQL.
Explain the difference between TCP or UDP.
Wie sollen wir testen, manuell oder automatisch?
We can spend the money on a new office, new laptops or salaries. Which one?
"""
CLAIMS = """
I wonder whether or not we should migrate.
Either we raise prices or we die.
Coffee or tea is bad for you.
Remote work or office work is a false choice.
Democracy is better than monarchy or anarchy.
We should buy or lease a truck.
I am torn between Vue and React.
Might makes right.
In 2025, remote work makes teams better.
"""


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


@pytest.mark.parametrize("row", MORE_CHOICES.strip().splitlines())
def test_alternatives_of_many_questions(row: str):
    text, expected = row.split(" => ")
    question = read_question(text)
    assert (question.kind, question.options) == ("choice", tuple(expected.split(" / ")))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (text, kind)
        for kind, texts in (("yes_no", MORE_YES_NO), ("open", MORE_OPEN), ("claim", CLAIMS))
        for text in texts.strip().splitlines()
    ],
)
def test_no_alternatives_are_made_up(text: str, kind: str):
    question = read_question(text)
    assert (question.kind, question.options) == (kind, ())


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
