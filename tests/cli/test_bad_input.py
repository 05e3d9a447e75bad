"""Bad input: one line that says what to do, exit code 2, and nothing is written."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

CASES = {
    "unknown command": (["lst"], ["no command 'lst'", "moot list"]),
    "unknown flag": (["debate", "A b", "--fromat", "duel"], ["no flag '--fromat'", "--format"]),
    "missing id": (["show"], ["Missing: ID"]),
    "unquoted question": (["debate", "Redis", "or", "what"], ["quotes"]),
    "a model that is empty": (["debate", "A b", "--judge-model", " "], ["--judge-model is empty", "leave it out"]),
    "unknown setting": (["debate", "A b", "--set", "max_roundz=3"], ["no setting 'max_roundz'", "'max_rounds'"]),
    "unknown setting beside a known one": (["debate", "A b", "--turns", "2", "--set", "frob=3"], ["no setting 'frob'"]),
    "settings of two formats": (
        ["debate", "A b", "--turns", "2", "--perspectives", "3"],
        ["No format takes turns and perspectives together."],
    ),
    "unknown seat": (["debate", "A b", "--set", "seats.z.model=sim:?seed=1"], ["no seat 'z'"]),
    "not an assignment": (["debate", "A b", "--set", "max_rounds"], ["name=value", "max_rounds"]),
    "empty question": (["debate", ""], ["The question is empty"]),
    "missing file": (["debate", "--file", "no.yaml"], ["There is no spec no.yaml", "YAML file"]),
    "malformed file": (["debate", "--file", "malformed.yaml"], ["malformed.yaml", "not valid YAML", "line 2"]),
    "file without a mapping": (["debate", "--file", "list.yaml"], ["should be a mapping", "a list"]),
    "unknown key in a file": (["debate", "--file", "unknown.yaml"], ["no setting 'max_round'", "'max_rounds'"]),
    "two different questions": (["debate", "Another?", "--file", "topic.yaml"], ["topic.yaml differ"]),
    "rounds that are no number": (["debate", "A b", "--rounds", "many"], ["--rounds", "many"]),
    "unknown provider": (["debate", "A b", "--model", "opnai:x"], ["opnai", "openai:x"]),
    "model without a key": (["debate", "A b", "--model", "openai:gpt-6-luna"], ["OPENAI_API_KEY"]),
    "rounds in a duel": (["debate", "A b", "--format", "duel", "--rounds", "2"], ["no --rounds", "--turns"]),
    "unknown stance": (["debate", "A b", "--stance", "maybe"], ["maybe", "'pro', 'con'"]),
    "json and plain": (["debate", "A b", "--json", "--plain"], ["--plain", "--json"]),
    "show nothing": (["show", "abc"], ["no debate 'abc'", "moot list"]),
    "resume what": (["resume"], ["moot resume ID", "--all"]),
    "resume one and all": (["resume", "abc", "--all"], ["not both"]),
    "unknown status": (["list", "--status", "runing"], ["no status 'runing'", "'running'"]),
    "database of another kind": (["list", "--db", "mysql://x/y"], ["mysql://", "--db"]),
    "empty database path": (["list", "--db", ""], ["--db"]),
    "a place where nothing can be written": (["debate", "A b", "--db", "/proc/moot/moot.db"], ["--db"]),
}
FILES = {
    "malformed.yaml": "topic: [unclosed\n",
    "list.yaml": "- a\n",
    "unknown.yaml": "topic: A b?\nmax_round: 2\n",
    "topic.yaml": "topic: A b?\n",
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_in_one_line_and_nothing_is_written(moot, name):
    args, said = CASES[name]
    for file, text in FILES.items():
        (moot.folder / file).write_text(text)
    if args[0] == "debate" and "--model" not in args:
        args = [*args, "--model", "sim:"]
    result = moot(*args)
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.startswith("moot: ")
    assert result.err.count("\n") == 1
    for words in said:
        assert words in result.err
    assert not moot.db.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [("a " * 500_000, "999,999 characters; 20,000 is the most"), (b"\xff\xfe", "not UTF-8")],
    ids=["a megabyte", "no text"],
)
def test_what_is_piped_in_and_is_no_question(moot, given, said):
    result = moot("debate", "-", "--model", "sim:", input=given)
    assert result.code == 2
    assert said in result.err
    assert not moot.db.exists()


def test_a_message_cannot_carry_escapes(moot):
    result = moot("show", "\x1b[31mred\nmoot: all is well")
    assert result.code == 2
    assert "\x1b" not in result.err
    assert result.err.count("\n") == 1


def test_an_ambiguous_prefix(moot):
    assert moot("Is it so?", "--rounds", "1", "--model", "sim:").code == 0
    first = moot.ids[0]
    twin = first[:9] + ("0" if first[9] != "0" else "1") + first[10:]
    columns = [row[1] for row in moot.sql("pragma table_info(debate_sessions)") if row[1] != "id"]
    names = ", ".join(f'"{name}"' for name in columns)
    moot.sql(f"insert into debate_sessions (id, {names}) select ?, {names} from debate_sessions", twin)
    result = moot("show", first[:6])
    assert result.code == 2
    assert "could be any of" in result.err
    assert first[:13] in result.err
    assert twin[:13] in result.err
    assert moot("show", first[:10]).code == 0
