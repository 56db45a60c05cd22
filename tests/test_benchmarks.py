"""The table of budgets: a line for each, whatever was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benchmarks import budgets

BENCHMARKS = Path(budgets.__file__).parent


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(budgets, "RESULTS", tmp_path)
    monkeypatch.setattr(budgets, "FILE", tmp_path / "budgets.json")
    monkeypatch.setattr(budgets, "TABLE", tmp_path / "budgets.md")
    return tmp_path


def test_every_budget_has_a_line_and_a_verdict(results):
    assert budgets.judge("import relscape", 0.5)
    assert not budgets.judge("TransE, triples trained a second", 29.0)
    assert budgets.judge("COVA-E1, 100,000 points", 0.25)
    budgets.write_table()
    lines = (results / "budgets.md").read_text().splitlines()[4:]
    assert len(lines) == len(budgets.BUDGETS)
    told = {line.split(" | ")[0].removeprefix("| "): line for line in lines}
    assert "| 0.5 | at most 1 s | met |" in told["import relscape"]
    assert "| 29 | at least 30 × PyKEEN | **missed** |" in told["TransE, triples trained a second"]
    assert "| not measured |" in told["moving prototypes, 50,000 points"]


def test_a_measurement_that_failed_replaces_an_earlier_one(results):
    budgets.judge("import relscape", 0.5)
    assert not budgets.judge("import relscape", float("nan"))
    assert json.loads((results / "budgets.json").read_text()) == {}


def test_every_budget_is_judged_somewhere():
    """The words of each stand in the benchmarks, where they are not put together from a name."""
    judged = "".join(path.read_text() for path in BENCHMARKS.glob("*.py") if path.name != "budgets.py")
    calls = re.findall(r'judge\(\s*f?"([^"]*)"', judged)
    patterns = [re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(call)) for call in calls]
    for what in budgets.BUDGETS:
        assert any(re.fullmatch(pattern, what) for pattern in patterns), what


def test_every_budget_is_told_in_the_docs():
    told = (BENCHMARKS.parent / "docs" / "speed.md").read_text(encoding="utf-8")
    for what, budget in budgets.BUDGETS.items():
        (line,) = [line for line in told.splitlines() if line.startswith(f"| {what} |")]
        assert f"| {budget} |" in line
        assert "not measured" not in line
