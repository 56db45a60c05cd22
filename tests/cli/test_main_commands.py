"""The list of commands: quick to show, and true."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from relscape.cli.commands import COMMANDS, load_command


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_of_help_are_those_of_the_commands(name):
    assert load_command(name).help.strip().splitlines()[0] == COMMANDS[name][2]


def test_help_loads_no_command():
    """Nothing heavy is loaded before it is known what is asked for."""
    code = (
        "import sys; from relscape.cli.main import run\n"
        "try: run(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'matplotlib', 'duckdb', 'pyarrow'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "doctor" in done.stdout
    assert done.stdout.strip().endswith("loaded: []")


@pytest.mark.parametrize(
    "asked", [{"COMP_WORDS": "relscape repro", "COMP_CWORD": "1"}, {}], ids=["word", "script"]
)
def test_shells_complete_commands(asked):
    """What a shell runs when the tab key is pressed, and the script that makes it do so."""
    way = {"_RELSCAPE_COMPLETE": "complete_bash" if asked else "source_bash"}
    done = subprocess.run(
        [sys.executable, "-m", "relscape"],
        env={**os.environ, **way, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["reproduce"] if asked else "_relscape_completion()" in done.stdout
