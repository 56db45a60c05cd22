"""Figures beside ours: which belong together, and what counts as reached."""

from __future__ import annotations

import pytest

from relscape.project.comparison import Difference, differences, settings_digest, short_record

RESULTS = {
    "experiment": "x",
    "date": "2026-01-01",
    "quick": False,
    "seconds": 1.0,
    "packages": {},
    "settings": {"a": 1},
    "verdicts": [],
    "figures": [{"set": "a", "measure": "rank", "values": {"ca": 2, "lsi": 4}, "source": "table 1"}],
    "records": [{"set": "a", "method": "ca", "rank": None}, {"set": "a", "method": "lsi", "rank": 5}],
}


def test_figures_without_a_record_are_left_out():
    assert differences(RESULTS) == [("table 1", "a", "lsi", "rank", 4.0, 5.0)]


@pytest.mark.parametrize(
    ("measure", "known", "ours", "outcome"),
    [
        ("mean rank", 100, 104, "reached"),
        ("mean rank", 100, 106, "not reached"),
        ("mean rank", 100, 94, "exceeded"),
        ("1-NN error", 0.1, 0.2, "not reached"),
        ("MRR", 0.5, 0.49, "reached"),
        ("hits@10", 50, 40, "not reached"),
        ("S_n", 0.5, 0.6, "exceeded"),
    ],
)
def test_what_counts_as_reached(measure, known, ours, outcome):
    assert Difference("", "", "", measure, known, ours).outcome == outcome


def test_a_record_is_short_and_knows_its_settings():
    kept = short_record(RESULTS)
    assert "records" not in kept
    assert kept["settings"] == settings_digest({"a": 1}) != settings_digest({"a": 2})
    assert kept["figures"][0]["ours"] == 5.0
