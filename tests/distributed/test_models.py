"""Models on a spread relation against the same models in memory, to 1e-8."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_diag, csr_array

import relscape as rs
from relscape.distributed import DistributedRelation
from relscape.errors import DataError, RelscapeWarning
from relscape.matrix.operators import LocalRelation
from relscape.objectives.cooccurrence import CooccurrenceObjective, Table


def counted(m, n, seed=0):
    """Counts with four topics, so that axes are well apart."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(4, size=m), rng.integers(4, size=n)
    rates = 0.05 + np.array([0.5, 0.8, 1.2, 1.7])[rows][:, None] * (rows[:, None] == columns)
    R = rng.poisson(rates)
    R[:, 0] += 1
    R[0, :] += 1
    return csr_array(R.astype(float))


@pytest.fixture(scope="module")
def small():
    return counted(70, 40)


def both(model, matrix, client, n_blocks=9):
    spread = DistributedRelation.from_matrix(matrix, n_blocks, client=client)
    return [model().fit(matrix), model().fit(spread)]


def assert_same(here, there, atol=1e-8):
    for name in ("row_embedding_", "column_embedding_"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=0, atol=atol)


SPECTRAL = {
    "ca": lambda: rs.CorrespondenceAnalysis(3),
    "bgp": lambda: rs.BipartiteSpectral(2),
    "lsi": lambda: rs.LatentSemanticIndexing(3),
    "cfrm": lambda: rs.CFRM(2),
    "cort": lambda: rs.CORT(2),
    "acas": lambda: rs.ACAS(2, random_state=0),
    "mutual": lambda: rs.CoEmbedding(2, max_evaluations=4, random_state=0),
}


@pytest.mark.parametrize("name", SPECTRAL)
def test_spectral_models(client, small, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        dense = small.toarray() + np.random.default_rng(1).random(small.shape)  # levels need unequal weights
        here, there = both(SPECTRAL[name], dense if name == "acas" else small, client)
    assert_same(here, there)
    if hasattr(here, "parameters_"):
        assert there.parameters_ == here.parameters_
    for learned in ("gamma_loss_", "quantised_loss_", "total_inertia_"):
        if hasattr(here, learned):
            assert getattr(there, learned) == pytest.approx(getattr(here, learned), abs=1e-10)


@pytest.mark.parametrize("shape", [(1500, 800), (800, 1500)])
def test_arpack_through_the_cluster(client, shape):
    """More than 10⁶ entries: Lanczos, in one round a step where the columns are the shorter side."""
    matrix = counted(*shape)
    spread = DistributedRelation.from_matrix(matrix, 8, client=client)
    before = spread.traffic.rounds
    there = rs.CorrespondenceAnalysis(3).fit(spread)
    assert spread.traffic.rounds > before + 10
    here = rs.CorrespondenceAnalysis(3).fit(matrix)
    assert_same(here, there)
    assert_allclose(there.row_cos2_, here.row_cos2_, atol=1e-8)
    assert_allclose(there.transform(matrix[:5]), here.transform(matrix[:5]), atol=1e-8)


@pytest.mark.parametrize("rule", ["largest", "each"])
def test_blocks_that_nothing_connects(client, rule):
    matrix = block_diag([counted(30, 20), counted(12, 9, seed=1), np.zeros((1, 2))], format="csr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        here, there = both(lambda: rs.BipartiteSpectral(2, components=rule), csr_array(matrix), client)
    assert_same(here, there)


@pytest.fixture(scope="module")
def evenly():
    """Counts without structure to speak of: the likelihood has one sharp maximum."""
    return csr_array(np.random.default_rng(0).poisson(1.0, (40, 30)).astype(float))


@pytest.mark.parametrize("model", ["CM", "MC", "MM", "CU", "UU"])
def test_likelihood_and_gradient(client, evenly, model, rng):
    spread = DistributedRelation.from_matrix(evenly, 6, client=client)
    points = rng.normal(size=(70, 3))
    tables = [
        Table(relation, equal) for equal in (False, True) for relation in (LocalRelation(evenly), spread)
    ]
    found = [CooccurrenceObjective(table, model, 0.1).value_and_gradient(points) for table in tables]
    for (value, gradient), (other, expected) in (found[0:2], found[2:4]):
        assert value == pytest.approx(other, rel=1e-13)
        assert_allclose(gradient, expected, rtol=0, atol=1e-13)


def test_likelihood_without_pairs_of_a_thing_with_itself(client, rng):
    square = rng.poisson(1.0, (30, 30)).astype(float)
    np.fill_diagonal(square, 0.0)
    spread = DistributedRelation.from_matrix(square, 4, client=client)
    points = rng.normal(size=(60, 2))
    found = [
        CooccurrenceObjective(Table(relation), "CM", 0.1, exclude_self=True).value_and_gradient(points)
        for relation in (LocalRelation(square), spread)
    ]
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-13)
    assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-13)


@pytest.mark.filterwarnings("ignore:the likelihood may not be at its highest")
@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ({"model": "CM", "max_iterations": 25}, (40, 30)),
        ({"model": "MC", "ridge": 1e-3, "equal_rows": True, "start": "random"}, (30, 40)),
        ({"model": "MM"}, (450, 300)),  # large enough for several threads here
    ],
)
def test_code_climbs_the_same_way_to_the_last_bit(client, settings, shape):
    """Weights that are no whole numbers: sums of floats would depend on their order."""
    rng = np.random.default_rng(0)
    matrix = csr_array(rng.poisson(1.0, shape) * rng.random(shape))
    model = {"n_restarts": 1, "max_iterations": 15, "random_state": 0, **settings}
    here, there = both(lambda: rs.CODE(**model), matrix, client, 3)
    assert there.solve_result_.trace == here.solve_result_.trace
    for name in ("row_embedding_", "column_embedding_"):
        assert_array_equal(getattr(there, name), getattr(here, name))
    assert there.log_likelihood_ == here.log_likelihood_
    assert there.saturated_log_likelihood_ == pytest.approx(here.saturated_log_likelihood_, abs=1e-12)


@pytest.mark.filterwarnings("ignore:the likelihood may not be at its highest")
def test_code_leaves_out_things_without_relations(client, evenly):
    matrix = evenly.toarray()
    matrix[5], matrix[:, 7] = 0.0, 0.0
    with pytest.warns(RelscapeWarning, match="no relation at all"):
        here, there = both(lambda: rs.CODE(2, n_restarts=1, max_iterations=5), csr_array(matrix), client, 3)
    assert np.isnan(there.row_embedding_[5]).all()
    assert_array_equal(there.row_embedding_, here.row_embedding_)


def test_names_maps_and_digest(client, small):
    docs, words = rs.EntitySet("doc", [f"d{i}" for i in range(70)]), rs.EntitySet("word", range(40))
    relations = [
        DistributedRelation.from_matrix(small, 5, client=client, row_entities=docs, column_entities=words)
        for _ in range(2)
    ]
    joint = rs.CorrespondenceAnalysis().fit(relations[0]).to_map()
    assert joint.groups == ("doc", "word")
    assert joint.provenance["data_fingerprint"] == relations[1].fingerprint
    here = rs.CorrespondenceAnalysis().fit(small).to_map()
    assert_allclose(joint.coordinates("doc"), here.coordinates("row"), atol=1e-8)


@pytest.mark.filterwarnings("ignore:the likelihood may not be at its highest")
@pytest.mark.filterwarnings("ignore:.*no relation at all")
def test_many_kinds_of_which_some_tables_are_spread(client, evenly):
    doc_word, author_word = evenly.toarray() / 3.0, evenly.toarray()[:9] + 0.7
    doc_word[3], doc_word[:, 5] = 0.0, 0.0
    here = {("doc", "word"): doc_word, ("author", "word"): author_word}
    there = {**here, ("doc", "word"): DistributedRelation.from_matrix(doc_word, 3, client=client)}
    found = [rs.MultiCODE(2, max_iterations=30, random_state=0).fit(tables) for tables in (here, there)]
    assert found[1].weights_ == found[0].weights_
    assert found[1].solve_result_.trace == found[0].solve_result_.trace
    for kind, points in found[0].embeddings_.items():
        assert_array_equal(found[1].embeddings_[kind], points)
    assert np.nanstd(found[0].embeddings_["doc"]) > 0.01
    with pytest.raises(DataError, match="word-word: pairs of a thing with itself"):
        square = DistributedRelation.from_matrix(np.ones((5, 5)), 2, client=client)
        rs.MultiCODE().fit({("word", "word"): square})


@pytest.mark.parametrize("model", [rs.PSDCODE(), rs.MKPE()], ids=lambda model: type(model).__name__)
def test_models_that_need_everything_in_one_place_say_so(client, model):
    relation = DistributedRelation.from_matrix(np.eye(6) + 1, 2, client=client)
    with pytest.raises(DataError, match="needs the whole relation in one place"):
        model.fit(relation)
