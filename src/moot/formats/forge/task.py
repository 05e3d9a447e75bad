"""Whether a task asks for code. What reads as a question for a debate is refused before any model is asked."""

from __future__ import annotations

import re

from moot.core.errors import InputError
from moot.formats.forge.prompting import names_interface
from moot.formats.forge.settings import ForgeSettings
from moot.reasoning.code.test_files import uses_code
from moot.reasoning.code.written import written_case
from moot.reasoning.fence import one_line
from moot.reasoning.question import read_question

SHOWN_CHARS = 100

# A question with one of these words may ask for code, or for a change of it.
_ABOUT_CODE = re.compile(
    r"\b(?:writ|cod|implement|program|function|class|method|module|script|algorithm|pars|comput|calculat|return|sort|"
    r"convert|generat|check|validat|count|bug|fix|refactor|test|regex|quer|string|list|array|number|integer|python|"
    r"javascript|sql)\w*|[`{}=<>_]|\w\(",
    re.IGNORECASE,
)
_MORE = re.compile(r"[.!?;:]\s|\n\s*\S")  # there is more than one sentence


def settle(settings: ForgeSettings, topic: str) -> ForgeSettings:
    """The settings as they are. Raises InputError for a question that asks to decide something, and has no test; and
    for a test that can't fail."""
    tested = bool(settings.cases or settings.tests.strip() or settings.repo)
    if not tested and is_question(topic):
        raise InputError(
            f"“{one_line(topic, SHOWN_CHARS)}” asks for a decision, not for code. Ask it in another format, or say "
            "what the code should do, such as: Write a function add(a, b) that returns the sum of two numbers."
        )
    idle = next((case for case in settings.cases if not uses_code(case, topic)), None)
    if idle is not None:
        raise InputError(
            f"The test {one_line(written_case(idle), SHOWN_CHARS)} never uses the code, so that every version or none "
            "would pass it. Leave it out, or have it call what the task asks for."
        )
    return settings


def is_question(topic: str) -> bool:
    """Whether a task is one question with alternatives or a yes, and no word of it speaks of code."""
    text = topic.strip()
    if not text.endswith("?") or _MORE.search(text) or _ABOUT_CODE.search(text) or names_interface(text):
        return False
    return read_question(text).kind in ("choice", "yes_no")
