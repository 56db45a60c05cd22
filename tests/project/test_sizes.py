"""Experiments on data alone: counts of graphs and networks, facts told twice, rules, and quick runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relscape.data.triples import KnowledgeGraph
from relscape.errors import StorageError
from relscape.project import sizes
from relscape.project.experiments import experiment
from relscape.project.report import report_tables, write_results
from relscape.project.runner import run_experiment
from relscape.project.size_verdicts import PUBLISHED, RULES
from relscape.project.sizes import PROCEDURES

NAMES = {"graphs": "kg-sizes", "networks": "network-sizes"}
FACT, BACK = ["a", "over", "b"], "under"


@pytest.fixture
def graph(monkeypatch):
    """Over and under lead back to each other for two of three pairs; what is beside is so both ways."""
    train = [
        ("a", "over", "b"),
        ("b", "over", "c"),
        ("c", "over", "d"),
        ("a", "beside", "d"),
        ("d", "under", "a"),
    ]
    test = [("b", "under", "a"), ("d", "beside", "a"), ("a", "under", "c")]
    graph = KnowledgeGraph(
        train, [("c", "under", "b")], test, ["a", "b", "c", "d"], ["over", "under", "beside"]
    )
    monkeypatch.setattr(sizes, "graph_of", lambda where: graph)
    return graph


def looked_up(fact=FACT, back=BACK):
    example = {"name": "E1", "fact": fact, "reversed": back}
    return PROCEDURES["graph-sizes"]({"graphs": [{"set": "ours", "examples": [example]}]})


def test_triples_are_counted_by_split_and_by_what_is_known_reversed(graph):
    counted = looked_up().records[0]
    told = [counted[f"{split} triples"] for split in ("training", "validation", "test")]
    assert (counted["entities"], counted["relations"], told) == (4, 3, [5, 1, 3])
    assert [counted[part] for part in ("reciprocal", "reverse", "other")] == [1, 1, 1]


def test_a_fact_is_found_in_both_directions(graph):
    findings = looked_up()
    there, back = findings.records[1:]
    assert (there["triples"], there["told reversed"], there["chosen"]["found"]) == (3, 2, ["train"])
    assert (back["triples"], back["told reversed"], back["chosen"]["found"]) == (4, 2, ["test"])
    assert findings.notes == ["ours, E1: a, over, b (train); reversed: b, under, a (test)"]


def test_a_relation_can_lead_back_itself(graph):
    there, back = looked_up(["a", "beside", "d"], "beside").records[1:]
    assert (there["triples"], there["told reversed"]) == (back["triples"], back["told reversed"]) == (2, 2)


def test_a_fact_that_is_missing_counts_against_the_claim(graph):
    findings = looked_up(["c", "over", "d"])
    assert "d, under, c (missing)" in findings.notes[0]
    assert RULES["K11"](findings.records)[0] == "not reached"
    assert RULES["K11"](looked_up().records)[0] == "reached"
    assert RULES["K11"](findings.records[:1])[0] == "not tested"


def test_sizes_must_all_be_the_printed_ones():
    for claim, kind in (("K10", "graphs"), ("N15", "networks")):
        rows = [{"set": name, "method": "counted", **sizes} for name, sizes in PUBLISHED[kind].items()]
        assert RULES[claim](rows)[0] == "reached"
        assert RULES[claim](rows[1:])[0] == "not tested"
        (first, size), *_ = PUBLISHED[kind][rows[0]["set"]].items()
        outcome, why = RULES[claim]([{**rows[0], first: size + 1}, *rows[1:]])
        assert outcome == "not reached"
        assert f"{first} {size + 1:,} for {size:,}" in why


@pytest.mark.parametrize("kind", NAMES)
def test_rules_and_quoted_tables_agree(kind):
    entry = experiment(NAMES[kind])
    quoted = {name: {} for name in PUBLISHED[kind]}
    for figure in entry.figures:
        quoted[figure["set"]][figure["measure"]] = figure["values"][sizes.COUNTED]
    assert quoted == PUBLISHED[kind]
    assert {claim.name for claim in entry.claims} <= set(RULES)


@pytest.mark.parametrize("name", NAMES.values())
def test_quick_runs_give_records_tables_and_verdicts(name, tmp_path):
    run = run_experiment(name, quick=True)
    assert all(verdict.outcome == "not tested" for verdict in run.verdicts)
    out = write_results(run, tmp_path / "out")
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {path.name for path in out.iterdir()} == set(content["files"])
    assert all(np.isfinite(value) for value in content["records"][0].values() if isinstance(value, int))


@pytest.mark.parametrize("name", NAMES.values())
def test_data_of_now_has_the_printed_sizes(name, data_dir):
    run = run_experiment(name)
    assert {verdict.outcome for verdict in run.verdicts} == {"reached"}
    for table in report_tables(run):
        assert all(any(cell != "–" for cell in row[3:]) for row in table.rows)  # each record in its table


def test_without_data_it_says_where_to_get_it(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(StorageError, match=r"(?s)cora.*RELSCAPE_DATA"):
        run_experiment("network-sizes")
