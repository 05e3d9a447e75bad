"""The manual page has every command, flag and exit code, and man reads it without a complaint."""

from __future__ import annotations

import subprocess

from moot import __version__
from moot.cli.commands import COMMANDS, EXIT_CODES, every_command
from moot.cli.manpage import page
from moot.cli.parser import parser_of


def test_it_names_every_command_flag_and_exit_code():
    text = page().replace("\\-", "-")
    for name in COMMANDS:
        assert f'.SS "moot {name}' in text
        for flag in parser_of(name, COMMANDS[name]).flags():
            assert flag == "--help" or f"\\fB{flag}" in text or f", {flag}" in text, f"moot {name} {flag}"
    assert "\\fB--db\\fR" in text
    for code in EXIT_CODES:
        assert f"\\fB{code}\\fR" in text
    assert f"moot {__version__}" in text
    assert "fork\n.SH SYNOPSIS" in text  # its name is one line


def test_nothing_in_it_is_taken_for_a_command_of_man():
    commands = {line.split()[0] for line in page().splitlines() if line.startswith((".", "'"))}
    assert commands == {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".br"}


def test_it_is_typeset_without_a_warning():
    command = ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"]
    done = subprocess.run(command, input=page(), capture_output=True, text=True, timeout=60, check=True)
    assert not done.stderr
    assert "--judge-model SPEC" in done.stdout


def test_the_command_prints_it(moot):
    assert moot("man").out == page(every_command())
