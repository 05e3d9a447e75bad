"""What can be used: doctor, models, formats; and the way in: help, version, speed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from moot import __version__


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
    assert result.out.count("ok ") == 3
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
    assert "3 of 3 checks found a problem." in result.err


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


def test_models_without_anything_names_the_demonstration(moot):
    result = moot("models")
    assert "debater: local, because" in result.out
    assert "verdicts mean nothing" in result.out


@pytest.mark.slow
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


@pytest.mark.parametrize("arguments", [["--help"], ["debate", "--help"], ["lst"]])
def test_help_imports_nothing_heavy(moot, arguments):
    code = f"import sys; from moot.cli.main import main; main({arguments!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=moot.env, check=True)
    loaded = set(done.stderr.split())
    assert "moot.cli.main" in loaded
    assert not loaded & {"pydantic", "rich", "asyncio", "yaml", "importlib.metadata", "sqlite3", "moot.types"}
