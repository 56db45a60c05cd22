"""MultiCODE: any number of kinds on one map."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import relscape as rs
from relscape.data import EntitySet, Relation, RelationalData
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models.code import CODE
from relscape.models.multi_code import MultiCODE
from relscape.models.registry import load_model, revive

pytestmark = pytest.mark.filterwarnings("ignore:the likelihood may not be at its highest")


@pytest.fixture
def tables(rng):
    """Documents, words and authors of three topics."""
    topic = np.repeat([0, 1, 2], [6, 5, 5])
    word = np.repeat([0, 1, 2], 5)
    author = np.arange(7) % 3
    return {
        ("doc", "word"): rng.poisson(0.5 + 4.0 * (topic[:, None] == word)),
        ("author", "word"): rng.poisson(0.5 + 4.0 * (author[:, None] == word)),
    }


@pytest.fixture
def fitted(tables):
    return MultiCODE(random_state=0, ridge=1e-3).fit(tables)


def test_shapes_and_what_is_learned(fitted, tables):
    shapes = {kind: points.shape for kind, points in fitted.embeddings_.items()}
    assert shapes == {"doc": (16, 2), "word": (15, 2), "author": (7, 2)}
    assert fitted.solve_result_.converged
    assert list(fitted.log_likelihoods_) == list(tables)
    weighted = sum(fitted.weights_[key] * ell for key, ell in fitted.log_likelihoods_.items())
    assert_allclose(fitted.log_likelihood_, weighted)
    assert fitted.models_ == dict.fromkeys(tables, "CM")
    assert_array_equal(
        fitted.degrees_["word"], tables["doc", "word"].sum(axis=0) + tables["author", "word"].sum(axis=0)
    )


def test_things_of_one_topic_are_near(fitted):
    """Authors and documents never occur together, but words join them."""
    joint = fitted.to_map()
    for author in range(7):
        near = [int(n.id) for n in joint.neighbors(("author", str(author)), "doc", 4)]
        assert all(author % 3 == (0 if i < 6 else 1 if i < 11 else 2) for i in near)


def test_weights(tables):
    sizes = np.array([1 / (16 * 15), 1 / (7 * 15)])
    fits = {
        "balanced": sizes / sizes.sum(),
        "equal": [0.5, 0.5],
        "doc-word=3,author-word=0.5": [3, 0.5],
    }
    for given, expected in fits.items():
        model = MultiCODE(weights=given, max_iterations=1, random_state=0).fit(tables)
        assert_allclose(list(model.weights_.values()), expected)
    by_kinds = {("author", "word"): 2, ("doc", "word"): 1}
    model = MultiCODE(weights=by_kinds, max_iterations=1, random_state=0).fit(tables)
    assert model.weights_ == {("doc", "word"): 1, ("author", "word"): 2}


def test_a_heavier_table_is_fitted_better(tables):
    keys = list(tables)
    light, heavy = (
        MultiCODE(weights={keys[0]: w, keys[1]: 1 - w}, ridge=1e-4, random_state=0).fit(tables)
        for w in (0.05, 0.95)
    )
    assert heavy.log_likelihoods_[keys[0]] > light.log_likelihoods_[keys[0]]
    assert heavy.log_likelihoods_[keys[1]] < light.log_likelihoods_[keys[1]]


@pytest.mark.parametrize("model", ["CM", "MC", "MM", "CU"])
@pytest.mark.parametrize("equal_rows", [False, True])
def test_two_kinds_are_code(tables, model, equal_rows):
    counts = tables["doc", "word"]
    settings = {"ridge": 1e-3, "n_restarts": 1, "equal_rows": equal_rows, "random_state": 0}
    single = CODE(model=model, **settings).fit(counts)
    many = MultiCODE(models=model, **settings).fit({("doc", "word"): counts})
    assert_allclose(many.solve_result_.value, single.solve_result_.value, rtol=1e-9)
    assert_allclose(many.log_likelihood_, single.log_likelihood_, rtol=1e-7)
    squares = [((r[:, None] - c[None]) ** 2).sum(axis=2) for r, c in (
        (single.row_embedding_, single.column_embedding_),
        (many.embeddings_["doc"], many.embeddings_["word"]),
    )]  # fmt: skip
    assert_allclose(squares[1], squares[0], rtol=1e-3, atol=1e-3)


def test_transposing_a_table_swaps_its_letters(tables):
    turned = {("word", "doc"): tables["doc", "word"].T, ("author", "word"): tables["author", "word"]}
    one = MultiCODE(ridge=1e-3, random_state=0).fit(tables)
    other = MultiCODE(ridge=1e-3, random_state=0).fit(turned, models={("word", "doc"): "MC"})
    assert_allclose(other.log_likelihood_, one.log_likelihood_, rtol=1e-8)


def test_models_by_relation(tables):
    texts = ("author-word=UU", {("author", "word"): "UU"}, {"author-word": "UU"})
    for given in texts:
        model = MultiCODE(models=given, max_iterations=1, random_state=0).fit(tables)
        assert model.models_ == {("doc", "word"): "CM", ("author", "word"): "UU"}
    assert MultiCODE(max_iterations=1).fit(tables, models="MM").models_["doc", "word"] == "MM"


# ---------------------------------------------------------------------- within one kind, and three at once


def test_within_one_kind(rng, tables):
    """A within relation pulls its things together."""
    links = np.zeros((7, 7))
    links[0, 3] = links[3, 6] = links[1, 4] = links[2, 5] = 5.0
    plain = MultiCODE(ridge=1e-3, random_state=0, weights="equal").fit(tables)
    linked = clone(plain).fit({**tables, ("author", "author"): links})

    def gap(model):
        points = model.embeddings_["author"]
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        return apart[links > 0].mean() / apart[~np.eye(7, dtype=bool)].mean()

    assert gap(linked) < gap(plain)
    assert np.isfinite(linked.log_likelihoods_["author", "author"])


def test_pairs_of_a_thing_with_itself(tables):
    links = np.eye(7) + np.eye(7, k=1)
    with pytest.warns(RelscapeWarning, match="7 things are related to themselves"):
        left_out = MultiCODE(ridge=1e-3, random_state=0).fit({**tables, ("author", "author"): links})
    again = MultiCODE(ridge=1e-3, random_state=0).fit({**tables, ("author", "author"): np.eye(7, k=1)})
    assert left_out.log_likelihood_ == again.log_likelihood_
    kept = MultiCODE(ridge=1e-3, random_state=0, exclude_self=False)
    kept.fit({**tables, ("author", "author"): links})
    assert kept.log_likelihood_ != again.log_likelihood_
    with pytest.warns(RelscapeWarning), pytest.raises(DataError, match="nothing but things with themselves"):
        MultiCODE().fit({("author", "author"): np.eye(7)})


def test_three_way_counts(rng):
    topic = {"doc": np.arange(9) % 3, "word": np.arange(12) % 3, "author": np.arange(6) % 3}
    same = (
        (topic["doc"][:, None, None] == topic["word"][None, :, None])
        & (topic["doc"][:, None, None] == topic["author"][None, None, :])
    )  # fmt: skip
    counts = rng.poisson(0.1 + 3.0 * same).astype(float)
    key = ("doc", "word", "author")
    model = MultiCODE(ridge=1e-3, random_state=0).fit({key: counts})
    assert model.models_ == {key: "MMM"}
    joint = model.to_map()
    for doc in range(9):
        assert {int(n.id) % 3 for n in joint.neighbors(("doc", str(doc)), "word", 3)} == {doc % 3}
        assert {int(n.id) % 3 for n in joint.neighbors(("doc", str(doc)), "author", 2)} == {doc % 3}
    cells = np.argwhere(counts > 0)
    values = counts[tuple(cells.T)]
    forms = [(cells, values), (*cells.T, values), coo_array((values, tuple(cells.T)), shape=counts.shape)]
    for form in forms:
        other = MultiCODE(ridge=1e-3, random_state=0).fit({key: form})
        assert_allclose(other.log_likelihood_, model.log_likelihood_, rtol=1e-9)
    doubled = (np.vstack([cells, cells]), np.tile(values / 2, 2))
    assert_allclose(
        MultiCODE(ridge=1e-3, random_state=0).fit({key: doubled}).log_likelihood_, model.log_likelihood_
    )
    unweighted = MultiCODE(models="UUM", max_iterations=3, random_state=0).fit({key: counts})
    assert unweighted.models_ == {key: "UUM"}


def test_the_cells_of_two_kinds_may_be_listed(tables):
    """(indices, counts) is understood for two kinds too."""
    counts = tables["doc", "word"]
    cells = np.argwhere(counts > 0)
    dense = MultiCODE(models="MM", ridge=1e-3, random_state=0).fit({("doc", "word"): counts})
    listed = MultiCODE(models="MM", ridge=1e-3, random_state=0).fit(
        {("doc", "word"): (cells, counts[tuple(cells.T)])}
    )
    assert_allclose(listed.log_likelihood_, dense.log_likelihood_)


# ---------------------------------------------------------------------- names, data, maps, files


def named_data(tables):
    kinds = {"doc": 16, "word": 15, "author": 7}
    entities = [EntitySet(kind, [f"{kind[0]}{i}" for i in range(n)]) for kind, n in kinds.items()]
    entities[0] = entities[0].with_fields(entities[0].ids, {"year": np.arange(16) + 2000})
    return RelationalData(entities, [Relation("-".join(k), *k, csr_array(t)) for k, t in tables.items()])


def test_relational_data_and_its_names(fitted, tables):
    data = named_data(tables)
    model = MultiCODE(random_state=0, ridge=1e-3).fit(data)
    assert_allclose(model.log_likelihood_, fitted.log_likelihood_)
    joint = model.to_map()
    assert joint.groups == ("doc", "word", "author")
    assert joint.group("author").ids.tolist() == [f"a{i}" for i in range(7)]
    assert joint.group("doc").fields["year"][3] == 2003
    assert joint.provenance["data_fingerprint"] == data.fingerprint()
    assert_allclose(joint.scores["log_likelihood doc-word"], model.log_likelihoods_["doc", "word"])


def test_frames_are_matched_by_name(tables, fitted):
    words = [f"w{i}" for i in range(15)]
    docs = pd.DataFrame(tables["doc", "word"], columns=words, index=[f"d{i}" for i in range(16)])
    authors = pd.DataFrame(tables["author", "word"], columns=words, index=[f"a{i}" for i in range(7)])
    frames = {("doc", "word"): docs, ("author", "word"): authors[words[::-1]]}
    model = MultiCODE(random_state=0, ridge=1e-3).fit(frames)
    assert model.entities_["word"].ids.tolist() == words
    assert_allclose(model.log_likelihood_, fitted.log_likelihood_, rtol=1e-9)


def test_things_without_relation(tables):
    tables["doc", "word"][3] = 0
    with pytest.warns(RelscapeWarning, match=r"1 of 16 doc objects \('3'\) have no relation at all"):
        model = MultiCODE(random_state=0).fit(tables)
    assert np.isnan(model.embeddings_["doc"][3]).all()
    assert np.isfinite(np.delete(model.embeddings_["doc"], 3, axis=0)).all()
    assert "3" not in model.to_map().group("doc").ids


def test_thing_in_one_table_only(tables):
    """A word that no author uses has a place by its documents."""
    tables["author", "word"][:, 4] = 0
    model = MultiCODE(random_state=0, ridge=1e-3).fit(tables)
    assert np.isfinite(model.embeddings_["word"][4]).all()


def test_separate_kinds_are_warned_of(tables, rng):
    apart = {**tables, ("shop", "city"): rng.poisson(3, (4, 3)) + 1}
    with pytest.warns(RelscapeWarning, match="doc, word, author; shop, city"):
        MultiCODE(random_state=0, max_iterations=3).fit(apart)


def test_save_and_load(fitted, tables, tmp_path):
    model = clone(fitted).set_params(
        models={("doc", "word"): "MM"}, weights=dict.fromkeys(tables, 0.5), max_iterations=20
    )
    model.fit(tables)
    for loaded in (MultiCODE.load(model.save(tmp_path / "m")), load_model(tmp_path / "m")):
        assert loaded.log_likelihoods_ == model.log_likelihoods_
        assert loaded.weights_ == model.weights_
        assert loaded.models_ == model.models_
        assert loaded.solve_result_.reason == model.solve_result_.reason
        for kind, points in model.embeddings_.items():
            assert_array_equal(loaded.embeddings_[kind], points)
        new = {("doc", "word"): tables["doc", "word"][:3]}
        assert_array_equal(loaded.place("doc", new), model.place("doc", new))
    header = json.loads((tmp_path / "m" / "model.json").read_text())
    assert header["parameters"]["models"] == {"doc-word": "MM"}
    again = clone(loaded).fit(tables)
    assert_allclose(again.log_likelihood_, model.log_likelihood_)


def test_map_carries_the_model(fitted, tables, tmp_path):
    fitted.to_map().save(tmp_path / "map")
    joint = rs.Map.load(tmp_path / "map")
    assert joint.groups == ("doc", "word", "author")
    assert revive(joint.model_state).log_likelihoods_ == fitted.log_likelihoods_


def test_random_starts_and_given_starts(tables):
    settings = {"ridge": 1e-3, "random_state": 0}
    several = MultiCODE(n_restarts=3, **settings).fit(tables)
    assert len(several.restarts_) == 3
    assert_allclose(several.solve_result_.value, min(r["value"] for r in several.restarts_), rtol=1e-9)
    places = several.embeddings_
    given = MultiCODE(start=places, **settings).fit(tables)
    assert given.solve_result_.iterations < 5
    assert_allclose(given.log_likelihood_, several.log_likelihood_, rtol=1e-8)
    assert MultiCODE(start="random", max_iterations=2, **settings).fit(tables).solve_result_.iterations == 2


def test_more_axes_than_a_table_has(rng):
    counts = rng.poisson(3, (2, 3)) + 1
    model = MultiCODE(n_components=3, ridge=1e-3, random_state=0).fit({("a", "b"): counts})
    assert model.embeddings_["a"].shape == (2, 3)
    assert np.isfinite(model.log_likelihood_)


# ---------------------------------------------------------------------- new things


def test_training_rows_find_their_own_place(rng, tables):
    """Invariant J13, with one relation and with two."""
    written = {**tables, ("doc", "author"): rng.poisson(1.0, (16, 7)) + 1}
    model = MultiCODE(ridge=1e-3, random_state=0, tolerance=1e-10).fit(written)
    docs = {("doc", "word"): written["doc", "word"], ("doc", "author"): csr_array(written["doc", "author"])}
    assert_allclose(model.place("doc", docs), model.embeddings_["doc"], atol=1e-5)
    alone = MultiCODE(ridge=1e-3, random_state=0, tolerance=1e-10, equal_rows=True).fit(tables)
    placed = alone.place("author", {("author", "word"): tables["author", "word"]})
    assert_allclose(placed, alone.embeddings_["author"], atol=1e-5)


def test_placing_on_the_other_side(fitted, tables):
    """A new word used as word 0 is comes near it; its key may be written either way."""
    new = {("word", "doc"): tables["doc", "word"].T[:1], ("author", "word"): tables["author", "word"].T[:1]}
    placed = fitted.place("word", new)
    nearest = fitted.to_map().nearest(placed[0], "word", 5)
    assert "0" in [n.id for n in nearest]


def test_named_newcomers_and_those_without_relation(tables):
    model = MultiCODE(random_state=0, ridge=1e-3).fit(named_data(tables))
    edges = [*(("new", f"w{i}", 6) for i in range(5)), ("lost", "w9", 0)]
    data = RelationalData.from_edges(edges, rows="author", columns="word")
    with pytest.warns(RelscapeWarning, match=r"1 of 2 new author objects \('lost'\)"):
        placed = model.place("author", data)
    there = dict(zip(data.entities["author"].ids, placed, strict=True))
    assert np.isnan(there["lost"]).all()
    assert {n.id for n in model.to_map().nearest(there["new"], "author", 3)} <= {"a0", "a3", "a6"}


def test_place_puts_newcomers_on_a_map(tables):
    joint = MultiCODE(random_state=0, ridge=1e-3).fit(named_data(tables)).to_map()
    data = RelationalData.from_edges([("new", "w0", 3), ("new", "w2", 2)], rows="author", columns="word")
    grown = rs.place(joint, data, "author")
    assert "new" in grown.group("author").ids
    assert len(grown.group("doc")) == 16
    with pytest.raises(ParameterError, match="kind"):
        rs.place(joint, data, "reader")
    with pytest.raises(DataError, match="no 'doc'"):
        rs.place(joint, data)


def test_what_cannot_be_placed(fitted, rng):
    with pytest.raises(UnknownNameError, match="'reader'"):
        fitted.place("reader", {})
    with pytest.raises(DataError, match="by pairs of kinds"):
        fitted.place("doc", np.ones((1, 15)))
    with pytest.raises(UnknownNameError, match="doc-word"):
        fitted.place("doc", {("doc", "author"): np.ones((1, 7))})
    with pytest.raises(DataError, match="15 word things"):
        fitted.place("doc", {("doc", "word"): np.ones((1, 7))})
    with pytest.raises(DataError, match="Negative"):
        fitted.place("doc", {("doc", "word"): -np.ones((1, 15))})
    with pytest.raises(DataError, match="how many new word things"):
        fitted.place("word", {("doc", "word"): np.ones((1, 16)), ("author", "word"): np.ones((2, 7))})


# ---------------------------------------------------------------------- mistakes


def test_not_fitted():
    for ask in (MultiCODE().to_map, lambda: MultiCODE().save("x"), lambda: MultiCODE().place("doc", {})):
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "an empty dict"),
        (np.ones((3, 3)), "this is of type ndarray"),
        ({"doc-word": np.ones((3, 3))}, "tuple of kinds"),
        ({("doc",): np.ones(3)}, "tuple of kinds"),
        ({("doc", "word"): np.zeros((3, 3))}, "doc-word is empty"),
        ({("doc", "word"): np.array([[1.0, -2.0]])}, "doc-word: 1 counts .* -2 between doc '0' and word '1'"),
        ({("doc", "word"): np.array([[1.0, np.nan]])}, "not finite"),
        ({("doc", "word"): np.ones((3, 3, 3))}, "two dimensions"),
        ({("doc", "word", "author"): np.ones((3, 3))}, "array of 3 dimensions, this one has 2"),
        ({("a", "b", "c"): (np.zeros((2, 2), int), np.ones(2))}, "indices of shape"),
        ({("a", "b", "c"): (np.zeros((2, 3)), np.ones(2))}, "float64"),
        ({("a", "b", "c"): (np.full((2, 3), -1), np.ones(2))}, "-1 is negative"),
        ({("a", "b", "c"): ([0], [0], [0])}, "3 columns and counts"),
        ({("a", "b"): np.ones((2, 3)), ("c", "b"): np.ones((2, 4))}, "'b' are there\\? 3 by a-b, 4 by c-b"),
        ({("a", "b"): np.ones((2, 3)), ("a", "b", "c"): ([5], [0], [0], [1.0])}, "goes up to 5"),
    ],
)  # fmt: skip
def test_what_is_no_relation(given, message):
    with pytest.raises(DataError, match=message):
        MultiCODE().fit(given)


def test_two_relations_of_the_same_kinds(tables):
    data = named_data(tables)
    again = data.with_relation(Relation("again", "doc", "word", tables["doc", "word"]))
    with pytest.raises(DataError, match="several relations join 'doc' and 'word'"):
        MultiCODE().fit(again)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"ridge": -1}, "ridge"),
        ({"tolerance": "small"}, "tolerance"),
        ({"n_restarts": 0}, "n_restarts"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"solver": "newton"}, "solver 'newton'"),
        ({"start": "warm"}, "start 'warm'"),
        ({"start": 3}, "start: give 'ca'"),
        ({"start": {"doc": np.zeros((16, 2))}}, "no places for kind 'word'"),
        ({"start": {"doc": np.zeros((15, 2))}}, r"kind 'doc' have shape \(15, 2\)"),
        ({"weights": "fair"}, "rule for weights 'fair'"),
        ({"weights": {("doc", "word"): 1.0}}, "'author-word' has none"),
        ({"weights": "doc-word=1,author-word=much"}, "author-word has 'much'"),
        ({"weights": {("doc", "word"): 1.0, ("author", "word"): -1.0}}, "author-word has -1.0"),
        ({"weights": {("doc", "word"): 0.0, ("author", "word"): 0.0}}, "all are 0"),
        ({"weights": {("doc", "wrod"): 1.0}}, "Did you mean 'doc-word'"),
        ({"models": "CC"}, "'CC'"),
        ({"models": "MMM"}, "'MMM'"),
        ({"models": "doc-author=CM"}, "'doc-author'"),
        ({"models": {("doc", "word"): "XY"}}, "'XY'"),
    ],
)
def test_wrong_settings(tables, settings, message):
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        MultiCODE(**settings).fit(tables)


@pytest.mark.filterwarnings("ignore:.*have no relation at all")
def test_nips_papers_words_and_authors(data_dir):
    """Better than independence, which all points in one place would be."""
    data = rs.datasets.load_nips()
    words = np.argsort(-data.degrees("word", "counts"))[100:500]
    data = data.select("word", np.sort(words)).select("author", data.degrees("author", "authors") >= 8)
    data = RelationalData(data.entities.values(), [data.relations["counts"], data.relations["authors"]])
    model = MultiCODE(weights="equal", ridge=1e-4, max_iterations=60, random_state=0).fit(data)
    for name, key in (("counts", ("doc", "word")), ("authors", ("doc", "author"))):
        p = data.matrix(name) / data.matrix(name).sum()
        sums = np.concatenate([p.sum(axis=0), p.sum(axis=1)])
        assert model.log_likelihoods_[key] > sums[sums > 0] @ np.log(sums[sums > 0])


def test_a_table_without_weight_does_not_count(rng):
    """With weight 0 the other table is fitted as if alone; what only the idle one joins shrinks to a spot."""
    words, authors = rng.poisson(2.0, (9, 7)) + 0.5, rng.poisson(2.0, (4, 7)) + 0.5
    weights = {("doc", "word"): 1.0, ("author", "word"): 0.0}
    both = MultiCODE(weights=weights, ridge=1e-3).fit({("doc", "word"): words, ("author", "word"): authors})
    alone = CODE(ridge=1e-3, n_restarts=1).fit(words)
    assert both.log_likelihoods_["doc", "word"] == pytest.approx(alone.log_likelihood_, abs=1e-6)
    authors_spread = both.embeddings_["author"] - both.embeddings_["author"].mean(axis=0)
    assert np.abs(authors_spread).max() < 1e-4


@pytest.mark.parametrize("model", ["MC", "CM", "MM"])
def test_newcomers_of_a_relation_within_a_kind_see_the_normalisers_of_the_fit(rng, model):
    """The factors that place newcomers leave pairs of a thing with itself out, as the likelihood does."""
    counts = rng.poisson(2.0, (8, 8)) + 0.5
    np.fill_diagonal(counts, 0.0)
    fitted = MultiCODE(models=model, ridge=1e-3).fit({("word", "word"): counts})
    points, p = fitted.embeddings_["word"], counts / counts.sum()
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    alpha = p.sum(axis=1) if model[0] == "M" else np.ones(8)
    beta = p.sum(axis=0) if model[1] == "M" else np.ones(8)
    kernel = alpha[:, None] * beta * np.exp(-squares) * ~np.eye(8, dtype=bool)
    expected = np.log(beta)
    if model[1] == "C":
        expected = np.log(p.sum(axis=0)) - np.log(kernel.sum(axis=0))
    assert np.allclose(fitted.relation0_log_factors1_, expected, atol=1e-12)


def test_frames_of_newcomers_are_matched_by_name(rng):
    counts = rng.poisson(2.0, (9, 5)) + 0.5
    words = [f"w{j}" for j in range(5)]
    frame = pd.DataFrame(counts, columns=words, index=[f"d{i}" for i in range(9)])
    model = MultiCODE(ridge=1e-2).fit({("doc", "word"): frame})
    expected = model.place("doc", {("doc", "word"): frame[:2]})
    assert np.allclose(model.place("doc", {("doc", "word"): frame[:2][words[::-1]]}), expected)
    assert np.allclose(expected, model.embeddings_["doc"][:2], atol=1e-4)
