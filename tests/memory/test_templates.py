"""The built-in templates are whole, and the question set that measures retrieval is fair to them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "src" / "moot" / "memory" / "templates").glob("*.md"))
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "questions.yaml").read_text(encoding="utf-8"))
SECTIONS = ["When to use", "Steps", "Pitfalls", "Worked example"]

each_template = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def parts(path: Path) -> tuple[dict[str, Any], str]:
    before, front, body = re.split(r"^---$", path.read_text(encoding="utf-8"), maxsplit=2, flags=re.MULTILINE)
    assert before == ""
    return yaml.safe_load(front), body


def sections(body: str) -> dict[str, str]:
    _, *rest = re.split(r"^#+ (.*)$", body, flags=re.MULTILINE)
    return {heading: text.strip() for heading, text in zip(rest[::2], rest[1::2], strict=True)}


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def test_the_library_is_large_enough_and_its_names_are_unique():
    assert len(FILES) >= 28
    fronts = [parts(path)[0] for path in FILES]
    for field in ("id", "name", "summary"):
        assert len({front[field] for front in fronts}) == len(FILES)


@each_template
def test_the_front_matter_is_complete(path: Path):
    front, _ = parts(path)
    assert list(front) == ["id", "name", "summary", "domains", "keywords", "questions"]
    assert front["id"] == path.stem
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", path.stem)
    assert front["name"].strip()
    assert re.fullmatch(r"[^.?!\n]+\.", front["summary"]), "one sentence"
    for field in ("domains", "keywords", "questions"):
        values = front[field]
        # An unquoted colon would make a mapping of a line, and an unquoted `no` a truth value.
        assert values
        assert all(isinstance(value, str) and value.strip() for value in values)
        assert len(set(values)) == len(values)
    assert len(front["keywords"]) >= 8
    assert 3 <= len(front["questions"]) <= 5


@each_template
def test_the_body_has_its_four_sections_in_order_and_a_sane_length(path: Path):
    _, body = parts(path)
    assert re.findall(r"^#.*$", body, flags=re.MULTILINE) == [f"## {name}" for name in SECTIONS]
    found = sections(body)
    assert all(found.values())
    numbers = [int(number) for number in re.findall(r"^(\d+)\. \S", found["Steps"], flags=re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 4
    assert len(re.findall(r"^- \S", found["Pitfalls"], flags=re.MULTILINE)) >= 3
    assert 250 <= len(re.findall(r"[^\s|]+", body)) <= 500
    assert len(re.findall(r"[^\s|]+", found["Worked example"])) >= 80


def test_every_question_names_templates_that_exist():
    ids = {path.stem for path in FILES}
    for entry in QUESTIONS:
        assert set(entry) <= {"question", "template", "also"}
        assert isinstance(entry["question"], str)
        also = entry.get("also", [])
        assert len(also) <= 2
        assert entry["template"] not in also
        assert {entry["template"], *also} <= ids


def test_the_question_set_asks_for_every_template_at_least_twice():
    assert len(QUESTIONS) >= 60
    assert len({plain(entry["question"]) for entry in QUESTIONS}) == len(QUESTIONS)
    asked = Counter(entry["template"] for entry in QUESTIONS)
    assert {path.stem for path in FILES if asked[path.stem] < 2} == set()


@each_template
def test_no_template_was_written_from_the_questions(path: Path):
    """No five words in a row are in both: a library that quotes the questions would measure nothing."""
    text = plain(path.read_text(encoding="utf-8"))
    own = {plain(question) for question in parts(path)[0]["questions"]}
    for entry in QUESTIONS:
        question = plain(entry["question"])
        assert question not in own
        if path.stem not in {entry["template"], *entry.get("also", [])}:
            continue
        words = question.split()
        runs = {" ".join(words[start : start + 5]) for start in range(len(words) - 4)}
        assert {run for run in runs if f" {run} " in f" {text} "} == set()
