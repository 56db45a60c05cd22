"""Experiments on knowledge graphs: trainings that are kept, measures, tables, rules, and quick runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from relscape.data.triples import KnowledgeGraph
from relscape.errors import ParameterError, StorageError, UnknownNameError
from relscape.models.knowledge import KGEmbedding
from relscape.models.knowledge_presets import preset_of
from relscape.project import knowledge_runs
from relscape.project.experiments import Experiment, experiment
from relscape.project.kept_runs import RUNS, chosen_names
from relscape.project.knowledge import PROCEDURES, graph_of
from relscape.project.knowledge_measures import CATEGORIES, LINKS, PARTITIONS, VALIDATION, measures_of
from relscape.project.knowledge_pictures import all_pictures, setting_curves
from relscape.project.knowledge_runs import Training, all_figures, kept_or_done
from relscape.project.knowledge_verdicts import RIVALS, RULES
from relscape.project.outcome import Findings
from relscape.project.report import report_tables, write_results
from relscape.project.runner import Run, run_experiment

NAMES = ["kg-fb15k", "kg-wn18", "kg-fair", "kg-sensitivity"]
SIZES = {"1-1": 846, "1-N": 5275, "N-1": 8641, "N-N": 44309}  # test triples of FB15k
PARTS = {"reciprocal": 4336, "reverse": 41481, "other": 13254}


@pytest.fixture
def graph():
    """A ring of 20 with steps of one and of two, and the way back of some."""
    facts = [(i, 0, (i + 1) % 20) for i in range(20)] + [(i, 1, (i + 2) % 20) for i in range(20)]
    facts += [((i + 1) % 20, 2, i) for i in range(10)]
    order = np.random.default_rng(1).permutation(len(facts))
    dealt = np.array(facts)[order]
    names = [f"n{i}" for i in range(20)]
    return KnowledgeGraph(dealt[:34], dealt[34:40], dealt[40:], names, ["next", "after", "back"])


def training(name="then/TransE", cap=1.0, **arguments):
    usual = {"model": "TransE", "n_components": 6, "n_batches": 2, "n_epochs": 5, "random_state": 0}
    return Training(name, {**usual, **arguments}, cap)


# ---------------------------------------------------------------------- settings


def test_experiments_can_be_read_and_judged():
    entries = [experiment(name) for name in NAMES]
    assert {entry.procedure for entry in entries} == set(PROCEDURES)
    assert {claim.name for entry in entries for claim in entry.claims} == set(RULES)
    for entry in entries:
        assert set(entry.quick) <= {*entry.settings, "now"}


@pytest.mark.parametrize("quick", [False, True])
def test_all_settings_are_possible(quick):
    for name in NAMES[:3]:
        settings = experiment(name).chosen(quick)
        for era in ("then", "now"):
            for model, arguments in settings.get(era, {}).items():
                own = {name: value for name, value in arguments.items() if name != "cap_minutes"}
                KGEmbedding(**{"model": model, **own}).check()
    KGEmbedding(**experiment("kg-sensitivity").chosen(quick)["base"]).check()


def test_trainings_by_single_corruptions_spell_out_what_usual_settings_would_fill_in():
    """Kept runs are found by these settings, so that other usual ones must not change what they mean."""
    for name in NAMES:
        settings = experiment(name).settings
        trainings = [item for era in ("then", "now") for item in settings.get(era, {}).items()]
        trainings += [(settings["base"]["model"], settings["base"])] if "base" in settings else []
        for model, arguments in trainings:
            if "loss" not in arguments:
                usual = preset_of(None, model, "margin")
                assert {"margin", "learning_rate"} <= set(arguments), (name, model)
                assert set(usual.options) <= set(arguments["options"]), (name, model)
                assert usual.norm is None or "norm" in arguments, (name, model)


def test_quoted_tables_agree_with_each_other():
    quoted = {
        figure["measure"]: figure["values"]
        for figure in experiment("kg-fb15k").figures
        if figure["source"] == "thesis"
    }
    total = sum(SIZES.values())
    for model in quoted["heads 1-1"]:
        sides = [
            sum(quoted[f"{side} {kind}"][model] * size for kind, size in SIZES.items()) / total
            for side in ("heads", "tails")
        ]
        assert np.mean(sides) == pytest.approx(quoted["hits@10"][model], abs=0.25)
    for measure, published in (("mean rank", 66), ("hits@10", 67.3)):
        parts = sum(quoted[f"{part} {measure}"]["TransPES"] * size for part, size in PARTS.items())
        assert parts / total == pytest.approx(published, abs=0.5)


def test_trainings_are_chosen_by_pattern():
    names = ["then/TransE", "now/TransE", "now/RotatE"]
    assert chosen_names(names, []) == set(names)
    assert chosen_names(names, ["then/*", "*/RotatE"]) == {"then/TransE", "now/RotatE"}
    with pytest.raises(UnknownNameError, match="Did you mean 'then/TransE'"):
        chosen_names(names, ["then/TransR"])


def test_graphs_are_dealt_and_thinned():
    settings = {"set": "stdlib_facts", "split": {"valid": 0.05, "test": 0.1, "random_state": 0}}
    whole, fair = graph_of(settings), graph_of({**settings, "without_inverses": {"overlap": 0.9}})
    assert len(whole.test) > len(fair.test) > 0
    linked = {frozenset(pair) for pair in fair.entities[fair.train[:, [0, 2]]].tolist()}
    assert not any(frozenset(pair) in linked for pair in fair.entities[fair.test[:, [0, 2]]].tolist())


# ---------------------------------------------------------------------- trainings that are kept


def test_figures_are_those_of_the_ranks(graph):
    model = KGEmbedding("TransE", 6, n_batches=2, n_epochs=5, random_state=0).fit(graph)
    report = model.rank("test")
    told = all_figures(report)
    one = report.by_category["1-1"].tails
    ranks = []
    for head, relation, tail in graph.test[report.classes["category"] == "1-1"]:
        energies = model.energy([(head, relation, j) for j in range(20)])
        known = {t for h, r, t in graph.triples() if (h, r) == (head, relation)} - {tail}
        rivals = np.delete(energies, sorted(known))
        ranks.append(0.5 + (rivals < energies[tail]).sum() + 0.5 * (rivals == energies[tail]).sum())
    assert one.mean_rank == pytest.approx(np.mean(ranks))
    found = told["category"]["1-1"]["filtered"]["tails"]
    assert found["mean_rank"] == pytest.approx(np.mean(ranks))
    assert found["hits"]["10"] == pytest.approx(np.mean(np.array(ranks) <= 10))
    assert told["all"]["raw"]["both"]["mean_rank"] == report.raw.mean_rank
    assert sum(part["raw"]["heads"]["n_triples"] for part in told["partition"].values()) == len(graph.test)


def test_a_training_is_the_models_own(graph):
    kept = kept_or_done(training(), graph, None)
    model = KGEmbedding("TransE", 6, n_batches=2, n_epochs=5, random_state=0).fit(graph)
    report = model.rank("test")
    assert kept["report"]["all"]["filtered"]["both"] == report.figures()
    assert (kept["epochs"], kept["kept_epoch"], kept["capped"]) == (5, model.best_epoch_, False)
    told = measures_of(kept)
    assert told["hits@10"] == pytest.approx(100 * report.hits[10])
    assert told["heads 1-1"] == pytest.approx(100 * report.by_category["1-1"].heads.hits[10])
    assert told["other mean rank"] == pytest.approx(report.by_partition["other"].mean_rank)
    assert set(told) <= {*LINKS, *CATEGORIES, *PARTITIONS}


def test_validation_triples_are_ranked_where_wanted(graph, tmp_path):
    wanted = training()._replace(validation=True)
    kept = kept_or_done(wanted, graph, tmp_path)
    model = KGEmbedding("TransE", 6, n_batches=2, n_epochs=5, random_state=0).fit(graph)
    report = model.rank("valid")
    told = measures_of(kept)
    assert told["validation mean rank"] == pytest.approx(report.mean_rank)
    assert told["validation mean rank raw"] == pytest.approx(report.raw.mean_rank)
    assert told["validation hits@10"] == pytest.approx(100 * report.hits[10])
    assert set(VALIDATION) < set(told)
    plain = measures_of(kept_or_done(training(), graph, tmp_path))  # not what is kept of the other
    assert plain == {name: told[name] for name in told if name not in VALIDATION} | {
        "minutes": plain["minutes"]
    }


def test_what_is_done_is_not_done_again(graph, tmp_path, monkeypatch):
    first = kept_or_done(training(), graph, tmp_path)
    assert kept_or_done(training(n_epochs=6), graph, tmp_path, wanted=False) is None
    with monkeypatch.context() as context:
        context.setattr(knowledge_runs, "train", None)
        again = kept_or_done(training("now/TransE"), graph, tmp_path)
        assert again == json.loads(json.dumps(first))
        with pytest.raises(TypeError):
            kept_or_done(training(random_state=1), graph, tmp_path)
    kept_or_done(training(cap=2.0), graph, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_cap_stops_a_training(graph):
    kept = kept_or_done(training(cap=0.0), graph, None)
    assert kept["capped"]
    assert kept["epochs"] == 0
    assert kept["planned_epochs"] == 5
    assert kept["report"]["all"]["filtered"]["both"]["n_triples"] == len(graph.test)


def test_numbers_that_run_away_are_a_refusal(graph, tmp_path):
    wild = training(learning_rate=1e38, options={"entity_rule": "free"})
    kept = kept_or_done(wild, graph, tmp_path)
    assert "infinite or NaN" in kept["refusal"]
    assert kept_or_done(wild, graph, tmp_path, wanted=False) == kept


# ---------------------------------------------------------------------- quick runs


@pytest.mark.parametrize("name", NAMES)
def test_quick_runs_give_records_pictures_and_verdicts(name, tmp_path):
    folder = tmp_path / "out"
    run = run_experiment(name, quick=True, folder=folder)
    assert all(verdict.why for verdict in run.verdicts)
    assert not any(record["refusal"] for record in run.findings.records)
    assert [entry.name for entry in folder.iterdir()] == [RUNS]
    trainings = {entry.name for entry in (folder / RUNS).iterdir()}
    out = write_results(run, folder)
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {entry.name for entry in out.iterdir()} == {*content["files"], RUNS}
    assert {entry.name for entry in (out / RUNS).iterdir()} == trainings
    assert any(file.endswith(".png") for file in content["files"])
    text = (out / "tables.md").read_text(encoding="utf-8")
    assert all(f"**{table.title}**" in text for table in report_tables(run))
    again = write_results(run_experiment(name, quick=True, folder=folder), folder)
    assert {entry.name for entry in (again / RUNS).iterdir()} == trainings


def test_a_part_can_be_run_first(tmp_path):
    run = run_experiment("kg-fb15k", quick=True, folder=tmp_path, only=["now/*"])
    assert [(r["settings"], r["method"]) for r in run.findings.records] == [("now", "TransE")]
    assert "not trained yet: then/TransPES, then/TransE" in run.findings.notes
    both = run_experiment("kg-fb15k", quick=True, folder=tmp_path, only=["*/TransPES"])
    assert [r["method"] for r in both.findings.records] == ["TransE", "TransPES"]
    with pytest.raises(ParameterError, match="coembed-cost is run as a whole"):
        run_experiment("coembed-cost", quick=True, only=["now/*"])


def test_a_stopped_training_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("relscape.project.knowledge_runs._MINUTE", 0.0)
    run = run_experiment("kg-wn18", quick=True, folder=tmp_path)
    assert "then/TransE: stopped by the cap of 0.2 minutes after 0 of 4 epochs" in run.findings.notes


def test_without_data_it_says_where_to_get_it(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(StorageError, match=r"(?s)fb15k.*RELSCAPE_DATA"):
        run_experiment("kg-fb15k")


# ---------------------------------------------------------------------- tables and pictures


def record(era, method, **values):
    named = {name.replace("_", " "): value for name, value in values.items()}
    return {"set": "a", "settings": era, "method": method, "refusal": "", "chosen": {}, **named}


def test_quoted_figures_stand_once_under_ours():
    figures = (
        {"source": "thesis", "set": "a", "measure": "MRR", "values": {"TransE": 0.5, "SE": 0.1}},
        {"source": "other", "set": "a", "measure": "MRR", "values": {"TransE": 0.6}},
        {"source": "old", "set": "a", "settings": "then", "measure": "MRR", "values": {"TransE": 0.4}},
        {"source": "far", "set": "b", "measure": "MRR", "values": {"TransE": 0.9}},
    )
    entry = Experiment("x", "", "", "", "", "", {}, {}, (), figures)
    rows = [
        record("then", "TransE", MRR=0.2),
        record("now", "TransE", MRR=0.3),
        record("now", "LFM", MRR=0.1),
    ]
    found = Findings(("set", "settings"), ("MRR",), rows, tables={"T": ("MRR",)})
    (table,) = report_tables(Run(entry, False, {}, found, [], 1.0, {}))
    assert table.title == "T"
    assert table.headers == ["set", "settings", "method", "", "MRR"]
    assert [row[1:] for row in table.rows] == [
        ["then", "TransE", "ours", "0.200"],
        ["then", "TransE", "old", "0.400"],
        ["now", "TransE", "ours", "0.300"],
        ["–", "TransE", "thesis", "0.500"],
        ["–", "TransE", "other", "0.600"],
        ["now", "LFM", "ours", "0.100"],
    ]


def test_pictures_show_the_thesis_beside_ours():
    rows = [
        {**record(era, "TransE", MRR=0.2), "hits@10": hits, "mean rank": 90.0, "other hits@10": 40.0}
        for era, hits in (("then", 47.0), ("now", 84.0))
    ]
    figures = [
        {"source": "thesis", "measure": "hits@10", "values": {"TransE": 47.1, "SE": 39.8}},
        {"source": "elsewhere", "measure": "hits@10", "values": {"TransE": 84.4}},
    ]
    drawn = all_pictures(rows, figures)
    assert list(drawn) == ["models"]  # one part alone shows nothing
    panel = drawn["models"].axes[0]
    places = {dots.get_label(): dots.get_offsets().tolist() for dots in panel.collections}
    assert places == {"now": [[84.0, 0.0]], "then": [[47.0, 0.0]], "published": [[47.1, 0.0]]}
    assert all_pictures([{**rows[0], "refusal": "no"}], figures) == {}


def test_settings_share_a_scale():
    rows = [
        {"varied": name, "value": at, "hits@10": hits, "refusal": ""}
        for name, at, hits in (("k", 100.0, 60.0), ("k", 20.0, 40.0), ("margin", 0.4, 60.0))
    ]
    (figure,) = setting_curves(rows, ("hits@10",)).values()
    first, second = figure.axes
    assert first.lines[0].get_ydata().tolist() == [40.0, 60.0]
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["20", "100"]
    assert first.get_ylim() == second.get_ylim()
    assert [line.get_label() for line in first.lines] == ["test triples"]
    both = [{**row, "validation hits@10": row["hits@10"] + 1} for row in rows]
    panel = setting_curves(both, ("hits@10",))["settings"].axes[0]
    assert {line.get_label(): line.get_ydata().tolist() for line in panel.lines} == {
        "test triples": [40.0, 60.0],
        "validation triples": [41.0, 61.0],
    }
    assert setting_curves([{**rows[0], "refusal": "no"}], ("hits@10",)) == {}


# ---------------------------------------------------------------------- rules


def scored(era, method, rank, hits, **values):
    return {**record(era, method, **values), "mean rank": rank, "hits@10": hits, "MRR": 0.5}


def outcome(claim, *rows):
    return RULES[claim](list(rows))[0]


@pytest.mark.parametrize(("claim", "rank", "hits"), [("K1", 66, 67.3), ("K2", 212, 81.3)])
def test_transpes_must_reach_both_figures(claim, rank, hits):
    assert outcome(claim, scored("then", "TransPES", rank + 0.4, hits - 0.04)) == "reached"
    assert outcome(claim, scored("then", "TransPES", rank + 0.6, hits + 5)) == "not reached"
    assert outcome(claim, scored("then", "TransPES", rank - 5, hits - 0.1)) == "not reached"
    assert outcome(claim, scored("now", "TransPES", 1, 99)) == "not tested"
    why = RULES[claim]([scored("then", "TransPES", 70, 60), scored("now", "TransPES", 50, 90)])[1]
    assert "by the settings of now 50.0 and 90.0" in why


def test_the_lowest_rank_is_among_models_of_then():
    ours, rivals = scored("then", "TransPES", 66, 67), [scored("then", rival, 90, 50) for rival in RIVALS]
    assert outcome("K3", ours, *rivals, scored("now", "RotatE", 30, 90)) == "reached"
    assert outcome("K3", ours, *rivals[:3]) == "not tested"
    assert outcome("K3", ours, scored("then", "TransE", 60, 50)) == "not reached"
    assert outcome("K3", ours) == "not tested"


def parted(method, *pairs):
    names = ("reciprocal", "reverse", "other")
    ranks = {f"{name} mean rank": rank for name, (rank, _) in zip(names, pairs, strict=False)}
    hits = {f"{name} hits@10": share for name, (_, share) in zip(names, pairs, strict=False)}
    return {**scored("then", method, 1, 1), **ranks, **hits}


def test_parts_are_compared_both_ways():
    theirs = parted("TransE", (46, 58.8), (75, 56.9), (157, 48.9))
    assert outcome("K4", parted("TransPES", (10, 82.1), (28, 72.4), (204, 46.6)), theirs) == "reached"
    assert outcome("K4", parted("TransPES", (10, 82.1), (28, 72.4), (100, 46.6)), theirs) == "not reached"
    assert outcome("K4", parted("TransPES", (10, 82.1), (28, 50.0), (204, 46.6)), theirs) == "not reached"
    assert outcome("K4", parted("TransPES", (10, 82.1)), parted("TransE", (46, 58.8))) == "not tested"
    assert outcome("K4", theirs) == "not tested"


def test_care_is_judged_by_hits():
    assert outcome("K5", scored("now", "TransE", 47, 84.0)) == "reached"
    assert outcome("K5", scored("now", "TransE", 47, 83.9)) == "not reached"
    assert outcome("K5", scored("then", "TransE", 47, 90)) == "not tested"


def test_columns_are_counted():
    ours = {**scored("then", "TransPES", 1, 1), **dict.fromkeys(CATEGORIES, 50.0)}
    rival = {**scored("then", "TransE", 1, 1), **dict.fromkeys(CATEGORIES, 40.0)}
    others = [{**rival, "method": name} for name in RIVALS[1:]]
    assert outcome("K7", ours, {**rival, **dict.fromkeys(CATEGORIES[:3], 60.0)}, *others) == "reached"
    assert outcome("K7", ours, {**rival, **dict.fromkeys(CATEGORIES[:3], 60.0)}) == "not tested"
    assert outcome("K7", ours, {**rival, **dict.fromkeys(CATEGORIES[:4], 60.0)}) == "not reached"
    assert outcome("K7", ours) == "not tested"


def test_hits_of_all_rivals_must_be_higher():
    ours = scored("then", "TransPES", 212, 81.3)
    higher = [scored("then", rival, 1, 89) for rival in RIVALS]
    assert outcome("K8", ours, *higher) == "reached"
    assert outcome("K8", ours, *higher[:2]) == "not tested"
    assert (
        outcome("K8", ours, scored("then", "TransE", 1, 89), scored("then", "TransH", 1, 80)) == "not reached"
    )
    assert outcome("K8", ours, scored("then", "LFM", 1, 80)) == "not tested"


@pytest.mark.parametrize("claim", ["K1", "K3", "K4", "K5", "K7", "K8", "K9"])
def test_a_refused_training_was_not_done(claim):
    refused = [{**record(era, "TransPES"), "refusal": "epoch 3: NaN"} for era in ("then", "now")]
    rivals = [scored("then", rival, 90, 50) for rival in RIVALS]
    assert outcome(claim, *refused, *rivals) == "not tested"


def test_being_behind_needs_both_measures():
    theirs = scored("then", "TransE", 157, 48.9)
    assert outcome("K9", scored("then", "TransPES", 204, 46.6), theirs) == "reached"
    assert outcome("K9", scored("then", "TransPES", 204, 50.0), theirs) == "not reached"
    assert outcome("K9", theirs) == "not tested"
    now = [scored("now", "TransPES", 180, 50), scored("now", "TransE", 170, 51)]
    assert (
        "now: TransPES 180 / 50.0, TransE 170 / 51.0"
        in (RULES["K9"]([scored("then", "TransPES", 204, 46.6), theirs, *now])[1])
    )


def test_sensitivity_compares_ranges():
    def rows(**spans):
        return [
            {"set": "a", "varied": name, "value": at, "refusal": "", "hits@10": 50.0 + at * span}
            for name, span in spans.items()
            for at in (0.0, 1.0)
        ]

    assert outcome("K6", *rows(n_components=10.0, margin=8.0, lambda2=3.0)) == "reached"
    assert outcome("K6", *rows(n_components=10.0, margin=5.0, lambda2=3.0)) == "not reached"
    assert outcome("K6", *rows(n_components=10.0, margin=8.0)) == "not tested"
