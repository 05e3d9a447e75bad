"""Quoting one participant's text to another: cleaned, bounded, and inside a fence that the text cannot forge."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from moot.core.marks import mark_of

MAX_QUOTE_CHARS = 24_000
_NO_QUOTES = str.maketrans({"“": "'", "”": "'", '"': "'", "„": "'", "«": "'", "»": "'"})

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")
# Categories don't tell everything: these are letters, marks and symbols that show nothing. Unicode calls all but the
# last three lines Default_Ignorable_Code_Point.
_BLANK = frozenset(
    map(
        chr,
        (
            0x034F,  # combining grapheme joiner
            *(0x115F, 0x1160, 0x3164, 0xFFA0),  # Hangul fillers
            *(0x17B4, 0x17B5),  # Khmer inherent vowels
            *(0x180B, 0x180C, 0x180D, 0x180F),  # Mongolian variation selectors
            *range(0xFE00, 0xFE10),  # variation selectors
            *range(0xE0100, 0xE01F0),
            0x16FE4,  # Khitan filler
            0x1D159,  # musical null notehead
            0xFFFC,  # object replacement
        ),
    )
)
# Of category Cf, and yet visible: Arabic, Syriac and Kaithi signs that enclose the digits after them.
_VISIBLE = frozenset(map(chr, (*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD)))
_OTHERWISE = {"\v": "\n", "\f": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n", "\u2800": " "}  # Braille blank

_ZWNJ, _ZWJ, _KEYCAP = "\u200c", "\u200d", "\u20e3"
JOINERS = _ZWNJ + _ZWJ + "\ufe0e\ufe0f\u180b\u180c\u180d\u180f"
# Scripts whose letters join, or don't, by a joiner: Arabic to N'Ko, Arabic extended, the Indic ones, Myanmar, Khmer,
# Mongolian, and the supplements of these.
_JOINING = (
    (0x0600, 0x07FF),
    (0x0840, 0x0DFF),
    (0x1000, 0x109F),
    (0x1780, 0x18AF),
    (0xA840, 0xAAFF),
    (0x11000, 0x1145F),
)
_EMOJI_TEXT = "‼⁉ℹ〰"  # not of a symbol's category, and yet shown as a picture before U+FE0F

_FEW = 16  # characters that are replaced one after the other: a table takes a thousand times as long to be looked up in

_OPENS, _CLOSES = "[［【〔⁅⟦❲﹇", "]］】〕⁆⟧❳﹈"
_BRACKETED = re.compile(f"[{re.escape(_OPENS)}]([^{re.escape(_OPENS + _CLOSES)}\n]{{0,200}})([{re.escape(_CLOSES)}]?)")
_LIKE_A_MARK = re.compile(r"words of\b|guidance\b.*\b(?:begin|end)|\b(?:begin|end)s? [0-9a-f]{6}")
_LOOK_ALIKES = str.maketrans("аеорсухіјѕԁһԛԝցոօαορνεɡı", "aeopcyxijsdhqwgnoaopvegi")


def clean(text: str) -> str:
    """Remove control, invisible and direction-changing characters, which can hide text from a human reader.

    Joiners and variation selectors stay where they change what is seen: between emoji, after a symbol, between letters
    of scripts that join. Separators of lines and paragraphs become line breaks.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # most often
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = set(text)
    joiners = {*JOINERS} & found
    change = {c: _OTHERWISE.get(c, "") for c in found - joiners if c in _OTHERWISE or hidden(c)}
    if len(change) <= _FEW:
        for c, instead in change.items():
            text = text.replace(c, instead)
    else:
        text = text.translate(str.maketrans(change))
    return _without_idle_joiners(text) if joiners else text


def fence(text: str, *, of: str, at: str) -> str:
    """Quote `text` of the participant `of` for the step `at`. The mark is a hash that does not occur in the text."""
    words = shorten(defuse(clean(text)), MAX_QUOTE_CHARS).strip() or "(said nothing)"
    mark = mark_of(at, words)
    return f"[words of {of} begin {mark}]\n{words}\n[words of {of} end {mark}]"


_BEGINS = re.compile(r"\[words of (.+) begin ([0-9a-f]{12})\]")
_GUIDED = re.compile(r"^\[guidance (?:begins|ends) [0-9a-f]{12}\]\n?", re.MULTILINE)


def unfenced(text: str) -> str:
    """A prompt for a person to read, as Markdown: fenced words are quotations, marks are left out."""
    lines = text.split("\n")
    ends: dict[str, list[int]] = {}  # where a line stands that may end a fence
    for n, line in enumerate(lines):
        if line.startswith("[words of "):
            ends.setdefault(line, []).append(n)
    shown: list[str] = []
    n = 0
    while n < len(lines):
        begins = _BEGINS.fullmatch(lines[n])
        places = ends.get(f"[words of {begins[1]} end {begins[2]}]", []) if begins else []
        at = bisect_right(places, n + 1)  # a fence has a line between its marks
        end = places[at] if at < len(places) else None
        if end is None:
            shown.append(lines[n])
        else:
            shown += [f"> {line}".rstrip() for line in lines[n + 1 : end]]
            n = end
        n += 1
    return _GUIDED.sub("", "\n".join(shown))


def defuse(text: str) -> str:
    """Put what looks like a mark of a fence or of guidance into parentheses. A mark can't be forged anyway; this spares
    a model, or a person, from being taken in by one that is merely alike."""
    if not any(each in text for each in _OPENS):
        return text
    return _BRACKETED.sub(_in_parentheses, text)


def quote(text: str, most: int) -> str:
    """Quote the beginning of a text on one line, in quotation marks that the text can't contain. For small models: they
    repeat the marks of a fence as if they were words."""
    line = defuse(one_line(text, most)).translate(_NO_QUOTES)
    return f"“{line}”" if line else "(nothing)"


def one_line(text: str, most: int = 0) -> str:
    """Clean a text, collapse its white space, and cut it to `most` characters if given."""
    line = " ".join(clean(text).split())
    return line if not most or len(line) <= most else f"{line[: max(1, most - 1)].rstrip()}…"


def shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def hidden(c: str) -> bool:
    if c in "\n\t" or c in _VISIBLE:
        return False
    return c in _BLANK or unicodedata.category(c) in _INVISIBLE


def _without_idle_joiners(text: str) -> str:
    """Remove joiners and variation selectors that change nothing that is seen, and all but one of several."""
    kept: list[str] = []
    pieces = re.split(f"([{JOINERS}]+)", text)
    for n, piece in enumerate(pieces):
        if n % 2 == 0:
            kept.append(piece)
            continue
        before, after = pieces[n - 1][-1:], pieces[n + 1][:1]
        # An emoji's selector may precede its joiner: ❤️‍🔥 is a heart, U+FE0F, U+200D and fire.
        first, second = piece[0], piece[1:2]
        if _selects(before, first, after):
            kept.append(first)
            if second == _ZWJ and _is_emoji(before) and _is_emoji(after):
                kept.append(second)
        elif first in (_ZWJ, _ZWNJ) and _joins(before, first, after):
            kept.append(first)
    return "".join(kept)


def _selects(before: str, selector: str, after: str) -> bool:
    """Whether a variation selector changes how the character before it looks."""
    if not before:
        return False
    if selector in "\ufe0e\ufe0f":
        return _is_emoji(before) or before in _EMOJI_TEXT or (before in "0123456789#*" and after == _KEYCAP)
    return selector in "\u180b\u180c\u180d\u180f" and "\u1820" <= before <= "\u18aa"


def _joins(before: str, joiner: str, after: str) -> bool:
    if joiner == _ZWJ and _is_emoji(before) and _is_emoji(after):
        return True
    if not before or not _in_joining_script(before):
        return False
    # Virama, which a joiner may follow at the end of a word.
    return unicodedata.combining(before) == 9 or bool(after and _in_joining_script(after))


def _is_emoji(c: str) -> bool:
    return bool(c) and (unicodedata.category(c) in ("So", "Sm") or "\U0001f3fb" <= c <= "\U0001f3ff")


def _in_joining_script(c: str) -> bool:
    return unicodedata.category(c)[0] in "LM" and any(first <= ord(c) <= last for first, last in _JOINING)


def _in_parentheses(found: re.Match[str]) -> str:
    return f"({found[1]}{found[2] and ')'}" if _like_a_mark(found[1]) else found[0]


def _like_a_mark(words: str) -> bool:
    folded = unicodedata.normalize("NFKC", words).casefold().translate(_LOOK_ALIKES)
    return _LIKE_A_MARK.search(" ".join(re.findall(r"\w+", folded))) is not None
