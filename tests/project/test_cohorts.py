"""The experiments on COVA: sets, methods by name, scores, rules, tables and quick runs."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import SpectralEmbedding

from relscape.errors import StorageError, UnknownNameError
from relscape.matrix.affinity import CosineAffinity, GaussianAffinity
from relscape.matrix.cohorts import CohortRelation
from relscape.matrix.confidence import RangeConfidence
from relscape.matrix.features import RelationFeatures
from relscape.models.prototypes import TSNEPrototypes
from relscape.project.cohort_fitting import (
    CHANCE,
    LINKS,
    NEIGHBOURS,
    POSITION,
    SEPARATION,
    CohortSet,
    cohort_sets,
    cova_of,
    fitted,
    scored,
)
from relscape.project.cohort_graphs import KEPT, SHOWN, graph_pictures, graph_scores, graphs_of
from relscape.project.cohort_marks import followed_maps, followed_samples, misplaced, misplaced_maps
from relscape.project.cohort_pictures import cohort_maps
from relscape.project.cohort_verdicts import COHORT_RULES, CYLINDER, MEANS, WIDE
from relscape.project.cohorts import NO_ALPHA, SPREAD, maps, spread
from relscape.project.experiments import experiments
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings
from relscape.project.report import report_tables, write_results
from relscape.project.runner import PROCEDURES, run_experiment
from relscape.project.verdicts import RULES
from relscape.scores import cohort_neighbors

NAMES = ["cova-clusters", "cova-cora", "cova-manifolds", "cova-shapes"]
ALONE = ["cova-manifolds", "cova-shapes"]


@pytest.fixture(scope="module")
def wave():
    return cohort_sets(["sinusoid"], {"random_state": 0, "points": 90})[0]["sinusoid"]


def test_every_experiment_can_be_read_and_judged():
    known = experiments()
    claimed = []
    for name in NAMES:
        entry = known[name]
        assert entry.procedure in PROCEDURES
        assert set(entry.quick) <= {*entry.settings, "points", "papers"}
        assert all(RULES[claim.name] is COHORT_RULES[claim.name] for claim in entry.claims)
        claimed += [claim.name for claim in entry.claims]
        titles = {run.get("title", run["set"]) for run in entry.settings["runs"].values()}
        methods = {method for run in entry.settings["runs"].values() for method in run["methods"]}
        for figure in entry.figures:
            assert figure["set"] in titles
            assert set(figure["values"]) <= methods
    assert sorted(claimed) == sorted(COHORT_RULES)


# ---------------------------------------------------------------------- sets


def test_shapes_come_in_the_size_asked_for():
    names = ["sinusoid", "compound", "swiss_roll", "cylinder1", "cylinder2", "digits"]
    sets, notes = cohort_sets(names, {"random_state": 0, "points": 60, "digits": 50})
    assert not notes
    assert [len(data.labels) for data in sets.values()] == [60] * 5 + [50]
    np.testing.assert_allclose(np.linalg.norm(sets["compound"].prototypes, axis=1), 2.0)
    with pytest.raises(UnknownNameError, match="Did you mean 'sinusoid'"):
        cohort_sets(["sinusoids"], {"random_state": 0})


def test_sectors_of_a_cylinder_are_alike_by_their_centres():
    data = cohort_sets(["cylinder2"], {"random_state": 0, "points": 120})[0]["cylinder2"]
    names = np.unique(data.labels)
    centres = np.array([data.X[data.labels == name].mean(axis=0) for name in names])
    apart = cdist(centres, centres)
    width = np.median(np.sort(apart, axis=1)[:, 1])
    expected = np.exp(-(apart**2) / (2 * width**2))
    np.fill_diagonal(expected, 0.0)
    assert data.relation.similarity
    np.testing.assert_allclose(data.relation.matrix, expected, atol=1e-12)


def test_missing_sets_are_noted(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    sets, notes = cohort_sets(["cora", "sinusoid"], {"random_state": 0, "points": 60})
    assert list(sets) == ["sinusoid"]
    assert "datasets convert cora" in notes[0]
    with pytest.raises(StorageError, match=r"(?s)cora.*RELSCAPE_DATA"):
        run_experiment("cova-cora", quick=True)


def test_compacted_papers_do_not_see_their_own_label(data_dir):
    sets, _ = cohort_sets(["cora", "cora-compact", "cora-axes"], {"random_state": 0, "papers": 60})
    data, compact = sets["cora"], sets["cora-compact"].X
    words, links = data.X.toarray(), data.links.toarray()
    lengths = np.linalg.norm(words, axis=1)
    cosine = words @ words.T / np.outer(lengths, lengths)
    np.fill_diagonal(cosine, -1.0)
    names = sorted(set(data.labels))
    for paper in range(60):
        near = np.argsort(-cosine[paper], kind="stable")[:30]
        for at, name in enumerate(names):
            members = [other for other in np.flatnonzero(data.labels == name) if other != paper]
            shared = sum(cosine[paper, other] for other in members if other in near) / max(len(members), 1)
            cited = sum(links[paper, other] for other in members) / max(len(members), 1)
            assert compact[paper, at] == pytest.approx(shared)
            assert compact[paper, len(names) + at] == pytest.approx(cited)
    centred = words - words.mean(axis=0)
    u, values, _ = np.linalg.svd(centred, full_matrices=False)
    found = sets["cora-axes"].X
    np.testing.assert_allclose(
        cdist(found, found), cdist(u[:, :30] * values[:30], u[:, :30] * values[:30]), atol=1e-6
    )


def test_zahns_points_are_the_published_ones(data_dir):
    data = cohort_sets(["compound-zahn"], {"random_state": 0})[0]["compound-zahn"]
    assert sorted(np.unique(data.labels, return_counts=True)[1]) == [16, 38, 45, 50, 92, 158]
    assert data.prototypes.shape == (6, 2)
    few = cohort_sets(["compound-zahn"], {"random_state": 0, "points": 96})[0]["compound-zahn"]
    assert (len(few.X), len(set(few.labels))) == (96, 6)


def test_clusters_are_joined_with_their_two_nearest(data_dir):
    settings = {"random_state": 0, "papers": 200, "clusters": 5}
    data = cohort_sets(["cora-clusters"], settings)[0]["cora-clusters"]
    names = sorted(set(data.labels))
    assert len(names) == 5
    centres = np.array([data.X.toarray()[data.labels == name].mean(axis=0) for name in names])
    cosine = 1.0 - cdist(centres, centres, "cosine")
    np.fill_diagonal(cosine, -1.0)
    for one in range(5):
        for other in range(5):
            near = other in np.argsort(-cosine[one])[:2] or one in np.argsort(-cosine[other])[:2]
            expected = cosine[one, other] if near and one != other else 0.0
            assert data.relation.matrix[one, other] == pytest.approx(expected)


# ---------------------------------------------------------------------- methods


def test_options_become_settings(wave):
    model = cova_of(
        "P2",
        {
            "affinity": {"kind": "cosine", "n_neighbors": 7},
            "confidence": {"kind": "range", "floor": 0.01},
            "prototypes": {"kind": "tsne", "n_starts": 3},
            "features": {"measure": "cosine", "share": 0.2},
            "pca": 30,
        },
        wave,
    )
    assert model.variant == "P2"
    assert model.affinity == CosineAffinity(7)
    assert model.confidence == RangeConfidence(floor=0.01)
    assert model.prototypes == TSNEPrototypes(n_starts=3)
    assert model.features == RelationFeatures("cosine", share=0.2)
    assert cova_of("E1", {"prototypes": "own"}, wave).prototypes is wave.prototypes
    related = cohort_sets(["cylinder2"], {"random_state": 0, "points": 60})[0]["cylinder2"]
    own = cova_of("E1", {"prototypes": {"kind": "sne", "dissimilarity": "own"}}, related).prototypes
    assert own.similarity
    assert own.dissimilarity is related.relation.matrix


@pytest.mark.parametrize("method", ["sne", "stsne", "nse", "lle", "isomap", "lda", "nca", "pca"])
def test_other_methods_place_every_sample(method, wave):
    steps = {"max_iterations": 20} if method in ("sne", "stsne", "nca") else {}
    near = {"n_neighbors": 15} if method in ("lle", "isomap") else {}
    placement = fitted(method, wave, {"random_state": 0, **steps, **near}, name="other")
    assert placement.method == "other"
    assert placement.rows.shape == (90, 2)
    assert placement.columns is None
    assert set(scored(wave, placement)) == {NEIGHBOURS, CHANCE, SEPARATION}
    assert LINKS in scored(wave, placement, prototypes=wave.prototypes)


def test_spectral_embedding_takes_the_weights_of_perplexity(wave):
    found = fitted("nse", wave, {"random_state": 0, "perplexity": 10, "shrink": 0.5}).rows
    codes = np.unique(wave.labels, return_inverse=True)[1]
    weights = GaussianAffinity(10, shrink_distances=0.5).fit(wave.X, codes).weights.toarray()
    expected = SpectralEmbedding(affinity="precomputed", random_state=0).fit_transform(weights)
    np.testing.assert_allclose(cdist(found, found), cdist(expected, expected), atol=1e-10)


def test_a_refusal_is_kept_not_raised(wave, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    missing = fitted("umap", wave, {})
    assert "not installed" in missing.refusal
    assert scored(wave, missing) == {}
    refused = fitted("E1", wave, {"alpha": 0.0, "prototypes": "own"})
    assert "alpha=0" in refused.refusal
    assert refused.rows is None


def test_labels_may_be_partly_unknown(wave):
    labels = wave.labels.copy()
    labels[::3] = None
    with_all, with_some = (fitted("E1", wave, {"prototypes": "own"}, labels=y) for y in (None, labels))
    assert with_some.rows.shape == with_all.rows.shape
    assert scored(wave, with_some)[SEPARATION] > 80


def test_a_map_onto_its_prototypes_has_all_but_neighbours(wave):
    codes = np.unique(wave.labels, return_inverse=True)[1]
    scores = scored(wave, Placement("all", 0, 0, wave.prototypes[codes], wave.prototypes))
    assert scores[SEPARATION] == scores[POSITION] == scores[LINKS] == 100.0
    assert scores[NEIGHBOURS] == pytest.approx(scores[CHANCE], abs=12)
    itself = scored(wave, Placement("same", 0, 0, 3.0 * wave.X))
    assert itself[NEIGHBOURS] == 100.0


def test_spread_is_the_radius_of_cohorts_by_that_of_prototypes():
    rows = np.array([[0.0, 1.0], [0.0, -1.0], [4.0, 1.0], [4.0, -1.0]])
    prototypes = np.array([[-5.0, 0.0], [5.0, 0.0]])
    assert spread(Placement("E1", 0, 0, rows, prototypes), list("aabb")) == pytest.approx(0.2)


# ---------------------------------------------------------------------- procedure, tables, pictures


def test_runs_try_every_alpha_and_other_methods_once(wave):
    run = {
        "set": "sinusoid",
        "title": "a wave",
        "alphas": [0.3, 0.9],
        "curves": True,
        "options": {"prototypes": "own"},
        "methods": {"E1": {}, "P1, own α": {"method": "P1", "alpha": 0.5}, "pca": {}},
    }
    findings = maps({"random_state": 0, "points": 90, "runs": {"first": run}})
    places = [(record["method"], record["α"]) for record in findings.records]
    assert places == [("E1", 0.3), ("P1, own α", 0.5), ("E1", 0.9), ("pca", NO_ALPHA)]
    assert all(record["set"] == "a wave" for record in findings.records)
    placed = fitted("pca", wave, {"random_state": 0}).rows  # it has no prototypes: E1's stand in
    assert findings.records[-1][LINKS] == 100 * cohort_neighbors(placed, wave.labels, wave.prototypes)
    assert POSITION not in findings.records[-1]
    assert set(findings.pictures) == {"first", "by_α"}
    assert sum("span only 1" in note for note in findings.notes) == 1  # said once, not for every map


def test_pictures_show_samples_and_prototypes(wave):
    codes = np.unique(wave.labels, return_inverse=True)[1]
    figure = cohort_maps(
        {
            "with": (wave.prototypes[codes], wave.labels, wave.prototypes),
            "without": (wave.X, wave.labels, None),
            "refused": (None, wave.labels, None),
        }
    )
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert [len(panel.collections) for panel in shown] == [2, 1, 0]
    assert shown[2].texts[0].get_text() == "refused"
    assert len(shown[2].get_legend().get_texts()) == 6


# Four cohorts on a line, the data's neighbours in the order a, b, c, d; a map that exchanges b and c.
LETTERS = np.array(list("aabbccdd"), dtype=object)
NEAR = np.array([[0, 3, 2, 1], [3, 0, 3, 2], [2, 3, 0, 3], [1, 2, 3, 0]], dtype=float)
EXCHANGED = np.array([[0.0, 0], [4, 0], [2, 0], [9, 0]])


def exchanged(prototypes=None):
    codes = np.unique(LETTERS, return_inverse=True)[1]
    rows = EXCHANGED[codes] + np.tile([[0.0, 0.1], [0.0, -0.1]], (4, 1))
    return Placement("E1", 0, 0, rows, prototypes)


def test_links_are_told_of_maps_and_of_prototypes():
    relation = CohortRelation(NEAR, similarity=True)
    # wanted ab, ac, bc, bd, cd; found ac, bc, ab, bd, cd (two nearest of each): one cannot tell them apart
    placed = graph_scores(LETTERS, exchanged(np.arange(8.0).reshape(4, 2)), relation)
    assert placed == {KEPT: 100.0, SHOWN: 100.0}
    assert graph_scores(LETTERS, exchanged(), relation) == {SHOWN: 100.0}
    assert graph_scores(LETTERS, Placement("E1", 0, 0, refusal="no"), relation) == {}
    far = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0]])
    assert graph_scores(LETTERS, exchanged(far), CohortRelation(NEAR, False))[KEPT] < 100


def test_graphs_are_compared_with_the_data_or_with_prototypes():
    relation, places = CohortRelation(NEAR, similarity=True), np.arange(8.0).reshape(4, 2)
    with_all = graphs_of("E1", LETTERS, exchanged(places), relation, places)
    assert list(with_all) == ["E1's prototypes and the data", "E1 and its prototypes", "E1 and the data"]
    np.testing.assert_allclose(with_all["E1 and the data"].places, EXCHANGED)
    assert list(graphs_of("t", LETTERS, exchanged(), relation, places)) == ["t and the data"]
    alone = graphs_of("t", LETTERS, exchanged(), None, places)
    assert alone["t and prototypes"].wanted is places
    assert graphs_of("t", LETTERS, Placement("t", 0, 0, refusal="no"), relation, places) == {}
    figure = graph_pictures({**with_all, **alone}, LETTERS)
    assert all(panel.get_title().endswith("100.0 %") for panel in figure.axes[:4])


def test_samples_nearer_to_another_prototype_are_marked():
    rows, prototypes = exchanged().rows, np.array([[0.0, 0], [2, 0], [4, 0], [9, 0]])
    np.testing.assert_array_equal(misplaced(rows, LETTERS, prototypes), [0, 0, 1, 1, 1, 1, 0, 0])
    drawn = {"E1": (rows, LETTERS, prototypes), "none": (rows, LETTERS, None)}
    titles = [panel.get_title() for panel in misplaced_maps(drawn).axes if panel.get_visible()]
    assert titles == ["E1: 4 of 8", "none"]


def test_a_sample_of_every_cohort_is_followed_with_its_nearest(wave):
    groups = followed_samples(wave.X, wave.labels, np.random.default_rng(0))
    assert [wave.labels[group[0]] for group in groups] == sorted(set(wave.labels))
    apart = cdist(wave.X, wave.X)
    for group in groups:
        assert len(set(group)) == 5
        assert apart[group[0], group].max() == np.sort(apart[group[0]])[4]
    drawn = {"same": (wave.X, wave.labels, None), "refused": (None, wave.labels, None)}
    figure = followed_maps(wave.X, wave.labels, drawn, 0)
    assert [len(panel.collections) for panel in figure.axes[:3]] == [7, 7, 0]


def test_settings_ask_for_pictures():
    run = {
        "set": "cylinder2",
        "alphas": [0.5],
        "drawn": False,
        "linked": ["E1", "pca"],
        "misplaced": ["E1"],
        "followed": ["pca"],
        "options": {"prototypes": {"kind": "sne", "dissimilarity": "own"}},
        "methods": {"E1": {}, "pca": {}},
    }
    findings = maps({"random_state": 0, "points": 96, "runs": {"first": run}})
    assert set(findings.pictures) == {"first-links", "first-misplaced", "first-followed"}
    assert findings.measures[-2:] == (KEPT, SHOWN)
    with_places, without = findings.records
    assert KEPT in with_places
    assert KEPT not in without
    assert 0 <= without[SHOWN] <= 100


@pytest.mark.parametrize("name", NAMES)
def test_quick_runs(name, request, tmp_path):
    if name not in ALONE:
        request.getfixturevalue("data_dir")
    run = run_experiment(name, quick=True)
    assert all(verdict.outcome in ("reached", "not reached") and verdict.why for verdict in run.verdicts)
    (table,) = report_tables(run)  # many methods: one table, a line each
    assert table.headers[-len(run.findings.measures) :] == list(run.findings.measures)
    assert all(len(row) == len(table.headers) for row in table.rows)
    published = {row[2] for row in table.rows if row[3] == "published"}
    assert published == {method for figure in run.experiment.figures for method in figure["values"]}
    assert all(record[CHANCE] > 0 for record in run.findings.records)
    out = write_results(run, tmp_path / "out")
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert any(file.endswith(".png") for file in content["files"])


# ---------------------------------------------------------------------- rules


def judge(claim, rows):
    """Judge records given as (set, α, method, measures)."""
    findings = Findings(("set", "α"), ())
    for name, alpha, method, values in rows:
        findings.add({"set": name, "α": alpha}, Placement(method, 0, 0), values)
    return COHORT_RULES[claim](findings.records)


def rows(name, alpha, measure, values):
    return [(name, alpha, method, {measure: value}) for method, value in values.items()]


def table_one(separation, kept):
    names = [
        f"{method}{share}"
        for method in ("sne", "nse", "tsne")
        for share in ("", *(f", λ {v}" for v in (0.7, 0.5, 0.1)))
    ]
    return [
        ("words, 30 axes", NO_ALPHA, name, {SEPARATION: separation[at % 4], NEIGHBOURS: kept[at % 4]})
        for at, name in enumerate(names)
    ]


def test_shrinking_needs_a_rise_to_all_and_steady_neighbours():
    assert judge("V0", table_one([40, 90, 95, 100], [59, 60, 58, 57]))[0] == "reached"
    outcome, why = judge("V0", table_one([40, 90, 95, 97], [59, 60, 58, 57]))
    assert outcome == "not reached"
    assert "sne: S_s 40.0 → 90.0 → 95.0 → 97.0" in why
    assert judge("V0", table_one([40, 95, 90, 100], [59, 60, 58, 57]))[0] == "not reached"
    assert judge("V0", table_one([40, 90, 95, 100], [59, 60, 58, 50]))[0] == "not reached"


def test_the_trend_needs_all_three_scores():
    def sweep(kept, separated, position):
        pairs = zip((0.1, 0.95), kept, separated, position, strict=True)
        return [
            ("compacted", alpha, "E1", {NEIGHBOURS: n, SEPARATION: s, POSITION: c})
            for alpha, n, s, c in pairs
        ]

    outcome, why = judge("V1", sweep((56.0, 48.9), (81.8, 99.2), (74.1, 99.1)))
    assert outcome == "reached"
    assert "α = 0.1, 0.95: S_n 56.0 → 48.9" in why
    assert judge("V1", sweep((48.0, 49.0), (81.8, 99.2), (74.1, 99.1)))[0] == "not reached"
    assert judge("V1", sweep((56.0, 48.9), (81.8, 99.2), (74.1, 90.0)))[0] == "not reached"


def test_links_are_kept_nearly_all():
    kept = {"E1": 100.0, "P4": 100.0, "eigen": 92.0, "tsne": 10.0}
    assert judge("V2", rows("compacted", 0.9, LINKS, kept))[0] == "reached"
    assert judge("V2", rows("compacted", 0.9, LINKS, {**kept, "P4": 90.0}))[0] == "not reached"
    assert judge("V2", rows("compacted", 0.9, LINKS, {**kept, "eigen": 80.0}))[0] == "not reached"


def test_supervised_maps_keep_fewer_links():
    guided = rows("words, 30 axes", 0.6, LINKS, {"E1": 100.0, "E2": 90.0})

    def free(value):
        return rows(
            "words, 30 axes", NO_ALPHA, LINKS, {"tsne": 95.0, "nse, λ 0.1": 95.0, "sne, λ 0.5": value}
        )

    assert judge("V3", guided + free(60.0))[0] == "reached"
    assert judge("V3", guided + free(90.0))[0] == "not reached"


def test_shapes_are_judged_by_order():
    wave_links = {"E1": 100.0, "E2": 100.0, "E3": 100.0, "P1": 50.0}
    assert judge("V4", rows("sinusoid", 0.95, LINKS, wave_links))[0] == "reached"
    assert judge("V4", rows("sinusoid", 0.95, LINKS, {**wave_links, "E2": 90.0}))[0] == "not reached"
    published = {"E1": 70.1, "E2": 51.7, "E3": 59.3, "E4": 53.1}
    both = rows("sinusoid", 0.95, NEIGHBOURS, published)
    assert judge("V5", both)[0] == "reached"
    assert (
        judge("V5", both + rows("compound", 0.95, NEIGHBOURS, {**published, "E2": 60.0}))[0] == "not reached"
    )
    position = {"E1": 99.4, "E2": 75.4, "E3": 99.2, "E4": 69.9}
    assert judge("V7", rows("compound", 0.95, POSITION, position))[0] == "reached"
    assert judge("V7", rows("compound", 0.95, POSITION, {**position, "E2": 99.0}))[0] == "not reached"


def test_projections_need_most_pairs():
    embedded = {"E1": 70.0, "E2": 50.0, "E3": 60.0, "E4": 55.0}
    projected = {"P1": 94.0, "P2": 90.0, "P3": 90.0, "P4": 50.0, "P1, smooth": 95.0}
    outcome, why = judge("V6", rows("sinusoid", 0.95, NEIGHBOURS, {**embedded, **projected}))
    assert outcome == "reached"
    assert "above for 3 of 4" in why
    assert "P1 94.0 against 70.0" in why
    assert "P1, smooth 95.0" in why
    both = rows("compound", 0.95, NEIGHBOURS, {**embedded, **projected})
    both += rows("sinusoid", 0.95, NEIGHBOURS, {**embedded, **projected, "P1": 60.0})
    assert judge("V6", both)[0] == "not reached"


def test_manifolds_are_judged_by_the_place_of_lle_and_by_labels():
    def table(roll, cylinder, helped):
        scores = {"sne": 80.0, "tsne": 81.0, "isomap": 90.0}
        labelled = {"lle": cylinder, "sne, λ 0.1": helped, "tsne, λ 0.1": 88.0}
        return (
            rows("swiss_roll", NO_ALPHA, NEIGHBOURS, {**scores, "lle": roll})
            + rows("cylinder1", NO_ALPHA, NEIGHBOURS, {**scores, "lle": cylinder})
            + rows("cylinder2", NO_ALPHA, NEIGHBOURS, {**scores, **labelled})
        )

    assert judge("V8", table(42.0, 94.0, 88.0))[0] == judge("V9", table(42.0, 94.0, 88.0))[0] == "reached"
    assert judge("V8", table(83.0, 94.0, 88.0))[0] == "not reached"
    assert judge("V8", table(42.0, 70.0, 88.0))[0] == "not reached"
    assert judge("V9", table(42.0, 94.0, 79.0))[0] == "not reached"


def test_tightness_needs_the_order_and_e3_to_catch_up():
    low = {"E1": 0.2, "E4": 0.24, "E3": 0.3, "E2": 0.38}

    def both(low, e3):
        return rows(CYLINDER, 0.3, SPREAD, low) + rows(CYLINDER, 0.6, SPREAD, {"E3": e3})

    outcome, why = judge("V10", both(low, 0.21) + rows(WIDE, 0.3, SPREAD, {"E1": 0.2, "E3": 0.06}))
    assert outcome == "reached"
    assert "ten times as large: E3 0.060, E1 0.200" in why
    assert judge("V10", both(low, 0.3))[0] == "not reached"
    assert judge("V10", both({**low, "E4": 0.1}, 0.2))[0] == "not reached"
    kept = {"E1": 77.0, "E2": 82.0, "E3": 79.0}
    assert judge("V11", rows(CYLINDER, 0.3, NEIGHBOURS, kept))[0] == "reached"
    assert judge("V11", rows(CYLINDER, 0.3, NEIGHBOURS, {**kept, "E3": 83.0}))[0] == "not reached"


def test_clusters_are_judged_by_links():
    links = {"E1": 100.0, "E2": 95.0, "E3": 97.0, "E4": 92.0}
    placed = rows("20 clusters", 0.6, LINKS, links) + rows("20 clusters", NO_ALPHA, LINKS, {"tsne": 40.0})
    assert judge("V12", placed)[0] == judge("V13", placed)[0] == "reached"
    worse = placed + rows("20 clusters", 0.9, LINKS, {"P1": 80.0})
    assert judge("V12", worse)[0] == "not reached"
    assert judge("V13", [*placed, ("20 clusters", NO_ALPHA, "tsne", {LINKS: 95.0})])[0] == "not reached"


def test_clusters_are_compared_with_their_own_graph():
    shown = {"E2": 66.0, "E1": 10.0, "sne": 20.0, "tsne": 30.0, "tsne, λ 0.1": 40.0}
    assert judge("V14", rows("20 clusters", NO_ALPHA, SHOWN, shown))[0] == "reached"
    assert judge("V14", rows("20 clusters", NO_ALPHA, SHOWN, {**shown, "sne": 70.0}))[0] == "not reached"


@pytest.mark.parametrize(
    ("e1", "tsne", "outcome"), [(100, 75, "reached"), (88, 75, "not"), (100, 100, "not")]
)
def test_cohorts_at_their_means_need_e1_to_keep_all_and_tsne_not(e1, tsne, outcome):
    placed = rows(MEANS, 0.1, LINKS, {"E1": e1}) + rows(MEANS, NO_ALPHA, LINKS, {"tsne": tsne})
    assert judge("V15", placed)[0].startswith(outcome)


def test_a_set_is_plain_data():
    data = CohortSet("mine", np.eye(3), np.array(list("aab"), dtype=object))
    assert (data.links, data.prototypes, data.relation, data.metric) == (None, None, None, "euclidean")
