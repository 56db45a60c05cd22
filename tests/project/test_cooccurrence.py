"""The experiments on CODE: samples, baselines against slow versions of them, rules, quick runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from relscape.data import EntitySet, Relation, RelationalData
from relscape.errors import StorageError
from relscape.project import pictures
from relscape.project.baselines import BASELINES
from relscape.project.code_fitting import joint_map, mapped
from relscape.project.code_papers import AUTHORS, TOPICS
from relscape.project.code_verdicts import CODE_RULES
from relscape.project.cooccurrence import (
    ALL,
    AVERAGED,
    DOCUMENTS,
    LIFT,
    PURITY,
    RADIUS,
    SMOKING,
    WORDS,
    _average,
    _rescale,
    _roundness,
)
from relscape.project.experiments import experiment, experiments
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings
from relscape.project.report import report_tables, write_results
from relscape.project.runner import PROCEDURES, run_experiment
from relscape.project.samples import equal_rows, frequent_words, newsgroup_documents, nips_papers
from relscape.project.verdicts import RULES
from relscape.scores import normalized_purity

NAMES = ["code-dimensions", "code-models", "code-nips", "code-psd", "code-table1"]


@pytest.fixture
def counts(rng):
    themes = rng.dirichlet(np.full(12, 0.3), 3)
    return csr_array(
        np.vstack([rng.multinomial(40, themes[number % 3]) for number in range(30)]).astype(float)
    )


# ---------------------------------------------------------------------- settings


def test_experiments_can_be_read_and_judged():
    known = {name: entry for name, entry in experiments().items() if name.startswith("code-")}
    assert list(known) == NAMES
    for entry in known.values():
        assert entry.procedure in PROCEDURES
        assert set(entry.quick) <= set(entry.settings)
    claimed = sorted(claim.name for entry in known.values() for claim in entry.claims)
    assert claimed == sorted(CODE_RULES)
    assert RULES.items() >= CODE_RULES.items()


def test_published_purity_follows_from_the_published_table():
    entry = experiment("code-table1")
    table = {f["set"]: f["values"] for f in entry.figures if f["measure"] == DOCUMENTS}
    (purity,) = [f["values"] for f in entry.figures if f["measure"] == PURITY]
    assert list(table) == list(entry.settings["sets"])
    assert normalized_purity(table) == pytest.approx(purity, abs=5e-4)


# ---------------------------------------------------------------------- samples


def test_frequent_words_leave_out_the_very_first():
    counts = csr_array(np.array([[5, 1, 9, 0, 3], [5, 0, 9, 1, 3]]))
    assert frequent_words(counts, 1, 2).tolist() == [0, 4]
    assert frequent_words(counts, 0, 9).tolist() == [0, 1, 2, 3, 4]


def test_equal_rows_weigh_the_same():
    weighed = equal_rows(csr_array(np.array([[1.0, 3.0], [10.0, 0.0]])))
    np.testing.assert_allclose(weighed.toarray(), [[0.125, 0.375], [0.5, 0.0]])


def test_newsgroup_documents_drop_silent_messages():
    counts = np.array([[9, 2, 1], [9, 0, 0], [9, 1, 3], [9, 5, 5]])
    docs = EntitySet("doc", np.arange(4), fields={"newsgroup": np.array(list("aabc"), dtype=object)})
    words = EntitySet("word", np.array(["the", "cat", "dog"], dtype=object))
    data = RelationalData([docs, words], [Relation("counts", "doc", "word", counts)])
    chosen = {"documents_a_class": 9, "left_out": 1, "words": 2}
    found = newsgroup_documents(data, ["a", "b"], chosen, 0)
    assert found.counts.toarray().tolist() == [[2, 1], [1, 3]]
    assert found.classes.tolist() == ["a", "b"]
    assert found.words.tolist() == ["cat", "dog"]


TOPICAL = {
    "topics": {"theory": ["Theory"], "vision": ["Vision", "Visual Processing"]},
    "topic_volumes": [1, 2],
}


def nips_like(rng, papers=12, words=8, authors=4):
    counts = rng.poisson(2.0, (papers, words)).astype(float)
    written = np.zeros((papers, authors))
    written[np.arange(papers), np.arange(papers) % authors] = 1
    fields = {
        "volume": np.arange(papers) // 4,
        "session": np.array(["Theory", "Vision", "Visual Processing", "Prizes"] * 3, dtype=object)[:papers],
    }
    titles = [f"On {i}," for i in range(papers)]
    entities = [
        EntitySet("doc", [f"paper {i}" for i in range(papers)], labels=titles, fields=fields),
        EntitySet("word", [f"word {i}" for i in range(words)]),
        EntitySet("author", [f"author {i}" for i in range(authors)]),
    ]
    relations = [Relation("counts", "doc", "word", counts), Relation("authors", "doc", "author", written)]
    return RelationalData(entities, relations), counts, written


def test_authors_have_the_words_of_their_papers(rng):
    data, counts, written = nips_like(rng)
    found = nips_papers(data, {**TOPICAL, "papers": 99, "left_out": 2, "words": 5, "authors": 3}, 0)
    kept = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[2:7])
    said = written.T @ counts[:, kept]
    most = np.sort(np.argsort(-said.sum(axis=1), kind="stable")[:3])
    np.testing.assert_array_equal(found.authors.toarray(), said[most])
    np.testing.assert_array_equal(found.written.toarray(), written[:, most])
    assert found.words.tolist() == [f"word {i}" for i in kept]
    assert found.author_names.tolist() == [f"author {i}" for i in most]


def test_topics_are_sessions_of_some_volumes(rng):
    data, _, _ = nips_like(rng)
    found = nips_papers(data, {**TOPICAL, "papers": 99, "left_out": 0, "words": 8, "authors": 4}, 0)
    assert found.topics.tolist() == [""] * 4 + ["theory", "vision", "vision", ""] * 2
    assert found.titles[:2].tolist() == ["On 0", "On 1"]
    some = nips_papers(data, {**TOPICAL, "papers": 5, "left_out": 0, "words": 8, "authors": 4}, 0)
    topic = dict(zip(found.paper_names, found.topics, strict=True))
    assert some.topics.tolist() == [topic[name] for name in some.paper_names]


# ---------------------------------------------------------------------- baselines


def scaled_classically(distances, k):
    centre = np.eye(len(distances)) - 1 / len(distances)
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    return vectors[:, ::-1][:, :k] * np.sqrt(values[::-1][:k])


def same_map(found, expected):
    np.testing.assert_allclose(cdist(found, found), cdist(expected, expected), atol=1e-7)


def test_decompositions_agree_with_the_dense_ones(counts):
    dense = counts.toarray()
    shares = dense / dense.sum(axis=1, keepdims=True) / len(dense)
    for name, matrix in (("svd", shares), ("svd-log", np.log(dense + 1))):
        u, values, vt = np.linalg.svd(matrix)
        rows, columns = BASELINES[name](counts, 2)
        same_map(rows, u[:, :2] * np.sqrt(values[:2]))
        np.testing.assert_allclose(
            rows @ columns.T, u[:, :2] * values[:2] @ vt[:2], atol=1e-9
        )  # both kinds turned alike
    margins = shares.sum(axis=1), shares.sum(axis=0)
    residuals = (shares - np.outer(*margins)) / np.sqrt(np.outer(*margins))
    u, values, _ = np.linalg.svd(residuals)
    rows, columns = BASELINES["ca"](counts, 2)
    same_map(rows, u[:, :2] * np.sqrt(values[:2]) / np.sqrt(margins[0])[:, None])
    assert columns.shape == (12, 2)


def test_scaling_agrees_with_the_definition(counts):
    shares = counts.toarray() / counts.toarray().sum(axis=1, keepdims=True)
    same_map(BASELINES["mds-e"](counts, 2)[0], scaled_classically(cdist(shares, shares), 2))
    same_map(BASELINES["mds-c"](counts, 2)[0], scaled_classically(cdist(shares, shares, "cosine"), 2))


@pytest.mark.parametrize(("name", "metric"), [("isomap", "cosine"), ("isomap-e", "euclidean")])
def test_isomap_takes_the_smallest_number_of_neighbours_that_connects(name, metric, rng):
    two = rng.dirichlet(np.ones(4), 24) * 100
    apart = np.zeros((24, 8))
    apart[:12, :4], apart[12:, 4:] = two[:12], two[12:]
    apart = apart + 1  # two clusters of 12: ten neighbours leave them apart
    shares = apart / apart.sum(axis=1, keepdims=True)
    distances = cdist(shares, shares, metric)
    order = np.argsort(distances, axis=1)
    for neighbours in range(10, 24):
        graph = np.zeros_like(distances)
        for own, others in enumerate(order):
            graph[own, others[1 : neighbours + 1]] = distances[own, others[1 : neighbours + 1]]
        steps = shortest_path(graph, directed=False)
        if np.isfinite(steps).all():
            break
    assert neighbours > 10
    same_map(BASELINES[name](csr_array(apart), 2)[0], scaled_classically(steps, 2))


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_maps_are_nested(name, counts):
    same_map(BASELINES[name](counts, 4)[0][:, :2], BASELINES[name](counts, 2)[0])


# ---------------------------------------------------------------------- scores and fits


def test_purity_of_sets_averages_to_normalised_purity():
    scores = {"a": {"code": 90.0, "ca": 60.0, "svd": 50.0}, "b": {"code": 70.0, "ca": 80.0, "svd": 50.0}}
    findings = Findings(("set",), (DOCUMENTS, PURITY))
    for name, row in scores.items():
        for method, value in {**row, "code-full": 99.0}.items():
            findings.add({"set": name}, Placement(method, 1.0, 1.0), {DOCUMENTS: value})
    _rescale(findings, ["code", "ca", "svd"])
    _average(findings)
    mean = {record["method"]: record for record in findings.records if record["set"] == ALL}
    expected = normalized_purity(scores)
    assert {name: mean[name][PURITY] for name in expected} == pytest.approx(expected)
    assert PURITY not in mean["code-full"]
    assert mean["ca"][DOCUMENTS] == 70.0
    assert mean["ca"]["seconds"] == 2.0


def test_a_circle_has_radii_alike(counts):
    angles = np.linspace(0, 5, 30)
    circle = 3 + np.column_stack([np.cos(angles), np.sin(angles)])
    on_it = Placement("MM", 0, 0, circle, np.full((12, 2), 3.0))
    assert _roundness(counts, on_it) == pytest.approx(0, abs=1e-12)
    near_it = Placement("CM", 0, 0, circle, np.full((12, 2), 2.5))
    assert _roundness(counts, near_it) > 0.1


def test_code_sees_equal_documents(counts):
    settings = {"random_state": 0, "fits": {"code": {"n_restarts": 1, "max_iterations": 50}}}
    repeated = csr_array(counts.toarray() * np.arange(1, 31)[:, None])
    placements = [mapped("code", given, settings) for given in (counts, repeated)]
    same_map(*(placement.rows for placement in placements))
    assert placements[0].chosen["iterations"] <= 50


def test_at_the_ends_one_kind_takes_no_part(rng):
    data, _, _ = nips_like(rng)
    found = nips_papers(data, {**TOPICAL, "papers": 99, "left_out": 0, "words": 8, "authors": 4}, 0)
    settings = {"random_state": 0, "fits": {"code": {"n_restarts": 1, "max_iterations": 30}}}
    papers, authors = (joint_map(found, alpha, settings)[0] for alpha in (1.0, 0.0))
    same_map(papers.rows, mapped("code", found.papers, settings).rows)
    same_map(authors.columns, mapped("code", found.authors, settings, equal=False).rows)
    joint, model = joint_map(found, 0.5, settings)
    assert joint.rows.shape == (12, 2)
    assert joint.columns.shape == (4, 2)
    # 12 × 8 and 4 × 8 cells: one part in four belongs to the larger table
    assert model.weights == pytest.approx({("paper", "word"): 0.25, ("author", "word"): 0.75})


# ---------------------------------------------------------------------- rules


def judge(claim, rows, keys=("set",), chosen=None):
    """Judge records given as (place, method, measures)."""
    findings = Findings(keys, ())
    for place, method, values in rows:
        findings.add(
            dict(zip(keys, place, strict=True)), Placement(method, 0, 0, chosen=chosen or {}), values
        )
    return CODE_RULES[claim](findings.records)


def table_rows(measure, table):
    return [((name,), m, {measure: v}) for name, row in table.items() for m, v in row.items()]


def test_table_one_needs_most_sets():
    won = {name: {"code": 80.0, "code-full": 70.0, "isomap": 75.0} for name in "abc"}
    lost = {"d": {"code": 60.0, "code-full": 70.0, "isomap": 65.0}}
    outcome, why = judge("G0", table_rows(DOCUMENTS, {**won, **lost}))
    assert outcome == "reached"
    assert "first on 3 of 4 sets, not on d (60.0, isomap 65.0)" in why
    assert "code-full is first on 1 of 4" in why
    assert judge("G0", table_rows(DOCUMENTS, {"a": won["a"], **lost}))[0] == "not reached"


def test_joint_maps_need_every_set():
    rows = {"a": {"code": 0.3, "ca": 0.2}, "b": {"code": 0.3, "ca": 0.2}}
    assert judge("G0b", table_rows(WORDS, rows))[0] == "reached"
    assert judge("G0b", table_rows(WORDS, {**rows, "c": {"code": 0.2, "ca": 0.3}}))[0] == "not reached"


def test_everywhere_looks_along_axes_and_sizes():
    keys = ("set", "axes", "size")

    def rows(code_at_size):
        places = [(("a", k, AVERAGED), 80.0) for k in (1, 2)] + [(("a", 2, 5), code_at_size)]
        return [(at, m, {DOCUMENTS: v}) for at, code in places for m, v in (("code", code), ("ca", 70.0))]

    assert judge("G0c", rows(80.0), keys)[0] == "reached"
    outcome, why = judge("G0c", rows(60.0), keys)
    assert outcome == "not reached"
    assert "a: first for 2 of 2 numbers of axes" in why
    assert "not for 5 (ca)" in why


def test_purity_needs_the_order():
    order = {ALL: {"code": 1.0, "isomap": 0.8, "ca": 0.1}}
    assert judge("G5", table_rows(PURITY, order))[0] == "reached"
    assert judge("G5", table_rows(PURITY, {ALL: {"code": 0.7, "isomap": 0.8, "ca": 0.1}}))[0] == "not reached"


def test_semidefinite_needs_likeness_and_a_lead():
    def rows(psd, ca):
        values = {"code": 0.5, "psd": psd, "ca": ca}
        return [((name,), m, {DOCUMENTS: v, WORDS: v}) for name in ("a", ALL) for m, v in values.items()]

    assert judge("G2", rows(0.48, 0.4))[0] == "reached"
    assert judge("G2", rows(0.4, 0.3))[0] == "not reached"
    assert judge("G2", rows(0.48, 0.49))[0] == "not reached"
    assert judge("G2", [((SMOKING,), "psd", {})])[0] == "not tested"


def test_paths_need_a_peak_inside():
    def path(*likelihoods, third=0.1):
        stations = [
            {"λ": 1 / (at + 1), "likelihood": value, "eigenvalues": [1.0, 0.5, third]}
            for at, value in enumerate(likelihoods)
        ]
        return {"path": stations}

    def judged(claim, chosen):
        return judge(claim, [((SMOKING,), "psd", {})], chosen=chosen)[0]

    assert judged("G1", path(-3.0, -2.0, -2.5)) == judged("G9", path(-3.0, -2.0, -2.5)) == "reached"
    assert judged("G1", path(-3.0, -2.0, -2.5, third=0.4)) == "not reached"
    assert judged("G1", path(-3.0, -2.5, -2.0)) == judged("G9", path(-3.0, -2.5, -2.0)) == "not reached"


def test_models_are_judged_by_their_means():
    assert judge("G4", table_rows(RADIUS, {ALL: {"CM": 1.4, "MM": 0.07}}))[0] == "reached"
    assert judge("G4", table_rows(RADIUS, {ALL: {"CM": 1.4, "MM": 0.9}}))[0] == "not reached"

    def words(mass, lift):
        both = {m: {WORDS: mass[m], LIFT: lift[m]} for m in mass}
        return [((ALL,), m, values) for m, values in both.items()]

    high, low = {"CM": 0.8, "MM": 0.7, "MC": 0.6, "CU": 0.5}, {"CM": 0.3, "MM": 0.4, "MC": 0.2, "CU": 0.9}
    assert judge("G6", words(high, low))[0] == "reached"
    outcome, why = judge("G6", words(low, high))
    assert outcome == "not reached"
    assert "by lift, though not by mass" in why

    alike = {"a": {"CM": 80.0, "MM": 60.0}, ALL: {"CM": 80.0, "MM": 75.0}}
    outcome, why = judge("G7", table_rows(DOCUMENTS, alike))
    assert outcome == "reached"
    assert "widest apart on a, by 20.0" in why
    assert judge("G7", table_rows(DOCUMENTS, {**alike, ALL: {"CM": 80.0, "MM": 60.0}}))[0] == "not reached"


def test_weights_need_a_plateau_and_falling_ends():
    def rows(*values):
        alphas = (0.0, 0.1, 0.5, 0.9, 1.0)
        return [
            (("all", a), "code", {AUTHORS: v}) for a, v in zip(alphas, values, strict=True)
        ] + [(("papers", "–"), "code", {})]  # fmt: skip

    keys = ("set", "α")
    assert judge("G8", rows(0.1, 0.5, 0.5, 0.45, 0.1), keys)[0] == "reached"
    assert judge("G8", rows(0.1, 0.3, 0.5, 0.45, 0.1), keys)[0] == "not reached"
    assert judge("G8", rows(0.5, 0.5, 0.5, 0.45, 0.1), keys)[0] == "not reached"


def test_topics_must_lie_together_and_beside_the_right_ones():
    def judged(purity, theory, vision):
        places = {
            "algorithms and architectures": 0.0,
            "theory": theory,
            "neuroscience": 9.0,
            "vision": vision,
        }
        places |= {"control": 2.0, "speech": 7.0, "implementation": 6.5}
        topics = {name: {"papers": 10, "median": [at, 0.0]} for name, at in places.items()}
        return judge("G10", [(("papers",), "code", {TOPICS: purity})], chosen={"topics": topics})

    outcome, why = judged(40.0, theory=3.0, vision=8.0)
    assert outcome == "reached"
    assert "doc-doc by topic 40.0, by chance 13.0" in why  # 7 topics of 10: 9 of 69 others
    assert "nearest to algorithms and architectures: control, theory;" in why
    assert judged(25.0, theory=3.0, vision=8.0)[0] == "not reached"
    assert judged(40.0, theory=6.6, vision=8.0)[0] == "not reached"
    assert judged(40.0, theory=3.0, vision=4.0)[0] == "not reached"


# ---------------------------------------------------------------------- runs


@pytest.mark.parametrize("name", NAMES)
def test_quick_runs(name, data_dir, tmp_path):
    run = run_experiment(name, quick=True)
    assert len(run.verdicts) == len(run.experiment.claims)
    assert all(verdict.outcome != "not tested" and verdict.why for verdict in run.verdicts)
    assert [table.title for table in report_tables(run)] == list(run.findings.measures)
    out = write_results(run, tmp_path / "out")
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert any(file.endswith(".png") for file in content["files"])


def test_the_published_table_stands_beside_ours(data_dir):
    table = report_tables(run_experiment("code-table1", quick=True))[0]
    (published,) = [row for row in table.rows if row[0] == "crypt/elec" and row[1] != "ours"]
    assert dict(zip(table.headers, published, strict=True))["isomap"] == "83"


def test_without_data(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(StorageError, match=r"(?s)newsgroups20.*RELSCAPE_DATA"):
        run_experiment("code-table1", quick=True)
    with pytest.raises(StorageError, match=r"(?s)nips.*RELSCAPE_DATA"):
        run_experiment("code-nips", quick=True)
    run = run_experiment("code-psd", quick=True)  # the smoking table is always there
    outcomes = {verdict.claim: verdict.outcome for verdict in run.verdicts}
    assert outcomes == {"G2": "not tested", "G1": "reached", "G9": "reached"}


def test_pictures_of_maps_and_bars(rng):
    points, classes = rng.normal(size=(20, 2)), np.array(list("ab") * 10, dtype=object)
    figure = pictures.class_maps({"code": (points, classes, points + 1), "isomap": (points, classes, None)})
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert [panel.get_title() for panel in shown] == ["code", "isomap"]
    assert [len(panel.collections) for panel in shown] == [3, 2]
    findings = Findings(("set",), (DOCUMENTS,))
    for method in ("code", "ca"):
        findings.add({"set": "a"}, Placement(method, 0, 0), {DOCUMENTS: 50.0})
    bars = pictures.bars(findings, (DOCUMENTS,))["bars"]
    assert len(bars.axes[0].patches) == 2
