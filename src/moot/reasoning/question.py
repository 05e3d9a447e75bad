"""What a question asks for: a choice between alternatives, a yes or no, or something open. Pure, by the words alone.

A wrong reading is worse than none: alternatives are read only from sentences of a known shape, and only if each of them
can stand alone. English is read best. Of other languages, question words and the word for "or" are known. What can't be
read is a yes-or-no question, "open" or a claim, and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

from moot.core.types import record
from moot.reasoning.followup import alone
from moot.reasoning.question_sides import MAX_OPTION_CHARS as MAX_OPTION_CHARS
from moot.reasoning.question_sides import QUOTED, QUOTES, checked, sides
from moot.reasoning.question_words import (
    ADVERBS,
    AFTER,
    ARTICLES,
    AUXILIARIES,
    BEING,
    COMPARING,
    DUTCH,
    EARLY_INFINITIVES,
    FOREIGN_ARTICLES,
    FOREIGN_FUNCTION,
    FOREIGN_PREPOSITIONS,
    GERMAN_AFTER_WAS,
    IMPERATIVES,
    INFINITIVES,
    LEADING,
    MANNER,
    MODALS,
    NEGATIONS,
    NUMBERS,
    OPEN_WORDS,
    PREPOSITIONS,
    PRONOUNS,
    SUBJECTS,
    VERBS,
    word_of,
)

Kind = Literal["choice", "yes_no", "claim", "open"]

MAX_SENTENCE_CHARS = 1_000  # no alternatives are read from a longer sentence


@record
class Question:
    kind: Kind
    options: tuple[str, ...] = ()  # of a choice: as the question names them
    proposition: str = ""  # of a claim: the claim; of a yes-or-no question: the statement that "yes" affirms, if known


def read_question(text: str) -> Question:
    """Read a question. The last sentence that asks decides; what comes before it is background, and so is the question
    that it was asked after."""
    sentence = _asking(alone(text))
    asks = sentence.rstrip(QUOTES).endswith(("?", "？"))
    body = _bare(sentence)
    if not body:
        return Question(kind="open")
    core = _bare(_after_lead(body))
    words = core.split()
    first = _opening(words)
    asks = asks or _inverted(first, words)
    options = _options(core, first, asks=asks) if len(core) <= MAX_SENTENCE_CHARS else ()
    if options:
        return Question(kind="choice", options=options)
    if _is_open(core, first, asks=asks):
        return Question(kind="open")
    if asks:
        body = re.sub(r",?(?<!\s)\s++or not$", "", body, flags=re.IGNORECASE)
        return Question(kind="yes_no", proposition=_affirmed(body))
    return Question(kind="claim", proposition=body)


def are_actions(options: Iterable[str]) -> bool:
    """Whether alternatives are things to do, such as "buy a house" and "rent": all of them begin with a verb, and one
    says with what. A single word may be a noun, too, and so may one of several ("bike lanes")."""
    given = tuple(options)
    return any(" " in option for option in given) and all(word_of(option) in VERBS for option in given)


# The sentence

_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b[DM]r\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bNo\.)"
    r"(?<!\betc\.)(?<!\bU\.S\.)(?<!\bz\.B\.)\s+|(?<=[。！？])"
)
_AFTERTHOUGHT = re.compile(
    r"(?:and |but )?(?:why(?: not)?|how so|any thoughts|thoughts|what do you think|which one|any advice|what else|"
    r"which|ideas|any ideas|right|yes|no|what would you do)\?",
    re.IGNORECASE,
)


def _asking(text: str) -> str:
    """The last sentence with a question mark, else the whole text if it is one sentence, else its last sentence.

    "Why?" after a question is no question of its own, and one that begins with "or" belongs to the one before."""
    flat = " ".join(text.split())
    sentences = [each.strip() for each in _SENTENCE.split(flat) if each.strip()]
    asking = [each for each in sentences if each.rstrip(QUOTES).endswith(("?", "？"))]
    while len(asking) > 1 and _AFTERTHOUGHT.fullmatch(asking[-1]):
        asking.pop()
    if len(asking) > 1 and asking[-1][:3].lower() == "or ":
        return f"{asking[-2].rstrip(' ?')}, o{asking[-1][1:]}"
    return (asking or sentences or [""])[-1]


def _bare(sentence: str) -> str:
    """The sentence without the marks around it. A quote that ends it stays if it begins inside."""
    body = sentence.strip(" ?？!.¿¡。！\t\n")
    for opening, closing in ('""', "''", "“”", "„“", "«»"):
        inner = body.strip(opening + closing)
        if inner and not (opening in inner or closing in inner):
            body = inner
    return body.strip(" ?？!.¿¡。！\t\n")


_ASKS_ON = re.compile(r"[,;:—–]\s+(?:and\s+|so\s+|then\s+)?[\"“]?(?=([\w']+)\s+([\w']+))")


def _after_lead(body: str) -> str:
    """What asks in "Given our budget, should we buy or rent"."""
    first = _opening(body.split())
    if first in AUXILIARIES or (first in OPEN_WORDS and first not in LEADING):
        return body
    for found in _ASKS_ON.finditer(body[:MAX_SENTENCE_CHARS]):
        aux, subject = found[1].lower(), found[2].lower()
        before = body[: found.start()]
        spoken = {word_of(each) for each in before.split()}
        if aux in OPEN_WORDS and _LINK.search(before) and not spoken & (PRONOUNS | AUXILIARIES):
            return body if _LINK.search(body, found.end()) else before  # "Nature or nurture: which matters more"
        if aux in OPEN_WORDS or (aux in AUXILIARIES and (subject in SUBJECTS | ARTICLES or aux in MODALS | BEING)):
            return body[found.end() :]
    if (first in LEADING and first not in MANNER) or first in PREPOSITIONS:
        _, comma, rest = body.partition(", ")
        return rest if comma and rest else body
    return body


def _opening(words: list[str]) -> str:
    """The first word, in lower case. The English "was" opens no open question."""
    first = word_of(words[0]) if words else ""
    german = first == "was" and len(words) > 1 and word_of(words[1]) in GERMAN_AFTER_WAS
    return "was?" if german else first


def _inverted(first: str, words: list[str]) -> bool:
    """Whether a sentence asks by the order of its words: "should we use redis"."""
    second = word_of(words[1]) if len(words) > 2 else ""
    if first in ("do", "have", "had", "will", "can", "may", "might", "must"):
        return second in PRONOUNS - {"it"}  # "Do it now", "Might makes right"
    return first in AUXILIARIES and second not in ("", "not", "be")


# Alternatives

_LINK = re.compile(
    r",?(?<!\s)\s++(?:or|versus|vs\.?)\s++(?:(?:rather|just|simply|maybe|perhaps|instead|else)\s++)?(?=\S)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r",?(?<!\s)\s++(?P<word>oder|ou bien|ou|eller|of|o|или|czy|albo|lub|아니면)\s++"
    r"|(?<!\s)\s*+[、，,]?\s*+(?P<cjk>还是|還是|それとも)\s*+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s\([^()]*\)|\s\[[^\[\]]*\]")
_TAIL = re.compile(
    r",?(?<!\s)\s++or\s++"
    r"(?:something|anything|someone|some other|somewhere|what|whatever|so|the like|other|others)\b.*$",
    re.IGNORECASE,
)
# A clause or phrase in which "or" joins no sides
_CUT = re.compile(
    r"(?<!\bor)\s(?:if|because|unless|although|though|whenever|provided|assuming|considering|given|than|while|since|"
    r"instead of|such as|including|without|in case|who|whose|which|how|why|what|when|where|so that|regardless|"
    r"(?:true|think|believe|likely|sure|say|claim|evidence|proof|possible|means?|fact) that)\s.*$",
    re.IGNORECASE,
)
_SET_PHRASE = re.compile(
    r"(?:similar|equivalent|otherwise|even|whichever|at least|at most|any|another|possibly|nothing at all)\b",
    re.IGNORECASE,
)
_OR_BEYOND = frozenset(
    [
        *("more", "less", "fewer", "later", "earlier", "higher", "lower", "above", "below", "newer", "older"),
        *("longer", "greater", "worse"),
    ]
)


# Letters as names: "A or B", "A, B or C". Alone, "A" reads as an article.
_LETTERS = re.compile(r"(?<![\w'’])[A-Z](?:,\s+[A-Z]){0,25},?\s+(?:or|versus|vs\.?)\s+[A-Z](?![\w'’])")
_ONLY_LETTERS = re.compile(r"[a-z](?:,\s+[a-z])*,?\s+(?:or|versus|vs\.?)\s+[a-z]")
_NAMED = "Zq"  # before a letter: a name that no sentence has


def _options(body: str, first: str, *, asks: bool) -> tuple[str, ...]:
    """The alternatives that a sentence names. Letters are read as the names that they stand for."""
    letters = _ONLY_LETTERS if _ONLY_LETTERS.fullmatch(body) else _LETTERS
    spelled = letters.sub(lambda found: re.sub(r"\b(?=[A-Za-z]\b)", _NAMED, found[0]), body)
    if spelled == body:
        return _alternatives(body, first, asks=asks)
    first = _opening(spelled.split())
    return tuple(each.replace(_NAMED, "") for each in _alternatives(spelled, first, asks=asks))


def _alternatives(body: str, first: str, *, asks: bool) -> tuple[str, ...]:
    body = _ASIDE.sub("", body)
    if _LINK.search(body):
        return _english(body, first, asks=asks)
    if both := _WHICH_OF.match(body):
        return checked([both[1], both[2]])
    found = [each for each in _OTHER.finditer(body) if each.start() and each.end() < len(body)]
    found = [each for each in found if (each["word"] or "") not in ("o", "of")] or found
    return _of_another_language(found[-1], body, first) if found else ()


def _english(body: str, first: str, *, asks: bool) -> tuple[str, ...]:
    if first in OPEN_WORDS or first == "was?":
        listed = _listed(body, first)
        return _english(listed, "", asks=True) if listed else ()
    if whether := re.search(r"\bwhether\s+(?:to\s+)?", body, re.IGNORECASE):
        body, asks = body[whether.end() :], True
    body = re.sub(r"^(?:either|rather|better to|better|and|so)\s+", "", body, flags=re.IGNORECASE)
    words = body.split()
    if asks and len(words) > 2 and word_of(words[0]) in PRONOUNS and word_of(words[1]) in MODALS:
        words[:2] = words[1], words[0]  # "we should use": "should we use"
        body = " ".join(words)
    first = word_of(body)
    if first in IMPERATIVES and re.search(r"\svs|\sversus", body, re.IGNORECASE):
        body = body.partition(" ")[2]
    if first not in AUXILIARIES and (colon := re.search(r":\s+", body)):
        body = body[colon.end() :]
    body = _CUT.sub("", _TAIL.sub("", body))
    links = _links(body)
    if not links:
        return ()
    last = 0  # "A or B or C", but not "A or B for C or D"
    while last + 1 < len(links) and _plain(body[links[last].end() : links[last + 1].start()]):
        last += 1
    between = [body[one.end() : two.start()] for one, two in pairwise(links[: last + 1])]
    head, *more = re.split(r",\s+", body[: links[0].start()].strip(" ,"))
    right = body[links[last].end() :].strip(" ,")
    if not head or not right or word_of(right) in NEGATIONS:
        return ()
    named = bool(re.match(r",?\s+v", links[0][0], re.IGNORECASE))
    return checked(sides(head, [*more, *between], right, asks=asks or named))


def _listed(body: str, first: str) -> str:
    """The list in "Which is better, tabs or spaces", "What should we use: A, B or C"; empty if there is none."""
    lead = re.search(r"[:—–]\s+", body) or (re.search(r",\s+(?!or\b)", body) if first not in MANNER else None)
    if lead is None:
        lead = re.match(
            r"(?:which|what)(?:\s+is|\s+are|'s|’s)\s+(?:better|best|faster|worse|cheaper|safer|healthier)\s+",
            body,
            re.IGNORECASE,
        )
    if lead is None:
        return ""
    rest = body[lead.end() :]
    known = _LINK.search(rest) is not None and word_of(rest) not in OPEN_WORDS | AUXILIARIES | SUBJECTS | PREPOSITIONS
    return rest if known or re.match(r"(?:before|after)\b", rest) else ""


def _links(body: str) -> list[re.Match[str]]:
    """Where alternatives are joined: not inside a quoted phrase, and not in a phrase such as "or so"."""
    quoted = [each.span() for each in QUOTED.finditer(body)]
    links: list[re.Match[str]] = []
    for link in _LINK.finditer(body):
        before, after = body[: link.start()].split(), body[link.end() :].split()
        if not before or not after or any(start < link.start() < end for start, end in quoted):
            continue
        one, two = word_of(before[-1]), word_of(after[0])
        ended = len(after) == 1 or word_of(after[1]) in AFTER
        if _SET_PHRASE.match(body, link.end()) or (two in _OR_BEYOND and one not in COMPARING | ADVERBS and ended):
            continue  # "10 users or more"
        if ((one, two) == ("more", "less") and not ended) or (
            two in NUMBERS and len(before) > 1 and word_of(before[-2]) in ("a", "an")
        ):
            continue  # "a day or two"
        links.append(link)
    return links


def _plain(text: str) -> bool:
    words = text.split()
    return len(words) <= 3 and not any(word_of(each) in PREPOSITIONS | AUXILIARIES for each in words)


# Other languages

_WHICH_OF = re.compile(
    r"^([^\s、，。と]{1,20})と([^\s、，。と]{1,20}?)(?:では|とでは|で|の|なら)?[、，]?(?:どちら|どっち)"
)
_CHINESE_LEAD = re.compile(
    r"^(?:我们|我們|我|你们|你|他们|公司|团队)?(?:到底|究竟)?(?:应该|應該|应当|该|應|应)?(?:使用|采用|选择|选|用|是|喜欢|学习|想)?"
)
_JAPANESE_END = re.compile(r"(?:です|でしょう|だろう)?か?$")
_LATIN = re.compile(r"[A-Za-z][\w.+#-]*(?: [A-Z0-9][\w.+#-]*)*", re.ASCII)


def _of_another_language(link: re.Match[str], body: str, first: str) -> tuple[str, ...]:
    left, right = body[: link.start()].strip(" ,、，"), body[link.end() :].strip(" ,")
    if link["cjk"]:
        return _of_characters(link["cjk"], left, right)
    if first in OPEN_WORDS or first == "was?":
        lead = re.search(r"[:—–]\s+|,\s+", left)
        if lead is None or first in MANNER:
            return ()
        left = left[lead.end() :]
    elif colon := re.search(r":\s+", left):
        left = left[colon.end() :]
    before, after = left.split(), right.split()
    if not before or not after or word_of(right) in NEGATIONS:
        return ()
    word = link["word"].lower()
    if word == "of" and not ({word_of(each) for each in before[:-1] + after[1:]} & DUTCH):
        return ()
    head, *more = re.split(r",\s+", left)
    read = _word_by_word(head.split(), after)
    listed = bool(read) and not any(" " in each for each in more)
    return checked([read[0], *more, *read[1:]]) if listed else ()


def _word_by_word(before: list[str], after: list[str]) -> list[str]:
    """The sides where grammar is not known: two names, two verbs, or phrases that begin alike."""
    while len(before) > 1 and word_of(before[0]) in FOREIGN_FUNCTION:
        before = before[1:]
    one, two = word_of(before[-1]), word_of(after[0])
    if two in FOREIGN_PREPOSITIONS and len(after) <= 3:
        places = [at for at, word in enumerate(before[:-1]) if word_of(word) in FOREIGN_PREPOSITIONS]
        return [" ".join(before[places[-1] :]), " ".join(after)] if places and len(before) - places[-1] <= 3 else []
    if two in FOREIGN_ARTICLES and len(after) > 1:
        paired = len(before) > 1 and word_of(before[-2]) in FOREIGN_ARTICLES
        ended = len(after) == 2 or word_of(after[2]) in FOREIGN_PREPOSITIONS
        return [" ".join(before[-2:]), " ".join(after[:2])] if paired and ended else []
    odd = FOREIGN_FUNCTION | FOREIGN_PREPOSITIONS | FOREIGN_ARTICLES
    if one in odd or two in odd:
        return []
    verbs = [at for at, word in enumerate(before) if word_of(word).endswith(EARLY_INFINITIVES)]
    if len(before) > 1 and before[-1][:1].isupper() and after[0][:1].isupper():
        return [before[-1], after[0]] if len(after) < 2 or not after[1][:1].isupper() else []
    if len(before) == len(after) == 1 or (
        len(before) <= 2 and len(after) <= 2 and before[0][:1].isupper() and len(before) == len(after)
    ):
        return [" ".join(before), " ".join(after)]
    if one.endswith(INFINITIVES) and two.endswith(INFINITIVES) and after[0][:1].islower():
        return [before[-1], after[0]]
    if before[-1][:1].isupper() or after[0][:1].isupper():
        named = before[-1][:1].isupper() and after[0][:1].isupper()
        return [before[-1], after[0]] if named else []
    if two.endswith(EARLY_INFINITIVES) and verbs and len(before) - verbs[-1] <= 4:
        return [" ".join(before[verbs[-1] :]), " ".join(after)]
    return [before[-1], after[0]] if len(after) == 1 else []


def _of_characters(link: str, left: str, right: str) -> tuple[str, ...]:
    """Chinese and Japanese, where words are not spaced: two names in Latin letters, or two short phrases."""
    if right.endswith(("吗", "嗎")):
        return ()  # "still", in a yes-or-no question
    latin = [_LATIN.findall(left), _LATIN.findall(right)]
    if all(len(each) == 1 for each in latin):
        return checked([latin[0][0], latin[1][0]])
    if any(latin):
        return ()
    ends = [_CHINESE_LEAD.sub("", each) for each in (left, right)]
    if link == "それとも":
        ends = [_JAPANESE_END.sub("", each) for each in (left, right)]
    one, two = (each.strip(" 、，") for each in ends)
    return checked([one, two]) if one and two and " " not in one and len(one) <= 2 * len(two) <= 24 else ()


# Open or yes-or-no

_OPEN_ELSEWHERE = re.compile(
    r"如何|怎么|怎麼|怎样|什么|什麼|为什么|哪|どう|何|なぜ|どの|どこ|いつ|どちら|どっち|어떻게|무엇|왜"
)


def _is_open(body: str, first: str, *, asks: bool) -> bool:
    english_was = first == "was"
    if (first in OPEN_WORDS and not english_was) or first == "was?" or _OPEN_ELSEWHERE.search(body):
        return True
    return not asks and (first in VERBS or first in IMPERATIVES)


def _affirmed(body: str) -> str:
    """ "Should we go?" as "We should go": only where a pronoun is the subject; else empty."""
    words = body.split()
    if len(words) > 2 and word_of(words[0]) in AUXILIARIES and word_of(words[1]) in PRONOUNS:
        aux, subject, rest = words[0].lower(), words[1], " ".join(words[2:])
        if aux in ("do", "does", "did"):
            return ""
        return f"{subject[:1].upper()}{subject[1:]} {aux} {rest}"
    return ""
