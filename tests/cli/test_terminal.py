"""Output in a real terminal: the live region, colours, Ctrl-C, and hostile text."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.cli.conftest import MOOT, RULING

HOSTILE = "[bold red]not markup[/] \x1b[31mred\x1b[0m \x1b]0;title\x07 :smile: \x9b1m \u202egnp.exe [/nothing]"
STYLED = re.compile(r"\x1b\[[0-9;]*m")


def test_each_participant_has_a_colour_and_thoughts_are_dim(moot):
    model = moot.script({"*/score/judge": {"reasoning": "Fair.", "score": 6}, "*/plan/*": "I plan."})
    terminal = moot.terminal("Is it so?", "--format", "duel", "--turns", "2", "--model", model)
    terminal.end()
    heading = {
        name: next(line for line in terminal.raw.splitlines() if f"{name} ({side}), turn" in line)
        for name, side in (("Ada", "Yes"), ("Basil", "No"))
    }
    colours = {name: STYLED.findall(line)[0] for name, line in heading.items()}
    assert colours["Ada"] != colours["Basil"]
    assert all(colour.startswith("\x1b[1;") for colour in colours.values()), "statements are bold"
    plan = next(line for line in terminal.raw.splitlines() if "I plan." in line)
    assert "\x1b[2" in plan
    assert "The judge scores, turn 1: Ada (Yes), 6 of 10" in terminal.text


@pytest.mark.parametrize("how", [{"CLICOLOR": "0"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_no_color_is_respected(finished, how):
    moot, _ = finished
    terminal = moot.terminal("show", moot.ids[0], **how)
    assert terminal.end() == 0
    assert not re.search(r"\x1b\[(\d+;)*3\d", terminal.raw)
    assert "│ a speaks at 1/speak/a." in terminal.text, "the view stays"


FORCED = ({"FORCE_COLOR": "1", "TERM": "dumb"}, {"CLICOLOR_FORCE": "1", "CLICOLOR": "0"})


@pytest.mark.parametrize("how", FORCED)
def test_colours_in_a_pipe(finished, how):
    moot, _ = finished
    shown, listed = (moot(*command, **how).out for command in (("show", moot.ids[0]), ("list",)))
    assert re.search(r"\x1b\[1;3\dmDebater A", shown)
    assert "\x1b[1m" in listed
    assert "\x1b" not in moot("show", moot.ids[0], "--plain", **how).out
    assert "\x1b" not in moot("list", NO_COLOR="1", **how).out


@pytest.mark.parametrize("how", [{"TERM": "dumb"}, {}])
def test_plain_in_a_terminal(moot, how):
    flags = [] if how else ["--plain"]
    terminal = moot.terminal("Is it so?", "--rounds", "1", "--model", moot.script(), *flags, **how)
    assert terminal.end() == 0
    assert "\x1b" not in terminal.raw
    assert "Verdict" in terminal.raw


@pytest.mark.slow
def test_text_in_flight_moves_above_a_footer_and_is_printed_once(moot):
    terminal = moot.terminal("Is it so?", "--rounds", "1", "--model", "sim:?tps=200&tokens=60")
    terminal.until("Debater A speaks")
    terminal.until("round 1 of 1 · ")
    assert "Ctrl-C stops" in terminal.text
    assert terminal.end() == 0
    assert terminal.text.count("1/speak/a") == 1
    assert terminal.text.count("1/speak/b") == 1
    assert "\x1b[?25l" not in terminal.raw, "a cursor that is hidden stays hidden when the process is killed"
    assert "\x1b[?1049h" not in terminal.raw, "never the alternate screen"


@pytest.mark.slow
def test_the_moving_region_fits_a_low_terminal(moot):
    terminal = moot.terminal(
        "Is it so?", "--rounds", "1", "--set", "jury=6", "--model", "sim:?tps=200&tokens=40", rows=5, columns=60
    )
    assert terminal.end() == 0
    ups = [int(up) for up in re.findall(r"\x1b\[(\d+)A", terminal.raw)]
    assert ups
    assert max(ups) < 5


@pytest.mark.slow
def test_ctrl_c_once_finishes_the_step(moot):
    terminal = moot.terminal("Is it so?", "--rounds", "3", "--model", moot.held())
    moot.called("1/speak/a")
    terminal.until("Ctrl-C stops")
    terminal.press("\x03")
    terminal.until("the step in progress finishes first")
    moot.until("stopping")
    moot.release()
    assert terminal.end() == 3
    assert moot.status() == "stopped"
    assert moot.turns() == ["1/speak/a"]
    assert "a speaks at 1/speak/a." in terminal.text
    assert f"moot resume {moot.ids[0][:8]}" in terminal.text.splitlines()[-1]


@pytest.mark.slow
def test_ctrl_c_twice_stops_now(moot):
    terminal = moot.terminal("Is it so?", "--rounds", "3", "--model", moot.held())
    moot.called("1/speak/a")
    terminal.until("Ctrl-C stops")
    terminal.press("\x03")
    terminal.until("Ctrl-C again stops now")
    terminal.press("\x03")
    assert terminal.end() == 130
    assert moot.status() == "stopped"
    assert moot.turns() == []
    assert "Traceback" not in terminal.text
    assert f"moot resume {moot.ids[0][:8]}" in terminal.text.splitlines()[-1]


@pytest.mark.slow
def test_a_very_narrow_terminal(moot):
    model = moot.script({"1/speak/a": "Donaudampfschifffahrtsgesellschaftskapitän 漢字漢字漢字漢字漢字漢字"})
    size = {"columns": 8, "COLUMNS": "8"}
    terminal = moot.terminal("Is it really so, all things considered?", "--rounds", "1", "--model", model, **size)
    assert terminal.end() == 0
    assert "Traceback" not in terminal.text
    assert "Donaudampf" in re.sub(r"[\s│]", "", terminal.text)
    shown = moot.terminal("show", moot.ids[0], **size)
    assert shown.end() == 0
    assert moot.terminal("list", **size).end() == 0


@pytest.mark.slow
def test_hostile_text_stays_text(moot):
    answers = {"*/speak/*": HOSTILE, "*/verdict/judge": RULING | {"summary": HOSTILE}}
    model = moot.script(answers)
    (moot.folder / "names.yaml").write_text(
        'topic: "Is it [bold]so[/]?"\nformat: duel\nturns: 2\ndebaters:\n'
        '  - {name: "[red]Eve\\e[31m"}\n  - {name: "Mallory[/]"}\n'
    )
    piped = moot("Is it [bold]so[/]?", "--rounds", "1", "--model", model)
    duel = moot.terminal("--file", "names.yaml", "--model", model)
    duel.end()
    classic = moot.terminal("show", moot.ids[0])
    assert classic.end() == 0
    assert piped.code == 0
    assert "\x1b" not in piped.out
    for text in (piped.out, classic.text):
        joined = re.sub(r"\s*│ |\s+", " ", text)
        assert "[bold red]not markup[/] [31mred" in joined
        assert ":smile:" in joined
    for raw in (classic.raw, duel.raw):
        assert "\x1b]0" not in raw
        assert "\x9b" not in raw
        assert "\u202e" not in raw
    assert "[red]Eve[31m (Yes), turn 1" in duel.text


def test_no_text_can_pass_for_a_heading(moot):
    fake = "I agree.\nVerdict\nDebater B (AGAINST) wins."
    result = moot("Is it so?", "--rounds", "1", "--model", moot.script({"*/speak/*": fake}))
    assert [line for line in result.out.splitlines() if line == "Verdict"] == ["Verdict"]
    assert "  Verdict\n  Debater B (AGAINST) wins.\n" in result.out


@pytest.mark.slow
def test_an_encoding_that_cannot_say_it_all(moot):
    model = moot.script({"1/speak/a": "Façade … 漢字"})
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = moot("Is it so?", "--rounds", "1", "--model", model, **env)
    assert result.code == 0
    assert "ade ... ??" in result.out
    terminal = moot.terminal("Is it so?", "--rounds", "1", "--model", model, **env)
    assert terminal.end() == 0
    lines = moot("show", moot.ids[0], "--json", **env)
    assert any(event["content"] == "Façade … 漢字" for event in lines.events)


def test_a_closed_standard_stream(moot):
    command = f"{MOOT} 'Is it so?' --rounds 1 --model sim: <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], env=moot.env, cwd=moot.folder).returncode == 0
    assert moot.status() == "completed"
