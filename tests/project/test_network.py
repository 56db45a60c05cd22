"""Experiments on document networks: splits, fits that are kept, measures, pictures, rules, and quick runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from relscape.errors import StorageError, UnknownNameError
from relscape.models.network_baselines import ContentOnly
from relscape.models.registry import METHODS
from relscape.project import network_runs
from relscape.project.experiments import experiment
from relscape.project.network import PROCEDURES
from relscape.project.network_measures import MEASURES, measures_of
from relscape.project.network_pictures import all_pictures, curve_pictures
from relscape.project.network_runs import Fit, Network, Split, dealt, kept_or_done, network_of
from relscape.project.network_verdicts import COSINES, PUBLISHED, RULES, SIX
from relscape.project.report import report_tables, write_results
from relscape.project.runner import run_experiment

NAMES = ["network-links", "network-documents", "network-sensitivity", "network-stdlib"]
RUNS = "runs"


@pytest.fixture
def network():
    """Thirty documents of three topics, each linking to the next two of its topic."""
    rng = np.random.default_rng(0)
    contents = np.repeat(np.eye(3, 12), 10, axis=0) * 3 + rng.integers(0, 2, (30, 12))
    pairs = [(i, i - i % 10 + (i + step) % 10) for i in range(30) for step in (1, 2)]
    names = np.array([f"d{i}" for i in range(30)], dtype=object)
    return Network(names, csr_array(contents), np.unique(pairs, axis=0))


# ---------------------------------------------------------------------- settings


def test_experiments_can_be_read_and_judged():
    entries = [experiment(name) for name in NAMES]
    assert {entry.procedure for entry in entries} == set(PROCEDURES)
    assert {claim.name for entry in entries for claim in entry.claims} == set(RULES)
    for entry in entries:
        assert set(entry.quick) <= set(entry.settings)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_all_settings_are_possible(name, quick):
    settings = experiment(name).chosen(quick)
    for arguments in settings.get("methods", {"base": settings.get("base", {})}).values():
        given = dict(arguments)
        model, search = given.pop("model", "network"), given.pop("search", {})
        built = METHODS[model].model_class()(**given)
        assert set(search) <= set(built.get_params())
        built._check()


@pytest.mark.parametrize("held_out", ["links", "documents"])
def test_rules_and_quoted_tables_agree(held_out):
    quoted = {(f["set"], f["measure"]): f["values"] for f in experiment(f"network-{held_out}").figures}
    for name, rank in PUBLISHED[held_out].items():
        of_test = quoted[name, "test rank"]
        assert set(of_test) == set(SIX)
        assert of_test["DocumentNetwork"] == rank == min(of_test.values())
        if held_out == "links":
            assert (quoted[name, "train rank"]["ContentOnly"], of_test["ContentOnly"]) == COSINES[name]


# ---------------------------------------------------------------------- networks and splits


@pytest.mark.parametrize(("name", "n", "count"), [("webkb", 877, 1516), ("cora", 2708, 5429)])
def test_citing_documents_link_to_cited_ones(name, n, count, data_dir):
    from relscape import datasets

    network = network_of(name)
    assert (len(network.ids), network.contents.shape[0], len(network.pairs)) == (n, n, count)
    cited_by = datasets.__dict__[f"load_{name}"]().relations["links"].matrix.toarray()
    assert all(cited_by[cited, citing] for citing, cited in network.pairs)


def test_modules_link_to_what_they_import():
    network = network_of("stdlib")
    named = {(network.ids[i], network.ids[j]) for i, j in network.pairs}
    assert ("shutil", "os") in named
    assert ("os", "shutil") not in named


def test_held_out_documents_have_no_training_links(network):
    train, test = dealt(network.pairs, 30, "documents", 0.1, 0)
    assert len(train) + len(test) == len(network.pairs)
    drawn = [i for i in range(30) if not (train == i).any() and (test == i).any()]
    assert len(drawn) >= 3
    assert all(np.isin(pair, drawn).any() for pair in test)
    assert len(dealt(network.pairs, 30, "links", 0.1, 0).test) == 6


# ---------------------------------------------------------------------- fits that are kept


def fit(**arguments):
    return Fit("a/ContentOnly/0", "contents", {"direction": "in", "random_state": 0, **arguments}, {})


def test_a_fit_is_the_models_own(network):
    split = dealt(network.pairs, 30, "links", 0.1, 0)
    kept = kept_or_done(fit(), network, split, None, True)
    model = ContentOnly(direction="in").fit(network.contents, split.train)
    assert kept["test"] == model.rank(split.test).to_dict()
    assert kept["train"]["mean_rank"] == model.rank(split.train).mean_rank
    told = measures_of(kept["train"], kept["test"])
    assert told["test rank"] == model.rank(split.test).mean_rank
    assert told["hits@10"] == 100 * model.rank(split.test).filtered.hits[10]
    assert set(told) <= set(MEASURES)


def test_what_is_done_is_not_done_again(network, tmp_path, monkeypatch):
    split = dealt(network.pairs, 30, "links", 0.1, 0)
    first = kept_or_done(fit(), network, split, tmp_path, True)
    assert kept_or_done(fit(n_components=3), network, split, tmp_path, False) is None
    with monkeypatch.context() as context:
        context.setattr(network_runs, "fitted", None)
        assert kept_or_done(fit(), network, split, tmp_path, True) == json.loads(json.dumps(first))
        other = dealt(network.pairs, 30, "links", 0.1, 1)
        with pytest.raises(TypeError):
            kept_or_done(fit(), network, other, tmp_path, True)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("hold_out", ["links", "documents"])
def test_a_search_keeps_the_best_on_training_links(network, monkeypatch, hold_out):
    asked = []

    class Model:
        def __init__(self, n_components):
            self.n_components = n_components

        def rank(self, links):
            return type("Report", (), {"mean_rank": {2: 9.0, 3: 4.0, 4: 6.0}[self.n_components]})

    def fitted(trial, network, train):
        asked.append(train)
        return Model(trial.arguments["n_components"])

    monkeypatch.setattr(network_runs, "fitted", fitted)
    split = dealt(network.pairs, 30, hold_out, 0.1, 0)
    wanted = fit()._replace(search={"n_components": [2, 3, 4]})
    chosen, tried = network_runs.searched(wanted, network, split.train, hold_out)
    assert chosen.arguments == {"direction": "in", "random_state": 0, "n_components": 3}
    assert tried == {"n_components=2": 9.0, "n_components=3": 4.0, "n_components=4": 6.0}
    own = {tuple(pair) for pair in split.train.tolist()}
    assert all({tuple(pair) for pair in train.tolist()} < own for train in asked)


# ---------------------------------------------------------------------- quick runs


@pytest.mark.parametrize("name", NAMES)
def test_quick_runs_give_records_pictures_and_verdicts(name, tmp_path):
    folder = tmp_path / "out"
    run = run_experiment(name, quick=True, folder=folder)
    assert all(verdict.why for verdict in run.verdicts)
    kept = {entry.name for entry in (folder / RUNS).iterdir()}
    out = write_results(run, folder)
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {entry.name for entry in out.iterdir()} == {*content["files"], RUNS}
    assert any(file.endswith(".png") for file in content["files"])
    assert all(f"**{table.title}**" in (out / "tables.md").read_text("utf-8") for table in report_tables(run))
    run_experiment(name, quick=True, folder=folder)
    assert {entry.name for entry in (folder / RUNS).iterdir()} == kept


def test_records_average_the_splits(tmp_path):
    run = run_experiment("network-links", quick=True, folder=tmp_path, only=["*/ContentOnly/*"])
    (record,) = run.findings.records
    network, ranks = network_of("stdlib"), []
    for seed in (0, 1):
        split = Split(*dealt(network.pairs, len(network.ids), "links", 0.1, seed))
        ranks.append(
            ContentOnly(direction="in").fit(network.contents, split.train).rank(split.test).mean_rank
        )
    assert record["test rank"] == pytest.approx(np.mean(ranks))
    assert record["± test rank"] == pytest.approx(abs(ranks[0] - ranks[1]) / np.sqrt(2))
    assert "stdlib/RTM/1" in run.findings.notes[-1]
    with pytest.raises(UnknownNameError, match="stdlib/RTM/1"):
        run_experiment("network-links", quick=True, folder=tmp_path, only=["stdlib/RTN/1"])


def test_imports_come_with_suggestions_and_popularity(tmp_path):
    run = run_experiment("network-stdlib", quick=True, folder=tmp_path)
    network = network_of("stdlib")
    train, test = dealt(network.pairs, len(network.ids), "links", 0.1, 0)
    often = np.bincount(train[:, 1], minlength=len(network.ids))
    ranks = []
    for i, j in test:
        rivals = np.delete(often, [i, j])
        ranks.append(1 + (rivals > often[j]).sum() + 0.5 * (rivals == often[j]).sum())
    popular = next(record for record in run.findings.records if record["method"] == "popularity")
    assert popular["test rank"] == pytest.approx(np.mean(ranks))
    told = [note for note in run.findings.notes if "suggested:" in note]
    assert len(told) == 2
    imported = {(network.ids[i], network.ids[j]) for i, j in train}
    for note in told:
        module, names = note.split(":")[0], note.split("suggested: ")[1].split(", ")
        assert len(names) == 8
        assert {name.rstrip("*") for name in names} <= set(network.ids)
        assert not any((module, name.rstrip("*")) in imported for name in names)
        missed = {network.ids[j] for i, j in test if network.ids[i] == module}
        assert [name.endswith("*") for name in names] == [name.rstrip("*") in missed for name in names]


def test_without_data_it_says_where_to_get_it(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(StorageError, match=r"(?s)citeseer.*RELSCAPE_DATA"):
        run_experiment("network-links")


# ---------------------------------------------------------------------- pictures and rules


def record(name, method, test, train=1.0, **values):
    measured = {"train rank": train, "test rank": test}
    chosen = {"documents": 100}
    return {"set": name, "method": method, "refusal": "", "chosen": chosen, **measured, **values}


def test_pictures_show_the_thesis_beside_ours():
    figures = [{"set": "a", "measure": "test rank", "values": {"RTM": 40.0, "SPML": 50.0}}]
    figure = all_pictures([record("a", "RTM", 30.0), record("a", "CESNA", 60.0)], figures)["ranks"]
    (quoted,) = [dots for dots in figure.axes[0].collections if dots.get_label() == "test rank, published"]
    assert quoted.get_offsets().tolist() == [[40.0, 1.0]]
    assert all_pictures([], figures) == {}


def test_curves_show_values_in_order():
    rows = [
        {**record(name, "DocumentNetwork", 100.0 - at), "varied": "margin", "value": at}
        for name in ("a", "b")
        for at in (5.0, 0.2, 50.0)
    ]
    panels = curve_pictures(rows)["curves"].axes
    assert [panel.get_title() for panel in panels] == ["a", "b"]
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["0.2", "5", "50"]
    assert panels[0].lines[0].get_ydata().tolist() == [99.8, 95.0, 50.0]
    assert curve_pictures([]) == {}


def outcome(claim, *rows):
    return RULES[claim](list(rows))[0]


@pytest.mark.parametrize(("claim", "held_out"), [("N1", "links"), ("N6", "documents")])
def test_published_ranks_must_be_reached_on_all_sets(claim, held_out):
    rows = [record(name, "DocumentNetwork", rank + 0.4) for name, rank in PUBLISHED[held_out].items()]
    assert outcome(claim, *rows) == "reached"
    assert outcome(claim, *rows[:2], record("webkb", "DocumentNetwork", 110)) == "not reached"
    assert outcome(claim, *rows[:2], record("webkb", "DocumentNetwork, chosen", 50)) == "not tested"
    why = RULES[claim]([*rows, record("webkb", "DocumentNetwork, chosen", 50)])[1]
    assert "and 50.0, chosen" in why


@pytest.mark.parametrize("claim", ["N2", "N7"])
def test_the_lowest_is_among_six(claim):
    rows = [record("a", method, 50.0) for method in SIX[:-1]]
    assert outcome(claim, *rows, record("a", "DocumentNetwork", 40)) == "reached"
    assert outcome(claim, *rows, record("a", "DocumentNetwork", 60)) == "not reached"
    beside = [record("a", "DocumentNetwork", 40), record("a", "DocumentNetwork, chosen", 30)]
    assert outcome(claim, *rows, *beside) == "reached"
    assert outcome(claim, *rows) == "not tested"


def test_both_together_against_either_alone():
    ours, rivals = (
        record("a", "DocumentNetwork", 40),
        [record("a", "ContentOnly", 50), record("a", "LinkOnly", 45)],
    )
    for claim in ("N3", "N13"):
        assert outcome(claim, ours, *rivals) == "reached"
        assert outcome(claim, ours, rivals[0], record("a", "LinkOnly", 35)) == "not reached"
        assert outcome(claim, ours, rivals[0]) == "not tested"
    assert outcome("N8", ours, rivals[0]) == "reached"
    assert outcome("N14", ours, record("a", "popularity", 30)) == "not reached"


def test_cosines_are_compared_over_all_links():
    def rows(shift):
        return [
            record(n, "ContentOnly", test + 9 * shift, train=train - shift)
            for n, (train, test) in COSINES.items()
        ]

    assert outcome("N4", *rows(0.0)) == "reached"
    assert outcome("N4", *rows(5.0)) == "reached"  # what moves from test to training
    assert outcome("N4", *rows(5.0)[:2], record("webkb", "ContentOnly", 204, train=200)) == "not reached"
    assert outcome("N4", *rows(0.0)[:2]) == "not tested"


def test_link_only_by_heart_and_by_chance():
    assert outcome("N5", record("a", "LinkOnly", 60, train=10)) == "reached"
    assert outcome("N5", record("a", "LinkOnly", 40, train=10)) == "not reached"
    assert outcome("N9", record("a", "LinkOnly", 41)) == "reached"
    assert outcome("N9", record("a", "LinkOnly", 39)) == "not reached"
    assert outcome("N5", record("a", "RTM", 39)) == outcome("N9", record("a", "RTM", 39)) == "not tested"


@pytest.mark.parametrize(
    ("claim", "varied", "good", "bad"),
    [
        ("N10", "n_components", {2: 90, 20: 50, 50: 54}, {2: 90, 20: 50, 50: 60}),
        ("N11", "margin", {0.2: 60, 1: 50, 2: 52, 5: 54, 50: 70}, {0.2: 45, 1: 50, 2: 52, 5: 54, 50: 70}),
        ("N12", "content_weight", {0: 90, 0.5: 50, 10: 70}, {0: 90, 0.5: 50, 10: 45}),
    ],
)
def test_curves_are_judged_on_every_set(claim, varied, good, bad):
    def rows(name, values):
        return [
            record(name, "DocumentNetwork", r, varied=varied, value=float(at)) for at, r in values.items()
        ]

    assert outcome(claim, *rows("a", good)) == "reached"
    assert outcome(claim, *rows("a", good), *rows("b", bad)) == "not reached"
    assert outcome(claim, *rows("a", good)[1:]) == "not tested"
