"""The studies of COVA: what they draw and mix, the sets M1 and M2, their rules, and quick runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from relscape.errors import StorageError
from relscape.matrix.cohorts import CohortRelation
from relscape.objectives.neighbour import neighbour_divergence
from relscape.project.cohort_fitting import LINKS, NEIGHBOURS, POSITION, SEPARATION
from relscape.project.cohort_graphs import KEPT, SHOWN
from relscape.project.cohort_samples import CohortSet
from relscape.project.cohort_studies import PROCEDURES
from relscape.project.cohort_study_cost import CPU, SIZE, cost, families
from relscape.project.cohort_study_labels import GIVEN, given_labels, predicted_labels
from relscape.project.cohort_study_projections import CLASSES, TRAINING, of_classes, projected, trained_on
from relscape.project.cohort_study_prototypes import (
    ARRANGED,
    RANDOM,
    SAMPLES,
    mixed_with_random,
    neighbour_graph,
)
from relscape.project.cohort_study_sets import (
    DIVERGENCE,
    FULL,
    GAINED,
    ScaledNeighbours,
    constrained_map,
    starts_of,
)
from relscape.project.cohort_study_tools import curves, mean_of, together
from relscape.project.cohort_study_verdicts import RULES
from relscape.project.cohort_study_weights import EIGEN, NONE
from relscape.project.experiments import experiment
from relscape.project.fitting import Placement
from relscape.project.report import report_tables, write_results
from relscape.project.runner import run_experiment

NAMES = ["cova-prototypes", "cova-labels", "cova-weights", "cova-projections", "cova-sets", "cova-cost"]


@pytest.fixture
def blobs(rng):
    """Four clouds of 15 samples in five dimensions."""
    codes = np.repeat(np.arange(4), 15)
    points = rng.normal(size=(60, 5)) + 6.0 * rng.normal(size=(4, 5))[codes]
    return CohortSet("blobs", points, np.array(list("abcd"), dtype=object)[codes])


# ---------------------------------------------------------------------- settings and tools


def test_experiments_can_be_read_and_judged():
    entries = [experiment(name) for name in NAMES]
    assert sorted(entry.procedure for entry in entries) == sorted(PROCEDURES)
    for entry in entries:
        assert set(entry.quick) <= {*entry.settings, "words", "papers", "clusters", "digits"}
    assert sorted(claim.name for entry in entries for claim in entry.claims) == sorted(RULES)


def test_means_are_of_scores_that_all_maps_have():
    assert mean_of([{"a": 1.0, "b": 2.0}, {"a": 3.0}]) == {"a": 2.0}
    assert mean_of([{"a": 1.0}, {}]) == {}


def test_several_maps_are_told_as_one():
    maps = [
        Placement("E1", 1.0, 2.0, warnings=("near",)),
        Placement("E1", 3.0, 4.0, refusal="no", warnings=("near", "flat")),
    ]
    told = together(maps)
    assert (told.seconds, told.cpu_seconds, told.refusal) == (4.0, 6.0, "no")
    assert told.warnings == ("near", "flat")


def test_curves_run_along_their_key():
    scores = {NEIGHBOURS: 1.0, SEPARATION: 2.0, POSITION: 3.0, LINKS: 4.0}
    shares = (30, 5, 90)
    records = rows(("set", TRAINING), *[(("a", share), "P1", scores) for share in shares])
    (figure,) = curves("by_training", records, TRAINING).values()
    assert [panel.get_ylabel() for panel in figure.axes] == [NEIGHBOURS, SEPARATION, POSITION, LINKS]
    assert figure.axes[0].lines[0].get_xdata().tolist() == [5, 30, 90]
    assert curves("by_training", [], TRAINING) == {}


# ---------------------------------------------------------------------- prototypes and labels


def test_a_graph_keeps_the_two_most_alike():
    alike = np.array([[9, 5, 4, 1], [5, 9, 3, 2], [4, 3, 9, 1], [1, 2, 1, 9]], dtype=float)
    found = neighbour_graph(CohortRelation(alike, similarity=True))
    assert found.similarity
    # 0-1, 0-2, 1-2 by all three; the last one's two best are 1 (2) and, equal, 0 and 2 (1)
    expected = alike.copy()
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_array_equal(found.matrix, expected)
    one = neighbour_graph(CohortRelation(alike, similarity=True), k=1).matrix
    np.testing.assert_array_equal(np.argwhere(np.triu(one)), [[0, 1], [0, 2], [1, 3]])


def test_random_prototypes_replace_a_growing_part(rng):
    places = rng.normal(size=(10, 2)) + 3.0

    def mixed(share):
        return mixed_with_random(places, share, np.random.default_rng(5))

    np.testing.assert_array_equal(mixed(0.0), places)
    some, most = (np.any(mixed(share) != places, axis=1) for share in (0.4, 0.8))
    assert some.sum() == 4
    assert most.sum() == 8
    assert most[some].all()
    np.testing.assert_array_equal(mixed(0.4)[some], mixed(0.8)[some])


def test_random_prototypes_are_as_far_out(rng):
    places = rng.normal(size=(2000, 2)) * 4.0 + 7.0
    random = mixed_with_random(places, 1.0, rng)
    for cloud in (places, random):
        np.testing.assert_allclose(cloud.mean(axis=0), 7.0, atol=0.4)
        np.testing.assert_allclose(cloud.std(axis=0), 4.0, rtol=0.1)


def test_some_labels_of_every_class_are_given(rng):
    truth = np.array(["a"] * 40 + ["b"] * 10 + ["c"] * 2, dtype=object)
    given = given_labels(truth, 0.2, rng)
    counts = {name: sum(label == name for label in given) for name in "abc"}
    assert counts == {"a": 8, "b": 2, "c": 1}
    kept = [label is not None for label in given]
    np.testing.assert_array_equal(given[kept], truth[kept])


def test_predicted_labels_come_from_the_nearest(blobs, rng):
    given = given_labels(blobs.labels, 0.2, rng)
    predicted = predicted_labels(blobs, given)
    centres = {name: blobs.X[given == name].mean(axis=0) for name in "abcd"}
    nearest = [min("abcd", key=lambda name: np.linalg.norm(x - centres[name])) for x in blobs.X]
    assert (predicted == nearest).mean() > 0.95  # clouds are far apart, so both rules agree
    known = np.array([label is not None for label in given])
    np.testing.assert_array_equal(predicted[known], given[known])


# ---------------------------------------------------------------------- projections


def test_classes_and_training_samples_are_drawn(blobs):
    few, more = of_classes(blobs, 2, 0), of_classes(blobs, 3, 0)
    assert set(few.labels) < set(more.labels)
    assert len(few.labels) == len(few.X) == 30
    train = trained_on(more, 0.4, 0)
    assert [int(train[more.labels == name].sum()) for name in np.unique(more.labels)] == [6, 6, 6]
    assert trained_on(more, 0.01, 0).sum() == 6  # never fewer than two a class


@pytest.mark.parametrize("method", ["P1", "P1 compact", "eigen", "LDA", "NCA"])
def test_projections_place_what_they_have_not_seen(blobs, method):
    settings = {
        "random_state": 0,
        "directions": 4,
        "methods": {
            "P1": {"variant": "P1"},
            "P1 compact": {"variant": "P1", "compact": True},
            "eigen": {"variant": "eigen"},
            "LDA": {"variant": "lda"},
            "NCA": {"variant": "nca"},
        },
        "sets": {"blobs": {"cova": {"n_neighbors": 5}, "features": {"measure": "gaussian"}}},
    }
    train = trained_on(blobs, 0.5, 0)
    placement = projected(method, blobs, train, settings)
    assert placement.refusal == ""
    assert placement.rows.shape == ((~train).sum(), 2)
    assert np.isfinite(placement.rows).all()
    assert (placement.columns is None) == (method in ("LDA", "NCA"))


# ---------------------------------------------------------------------- time


def test_slow_methods_are_not_tried_on_more_samples():
    settings = {
        "sizes": [60, 90],
        "cohorts": 4,
        "dimensions": 3,
        "families": 2,
        "longest": -1.0,
        "random_state": 0,
        "methods": {"eigen": {}, "pca": {}},
    }
    findings = cost(settings)
    assert [(r["method"], r[SIZE]) for r in findings.records] == [("eigen", 60), ("pca", 60)]
    assert findings.notes == [f"{name}: not tried on more than 60 samples" for name in ("eigen", "pca")]
    assert all(record[CPU] >= 0 for record in findings.records)
    more = cost({**settings, "longest": 100.0})
    assert [record[SIZE] for record in more.records] == [60, 60, 90, 90]
    assert set(more.pictures) == {"by_samples"}


def test_families_hold_members_of_every_cohort():
    data = families(50, {"cohorts": 20, "dimensions": 3, "families": 5, "random_state": 1})
    names, counts = np.unique(data.labels, return_counts=True)
    assert (len(names), len(data.X), data.X.shape[1]) == (20, 50, 3)
    assert counts.min() >= 2


def test_time_is_judged_at_the_largest_size_of_all():
    def judged(claim, **changed):
        seconds = {
            "eigen": 0.1,
            "tsne": 1.0,
            "E1": 3.0,
            "E2": 3.0,
            "P1": 4.0,
            "sne": 4.0,
            "P2": 6.0,
            "P4": 6.0,
        }
        seconds |= {"nca": 30.0, **changed}
        entries = [(("a", 100), method, {CPU: value}) for method, value in seconds.items()]
        entries += [(("a", 200), "tsne", {CPU: 99.0})]
        return RULES[claim](rows(("set", SIZE), *entries))[0]

    assert {judged(claim) for claim in ("VC1", "VC2", "VC3", "VC4")} == {"reached"}
    assert judged("VC1", eigen=2.0) == "not reached"
    assert judged("VC2", E1=0.5) == judged("VC2", P1=9.0) == judged("VC2", tsne=3.5) == "not reached"
    assert judged("VC3", P4=3.5) == "not reached"
    assert judged("VC4", nca=11.0) == "not reached"


# ---------------------------------------------------------------------- sets M1 and M2


@pytest.fixture
def graph(rng):
    points = rng.normal(size=(40, 3))
    near = np.exp(-(((points[:, None] - points[None]) ** 2).sum(axis=2)))
    near[near < 0.2] = 0.0
    near += np.eye(40, k=1) * 0.3 + np.eye(40, k=-1) * 0.3
    np.fill_diagonal(near, 0.0)
    return csr_array(near / near.sum())


def test_the_scaled_divergence_has_its_gradient(graph, rng):
    masses = np.asarray(graph.sum(axis=1)).ravel()
    objective = ScaledNeighbours(graph, masses)
    point, step = rng.normal(size=(2, 40, 2)) * 0.1
    value, gradient = objective.value_and_gradient(point)
    assert value == pytest.approx(neighbour_divergence(point / np.sqrt(masses)[:, None], graph)[0])
    h = 1e-6
    ends = [objective.value_and_gradient(point + sign * h * step)[0] for sign in (1, -1)]
    assert np.sum(gradient * step) == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)


def test_starts_are_orthonormal_and_spectral_ones_solve_the_eigenproblem(graph, rng):
    starts = starts_of(graph, 2, rng)
    assert list(starts) == ["random 1", "random 2", "spectral"]
    for start in starts.values():
        np.testing.assert_allclose(start.T @ start, np.eye(2), atol=1e-12)
    roots = np.sqrt(graph.toarray().sum(axis=1))
    _, vectors = np.linalg.eigh(graph.toarray() / np.outer(roots, roots))
    expected = vectors[:, [-2, -3]]
    np.testing.assert_allclose(np.abs(expected.T @ starts["spectral"]), np.eye(2), atol=1e-6)


def test_maps_stay_in_their_sets(graph, rng):
    start = starts_of(graph, 1, rng)["random 1"]
    found = {method: constrained_map(method, graph, start, 200) for method in ("M1", "M2", FULL)}
    masses = np.asarray(graph.sum(axis=1)).ravel()
    np.testing.assert_allclose(found["M1"].rows.T @ found["M1"].rows, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(
        found["M2"].rows.T @ (masses[:, None] * found["M2"].rows), np.eye(2), atol=1e-10
    )
    for placement in found.values():
        assert placement.chosen[DIVERGENCE] == pytest.approx(neighbour_divergence(placement.rows, graph)[0])
    values = [found[method].chosen[DIVERGENCE] for method in (FULL, "M2", "M1")]
    assert values == sorted(values)


# ---------------------------------------------------------------------- rules


def rows(keys, *entries):
    """Make records: a place by the keys, a method and its measures."""
    return [
        {**dict(zip(keys, place, strict=True)), "method": method, "refusal": "", "chosen": {}, **measures}
        for place, method, measures in entries
    ]


def test_ways_need_the_order():
    def judged(**kept):
        entries = [(("a", "density", ARRANGED), way, {KEPT: value}) for way, value in kept.items()]
        return RULES["VP1"](rows(("set", "relation", RANDOM), *entries))

    assert judged(sne=90.0, tsne=80.0, laplacian=70.0, mds=60.0)[0] == "reached"
    outcome, why = judged(sne=80.0, tsne=90.0, laplacian=70.0, mds=60.0)
    assert outcome == "not reached"
    assert "t-SNE comes first" in why
    assert judged(sne=90.0, tsne=60.0, laplacian=70.0, mds=60.0)[0] == "not reached"


def test_maps_must_keep_links_and_beat_samples():
    def judged(claim, sne, links, samples=50.0):
        entries = [
            (("a", "density", ARRANGED), "sne", {SHOWN: sne, LINKS: 50.0}),
            (("a", "density", ARRANGED), "tsne", {SHOWN: 0.0, LINKS: links}),
            (("a", "density", ARRANGED), SAMPLES, {SHOWN: samples}),
        ]
        return RULES[claim](rows(("set", "relation", RANDOM), *entries))[0]

    assert judged("VP2", 60.0, 95.0) == judged("VP3", 60.0, 95.0) == "reached"
    assert judged("VP2", 60.0, 80.0) == judged("VP3", 40.0, 95.0) == "not reached"


def test_random_prototypes_are_followed():
    def judged(claim, *values):
        entries = [
            (("a", "density", share), "E1", {NEIGHBOURS: n, POSITION: c, LINKS: r})
            for share, (n, c, r) in zip((0, 50, 100), values, strict=True)
        ]
        return RULES[claim](rows(("set", "relation", RANDOM), *entries))[0]

    good = (50.0, 90.0, 100.0), (49.0, 88.0, 99.0), (52.0, 95.0, 80.0)
    assert judged("VP4", *good) == judged("VP5", *good) == "reached"
    assert judged("VP4", good[0], (40.0, 90.0, 99.0), good[2]) == "not reached"
    assert judged("VP4", good[0], (50.0, 80.0, 99.0), good[2]) == "not reached"
    assert judged("VP5", good[0], (50.0, 90.0, 85.0), good[2]) == "not reached"
    assert judged("VP5", *good[:2], (50.0, 90.0, 100.0)) == "not reached"


def test_labels_are_judged_by_truth():
    def judged(claim, e1, tsne, links=30.0):
        entries = []
        for share, gain in ((5, 0.0), (90, 8.0)):
            for method in ("E1", "E2"):
                scores = {SEPARATION: e1 + gain, POSITION: e1 + gain, LINKS: 95.0}
                entries.append((("a", share), method, scores))
            entries.append((("a", share), "t-SNE 0.7", {SEPARATION: tsne + gain, LINKS: links}))
        return RULES[claim](rows(("set", GIVEN), *entries))[0]

    assert [judged(claim, 90.0, 85.0) for claim in ("VL1", "VL2", "VL3")] == ["reached"] * 3
    assert judged("VL1", 90.0, 91.0) == "not reached"
    assert judged("VL3", 90.0, 85.0, links=99.0) == judged("VL3", 90.0, 70.0) == "not reached"
    falling = rows(
        ("set", GIVEN),
        *[
            (("a", share), m, {SEPARATION: s, POSITION: s})
            for m in ("E1", "E2")
            for share, s in ((5, 9.0), (90, 8.0))
        ],
    )
    assert RULES["VL2"](falling)[0] == "not reached"


def test_weights_need_a_trend():
    def judged(*ends):
        entries = [
            (("a", alpha, NONE), "E1", {NEIGHBOURS: n, SEPARATION: s, POSITION: c})
            for alpha, (n, s, c) in zip((0.1, 0.9), ends, strict=True)
        ]
        return RULES["VW1"](rows(("set", "α", "η"), *entries))[0]

    assert judged((60.0, 80.0, 70.0), (50.0, 99.0, 98.0)) == "reached"
    assert judged((50.0, 80.0, 70.0), (60.0, 99.0, 98.0)) == "not reached"


def test_eigen_cova_is_judged_on_its_grid():
    def judged(claim, table):
        entries = [
            (("a", alpha, eta), EIGEN, {NEIGHBOURS: value, SEPARATION: value, POSITION: value})
            for (alpha, eta), value in table.items()
        ]
        return RULES[claim](rows(("set", "α", "η"), *entries))

    by_eta = {(0.1, 0.1): 80.0, (0.9, 0.1): 81.0, (0.1, 0.9): 30.0, (0.9, 0.9): 60.0}
    assert [judged(claim, by_eta)[0] for claim in ("VW2", "VW3", "VW4")] == ["reached"] * 3
    by_alpha = {(0.1, 0.1): 60.0, (0.9, 0.1): 80.0, (0.1, 0.9): 61.0, (0.9, 0.9): 81.0}
    beyond = {**by_eta, (0.1, 0.99): 99.0, (0.9, 0.99): 99.0}  # past the published range
    assert judged("VW3", beyond)[0] == "reached"
    assert [judged(claim, by_alpha)[0] for claim in ("VW2", "VW3", "VW4")] == ["not reached"] * 3
    assert "S_n: 15.5 over α, 35.5 over η" in judged("VW2", by_eta)[1]


def test_projections_are_judged_by_classes_and_compaction():
    def table(few, many, compact):
        return rows(
            ("set", CLASSES, TRAINING),
            *[
                (("a", count, 30), method, {SEPARATION: s + gain, LINKS: s, NEIGHBOURS: n})
                for count, (s, n) in ((5, few), (20, many))
                for method, gain in (("P1", 0.0), ("P1 compact", compact))
            ],
            (("a", 10, 50), "P1", {SEPARATION: 1.0, LINKS: 1.0, NEIGHBOURS: 1.0}),
            (("a", 5, 30), "LDA", {SEPARATION: 1.0, NEIGHBOURS: 1.0}),
        )

    assert RULES["VJ1"](table((90.0, 50.0), (60.0, 49.0), 5.0))[0] == "reached"
    assert RULES["VJ1"](table((90.0, 50.0), (60.0, 30.0), 5.0))[0] == "not reached"
    assert RULES["VJ1"](table((60.0, 50.0), (90.0, 50.0), 5.0))[0] == "not reached"
    assert RULES["VJ2"](table((90.0, 50.0), (60.0, 49.0), 5.0))[0] == "reached"
    assert RULES["VJ2"](table((90.0, 50.0), (60.0, 49.0), -5.0))[0] == "not reached"
    plain = [record for record in table((1.0, 1.0), (1.0, 1.0), 0.0) if "compact" not in record["method"]]
    assert RULES["VJ2"](plain)[0] == "not tested"


def test_sets_are_judged_by_divergence():
    def judged(claim, m1, m2, full):
        entries = [
            (("cora", "random 1"), method, {DIVERGENCE: value, GAINED: 5.0 - value})
            for method, value in (("M1", m1), ("M2", m2), (FULL, full))
        ]
        return RULES[claim](rows(("set", "start"), *entries))[0]

    assert judged("VM1", 4.9, 3.0, 1.0) == judged("VM2", 4.9, 3.0, 1.0) == "reached"
    assert judged("VM1", 4.0, 3.0, 1.0) == judged("VM2", 4.0, 4.5, 1.0) == "not reached"


# ---------------------------------------------------------------------- runs


@pytest.mark.parametrize("name", NAMES)
def test_quick_runs(name, data_dir, tmp_path):
    run = run_experiment(name, quick=True)
    assert len(run.verdicts) == len(run.experiment.claims)
    assert all(verdict.outcome != "not tested" and verdict.why for verdict in run.verdicts)
    assert [table.title for table in report_tables(run)] == list(run.findings.measures)
    content = json.loads((write_results(run, tmp_path / "out") / "results.json").read_text(encoding="utf-8"))
    assert any(file.endswith(".png") for file in content["files"])
    if name == "cova-prototypes":
        assert {"links-newsgroups20.png", "links-cora-clusters.png"} < set(content["files"])
    if name == "cova-weights":
        assert {"eigen-sinusoid.png", "eigen-digits.png"} < set(content["files"])


def test_without_data(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(StorageError, match=r"(?s)cora.*RELSCAPE_DATA"):
        run_experiment("cova-sets", quick=True)
    run = run_experiment("cova-weights", quick=True)  # its sets are always there
    assert {record["set"] for record in run.findings.records} == {"sinusoid", "digits"}
