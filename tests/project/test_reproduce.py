"""Experiments run again: settings, verdicts by their rules, tables and files."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from relscape.data import EntitySet, Relation, RelationalData
from relscape.errors import StorageError, UnknownNameError
from relscape.models.registry import METHODS
from relscape.project.coembedding_tools import count_of
from relscape.project.experiments import Claim, Experiment, experiment, experiments
from relscape.project.fitting import coembeddings, placed
from relscape.project.outcome import Findings
from relscape.project.pictures import TwoKinds, two_kind_maps
from relscape.project.report import report_tables, write_results
from relscape.project.runner import PROCEDURES, Run, run_experiment
from relscape.project.samples import sampled_text, themed_relation
from relscape.project.verdicts import CA, RULES, judged

NAMES = [
    "coembed-cost",
    "coembed-link-neighbourhoods",
    "coembed-links",
    "coembed-neighbourhoods",
    "coembed-public",
    "coembed-synthetic",
    "coembed-text",
]


def test_every_experiment_can_be_read_and_judged():
    known = {name: entry for name, entry in experiments().items() if name.startswith("coembed-")}
    assert list(known) == NAMES
    for entry in known.values():
        assert entry.procedure in PROCEDURES
        assert set(entry.quick) <= {*entry.settings, "methods"}
        assert all(claim.name in RULES for claim in entry.claims)
    claimed = {claim.name for entry in known.values() for claim in entry.claims}
    assert claimed == {f"W{number}" for number in range(1, 9)}


def test_unknown_experiment_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'coembed-links'"):
        experiment("coembed-link")


def test_every_registered_coembedding_takes_part():
    assert coembeddings() == [name for name, entry in METHODS.items() if entry.family == "coembedding"]
    assert coembeddings(["ca", "mutual"]) == ["mutual", "ca"]


def test_a_refusal_is_kept_not_raised():
    sparse = np.eye(12) + np.eye(12, k=1)
    refused = placed("acas", sparse, 2, random_state=0)
    assert refused.rows is None
    assert "quantiles" in refused.refusal
    kept = placed("ca", sparse, 2, random_state=0, max_evaluations=2)
    assert kept.rows.shape == (12, 2)


@pytest.mark.parametrize("name", ["coembed-synthetic", "coembed-neighbourhoods", "coembed-cost"])
def test_quick_runs_give_records_pictures_and_verdicts(name, tmp_path):
    run = run_experiment(name, quick=True)
    assert run.quick
    assert len(run.verdicts) == len(run.experiment.claims)
    assert all(verdict.why for verdict in run.verdicts)
    out = write_results(run, tmp_path / "out")
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {path.name for path in out.iterdir()} == set(content["files"])
    with (out / "records.csv").open(encoding="utf-8", newline="") as handle:
        assert len(list(csv.DictReader(handle))) == len(run.findings.records) == len(content["records"])
    assert any(name.endswith(".png") for name in content["files"])


def test_quick_links(data_dir):
    run = run_experiment("coembed-links", quick=True)
    table = report_tables(run)[0]
    assert table.headers[:2] == ["set", "axes"]
    assert [row[2] for row in table.rows] == ["ours", "check"]  # the figures of the check stand beside ours
    assert set(run.findings.pictures) == {"by_axes", "maps_cora"}
    titles = [panel.get_title() for panel in run.findings.pictures["maps_cora"].axes]
    assert titles[:2] == ["mutual", "ca"]  # LSI's map is not published


def test_quick_link_neighbourhoods(data_dir):
    run = run_experiment("coembed-link-neighbourhoods", quick=True)
    assert [record["neighbourhood"] for record in run.findings.records] == ["5", "100 %"]
    assert (
        run.findings.records[1]["chosen"].items() >= CA.items()
    )  # nothing chooses, so the search returns CA
    lines = run.findings.pictures["by_axes"].axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["5", "100 %"]
    assert "maps_citeseer" in run.findings.pictures


def test_quick_public_shapes(data_dir):
    run = run_experiment("coembed-public", quick=True)
    assert {record["set"] for record in run.findings.records} == {"compound"}
    assert "overview" in run.findings.pictures


def test_quick_text(data_dir):
    run = run_experiment("coembed-text", quick=True)
    assert {record["words"] for record in run.findings.records} == {10, 20}
    assert any("quantiles" in note for note in run.findings.notes)


def test_without_data_it_says_where_to_get_it(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(StorageError, match=r"(?s)cora.*RELSCAPE_DATA.*datasets convert cora"):
        run_experiment("coembed-links", quick=True)
    with pytest.raises(StorageError, match=r"(?s)citeseer.*RELSCAPE_DATA"):
        run_experiment("coembed-link-neighbourhoods", quick=True)
    with pytest.raises(StorageError, match=r"(?s)shapes2d.*RELSCAPE_DATA"):
        run_experiment("coembed-public", quick=True)


def test_maps_of_two_kinds_show_refusals_and_name_every_class(rng):
    points, classes = rng.normal(size=(20, 2)), np.array(list("ab") * 10, dtype=object)
    drawn = {
        "ca": TwoKinds(points, classes, points[:5], np.array(list("ccccc"), dtype=object)),
        "acas": TwoKinds(None, classes, None, classes),
    }
    figure = two_kind_maps(drawn)
    kept, refused, legend = figure.axes[:3]
    assert [len(cloud.get_offsets()) for cloud in kept.collections] == [5, 20]
    assert [text.get_text() for text in refused.texts] == ["refused"]
    named = [text.get_text() for text in legend.get_legend().get_texts()]
    assert named == ["a", "b", "c", "row", "column"]


def record(name, method, refusal="", **values):
    return {"set": name, "method": method, "refusal": refusal, "CPU seconds": 1.0, "chosen": {}, **values}


def verdict(claim, records, keys=("set",), measures=()):
    entry = Experiment("x", "", "", "", "", "", {}, {}, (Claim(claim, "said"),), ())
    (found,) = judged(entry, Findings(keys, measures, records))
    return found


def shape_record(name, method, value):
    return record(name, method, **{"Γ lost share": value, "mean rank": value, "Procrustes error": value})


def test_shapes_need_most_sets():
    won = [shape_record(name, m, v) for name in "abc" for m, v in (("mutual", 0.2), ("ca", 0.3))]
    lost = [shape_record("d", m, v) for m, v in (("mutual", 0.3), ("ca", 0.2))]
    assert verdict("W1", won + lost).outcome == "reached"
    assert "not on d (ca)" in verdict("W1", won + lost).why
    assert verdict("W1", won[:2] + lost).outcome == "not reached"
    assert verdict("W1", [record("a", "mutual", refusal="no")]).outcome == "not tested"
    assert verdict("W2", won).outcome == "not tested"
    kernels = verdict("W2", [*won, *(shape_record(name, "mkpe", 0.9) for name in "abc")])
    assert kernels.outcome == "reached"
    assert kernels.why.startswith("highest Γ on 3 of 3 sets (a, b, c); lowest Γ on 0 of 3 sets")


@pytest.mark.parametrize(("size", "count"), [("7", 7), ("50 %", 20), ("all but 10", 31), ("all but 50", 1)])
def test_sizes_of_neighbourhoods_are_read(size, count):
    assert count_of(size, 41) == count


def test_links_need_likeness_and_a_lead():
    def ranks(mutual, ca, acas):
        values = {"mutual": mutual, "ca": ca, "acas": acas}
        return [record("cora", method, axes=2, **{"mean rank": value}) for method, value in values.items()]

    assert verdict("W4", ranks(100, 105, 200)).outcome == "reached"
    assert "cora with 2 axes, -4.8%" in verdict("W4", ranks(100, 105, 200)).why
    assert verdict("W4", ranks(100, 150, 200)).outcome == "not reached"
    assert verdict("W4", ranks(100, 105, 103)).outcome == "not reached"
    assert verdict("W4", ranks(100, 105, 103)[:2]).outcome == "not tested"
    assert verdict("W5", ranks(1, 1, 1)).outcome == "not tested"
    assert verdict("W5", [record("citeseer", "code", **{"Γ lost share": 0.99})]).outcome == "reached"


def test_words_and_cost_need_rivals():
    errors = [record("r", method, **{"class-word error": 0.1}) for method in ("mutual", "ca")]
    assert verdict("W6", errors).outcome == "not tested"
    rival = record("r", "code", **{"class-word error": 0.2})
    assert verdict("W6", [*errors, rival]).outcome == "reached"
    assert verdict("W7", errors).outcome == "not tested"
    assert verdict("W7", [*errors, {**rival, "CPU seconds": 9.0}]).outcome == "reached"


def test_neighbourhoods_must_be_alike_and_all_of_them_worst():
    def run(*losses):
        sizes = ("5", "10", "100 %")
        return [
            record("a", "mutual", neighbourhood=size, **{"Γ lost share": loss})
            for size, loss in zip(sizes, losses, strict=True)
        ]

    assert verdict("W3", run(0.2, 0.25, 0.9), ("set", "neighbourhood")).outcome == "reached"
    assert verdict("W3", run(0.2, 0.6, 0.9), ("set", "neighbourhood")).outcome == "not reached"
    assert verdict("W3", run(0.2, 0.25, 0.1), ("set", "neighbourhood")).outcome == "not reached"
    but_ten = record("a", "mutual", neighbourhood="all but 10", **{"Γ lost share": 0.8})
    assert verdict("W3", [*run(0.2, 0.25, 0.9), but_ten], ("set", "neighbourhood")).outcome == "reached"


def test_neighbourhoods_on_links_are_judged_by_ranks_and_errors():
    def run(*ranks):
        return [
            record(
                "a", "mutual", neighbourhood=size, axes=axes, **{"mean rank": rank, "1-NN error": rank / 100}
            )
            for size, at in zip(("5", "10", "50 %", "100 %"), ranks, strict=True)
            for axes, rank in enumerate(at)
        ]

    even = verdict("W8", run((10, 8), (10, 9), (9, 9.5), (12, 9.2)))
    assert even.outcome == "not reached"  # half of all is worst as often as all
    assert "worst 5: 0, 10: 0, 50 %: 2, 100 %: 2" in even.why
    assert verdict("W8", run((10, 8), (10, 9), (9, 9), (12, 9.2))).outcome == "reached"
    assert verdict("W8", run((10, 8), (11, 9), (9, 9), (12, 9.2))).outcome == "not reached"


def test_tables_set_foreign_figures_beside_ours():
    figure = {"set": "cora", "measure": "mean rank", "values": {"ca": 129.2}}
    entry = Experiment("x", "", "", "", "", "", {}, {}, (), (figure,))
    found = Findings(
        ("set",), ("mean rank",), [record("cora", m, **{"mean rank": 140.14}) for m in ("ca", "bgp")]
    )
    (table,) = report_tables(Run(entry, False, {}, found, [], 1.0, {}))
    assert table.headers == ["set", "", "ca", "bgp"]
    assert table.rows == [["cora", "ours", "140.1", "140.1"], ["cora", "check", "129.2", "–"]]


def test_results_replace_earlier_ones_and_nothing_else(tmp_path):
    run = run_experiment("coembed-cost", quick=True)
    target = tmp_path / "out"
    write_results(run, target)
    (target / "mine.txt").write_text("kept")
    write_results(run, target)
    assert (target / "mine.txt").read_text() == "kept"
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("do not touch")
    with pytest.raises(StorageError, match="holds something else"):
        write_results(run, foreign)


def test_sampled_text_takes_classes_and_widespread_words():
    counts = np.array([[1, 2, 0, 1], [1, 0, 3, 0], [1, 1, 0, 0], [1, 0, 0, 2], [1, 4, 0, 0], [5, 0, 0, 0]])
    docs = EntitySet("doc", np.arange(6), fields={"topic": np.array(list("aabbcc"), dtype=object)})
    words = EntitySet("word", np.array(["the", "cat", "rare", "dog"], dtype=object))
    data = RelationalData([docs, words], [Relation("counts", "doc", "word", counts)])
    chosen = {
        "relation": "counts", "label": "topic", "classes": ["a", "b"],
        "documents_a_class": 5, "words": 2, "widest": 0.9,
    }  # fmt: skip
    matrix, y = sampled_text(data, chosen, 0)
    assert y.tolist() == ["a", "a", "b", "b"]
    assert matrix.toarray().tolist() == [[2, 1], [0, 0], [1, 0], [0, 2]]  # cat and dog
    fewer, _ = sampled_text(data, {**chosen, "documents_a_class": 1}, 0)
    assert fewer.shape == (2, 2)


def test_themed_relation_is_positive_and_seeded():
    first, again = (themed_relation(30, 4, 7) for _ in range(2))
    assert first.shape == (30, 30)
    assert (first >= 0).all()
    np.testing.assert_array_equal(first, again)
