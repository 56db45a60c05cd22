"""The experiments on guided projections: settings, studies, fits that are kept, rules, and quick runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import euclidean_distances

from relscape.errors import StorageError, UnknownNameError
from relscape.models.projection_cases import RidgeCCA
from relscape.project import projection_runs
from relscape.project.experiments import experiment
from relscape.project.projection import PROCEDURES
from relscape.project.projection_data import Further, Study, dealt, study_of
from relscape.project.projection_dissimilar import told_apart
from relscape.project.projection_measures import averaged, measures_of, satisfaction_of, tables
from relscape.project.projection_pictures import all_pictures, axes_pictures
from relscape.project.projection_runs import Fit, candidates, kept_or_done, model_of, prepared
from relscape.project.projection_verdicts import RULES
from relscape.project.report import report_tables, write_results
from relscape.project.runner import run_experiment
from relscape.scores.partners import ndcg

NAMES = [f"projection-{name}" for name in ("reuters", "corel", "nips", "stdlib", "dissimilar")]
RUNS = "runs"


@pytest.fixture
def study():
    """Sixty things of three classes; tags say the class, links are within it, areas lie on a circle."""
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 3
    counts = csr_array(rng.poisson(1.0 + 4.0 * (classes[:, None] == np.arange(12) % 3)).astype(float))
    tags = np.zeros((60, 4))
    tags[np.arange(60), classes] = 1.0
    tags[::5, 3] = 1.0
    links = (classes[:, None] == classes) & (rng.uniform(size=(60, 60)) < 0.1)
    links = (links | links.T) & ~np.eye(60, dtype=bool)
    ids = np.array([f"t{i}" for i in range(60)], dtype=object)
    areas = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    return Study(
        "thing",
        ids,
        counts,
        "tag",
        csr_array(tags),
        np.array(["a", "b", "c", "d"], dtype=object),
        {
            "links": Further("thing", ids, csr_array(links.astype(float))),
            "areas": Further(
                "area", np.array(["x", "y", "z"], dtype=object), csr_array(np.eye(3)[classes]), areas
            ),
        },
    )


# ---------------------------------------------------------------------- settings


def test_experiments_can_be_read_and_judged():
    entries = [experiment(name) for name in NAMES]
    assert {entry.procedure for entry in entries} == set(PROCEDURES)
    assert {claim.name for entry in entries for claim in entry.claims} == set(RULES)
    for entry in entries:
        assert set(entry.quick) <= set(entry.settings)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_all_settings_are_possible(name, quick, study):
    settings = experiment(name).chosen(quick)
    for method in settings["methods"].values():
        assert set(method) <= {"constraint", "with", "weights", "regularizations", "free", "located", "apart"}
        given = prepared(study, dealt(study, 0.2, 1.0, 0), {})
        model_of(given, method["constraint"], method["regularizations"][0], max(settings["axes"]))._check()


# ---------------------------------------------------------------------- studies and splits


def test_smaller_training_parts_lie_in_larger_ones(study):
    whole, part = dealt(study, 0.25, 1.0, 3), dealt(study, 0.25, 0.2, 3)
    assert len(whole.test) == 15
    assert len(part.train) == 9
    assert set(part.train) < set(whole.train)
    assert not set(whole.train) & set(whole.test)
    assert part.test.tolist() == whole.test.tolist() != dealt(study, 0.25, 1.0, 4).test.tolist()


def test_a_published_split_is_kept(study):
    held_out = np.arange(60) >= 50
    parts = dealt(Study(**{**vars(study), "held_out": held_out}), 0.2, 1.0, 0)
    assert parts.test.tolist() == list(range(50, 60))
    assert parts.train.tolist() == list(range(50))


def test_modules_have_one_chapter_and_imports_go_either_way():
    study = study_of({"data": "modules", "fewest": 3})
    assert (np.diff(study.tags.indptr) == 1).all()
    assert study.tags.sum(axis=0).min() >= 3
    assert "Other" not in study.tag_ids
    imports = study.further["imports"].weights.toarray()
    at = study.ids.tolist().index
    assert imports[at("shutil"), at("fnmatch")] == imports[at("fnmatch"), at("shutil")] == 1.0
    assert (imports == imports.T).all()


def test_stories_keep_the_tags_after_the_most_common(data_dir):
    chosen = {"data": "topics", "dropped": 5, "tags": 10, "left_out": 20, "words": 40}
    topics, places = study_of(chosen), study_of({**chosen, "data": "places", "things": 100})
    assert not {"earn", "acq", "crude", "trade", "money-fx"} & set(topics.tag_ids)
    assert {"interest", "money-supply", "ship", "sugar", "coffee"} <= set(topics.tag_ids)
    assert topics.counts.shape == (len(topics.ids), 40)
    assert np.allclose(np.linalg.norm(topics.further["places"].features, axis=1), 1.0)
    assert not {"usa", "uk"} & set(places.tag_ids)
    assert (len(places.ids), len(places.tag_features)) == (100, 10)
    drawn = study_of({**chosen, "dropped": 0, "a_topic": 7})
    assert drawn.tags.sum(axis=0).tolist() == [7.0] * 10


def test_papers_and_photographs_have_further_guidance(data_dir):
    papers = study_of(
        {"data": "papers", "dropped": 0, "tags": 5, "left_out": 20, "words": 40, "further_words": 9}
    )
    assert papers.further["words"].weights.max() == 1.0
    assert abs(papers.further["citations"].weights - papers.further["citations"].weights.T).nnz == 0
    photographs = study_of({"data": "photographs", "dropped": 5, "tags": 30, "split": "own"})
    assert photographs.further["other tags"].weights.shape[1] == 374 - 30
    assert not {"water", "sky", "tree", "people", "grass"} & set(photographs.tag_ids)
    assert 0 < photographs.held_out.sum() < 500


def test_names_of_authors_are_no_words_where_they_are_left_out(data_dir):
    every = {
        "data": "papers",
        "dropped": 0,
        "tags": 5,
        "left_out": 0,
        "words": 99_999,
        "further_words": 99_999,
    }
    named, unnamed = study_of(every), study_of({**every, "names_left_out": True})
    surnames = {author.split("_")[0].lower() for author in named.tag_ids}
    assert {"hinton", "jordan"} < surnames
    assert set(named.further["words"].ids) - set(unnamed.further["words"].ids) == surnames
    assert named.counts.shape[1] - unnamed.counts.shape[1] == len(surnames) == 5


# ---------------------------------------------------------------------- fits that are kept


def fit(seed=0, axes=(1, 2), **method):
    method = {"constraint": "joint", "regularizations": [0.1, 1.0], **method}
    return Fit(f"a/b/1/{seed}", method, list(axes), 2, [2], seed)


def test_guidance_is_that_of_training_things(study):
    parts = dealt(study, 0.2, 1.0, 0)
    given = prepared(study, parts, {"with": ["links", "areas"]}, 0.5)
    assert set(given.guidance) == {("thing", "tag"), ("thing", "thing"), ("thing", "area")}
    links = study.further["links"].weights.toarray()[np.ix_(parts.train, parts.train)]
    assert (given.guidance["thing", "thing"].toarray() == 0.5 * links).all()
    assert given.kernels == {"area": "rbf"}
    scale = TfidfTransformer(sublinear_tf=True).fit(study.counts[parts.train])
    assert np.allclose(given.test.toarray(), scale.transform(study.counts[parts.test]).toarray())


def test_two_tags_can_be_set_apart(study):
    parts = dealt(study, 0.2, 1.0, 0)
    given = prepared(study, parts, {"apart": ["a", "c"]}, 0.3).guidance["thing", "tag"].toarray()
    for row, weights in zip(parts.train, given, strict=True):
        own = "abc"[row % 3]
        assert weights[0] == {"a": 1.0, "b": 0.0, "c": -0.3}[own]
        assert weights[2] == {"a": -0.3, "b": 0.0, "c": 1.0}[own]


def test_the_joint_constraint_is_cca_on_repeated_things(study):
    parts = dealt(study, 0.2, 1.0, 0)
    given = prepared(study, parts, {})
    for ridge in (1e-8, 0.5):
        model = model_of(given, "joint", ridge, 2).fit(given.tables, given.guidance)
        rows, columns = given.guidance["thing", "tag"].nonzero()
        pairs = given.tables["thing"].features[rows], csr_array(np.eye(4)[columns])
        cca = RidgeCCA(2, ridge).fit(*pairs)
        theirs = euclidean_distances(cca.transform(given.test), cca.embeddings_["y"])
        ours = euclidean_distances(model.transform({"thing": given.test})["thing"], model.embeddings_["tag"])
        first = [np.flatnonzero(columns == tag)[0] for tag in range(4)]
        assert np.allclose(theirs[:, first], ours, atol=1e-6)


def test_a_fit_is_chosen_on_training_and_judged_on_test(study):
    parts = dealt(study, 0.2, 1.0, 0)
    kept = kept_or_done(fit(), study, parts, None, True)
    tried, given = candidates(study, parts, fit())
    best = max(tried, key=lambda one: one.score)
    assert kept["chosen"] == best._asdict()
    model = model_of(given[1.0], "joint", best.regularization, best.n_components)
    model.fit(given[1.0].tables, given[1.0].guidance)
    places = model.transform({"thing": given[1.0].test})["thing"]
    told = measures_of(kept)
    assert (
        told["NDCG"]
        == told["≤ 2"]
        == pytest.approx(ndcg(study.tags[parts.test], places, model.embeddings_["tag"]))
    )
    distances = euclidean_distances(places, model.embeddings_["tag"])
    similar = distances[study.tags[parts.test].toarray() > 0]
    shares = [(similar < at * distances.mean()).mean() for at in kept["test"]["thresholds"]]
    assert kept["test"]["similar"] == pytest.approx(shares, abs=1.0 / len(similar))
    assert told["satisfied, test"] == pytest.approx(np.trapezoid(shares, dx=0.05) / 2, abs=0.01)
    assert 0.0 <= told["Rand, 2"] <= 1.0


def test_a_fit_may_be_chosen_by_what_is_satisfied(study, tmp_path):
    parts = dealt(study, 0.2, 1.0, 0)
    by = fit()._replace(score="satisfaction")
    kept = kept_or_done(by, study, parts, tmp_path, True)
    tried, _ = candidates(study, parts, by)
    assert kept["chosen"]["score"] == max(one.score for one in tried)
    assert [one.score for one in tried] != [one.score for one in candidates(study, parts, fit())[0]]
    told = satisfaction_of(kept, "chosen: ")
    assert told["chosen: closest half, test"] == measures_of(kept)["closest half, test"]
    assert kept_or_done(fit(), study, parts, tmp_path, False) is None


def test_fewer_axes_are_chosen_among_fewer(study):
    parts = dealt(study, 0.2, 1.0, 0)
    whole, one = (kept_or_done(fit(axes=axes), study, parts, None, True) for axes in ((1, 2), (1,)))
    assert one["chosen"]["n_components"] == 1
    assert whole["ndcg"]["1"] == pytest.approx(one["ndcg"]["1"])


def test_what_is_done_is_not_done_again(study, tmp_path, monkeypatch):
    parts = dealt(study, 0.2, 1.0, 0)
    first = kept_or_done(fit(), study, parts, tmp_path, True)
    assert kept_or_done(fit(axes=(1,)), study, parts, tmp_path, False) is None
    with monkeypatch.context() as context:
        context.setattr(projection_runs, "candidates", None)
        assert kept_or_done(fit(), study, parts, tmp_path, True) == json.loads(json.dumps(first))
        with pytest.raises(TypeError):
            kept_or_done(fit(), study, dealt(study, 0.2, 0.5, 0), tmp_path, True)
    assert len(list(tmp_path.iterdir())) == 1


def test_things_are_told_apart_by_the_nearer_tag():
    score = told_apart(0, 2)
    tags = np.array([[0.0], [9.0], [4.0]])
    truth = csr_array(np.array([[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 0, -1]]))
    places = np.array([[1.0], [3.0], [1.0], [0.0], [2.0]])
    assert score(places, tags, truth) == pytest.approx((1 + 1 + 0 + 0.5) / 4)


def test_measures_are_averaged_where_they_are():
    told, values = averaged([{"a": 1.0, "b": 2.0}, {"a": 3.0}])
    assert told == {"a": 2.0, "b": 2.0, "± a": pytest.approx(2**0.5)}
    assert values == {"a": [1.0, 3.0], "b": [2.0]}


# ---------------------------------------------------------------------- quick runs


def test_a_quick_run_gives_records_pictures_and_verdicts(tmp_path):
    folder = tmp_path / "out"
    run = run_experiment("projection-stdlib", quick=True, folder=folder)
    assert {verdict.claim for verdict in run.verdicts} == {f"P{n}" for n in range(1, 13)}
    assert all(verdict.why for verdict in run.verdicts)
    kept = {entry.name for entry in (folder / RUNS).iterdir()}
    out = write_results(run, folder)
    content = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {entry.name for entry in out.iterdir()} == {*content["files"], RUNS}
    assert {"curves.png", "clusters.png"} <= set(content["files"])
    assert all(f"**{table.title}**" in (out / "tables.md").read_text("utf-8") for table in report_tables(run))
    again = run_experiment("projection-stdlib", quick=True, folder=folder)
    assert {entry.name for entry in (folder / RUNS).iterdir()} == kept
    assert again.findings.records == run.findings.records


def test_guess_needs_no_map_and_only_chooses(tmp_path):
    run = run_experiment("projection-stdlib", quick=True, folder=tmp_path, only=["chapters/CCA/1/*"])
    assert {record["method"] for record in run.findings.records} == {"Guess", "CCA"}
    study = study_of({"data": "modules", "fewest": 3})
    hits = []
    for seed in (0, 1):
        parts = dealt(study, 0.2, 1.0, seed)
        common = np.argmax(study.tags[parts.train].sum(axis=0))
        hits.append(study.tags[parts.test].toarray()[:, common].mean())
    guess = next(r for r in run.findings.records if r["method"] == "Guess" and r["training"] == 113)
    assert guess["NDCG"] == pytest.approx(np.mean(hits))
    assert "chapters/reference/1/1" in run.findings.notes[-1]
    with pytest.raises(UnknownNameError, match="chapters/CCA/1/0"):
        run_experiment("projection-stdlib", quick=True, folder=tmp_path, only=["chapters/CAC/1/0"])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "projection-stdlib"])
def test_quick_runs_on_public_data(name, tmp_path, data_dir):
    run = run_experiment(name, quick=True, folder=tmp_path / "out")
    assert all(verdict.why for verdict in run.verdicts)
    assert run.findings.pictures


def test_without_data_it_says_where_to_get_it(monkeypatch):
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    for name, needed in (("projection-nips", "nips"), ("projection-dissimilar", "reuters21578")):
        with pytest.raises(StorageError, match=rf"(?s){needed}.*RELSCAPE_DATA"):
            run_experiment(name)


# ---------------------------------------------------------------------- pictures and rules


def record(method, training=100, name="a", seconds=0.1, **values):
    """Make a record; a value is given as a list over splits."""
    means = {key: float(np.mean(own)) for key, own in values.items()}
    place = {"set": name, "training": training, "method": method}
    return {**place, **means, "CPU seconds": seconds, "refusal": "", "chosen": {"values": values}}


def rows(measure, ours, cca, ridge, guess=None, further=None, **place):
    found = [record("CCA", **place, **{measure: cca}), record("ridge CCA", **place, **{measure: ridge})]
    found.append(record("reference", **place, **{measure: ours}))
    if guess is not None:
        found.append(record("Guess", **place, **{measure: guess}))
    if further is not None:
        found.append(record("reference + x", **place, **{measure: further}))
    return found


def outcome(claim, found):
    return RULES[claim](found)[0]


@pytest.mark.parametrize(
    ("claim", "measure"),
    [("P2", "chosen: satisfied, train"), ("P3", "chosen: satisfied, test"), ("P5", "NDCG")],
)
def test_better_is_beyond_two_standard_errors_of_the_better_cca(claim, measure):
    assert outcome(claim, rows(measure, [0.6, 0.7], [0.2, 0.3], [0.5, 0.61])) == "reached"
    assert outcome(claim, rows(measure, [0.6, 0.7], [0.2, 0.3], [0.5, 0.7])) == "not reached"
    assert outcome(claim, rows(measure, [0.6, 0.7], [0.59, 0.72], [0.1, 0.1])) == "not reached"
    assert outcome(claim, rows(measure, [0.6, 0.7], [0.2, 0.3], [0.5, 0.6])[1:]) == "not tested"
    good, bad = rows(measure, [0.6], [0.2], [0.5]), rows(measure, [0.6], [0.2], [0.7], name="b")
    assert outcome(claim, good) == "reached"
    assert outcome(claim, good + bad) == "not reached"
    small = rows(measure, [0.1], [0.9], [0.9], training=10)
    assert outcome(claim, good + small) == "reached"
    assert RULES[claim](bad)[1].endswith("(better than CCA)")


def test_methods_with_fewer_splits_than_others_wait():
    found = rows("NDCG", [0.6, 0.7], [0.2, 0.3], [0.5, 0.6], further=[0.9])
    assert outcome("P5", found) == "reached"
    assert outcome("P9", found) == "not tested"
    assert outcome("P5", rows("NDCG", [0.6], [0.2, 0.3], [0.5, 0.6])) == "not tested"


def test_the_closest_half_counts_with_and_without_further_guidance():
    key = "chosen: closest half, train"
    assert outcome("P1", rows(key, [0.91], [0.5], [0.5], further=[0.95])) == "reached"
    assert outcome("P1", rows(key, [0.91], [0.5], [0.5], further=[0.89])) == "not reached"


def test_further_guidance_may_not_harm_and_should_help():
    key = "chosen: satisfied, train"
    assert outcome("P4", rows(key, [0.9], [0.5], [0.5], further=[0.895])) == "reached"
    assert outcome("P4", rows(key, [0.9], [0.5], [0.5], further=[0.885])) == "not reached"
    assert outcome("P4", rows(key, [0.9], [0.5], [0.5])) == "not tested"
    assert outcome("P9", rows("NDCG", [0.5, 0.6], [0.1], [0.1], further=[0.6, 0.71])) == "reached"
    assert outcome("P9", rows("NDCG", [0.5, 0.6], [0.1], [0.1], further=[0.6, 0.6])) == "not reached"


def test_fewer_axes_than_the_better_cca_needs():
    def found(*ours):
        curve = dict(zip(("≤ 1", "≤ 2", "≤ 5"), ([value] for value in ours), strict=True))
        theirs = {"≤ 1": [0.3], "≤ 2": [0.5], "≤ 5": [0.6], "NDCG": [0.6]}
        return [
            record("CCA", **{"≤ 1": [0.2], "≤ 2": [0.2], "≤ 5": [0.2], "NDCG": [0.2]}),
            record("ridge CCA", **theirs),
            record("reference", **curve, NDCG=[ours[-1]]),
        ]

    assert outcome("P6", found(0.4, 0.61, 0.7)) == "reached"
    assert outcome("P6", found(0.4, 0.55, 0.7)) == "not reached"
    assert "never" in RULES["P6"](found(0.4, 0.5, 0.55))[1]


def test_little_training_makes_all_alike():
    whole = rows("NDCG", [0.9], [0.2], [0.6], [0.1])
    assert outcome("P7", whole) == "not tested"
    assert outcome("P7", whole + rows("NDCG", [0.52], [0.5], [0.5], [0.48], training=9)) == "reached"
    assert outcome("P7", whole + rows("NDCG", [0.54], [0.5], [0.5], [0.48], training=9)) == "not reached"


def test_cca_is_slightly_above_guess():
    assert outcome("P8", rows("NDCG", [0.9], [0.2], [0.53], [0.5])) == "reached"
    assert outcome("P8", rows("NDCG", [0.9], [0.2], [0.6], [0.5])) == "not reached"
    assert outcome("P8", rows("NDCG", [0.9], [0.2], [0.45], [0.5])) == "not reached"


def test_clusters_are_compared_for_every_number():
    def found(ours, further):
        names = ("Rand, 2", "Rand, 5", "Rand, 10")
        values = [
            ("CCA", [0.1] * 3),
            ("ridge CCA", [0.5, 0.6, 0.7]),
            ("reference", ours),
            ("reference + x", further),
        ]
        return [record(m, **{n: [v] for n, v in zip(names, own, strict=True)}) for m, own in values]

    assert outcome("P10", found([0.495, 0.6, 0.7], [0.0] * 3)) == "reached"
    assert outcome("P10", found([0.9, 0.9, 0.68], [0.0] * 3)) == "not reached"
    assert outcome("P11", found([0.5, 0.5, 0.5], [0.6, 0.6, 0.6])) == "reached"
    assert outcome("P11", found([0.5, 0.5, 0.5], [0.6, 0.5, 0.6])) == "not reached"


def test_a_second_is_a_second():
    assert outcome("P12", [record("reference", seconds=0.9, NDCG=[0.5])]) == "reached"
    slow = record("reference + x", seconds=1.1, NDCG=[0.5])
    assert outcome("P12", [record("reference", NDCG=[0.5]), slow]) == "not reached"
    assert outcome("P12", [record("CCA", NDCG=[0.5])]) == "not tested"


def test_dissimilar_pairs_are_judged_on_two_axes():
    def found(both):
        values = {"similar only": [0.6, 0.7], "similar and dissimilar": both}
        return [
            {**record(m, **{"told apart": v, "NDCG": [0.5, 0.5]}), "axes": axes}
            for m, v in values.items()
            for axes in (1, 2)
        ]

    assert outcome("P13", found([0.7, 0.81])) == "reached"
    assert outcome("P13", found([0.9, 0.7])) == "not reached"
    assert outcome("P13", [r for r in found([0.9, 0.8]) if r["axes"] == 1]) == "not tested"


def test_pictures_show_curves_guess_and_spread():
    curve = {"thresholds": [0.0, 1.0], "similar": [0.0, 0.5]}
    found = []
    for training in (10, 100):
        own = record("reference", training, NDCG=[0.5, 0.7], **{"≤ 1": [0.4, 0.4], "≤ 2": [0.5, 0.7]})
        own |= {"± NDCG": 0.1, "Rand, 2": 0.8}
        own["chosen"] |= {"curves": {"train": curve, "test": curve}, "kind": "paper"}
        found += [own, record("Guess", training, NDCG=[0.3, 0.3])]
    pictures = all_pictures(found, [2])
    train, _, axes, training = pictures["curves"].axes
    assert train.lines[0].get_ydata().tolist() == [0.0, 0.5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2"]
    assert training.get_xlabel() == "training papers"
    labels = [text.get_text() for text in training.get_legend().get_texts()]
    assert sorted(labels) == ["Guess", "reference"]
    assert all_pictures([], [2]) == axes_pictures([], ["NDCG"]) == {}
    (panel,) = axes_pictures([{**r, "axes": 2} for r in found], ["NDCG"])["axes"].axes
    assert panel.get_ylabel() == "NDCG"


def test_tables_hold_all_measures():
    shown = tables("A title", [1, 2], [5])
    assert [len(names) for names in shown.values()] == [5, 8, 8, 3]
