"""All experiments in one go: kept, passed over, told on one page."""

from __future__ import annotations

import json

import pytest

from relscape.errors import StorageError
from relscape.project import campaign
from relscape.project.experiments import experiments

SOME = ("coembed-cost", "coembed-links", "code-models")


@pytest.fixture
def few(monkeypatch):
    """Three experiments, of which one has no data and none takes time."""
    known = experiments()
    ran = []

    class Run:
        def __init__(self, name):
            self.name = name

    def run(name, quick, folder):
        if name == "coembed-links":
            raise StorageError("cora is not here; see 'relscape datasets info cora'.")
        ran.append(name)
        return Run(name)

    def write(made, folder):
        experiment = known[made.name]
        content = {
            "reference": experiment.reference,
            "settings": experiment.chosen(True),
            "quick": True,
            "seconds": 1.0,
            "packages": {"relscape": campaign.version("relscape")},
            "verdicts": [{"claim": "X1", "text": "it works", "outcome": "reached", "why": "so it is"}],
            "notes": ["a note"],
            "records": [{"set": "a", "method": "ca", "rank": 3.5}, {"set": "b", "method": "ca", "rank": 9.0}],
            "figures": [{"set": "a", "measure": "rank", "values": {"ca": 3.0, "mutual": 1.0}}],
            "files": ["results.json", "by_size.png"],
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.json").write_text(json.dumps(content), encoding="utf-8")

    monkeypatch.setattr(campaign, "experiments", lambda: {name: known[name] for name in SOME})
    monkeypatch.setattr(campaign, "run_experiment", run)
    monkeypatch.setattr(campaign, "write_results", write)
    return ran


def test_what_is_done_is_kept_and_what_has_no_data_is_told(few, tmp_path):
    states = [stage.state for stage in campaign.run_all(tmp_path, quick=True)]
    assert states == ["done", "no data", "done"]
    states = [stage.state for stage in campaign.run_all(tmp_path, quick=True)]
    assert states == ["kept", "no data", "kept"]
    assert few == ["coembed-cost", "code-models"]
    campaign.run_all(tmp_path, quick=True, again=True)
    assert len(few) == 4
    page = (tmp_path / campaign.PAGE).read_text(encoding="utf-8")
    assert "2 claims: 2 reached." in page
    assert "relscape datasets info cora" in page
    assert "![by_size.png](coembed-cost/by_size.png)" in page
    assert "| a | ca | rank | check | 3 | 3.5 | +0.5 | not reached |" in page


def test_results_of_other_settings_are_not_kept(few, tmp_path):
    campaign.run_all(tmp_path, quick=True)
    states = [stage.state for stage in campaign.run_all(tmp_path, quick=False)]
    assert states == ["done", "no data", "done"]


def test_broken_results_are_made_anew(few, tmp_path):
    (tmp_path / "coembed-cost").mkdir()
    (tmp_path / "coembed-cost" / "results.json").write_text("{", encoding="utf-8")
    assert campaign.run_all(tmp_path, quick=True)[0].state == "done"
