"""The words by which `moot.reasoning.question` reads a question. What they mean for it is said there."""

from __future__ import annotations

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Questions

MANNER = _set(
    "how why when where wie warum wieso wann wo comment pourquoi quand cómo hoe waarom как почему jak dlaczego"
)
OPEN_WORDS = MANNER | _set(
    "what which who whom whose what's who's how's which's welche welcher welches wer womit wofür que quel quelle "
    "quels quelles qui où combien qu'est-ce qué cuál cuáles quién dónde cuándo cosa quale quali perché chi qual quais "
    "wat welke что какой какая какие кто где когда co który która które kto gdzie kiedy"
)
GERMAN_AFTER_WAS = _set(
    "ist sind soll sollen sollte sollten wäre kann können könnte macht machen passiert spricht würde bedeutet bringt "
    "kostet hilft denkst hältst haltet meint meinst nehmen tun wollen müssen muss darf für"
)
MODALS = _set("should shall would will must shouldn't won't wouldn't shan't mustn't ought")
# "Can we have A or B?" asks for both: an answer is yes or no.
PERMITTING = _set("can could may might has have had can't couldn't haven't hasn't hadn't mightn't")
DOING = _set("do does did don't doesn't didn't")
BEING = _set("is are am was were isn't aren't wasn't weren't")
AUXILIARIES = MODALS | PERMITTING | DOING | BEING
PRONOUNS = _set("we i you they he she it there")
SUBJECTS = PRONOUNS | _set("this that these those")
IMPERATIVES = _set(
    "name list explain describe propose suggest compare outline summarise summarize draft sketch review analyse "
    "analyze recommend evaluate rank estimate brainstorm imagine please debate discuss argue"
)
LEADING = _set(
    "if when while given as since because assuming considering so well ok okay hi hello hey hmm honestly actually "
    "personally also now and but suppose say seriously regarding concerning"
)

# Phrases

ARTICLES = _set("a an the our my your their its his her one's another some any this that these those")
DEFINITE = _set("the our my your their its his her this that these those")
PREPOSITIONS = _set(
    "in on at with as to for by from into onto under over during through via using without within behind between "
    "among against around about before after upon per until toward towards near outside inside across along beyond"
)
PARTICLES = _set("up down on off in out")
ADVERBS = _set(
    "now today tomorrow tonight later soon early late here there online offline abroad alone together ourselves "
    "yourself yourselves themselves myself itself first last once twice always never often remote upfront in-house "
    "locally overnight immediately"
)
# Between a subject and its verb: "should we really use"
FILLERS = _set("really just even still ever also always rather instead only both either now then better first not")
COMPARING = _set(
    "better best worse worst more less fewer most least first faster slower cheaper safer easier harder simpler right "
    "wrong enough preferable good bad smarter dumber stronger weaker older younger larger bigger smaller longer "
    "shorter higher lower warmer colder hotter cooler greener cleaner dirtier healthier riskier richer poorer happier "
    "deadlier tastier stricter looser tighter earlier nicer lighter heavier quicker busier fairer uglier prettier "
    "cuter friendlier wiser braver scarier funnier costlier"
)
ADJECTIVES = _set(
    "good bad safe unsafe dangerous right wrong true false real fake dead alive free paid open closed big small large "
    "long short high low old new young hot cold warm cool fast slow hard easy soft cheap expensive rich poor strong "
    "weak dark light bright public private local remote global legal illegal moral immoral ethical unethical "
    "mandatory compulsory optional voluntary static dynamic manual automatic junior senior internal external "
    "synchronous asynchronous sync async strict loose flat round finite infinite simple complex human natural "
    "artificial helpful harmful useful useless healthy unhealthy worth overrated underrated possible impossible "
    "likely unlikely blue green red black white yellow lucky happy sad innate learned early late formal informal "
    "central federal single multiple full empty wet dry clean dirty centralized decentralized relational electric "
    "hybrid part-time full-time staged rare common sick well guilty innocent innovative personal corporate random "
    "deterministic frontend backend front-end back-end more less fewer better worse mutable immutable typed untyped "
    "strategic tactical in-house horizontal vertical mad"
)
ADJECTIVE_ENDINGS = (
    *("ed", "ive", "al", "ous", "able", "ible", "ful", "less", "ic", "ary", "ory", "ish", "ier", "ical", "ant", "ent"),
    "ate",
)
NUMBERS = _set("one two three four five six seven eight nine ten twelve twenty thirty fifty hundred")
# "Is it safe to have A or B?", "should A or B be allowed?": asked of both
ALLOWING = _set(
    "ban allow permit forbid prohibit legalize legalise tolerate outlaw criminalize criminalise decriminalize "
    "decriminalise require mandate let allowed permitted banned forbidden required prohibited able stop avoid worry "
    "worried liable responsible care bother expect afraid banning allowing stopping"
)
ACCEPTABLE = _set(
    "ok okay fine safe legal illegal possible impossible ethical unethical moral immoral wrong allowed necessary "
    "normal true common acceptable reasonable bad dangerous right rude weird likely wise smart required needed useful "
    "feasible realistic healthy unhealthy good"
)
FINITE = _set(
    "is are was were makes make has have does do should will can would be becomes become wins suits suit fits"
)

# Verbs that are nouns as often: "unit test", "push or pull"
NOUNISH = _set(
    "access address age aid air answer approach attack attempt back bake balance batch benefit bike block board book "
    "boost break bug burn cache call cap care cause challenge change charge check claim class code comment commit "
    "compute control cook copy cost cover credit cut cycle damage dance date deal debate delay demand deploy design "
    "diet dispute doubt drink drive drop end escape estimate exchange exercise experiment export face fall fear feed "
    "feel fight fine finish fire fix flood fly focus force fork frame freeze fund gain guard guide hand handle harm "
    "hate help hide hike hire hit hold home host hug hunt import index influence interview invest iron issue joke "
    "judge jump kill kiss label land laugh launch lead lease lift light limit link list live load loan lock log look "
    "love man map march mark market match measure merge milk mine mix model monitor move name need nurse object offer "
    "open order own pack page paint park part patch pause pay phone pick pilot pitch place plan plant play point poll "
    "post practice praise press price print profit program promise protest pull pump punch purchase push question "
    "queue race rain raise range rank rate ration reach read record refund reform release rent repair reply report "
    "request rescue research rest return review reward ride ring rise risk rock roll row rule run sail sample sand "
    "scale score search seat sell sense shard share shift ship shop show sign sleep slice smoke snow solo sound "
    "source space spend split sport staff stage stake stand star start state step stick stock stop store storm strain "
    "stream stress strike study style suit supply support surprise swim switch talk target task taste tax teach team "
    "test text thank ticket time tip tour trace track trade train transfer transport trap travel treat trial trick "
    "trip trust try turn type update upgrade use value view visit voice vote wait walk war wash waste watch water "
    "wear weight win wish wonder work worry wrap"
)
VERBS = (
    NOUNISH
    - _set(
        "age air back board book bug class code credit diet face frame home iron joke label land light list man map "
        "market match milk mine model name nurse object page part phone place point price profit program queue range "
        "rock sand seat sense solo sound source space sport staff stage star state stock storm style suit target task "
        "team text ticket time tip trial trick type value view voice war water weight address transport purchase loan "
        "issue ring race cost cause rain row rule wish snow mark"
    )
) | _set(
    "abandon abolish absorb accept achieve acquire act adapt add adjust admit adopt advertise advise agree allow "
    "apply appoint approve arrest ask assign assume attend automate avoid ban become begin believe borrow bring build "
    "buy calculate cancel carry catch celebrate choose clean climb close collect combine compete complain complete "
    "confess confront conserve consider consolidate containerise containerize continue convert cool cooperate create "
    "cultivate cure deceive decentralize decide declare decline decouple decrease defend define delegate delete "
    "deliver denormalise denormalize deny depend deprecate destroy detain develop die disable discard discuss dismiss "
    "ditch diversify divide do donate double earn eat educate elect eliminate embrace employ enable encourage endorse "
    "enforce engage enjoy enlist enroll ensure enter erase establish evacuate evaluate evolve exclude execute exist "
    "exit expand explain explore expose extend extract fail favor favour file fill find flee follow forbid forget "
    "forgive fry gather generate get give go grade graduate grow hang hate have heal hear hope ignore implement "
    "improve include increase inform inherit insist inspect install insulate integrate introduce invent invite "
    "isolate join keep know lay learn leave lend let license lie listen lose lower maintain make manage marry matter "
    "meet migrate modernise modernize multiply negotiate nationalise nationalize notify oppose optimise optimize "
    "outsource overhaul pass perform persist pivot postpone prefer prepare preserve prevent prioritise prioritize "
    "privatise privatize proceed produce promote propose prosecute protect prove provide publish punish put quit "
    "react rebuild recruit recycle redesign reduce refactor refuse reject relax relocate rely remain remember remove "
    "rename renegotiate renew renovate replace replicate represent require resign resist respond restart restore "
    "restrict restructure result resume retain retire retry reuse revert rewrite save say seek seem select send serve "
    "set settle shrink shut simplify sit skip slow solve speak specialise specialize standardise standardize stay "
    "strengthen subsidise subsidize succeed sue suffer suggest surrender survive suspend swap take tell terminate "
    "think throw tolerate train transform translate trim tune understand undo unify upload validate vaccinate verify "
    "wake want warn withdraw write legalise legalize outlaw prohibit permit raise separate obey procrastinate "
    "compromise apologise apologize intervene retreat replatform evict hurt elope squash rebase bootstrap rejoin "
    "deregulate regulate inline rollback dominate govern rescind repeal teach steal hack"
)
GERUND_EXCEPTIONS = _set("thing king ring spring string being morning evening nothing something anything everything")
# "buy or lease a car": what follows the second is done to the first, too
TRANSITIVE = _set(
    "build buy ban tax create destroy raise lower increase decrease keep sell rent lease abolish reform regulate fix "
    "rewrite refactor replace repair upgrade adopt accept reject approve remove delete merge split expand reduce cut "
    "extend cancel postpone delay hire fire own make help harm save kill subsidise subsidize nationalise privatise "
    "hurt encourage discourage promote prevent protect renovate restore improve weaken strengthen centralise "
    "decentralise unify publish hide import export love hate trust support oppose nationalize privatize repeal patch "
    "disable enable"
)
# What ends the words before an alternative, and what ends an alternative
BEFORE = AUXILIARIES | SUBJECTS | PREPOSITIONS | COMPARING | _set("between either whether using worth be")
AFTER = (
    (PREPOSITIONS - {"between"})
    | COMPARING
    | FINITE
    | ARTICLES
    | _set(
        "when if because while given instead than so that which who where and but here now today tomorrow next anymore "
        "again worth then later soon please tonight yet still ever zum zur für pour para pendant als besser mieux"
    )
)
DANGLING = (
    _set("a an the our my your their its")
    | AUXILIARIES
    | (PREPOSITIONS - PARTICLES)
    | _set("and or but of we i be than if not no")
)

# Other languages

NEGATIONS = _set("not no nicht nein non pas não nao nie niet nee нет не ikke inte nope nah")
# Words that can't be a side, nor begin one that is read word by word
FOREIGN_FUNCTION = _set(
    "noch doch nur auch schon lieber besser sich es ich wir man du er sie zu ist sind war soll sollen sollten sollte "
    "kann können wird werden muss müssen hat haben oder und aber als wie wenn dass ob on il elle nous vous je tu se "
    "ne plus est sont faut doit mieux plutôt bien encore et mais que qui si c'est son está están hay ser estar y pero "
    "más mejor debe deberíamos è sono meglio più ma e che ci deve não é são mas melhor we ik jij moet moeten wel nog "
    "maar en beter и но лучше мы я он это нам ли jest są lepiej i ale to się my"
)
FOREIGN_PREPOSITIONS = _set(
    "in im ins an am auf aus bei beim mit nach von vom zu zum zur für fürs vor über unter ohne gegen durch bis seit "
    "dans sur sous chez à au aux en de du pour par avec sans avant après depuis vers desde con sin para por sobre "
    "hasta hacia antes después da dal dalla nel nella nei al alla su per tra fra com sem em no na nos nas op met naar "
    "uit van voor tegen zonder bij в на из с от к по до для без при у z w do od przy dla po"
)
FOREIGN_ARTICLES = _set(
    "ein eine einen einem einer der die das den dem des un une le la les du el los las una unos unas uno il lo i gli "
    "um uma o a os as een de het"
)
# Before their objects, unlike in German
EARLY_INFINITIVES = ("er", "ir", "re", "ar", "are", "ere", "ire", "ть", "ти", "ać", "ić", "yć", "eć", "ąć", "ść")
INFINITIVES = (*EARLY_INFINITIVES, "en")
DUTCH = _set(
    "een het ik wij beter kiezen gebruiken zullen voor naar werken kopen huren onze moeten moet nemen welke wat de "
    "leren bouwen blijven"
)


def word_of(text: str) -> str:
    """The first word of a text, in lower case and without punctuation."""
    found = re.match(r"\W*([\w'’-]+)", text)
    return found[1].lower().replace("’", "'").rstrip("'") if found else ""
