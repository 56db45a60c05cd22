"""Running the command line inside the test process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from relscape.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def relscape(capsys, tmp_path, monkeypatch):
    """Run ``relscape ARGS`` in an empty directory; gives exit code and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main.run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Outcome(int(stop.value.code), printed.out, printed.err)

    return run


PAIRS = """doc,word,n
d1,cat,3
d1,dog,1
d2,cat,1
d2,dog,4
d2,fish,1
d3,fish,5
d3,dog,1
d3,cat,1
d4,fish,2
d4,cat,2
d4,bird,3
"""


@pytest.fixture
def pairs(tmp_path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS)
    return path


@pytest.fixture
def made(relscape, pairs):
    """A map of the pairs, as maps/pairs."""
    columns = ("--rows", "doc", "--columns", "word", "--weight", "n")
    assert relscape("coembed", pairs, *columns, "--keep-relations").code == 0
    return Path("maps/pairs")
