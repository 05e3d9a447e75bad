"""What README.md promises and shows, where no test of the room itself does: tests/README.md names a test for each."""

from __future__ import annotations

import asyncio
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import moot
from moot.cli.commands import COMMANDS
from moot.cli.main import _arranged
from moot.cli.parser import parser_of
from moot.client import documents
from moot.config import load
from moot.formats import installed
from moot.formats.auto import pick
from tests.playing import play, script_of
from tests.running import an_app, answers_file, new_debate, run_to_rest

TEXT = (Path(__file__).parents[1] / "README.md").read_text()


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_its_commands_are_understood():
    lines = [line for example in examples("sh") for line in example.splitlines() if line.startswith("moot ")]
    assert len(lines) > 30
    for line in lines:
        words = [word for word in shlex.split(line, comments=True)[1:] if word != "&"]
        name, command, rest = _arranged(words)
        parser_of(name, command).parse_args(rest)
    named = set(re.findall(r"`moot (\w+)[^`]*`", TEXT))
    assert named
    assert named <= COMMANDS.keys()


def test_its_configuration_is_valid(tmp_path: Path):
    (example,) = examples("yaml")
    path = tmp_path / "moot.yaml"
    path.write_text(example)
    config = load({"MOOT_CONFIG": str(path)})
    assert config.settings.format == "duel"
    assert config.debate("classic")["max_rounds"] == 3


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    for name, value in {"DATABASE_URL": str(tmp_path / "moot.db"), "MODEL": "sim:", "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"MOOT_{name}", value)
    (example,) = examples("python")
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)
    debate = names["debate"]
    assert isinstance(debate, moot.Debate)
    assert debate.status == "completed"
    assert debate.decision in capsys.readouterr().out


@pytest.mark.parametrize(
    ("question", "format", "reason"),
    [
        ("Tabs or spaces?", "classic", "the question offers a choice"),
        ("Is this migration plan safe to run on a Friday?", "classic", "the question can be answered with yes or no"),
        ("How should we structure the plugin system?", "council", "the question is open"),
    ],
)
def test_the_question_decides_the_format(question: str, format: str, reason: str):
    picked = pick(question, installed(), ())
    assert picked.format == format
    assert picked.reason.startswith(reason)


def test_effort_is_fewest_calls_or_both_orders_a_jury_and_a_ledger():
    classic = installed()["classic"]
    quick, standard = (play(script_of("classic", **classic.efforts.get(each, {}))) for each in ("quick", "standard"))
    assert len(quick.keys) < len(standard.keys)
    thorough: Any = classic.settings.model_validate(classic.efforts["thorough"])
    assert thorough.swap
    assert thorough.jury
    assert thorough.claims


def test_samples_of_solo_know_nothing_of_each_other_and_the_most_frequent_counts():
    said = {"s1": "red", "s2": "blue", "s3": "blue"}

    def answer(step):
        return {"reasoning": f"Words of {step.seat.id}.", "final": said[step.seat.id], "confidence": 60}

    choice = {"kind": "choice", "options": ["red", "blue"]}
    played = play(script_of("solo", "Which colour?", samples=3, answer=choice), answer)
    assert len(played.sent) == 3
    assert not any("Words of" in message.text for _, messages in played.sent for message in messages)
    assert played.outcome.answer is not None
    assert played.outcome.answer.value == "blue"


def test_a_debate_whose_models_are_gone_replays_to_the_same_transcript(tmp_path: Path):
    async def main() -> None:
        async with an_app(tmp_path) as app:
            done = await run_to_rest(app, await new_debate(app, answers_file(tmp_path), turns=2))
            assert done.status == "completed"
        (tmp_path / "answers.yaml").unlink()
        async with an_app(tmp_path) as app:
            assert (await documents.prove(app, done.id)).same

    asyncio.run(main())
