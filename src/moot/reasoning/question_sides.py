"""The sides that an English question offers, by the shape of its sentence. Pure; what is not known has no sides."""

from __future__ import annotations

import re

from moot.reasoning.question_words import (
    ACCEPTABLE,
    ADJECTIVE_ENDINGS,
    ADJECTIVES,
    ADVERBS,
    AFTER,
    ALLOWING,
    ARTICLES,
    AUXILIARIES,
    BEFORE,
    BEING,
    COMPARING,
    DANGLING,
    DEFINITE,
    DOING,
    FILLERS,
    FINITE,
    GERUND_EXCEPTIONS,
    IMPERATIVES,
    MODALS,
    NOUNISH,
    NUMBERS,
    PARTICLES,
    PERMITTING,
    PREPOSITIONS,
    PRONOUNS,
    SUBJECTS,
    TRANSITIVE,
    VERBS,
    word_of,
)

MAX_OPTION_CHARS = 60

QUOTES = "\"'“”„«»"
QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»|`[^`]*`|\([^()]*\)|(?<!\w)'[^']*'(?!\w)|„[^„“”]*[“”]")
_LEANING = re.compile(r"\b(?:prefer|rather|want|like|favou?r|choose|need|more)\b", re.IGNORECASE)


def sides(head: str, more: list[str], right: str, *, asks: bool) -> list[str]:
    """The alternatives, by the shape of the sentence; none if it is not known."""
    words, verb = head.split(), word_of(right)
    aux = word_of(head)
    if clause := _clause(right):  # "Should we ship on Friday or should we wait?"
        same = aux in MODALS | PERMITTING and word_of(right) in MODALS | PERMITTING and not more
        done = predicate(head) if same else ""
        return [done, clause] if done and "be" not in (word_of(done), word_of(clause)) else []
    if aux in PERMITTING or verb in AUXILIARIES - {"do", "have", "will", "may", "might"}:
        return []
    if _number(words[-1]) and _number(right.split()[0]):
        return _numbers(words[-1], more, right)
    return (
        _opposites(words, more, right)
        or _actions(aux, head, more, right)
        or _placed(words, more, right)
        or _named(aux, head, more, right, asks=asks)
    )


def _number(word: str) -> bool:
    return word_of(word) in NUMBERS or word.isdigit()


def _numbers(one: str, more: list[str], right: str) -> list[str]:
    two, *rest = right.split()
    what = " ".join(_noun(" ".join(rest), last=False).split()) if rest else ""
    if one.lower() in ("one", "1") or not what or word_of(what) in AFTER:
        return [one, *more, two]
    return [f"{each} {what}" for each in (one, *more, two)]  # "2 or 3 replicas"


def _opposites(words: list[str], more: list[str], right: str) -> list[str]:
    """ "before or after the code", "on or off", "monthly or yearly", "better or worse"."""
    one, (two, *rest) = word_of(words[-1]), (word_of(each) for each in right.split())
    if len(words) > 1 and one in PREPOSITIONS and two in PREPOSITIONS and rest:
        done = predicate(" ".join(words[:-1])) if word_of(words[0]) in MODALS else ""
        done = "" if word_of(done) == "be" else done
        sides = [" ".join([words[-1], *right.split()[1:]]), right]
        return [f"{done} {each}".strip() for each in sides]  # "write tests before the code"
    if one in PARTICLES and two in PARTICLES and not rest:
        return [words[-1], *more, right]
    alike = (one.endswith("ly") and two.endswith("ly")) or (one in COMPARING and two in COMPARING)
    if len(words) > 1 and alike and (not rest or rest[0] in AFTER):
        return [words[-1], *more, right.split()[0]]
    if is_adjective(one) and rest and rest[0] not in AFTER and not more and word_of(words[0]) not in BEING | DOING:
        before = word_of(words[-2]) if len(words) > 1 else ""
        what = _noun(" ".join(right.split()[1:]), last=False)  # "junior or senior engineers"
        alike = is_adjective(two) or (len(rest) == 1 and before != "be" and not _is_verb(right) and two not in ARTICLES)
        if alike and two not in PREPOSITIONS and len(what.split()) <= 3:
            article = f"{words[-2]} " if before in ARTICLES else ""
            return [f"{article}{words[-1]} {what}", f"{article}{right.split()[0]} {what}"]
    return []


def _actions(aux: str, head: str, more: list[str], right: str) -> list[str]:
    """Things to do: "buy a house or rent"."""
    done = predicate(head)
    likened = re.match(r"\w+ it be \w+ to\s", head, re.IGNORECASE)  # "Would it be better to"
    if aux in BEING or likened or (aux in DOING and not re.search(r"\bto\s", head)):
        # "Is it better to buy or rent?"
        before, to, done = head.rpartition(" to ")
        if not to or (aux in BEING and not any(word_of(each) in COMPARING - ACCEPTABLE for each in before.split())):
            return []
        right = re.sub(r"^to\s+", "", right, flags=re.IGNORECASE)
        if word_of(done) == "be":
            return [done[3:], *more, re.sub(r"^(?:to\s+)?be\s+", "", right)]
        if word_of(done) not in VERBS and len(done.split()) > 1:
            return []
    if not done or (aux in SUBJECTS and aux not in AUXILIARIES):
        return []
    if aux not in AUXILIARIES and done != head:
        return []  # a phrase with a verb somewhere in it
    verb = done.split()[0]
    if word_of(verb) == "be" and (len(right.split()) == 1 or word_of(right) in NOUNISH):
        return []
    single = len(done.split()) == 1
    sure = aux in AUXILIARIES and (word_of(head.split()[-2]) in PRONOUNS | FILLERS or word_of(verb) not in NOUNISH)
    verbal = _is_verb(right) or (single and sure and word_of(right) not in PREPOSITIONS | ARTICLES)
    if not verbal or any(not _is_verb(each) for each in more):
        return []
    _, *rest = right.split()
    if more:
        return [done, *more, right]
    *before, last = done.split()
    if before and not rest and word_of(last) in NOUNISH and word_of(before[-1]) not in ARTICLES:
        return [last, right]  # "use push or pull"
    intransitive = (PREPOSITIONS | PARTICLES | ADVERBS | COMPARING) - {"more", "less", "fewer"}
    if single and word_of(verb) in TRANSITIVE and rest and word_of(rest[0]) not in intransitive:
        return [f"{verb} {' '.join(rest)}", right]  # "buy or lease a car"
    return [done, right]


def _placed(words: list[str], more: list[str], right: str) -> list[str]:
    """What begins with a preposition: "from home or in the office"."""
    verb = word_of(right)
    places = [place for place, word in enumerate(words[:-1]) if word_of(word) in PREPOSITIONS]
    if verb in ADVERBS and " " not in right and len(words) > 3 and places and len(words) - places[-1] <= 3:
        return [" ".join(words[places[-1] :]), *more, right]  # "in person or online"
    if verb not in PREPOSITIONS or len(right.split()) < 2:
        return []
    head = " ".join(words)
    at = [found.end() for found in re.finditer(rf"\b{re.escape(verb)}\s+", head, re.IGNORECASE)]
    if at:  # "as a monolith or as services": the same preposition begins both
        ends = [re.sub(rf"^{re.escape(verb)}\s+", "", each, flags=re.IGNORECASE) for each in (*more, right)]
        if verb == "to":
            return [head[at[-1] :], *ends]
        if verb == "per":
            return [f"per {head[at[-1] :]}", *more, right]
        return [_noun(head[at[-1] :], last=False), *[_noun(each, last=False) for each in ends]]
    phrase = f"{right.split()[0]} {_noun(' '.join(right.split()[1:]), last=False)}"
    if places and len(words) - places[-1] <= 5 and all(word_of(each) in PREPOSITIONS for each in more):
        return [" ".join(words[places[-1] :]), *more, phrase]
    last = word_of(words[-1])
    if not more and (last in ADVERBS or last.endswith("ly") or (len(words) > 2 and word_of(words[-2]) == "be")):
        return [words[-1], phrase]
    return []


def _named(aux: str, head: str, more: list[str], right: str, *, asks: bool) -> list[str]:
    """Things or qualities: "Redis or PostgreSQL", "the CEO or the board decide", "be blue or green"."""
    if word_of(right) in PREPOSITIONS | SUBJECTS - {"this", "that", "these", "those"}:
        return []
    words = head.split()
    spoken = {word_of(each) for each in words}
    if aux not in AUXILIARIES:
        return _fragment(words, more, right, asks=asks)
    rest = [word_of(each) for each in words[1:]]
    if not rest:
        return []
    if aux in BEING:
        return _qualities(words[1:], more, right)
    be = len(words) - 1 - [word_of(each) for each in reversed(words)].index("be") if "be" in spoken else 0
    quality = words[be + 1 :] if be else []
    if quality and len(quality) <= 3 and not any(word_of(each) in PREPOSITIONS for each in quality):
        other = _noun(right, last=False)
        if len(quality) > 2 and word_of(quality[1]) in ARTICLES:
            quality = quality[1:]  # "considered a planet"
        plural = quality[-1].endswith("s") and other.endswith("s")
        return [" ".join(quality), *more, other] if not _is_verb(right) or " " not in right or plural else []
    if ALLOWING & spoken or "any" in spoken:
        return []
    done = predicate(head)
    if not done or (done in NOUNISH and rest[0] not in PRONOUNS):  # "a carbon tax or subsidies"
        return _subjects(words[1:], more, right)
    if (aux in DOING and not _LEANING.search(head)) or (_is_verb(right) and not more and word_of(right) not in NOUNISH):
        return []
    return _objects(done, more, right)


def _fragment(words: list[str], more: list[str], right: str, *, asks: bool) -> list[str]:
    """ "Redis or PostgreSQL for caching". A sentence that claims something is none."""
    known = {word_of(each) for each in words} | {word_of(each) for each in right.split()}
    if known & ((AUXILIARIES - {"will", "may", "might", "do"}) | PRONOUNS - {"it"}) and not known & COMPARING:
        return []
    first, other = word_of(words[0]), _noun(right, last=False)
    if known & PRONOUNS or (
        len(words) > 1 and (first in IMPERATIVES or (first in VERBS - NOUNISH and not words[0][0].isupper()))
    ):
        return []
    if not asks and (len(other.split()) > 2 or (len(words) > 1 and first in VERBS) or len(right.split()) > 5):
        return []
    left = " ".join(words)
    placed = [{word_of(each) for each in side.split()[1:]} & PREPOSITIONS for side in (left, right)]
    gerunds = _gerund(first), _gerund(word_of(right)) and " " in right
    if asks and not more and (all(gerunds) or (all(placed) and (first in ARTICLES) == (word_of(right) in ARTICLES))):
        return [left, right]  # "a house in the suburbs or a flat in the city"
    if gerunds[1]:
        return []
    if len(words) > 1 and first in VERBS and asks:
        return _objects(left, more, right)
    return [_noun(left, last=True) if {word_of(each) for each in words[:-1]} & PREPOSITIONS else left, *more, other]


def _subjects(words: list[str], more: list[str], right: str) -> list[str]:
    """ "the CEO or the board decide": the verb ends the last one."""
    others = right.split()
    begin = 2 if word_of(others[0]) in ARTICLES else 1
    for at in range(begin, len(others)):
        word = word_of(others[at])
        if word in VERBS | FINITE or word in COMPARING:
            if word == "be" and {word_of(each) for each in others[at:]} & ALLOWING:
                return []
            bare = len(words) == 1 or not words[0].endswith("s")  # not "designers code"
            fits = bare and len(words) <= 4 and at <= 5 and word_of(words[0]) not in PRONOUNS
            return [" ".join(words), *more, " ".join(others[:at])] if fits else []
    return []


def _qualities(words: list[str], more: list[str], right: str) -> list[str]:
    """What something is: "good or bad", "a wave or a particle"; or which of two is more so: "Python or Go better"."""
    low = [word_of(each) for each in words]
    others = [word_of(each) for each in right.split()]
    if low[0] == "either" or (low[0] == "there" and not set(low) & {"more", "fewer", "less"}):
        return []
    if low[0] in PRONOUNS and len(low) > 2 and low[1] in ACCEPTABLE - {"good"}:
        return []
    if (set(low[1:]) & (BEFORE - PRONOUNS - COMPARING | {"better", "more", "fewer"})) or any(map(_gerund, low[1:])):
        return [] if ALLOWING & set(low) else _objects(" ".join(words[1:]), more, right)
    other = _noun(right, last=False)
    if low[0] not in PRONOUNS and set(others[1:]) & COMPARING and not set(low) & COMPARING:
        return [" ".join(words), *more, other] if len(words) <= 5 else []
    if len(words) == 1:
        return [words[0], *more, other] if low[0] not in PRONOUNS and other != right else []
    articles = [at for at, word in enumerate(low[:-1]) if at and word in ARTICLES]
    if articles:
        return [" ".join(words[articles[-1] :]), *more, other]
    subject = 2 if low[0] in ARTICLES else 1
    sure = len(words) == subject + 1 or low[-1] in ADJECTIVES or low[-1].endswith(ADJECTIVE_ENDINGS)
    return [words[-1], *more, other] if sure and len(words) > subject and len(other.split()) <= 3 else []


def _objects(done: str, more: list[str], right: str) -> list[str]:
    """What a verb is about: the end of what is done, and the beginning of the other side."""
    words = done.split()
    if word_of(words[0]) not in VERBS | BEFORE:
        words = words[1:]  # a verb that is not known
    if not words:
        return []
    left, other = _noun(" ".join(words), last=True), _noun(right, last=False)
    if _gerund(word_of(right)) and " " in right:  # "shipping features or paying debt"
        places = [at for at, word in enumerate(words) if _gerund(word_of(word))]
        return [" ".join(words[places[-1] :]), right] if places and not more else []
    bare = " " not in right and right[:1].islower() and not right.endswith("s")
    if bare and not more and word_of(left) in DEFINITE and " " in left:
        return []  # "quit my job or negotiate": perhaps a verb
    if not more and re.fullmatch(r"an? [A-Z]\S*", left) and re.fullmatch(r"[A-Z]\S* [a-z]+", other):
        return [f"{left} {other.split()[1]}", f"a {other}"]  # "a SQL or NoSQL database"
    return [left, *more, other]


def _noun(text: str, *, last: bool) -> str:
    """The thing at the end (`last`) or at the beginning of a text."""
    words = text.split()
    if last:
        start = 0
        for at, word in enumerate(words[:-1]):
            low = word_of(word)
            verb = low in VERBS and (
                at == 0
                or word_of(words[at - 1]) == "to"
                or (low not in NOUNISH and word_of(words[at - 1]) not in ARTICLES)
            )
            if low in BEFORE or verb or _gerund(low):
                start = at + 1
        # an article begins it: "hire a generalist"
        articles = [at for at, word in enumerate(words[:-1]) if word_of(word) in ARTICLES and at >= start]
        return " ".join(words[articles[-1] if articles else start :])
    end = len(words)
    for at, word in enumerate(words):
        low = word_of(word)
        if at and ((low in AFTER and not (low in ARTICLES and words[at - 1] == "of")) or word[0] in "—–-"):
            end = at
            break
        if word.endswith((",", ";")):
            end = at + 1
            break
    return " ".join(words[:end]).rstrip(",;")


def predicate(text: str) -> str:
    """What is to be done: from the first verb after "should we"."""
    words = text.split()
    start = 1 if words and word_of(words[0]) in AUXILIARIES else 0
    if start and len(words) > 2 and word_of(words[1]) in PRONOUNS:
        at = 2
        while at < len(words) - 1 and word_of(words[at]) in FILLERS:
            at += 1
        return " ".join(words[at:])
    for at in range(start and 2, len(words)):
        word, after = word_of(words[at]), word_of(words[at + 1]) if at + 1 < len(words) else ""
        noun = start and word in NOUNISH and (after in VERBS or after == "be")  # "a wealth tax help"
        if word in VERBS | {"be"} and not noun and (at == 0 or word_of(words[at - 1]) not in ARTICLES):
            return " ".join(words[at:])
    return ""


def _clause(right: str) -> str:
    """What is to be done in "should we wait": empty if `right` is no such clause."""
    words = right.split()
    if len(words) > 2 and word_of(words[0]) in AUXILIARIES and word_of(words[1]) in SUBJECTS:
        return " ".join(words[2:])
    return ""


def _is_verb(text: str) -> bool:
    """Whether a text begins with a verb. "Go" is a name, and "batch processing" a thing."""
    first, _, rest = text.partition(" ")
    word = word_of(first)
    if first[:1].isupper() or (rest and word in NOUNISH - {"start", "stop"} and _gerund(word_of(rest))):
        return False
    return (
        word in VERBS
        or word.removeprefix("re") in VERBS
        or (word.endswith(("ify", "ize")) and word not in ("size", "prize"))
    )


def is_adjective(word: str) -> bool:
    return word in ADJECTIVES or (len(word) > 5 and word.endswith(("al", "ive", "ous", "able")))


def _gerund(word: str) -> bool:
    return (
        len(word) > 5
        and word.endswith("ing")
        and word not in GERUND_EXCEPTIONS
        and (word[:-3] in VERBS or f"{word[:-3]}e" in VERBS or word[:-4] in VERBS)
    )


def checked(options: list[str]) -> tuple[str, ...]:
    """The options, or none if they can't be what the question offers."""
    found = [re.sub(r"^(?:either|whether|rather)\s+", "", each.strip(" ,;:?"), flags=re.IGNORECASE) for each in options]
    found = [each.strip(QUOTES + "` ") if QUOTED.fullmatch(each) else each for each in found]
    different = {each.casefold() for each in found}
    sound = all(each and len(each) <= MAX_OPTION_CHARS and _whole(each) for each in found)
    done = [_is_verb(each) and " " in each and word_of(each) not in NOUNISH for each in found]
    directions = {each.lower() in PARTICLES for each in found}  # "up or down", but not "in or Redis"
    lopsided = (any(done) and any(word_of(each) in ARTICLES for each in found)) or len(directions) > 1
    return tuple(found) if sound and not lopsided and len(different) == len(found) > 1 else ()


def _whole(option: str) -> bool:
    """Whether an option can stand alone: no dangling word, no auxiliary verb inside, no quote or single bracket."""
    paired = all(option.count(opening) == option.count(closing) for opening, closing in ("()", "[]", "{}"))
    if not paired or any(mark in option for mark in '"“”„«»\n'):
        return False
    words = [word_of(each) for each in option.split()]
    if not any(words) or words[0] in (AUXILIARIES - {"do", "have", "will", "may", "might"}) | PRONOUNS | {"and", "but"}:
        return not any(words) and bool(re.search(r"\w", option))
    if (AUXILIARIES - {"have", "do", "can", "will", "may"} | {"be"}) & set(words[1:]):
        return False
    if len(words) == 1:
        return words[0] not in DANGLING - ADVERBS or (option[:1].isupper() and option not in ("I", "A"))
    return words[-1] not in DANGLING or option.split()[-1][:1].isupper()
