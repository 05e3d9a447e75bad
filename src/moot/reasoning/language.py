"""The language that a text is written in, by its letters and its small words. Pure; what is not sure is not said.

Small models that are told to write in the language of the question write in that of their instructions. Asked in the
language itself, they write in it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from moot.core.types import record


@record
class Language:
    name: str
    ask: str  # "Answer in this language", in the language
    yes: str
    no: str
    because: str  # to follow a yes or no and a comma


_GERMAN = Language(name="German", ask="Antworte auf Deutsch.", yes="Ja", no="Nein", because="weil")
_FRENCH = Language(name="French", ask="Réponds en français.", yes="Oui", no="Non", because="parce que")
_SPANISH = Language(name="Spanish", ask="Responde en español.", yes="Sí", no="No", because="porque")
_ITALIAN = Language(name="Italian", ask="Rispondi in italiano.", yes="Sì", no="No", because="perché")
_PORTUGUESE = Language(name="Portuguese", ask="Responda em português.", yes="Sim", no="Não", because="porque")
_DUTCH = Language(name="Dutch", ask="Antwoord in het Nederlands.", yes="Ja", no="Nee", because="omdat")
_POLISH = Language(name="Polish", ask="Odpowiedz po polsku.", yes="Tak", no="Nie", because="ponieważ")
_SWEDISH = Language(name="Swedish", ask="Svara på svenska.", yes="Ja", no="Nej", because="eftersom")
_RUSSIAN = Language(name="Russian", ask="Отвечай по-русски.", yes="Да", no="Нет", because="потому что")
_CHINESE = Language(name="Chinese", ask="请用中文回答。", yes="是", no="不", because="因为")
_JAPANESE = Language(name="Japanese", ask="日本語で答えてください。", yes="はい", no="いいえ", because="なぜなら")
_KOREAN = Language(name="Korean", ask="한국어로 대답하세요.", yes="네", no="아니요", because="왜냐하면")

# By the share of letters that only one of the languages here has; Japanese before Chinese, whose signs it uses.
_SCRIPTS = (
    (_KOREAN, re.compile(r"[가-힣]")),
    (_JAPANESE, re.compile(r"[ぁ-ゖァ-ヺ]")),
    (_CHINESE, re.compile(r"[一-鿿]")),
    (_RUSSIAN, re.compile(r"[а-яё]", re.IGNORECASE)),
)
_LEAST_SHARE = 0.2  # of the letters


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Small words of each language, and letters that no other one here has.
_SMALL_WORDS: tuple[tuple[Language | None, frozenset[str], str], ...] = (
    (
        None,
        _words(
            "the a an is are was be should would could we i you our my it its or and for in of to how what why",
            "which do does can will with than that this not on at by as from use better more there their they",
            "because have has",
        ),
        "",
    ),
    (
        _GERMAN,
        _words(
            "der die das den dem des und ist sind wir sollten sollen sollte soll wie oder nicht ein eine einen",
            "einer für mit auf zu zum zur im ich man was warum welche welcher kann können besser als von wird",
            "werden es dass sich auch nach bei aus durch über unsere unser mehr weil ja nein",
        ),
        "ß",
    ),
    (
        _FRENCH,
        _words(
            "le la les un une des du est sont faut il elle doit devrait devrions nous vous ou pour dans que qui",
            "comment pourquoi quel quelle sur avec pas plus au aux en et mieux l d qu c s à ce cette leur leurs",
            "peut notre nos être parce oui",
        ),
        "",
    ),
    (
        _SPANISH,
        _words(
            "el la los las un una es son debería deberíamos debe deben o para en que qué cómo por con más del al",
            "y mejor nos se su sus puede nuestro nuestra ser lo no porque sí cuál como esto",
        ),
        "¿¡ñ",
    ),
    (
        _ITALIAN,
        _words(
            "il lo la gli le un una è sono dovremmo dovrebbe dobbiamo o per in che come perché con più del della",
            "di e meglio ci si nel nella non questo può nostro nostra essere alla",
        ),
        "",
    ),
    (
        _PORTUGUESE,
        _words(
            "o a os as um uma é são devemos deveríamos deveria ou para em que como por com mais do da dos das no",
            "na e melhor não nós se seu sua pode nosso nossa ser porque sim isso ao",
        ),
        "ãõ",
    ),
    (
        _DUTCH,
        _words(
            "de het een is zijn moeten moet we wij of voor in dat hoe waarom met meer van en beter zouden niet op",
            "te kan onze ons er ook als bij door omdat",
        ),
        "",
    ),
    (
        _POLISH,
        _words(
            "czy i w na z jest są jak dlaczego lepiej powinniśmy powinien albo lub się nie do dla że od po co to",
            "który która przez ponieważ",
        ),
        "łśżźćńęą",
    ),
    (
        _SWEDISH,
        _words(
            "och är ska vi eller för att en ett på med det som bör hur varför bättre inte av till den kan vår",
            "våra om eftersom",
        ),
        "",
    ),
)
_MARK_COUNTS = 2  # small words that a letter of one language alone is worth


@lru_cache(maxsize=256)
def language_of(text: str) -> Language | None:
    """The language of a text; None if it is English, or not known."""
    letters = sum(each.isalpha() for each in text)
    for language, own in _SCRIPTS:
        if letters and len(own.findall(text)) >= _LEAST_SHARE * letters:
            return language
    words = re.findall(r"[^\W\d_]+", text.casefold())
    found = [
        (sum(word in small for word in words) + _MARK_COUNTS * any(mark in text.casefold() for mark in marks), language)
        for language, small, marks in _SMALL_WORDS
    ]
    most = max(count for count, _ in found)
    best = [language for count, language in found if count == most]
    return best[0] if most and len(best) == 1 else None


_EAST_ASIAN = re.compile(r"[ぁ-ゖァ-ヺ一-鿿가-힣]")


def mixes_scripts(text: str) -> bool:
    """Whether a text has a few Chinese, Japanese or Korean signs among letters of another script, as some models put
    them where they miss a word."""
    signs = len(_EAST_ASIAN.findall(text))
    return 0 < signs < _LEAST_SHARE * sum(each.isalpha() for each in text)
