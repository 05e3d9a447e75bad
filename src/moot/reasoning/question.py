"""What a question asks for: a choice between alternatives, a yes or no, or something open. Pure, by the words alone.

English is read best. Of other languages, question words and the word for "or" are known; what can't be read is "open"
or a claim, and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from moot.core.types import record

Kind = Literal["choice", "yes_no", "claim", "open"]

MAX_OPTION_CHARS = 60


@record
class Question:
    kind: Kind
    options: tuple[str, ...] = ()  # of a choice: as the question names them
    proposition: str = ""  # of a claim: the claim; of a yes-or-no question: the statement that "yes" affirms, if known


def read_question(text: str) -> Question:
    """Read a question. The last sentence that asks decides; what comes before it is background."""
    sentence = _asking(text)
    asks = sentence.endswith(("?", "？"))
    body = sentence.strip(" ?？!.¿。！\t\n\"'“”")
    if not body:
        return Question(kind="open")
    words = body.split()
    first = _word(words[0])
    options = _options(body, first)
    if options:
        return Question(kind="choice", options=options)
    if _is_open(body, first, asks=asks):
        return Question(kind="open")
    if asks:
        body = re.sub(r",?\s+or not$", "", body, flags=re.IGNORECASE)
        return Question(kind="yes_no", proposition=_affirmed(body))
    return Question(kind="claim", proposition=body)


def are_actions(options: Iterable[str]) -> bool:
    """Whether alternatives are things to do, such as "buy a house" and "rent": all of them begin with a verb, and one
    says with what. A single word may be a noun, too, and so may one of several ("bike lanes")."""
    given = tuple(options)
    return any(" " in option for option in given) and all(_word(option) in _VERBS for option in given)


def _asking(text: str) -> str:
    """The last sentence with a question mark, else the whole text if it is one sentence, else its last sentence."""
    flat = " ".join(text.split())
    sentences = [
        each.strip()
        for each in re.split(r"(?<=[.!?])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+|(?<=[。！？])", flat)
        if each.strip()
    ]
    asking = [each for each in sentences if each.endswith(("?", "？"))]
    return (asking or sentences or [""])[-1]


# Alternatives

_ENGLISH = r"(?:,\s*)?\b(?:or rather|or|versus|vs\.?)\s+"
_LINK = re.compile(
    rf"\s*{_ENGLISH}|(?P<other>\s+(?:oder|ou bien|ou|eller|of|o)\s+|\s*[、，]?(?:还是|還是|それとも)\s*)", re.IGNORECASE
)


def _options(body: str, first: str) -> tuple[str, ...]:
    links = [link for link in _LINK.finditer(body) if link.start() and link.end() < len(body)]
    links = [link for link in links if not link["other"]] or links
    if not links:
        return ()
    link = links[-1]
    left, right = body[: link.start()].strip(" ,"), body[link.end() :].strip(" ,")
    if _word(right) in ("not", "no", "nicht", "non") or (first in _MANNER and not re.search(r"[:—–]", left)):
        return ()
    if link["other"]:
        return _of_another_language(link["other"].strip().lower(), left, right, first)
    if first in _OPEN_WORDS:
        # "Which is better, tabs or spaces?", "What should we use: A, B or C?"
        lead = re.search(r"[:—–]\s+|,\s+", left)
        if lead is None:
            return ()
        left = left[lead.end() :]
    elif (colon := re.search(r":\s+", left)) is not None:
        left = left[colon.end() :]
    clause = _clause(right)
    if clause:  # "Should we ship on Friday or should we wait?"
        return _checked([_predicate(left), clause])
    *more, left = re.split(r"\s*,\s*(?:or\s+)?", _joined_by_or(left, links[:-1]))
    return _checked(_trimmed([*more, left], right))


def _of_another_language(link: str, left: str, right: str, first: str) -> tuple[str, ...]:
    """One word of each side. Where "of" and "o" may mean something else, both must be names."""
    before, after = left.split(), right.split()
    if first in _OPEN_WORDS or (link in ("of", "o") and not (before[-1][:1].isupper() and after[0][:1].isupper())):
        return ()
    spaced = len(before) > 1 or len(before[0]) <= 2 * len(after[0])
    return _checked([before[-1], after[0]]) if spaced else ()


def _joined_by_or(left: str, links: list[re.Match[str]]) -> str:
    """ "A or B or C" is read like "A, B or C"."""
    return _LINK.sub(", ", left) if links else left


def _trimmed(left: list[str], right: str) -> list[str]:
    """The alternatives without the words around the list."""
    head = left[0]
    verb = _word(right)
    if verb in _PREPOSITIONS and _word(head.split()[-1]) in _PREPOSITIONS:
        rest = right.split()[1:]  # "before or after the code"
        return [" ".join([head.split()[-1], *rest]), right]
    if verb.endswith("ly") and head.endswith("ly"):
        return [head.split()[-1], *left[1:], right]  # "monthly or yearly"
    if verb in _VERBS and (predicate := _predicate(head)) and _word(predicate) in _VERBS:
        return [predicate, *left[1:], right]  # alternatives are things to do
    if verb in _PREPOSITIONS:
        # "as a monolith or as services": the same preposition begins both
        at = [found.end() for found in re.finditer(rf"\b{re.escape(verb)}\s+", head, re.IGNORECASE)]
        if at:
            ends = [re.sub(rf"^{re.escape(verb)}\s+", "", each, flags=re.IGNORECASE) for each in (*left[1:], right)]
            if verb == "to":
                return [head[at[-1] :], *ends]
            if verb == "per":
                return [f"per {head[at[-1] :]}", *left[1:], right]
            return [_noun(head[at[-1] :], last=False), *[_noun(each, last=False) for each in ends]]
    return [_noun(head, last=True), *left[1:], _noun(right, last=False)]


def _noun(text: str, *, last: bool) -> str:
    """The thing at the end (`last`) or at the beginning of a text."""
    words = text.split()
    if last:
        start = 0
        for at, word in enumerate(words[:-1]):
            if _word(word) in _BEFORE and (
                at == 0 or _word(word) not in _VERBS or _word(words[at - 1]) not in _ARTICLES
            ):
                start = at + 1
        # an article begins it: "hire a generalist"
        articles = [at for at, word in enumerate(words[:-1]) if _word(word) in _ARTICLES and at >= start]
        return " ".join(words[articles[-1] if articles else start :])
    end = len(words)
    for at, word in enumerate(words):
        if at and (_word(word) in _AFTER or word.endswith(",")):
            end = at + word.endswith(",")
            break
    return " ".join(words[:end]).rstrip(",")


def _predicate(text: str) -> str:
    """What is to be done: from the first verb after "should we"."""
    words = text.split()
    start = 1 if words and _word(words[0]) in _AUXILIARIES else 0
    for at in range(start, len(words)):
        if _word(words[at]) in _VERBS and (at == 0 or _word(words[at - 1]) not in _ARTICLES):
            return " ".join(words[at:])
    return text if not start else ""


def _clause(right: str) -> str:
    """What is to be done in "should we wait": empty if `right` is no such clause."""
    words = right.split()
    if len(words) > 2 and _word(words[0]) in _AUXILIARIES and _word(words[1]) in _SUBJECTS:
        return " ".join(words[2:])
    return ""


def _checked(options: list[str]) -> tuple[str, ...]:
    """The options, or none if they can't be what the question offers."""
    found = [option.strip(" ,;:\"'“”?") for option in options]
    found = [re.sub(r"^(?:either|whether|rather)\s+", "", each, flags=re.IGNORECASE) for each in found]
    different = {each.casefold() for each in found}
    sound = all(each and len(each) <= MAX_OPTION_CHARS for each in found)
    return tuple(found) if sound and len(different) == len(found) > 1 else ()


# Open or yes-or-no


def _is_open(body: str, first: str, *, asks: bool) -> bool:
    if first in _OPEN_WORDS or _OPEN_ELSEWHERE.search(body):
        return True
    return not asks and (first in _VERBS or first in _IMPERATIVES)


def _affirmed(body: str) -> str:
    """ "Should we go?" as "We should go": only where a pronoun is the subject; else empty."""
    words = body.split()
    if len(words) > 2 and _word(words[0]) in _AUXILIARIES and _word(words[1]) in _PRONOUNS:
        aux, subject, rest = words[0].lower(), words[1], " ".join(words[2:])
        if aux in ("do", "does", "did"):
            return ""
        return f"{subject[:1].upper()}{subject[1:]} {aux} {rest}"
    return ""


def _word(text: str) -> str:
    """The first word of a text, in lower case and without punctuation."""
    found = re.match(r"\W*([\w'’-]+)", text)
    return found[1].lower().replace("’", "'") if found else ""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MANNER = _set("how why when where wie warum wieso wann wo comment pourquoi quand cómo hoe waarom")
_OPEN_WORDS = _MANNER | _set(
    "what which who whom whose what's who's how's was welche welcher welches wer womit wofür que quel quelle quels "
    "quelles qui où combien qu'est-ce qué cuál cuáles quién dónde cuándo cosa quale quali perché chi qual quais wat "
    "welke"
)
_OPEN_ELSEWHERE = re.compile(r"如何|怎么|怎麼|怎样|什么|什麼|为什么|哪|どう|何|なぜ|どの|どこ|いつ|어떻게|무엇|왜")
_AUXILIARIES = _set(
    "should shall can could would will may might must do does did is are am was were has have had isn't aren't "
    "shouldn't can't couldn't won't wouldn't don't doesn't didn't"
)
_PRONOUNS = _set("we i you they he she it there")
_SUBJECTS = _PRONOUNS | _set("this that these those")
_ARTICLES = _set("a an the our my your their its his her one's another some any this that these those")
_PREPOSITIONS = _set(
    "in on at with as to for by from into onto under over during through via using without within behind between "
    "among against around about before after upon per until toward towards"
)
_COMPARING = _set(
    "better best worse worst more less most least first faster slower cheaper safer easier harder simpler right "
    "wrong enough preferable good bad"
)
_VERBS = _set(
    "adopt add allow apply ask attend automate avoid ban become begin borrow bring build buy call change charge "
    "choose commit continue convert cook create cut deal delay delete deploy design develop ditch do drive drop eat "
    "employ encourage end enter expand extend fight find fire fix focus follow forbid fork fund get give go grow "
    "have help hire host ignore implement improve increase insist install introduce invest join keep kill learn "
    "lease leave lend let license limit listen live lock lower maintain make merge migrate move offer open optimise "
    "optimize outsource own pay pick plan play postpone prefer prioritise prioritize promote protect publish pull "
    "push put quit raise read rebuild reduce refactor regulate rely remain remove rent repair replace require rest "
    "retire return rewrite roll run save scale sell send serve share ship sign skip sleep solve spend split stand "
    "start stay stick stop store study switch take teach tell test train travel try tune turn update upgrade use "
    "visit wait walk work write compute cache deprecate reject accept approve reuse rename monitor sample log fly "
    "drink cycle bike swim run order wear carry hold speak meet talk vote marry date adopt plant grow bake fry rely "
    "treat trust tax subsidise subsidize hand refuse ration reward punish pause resume restart revert freeze launch "
    "release hide show print record watch consolidate containerize containerise decouple denormalise denormalize "
    "index shard replicate batch stream poll"
)
_IMPERATIVES = _set(
    "name list explain describe propose suggest compare outline summarise summarize draft sketch review analyse "
    "analyze recommend evaluate rank estimate brainstorm imagine please"
)
_FINITE = _set(
    "is are was were makes make has have does do should will can would be becomes become wins suits suit fits"
)
# Words that end what comes before an alternative, and words that begin what comes after one.
_BEFORE = _AUXILIARIES | _SUBJECTS | _PREPOSITIONS | _VERBS | _COMPARING | _set("between either whether use using")
_AFTER = (
    _PREPOSITIONS
    | _COMPARING
    | _FINITE
    | _ARTICLES
    | _set(
        "when if because while given instead than so that which who where and but here now today next zum zur für "
        "pour para pendant als besser mieux"
    )
)
