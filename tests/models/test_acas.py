"""ACAS: its special cases, new objects, and its choice by quantised distances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.models import acas
from relscape.models.acas import ACAS
from relscape.models.spectral import (
    CFRM,
    BipartiteSpectral,
    CorrespondenceAnalysis,
    LatentSemanticIndexing,
)

MEMBERS = {"CA": (1, 0.5, 1), "BGP": (1, 0.5, 0), "LSI": (0, 0, 1), "CFRM": (0, 0, 0)}


@pytest.fixture
def table(rng):
    return rng.gamma(2.0, size=(9, 7))


@pytest.fixture
def similarity(rng):
    squares = cdist(rng.normal(size=(40, 2)), rng.normal(size=(30, 2)), "sqeuclidean")
    return np.exp(-squares / squares.mean())


def slow(R, p, alpha, beta, k):
    """Section 6.4 with numpy alone."""
    if p == 0:
        rows, columns = np.ones(R.shape[0]), np.ones(R.shape[1])
    else:
        rows, columns = np.linalg.norm(R, p, axis=1), np.linalg.norm(R, p, axis=0)
    U, values, Vt = np.linalg.svd(R / np.sqrt(np.outer(rows, columns)))
    axes = slice(1, k + 1) if p == 1 else slice(0, k)
    weights = values[axes] ** beta
    return rows[:, None] ** -alpha * U[:, axes] * weights, columns[:, None] ** -alpha * Vt.T[
        :, axes
    ] * weights


def slow_criterion(R, rows, columns, q=10):
    def cut(values):
        cuts = np.quantile(values, np.arange(1, q) / q)
        return 1 + (values[..., None] > cuts).sum(axis=-1)

    return np.linalg.norm(cut(R) - cut(-cdist(rows, columns, "sqeuclidean"))) / np.sqrt(R.size)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("p", [0, 1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize(("alpha", "beta"), [(0, 1), (0.5, 0), (1.3, 0.4), (0.2, -0.5)])
def test_places_are_those_of_the_definition(table, kind, p, alpha, beta):
    model = ACAS(3, p, alpha, beta).fit(kind(table))
    rows, columns = slow(table, p, alpha, beta, 3)
    signs = np.sign((model.row_embedding_ * rows).sum(axis=0))
    assert_allclose(model.row_embedding_ * signs, rows, rtol=1e-9, atol=1e-12)
    assert_allclose(model.column_embedding_ * signs, columns, rtol=1e-9, atol=1e-12)
    assert model.parameters_ == {"p": p, "alpha": alpha, "beta": beta}
    assert np.isnan(model.quantised_loss_)
    assert model.search_trace_ == []


def test_i12_members_are_ca_bgp_lsi_and_cfrm(table):
    root = np.sqrt(table.sum())  # CA is in the scale of P = R/ΣR
    for name, other, scale in (
        ("CA", CorrespondenceAnalysis(3), root),
        ("BGP", BipartiteSpectral(3), 1.0),
        ("LSI", LatentSemanticIndexing(3), 1.0),
        ("CFRM", CFRM(3), 1.0),
    ):
        model, truth = ACAS(3, *MEMBERS[name]).fit(table), other.fit(table)
        signs = np.sign((model.row_embedding_ * truth.row_embedding_).sum(axis=0))
        assert_allclose(model.row_embedding_ * signs * scale, truth.row_embedding_, atol=1e-10)
        assert_allclose(model.column_embedding_ * signs * scale, truth.column_embedding_, atol=1e-10)
        assert_allclose(model.singular_values_, truth.singular_values_, rtol=1e-10)


@pytest.mark.parametrize("p", [0, 1, 2, np.inf])
@pytest.mark.parametrize(("alpha", "beta"), [(0, 1), (0.5, 0), (1.3, 0.4)])
def test_new_objects_like_old_ones_get_their_places(table, p, alpha, beta):
    model = ACAS(3, p, alpha, beta).fit(table)
    assert_allclose(model.transform(table), model.row_embedding_, atol=1e-9)
    assert_allclose(model.transform_columns(table), model.column_embedding_, atol=1e-9)
    assert_allclose(model.transform(csr_array(table[2:5])), model.row_embedding_[2:5], atol=1e-9)


@pytest.mark.parametrize("p", [0, 1, 2, np.inf])
def test_objects_without_relations_get_no_place_and_change_nothing(table, p):
    padded = np.insert(np.insert(table, 4, 0.0, axis=0), 2, 0.0, axis=1)
    with pytest.warns(RelscapeWarning, match="no relation at all"):
        model = ACAS(3, p, 0.5, 0.5).fit(padded)
    plain = ACAS(3, p, 0.5, 0.5).fit(table)
    assert np.isnan(model.row_embedding_[4]).all()
    assert np.isnan(model.column_embedding_[2]).all()
    assert_allclose(np.delete(model.row_embedding_, 4, axis=0), plain.row_embedding_, atol=1e-10)
    # What a new row has to do with a column that has no place does not count.
    new = padded[[0]]
    new[0, 2] = 100.0
    assert_allclose(model.transform(new)[0], model.row_embedding_[0], atol=1e-9)
    with pytest.warns(RelscapeWarning, match="get no place"):
        assert np.isnan(model.transform(np.eye(8)[[2]])).all()


def test_the_search_leaves_out_objects_without_relations(similarity):
    padded = np.insert(similarity, 4, 0.0, axis=0)
    with pytest.warns(RelscapeWarning, match="no relation at all"):
        model = ACAS(random_state=0).fit(padded)
    plain = ACAS(random_state=0).fit(similarity)
    assert model.quantised_loss_ == pytest.approx(plain.quantised_loss_)
    assert model.parameters_ == plain.parameters_


def test_large_entries_do_not_overflow(table):
    plain, large = ACAS(2, 3, 0.5, 0.5).fit(table), ACAS(2, 3, 0.5, 0.5).fit(1e120 * table)
    assert np.isfinite(large.row_embedding_).all()
    assert_allclose(large.row_embedding_ * 1e60, plain.row_embedding_, rtol=1e-8)


def test_the_choice_is_never_worse_than_its_members(similarity, rng):
    for R in (similarity, rng.gamma(0.5, size=(25, 20)), rng.poisson(3.0, (30, 20)) + 1.0):
        model = ACAS(random_state=0).fit(R)
        loss = slow_criterion(R, model.row_embedding_, model.column_embedding_)
        assert model.quantised_loss_ == pytest.approx(loss, rel=1e-6)
        for p, alpha, beta in MEMBERS.values():
            assert loss <= slow_criterion(R, *slow(R, p, alpha, beta, 2)) + 1e-9


def test_the_trace_holds_every_candidate_once_and_the_chosen_one(similarity):
    model = ACAS(random_state=0).fit(similarity)
    trace = model.search_trace_
    assert all(set(entry) == {"p", "alpha", "beta", "loss"} for entry in trace)
    points = [(entry["p"], entry["alpha"], entry["beta"]) for entry in trace]
    assert len(set(points)) == len(points)
    assert {entry["p"] for entry in trace} == {0, 1, 2, 3, np.inf}
    assert set(MEMBERS.values()) - {MEMBERS["CFRM"]} <= set(points)  # for p = 0 any α is CFRM's
    best = min(trace, key=lambda entry: entry["loss"])
    assert best["loss"] == model.quantised_loss_
    assert model.parameters_.items() <= best.items()
    for entry in trace[::15]:
        places = slow(similarity, entry["p"], entry["alpha"], entry["beta"], 2)
        assert entry["loss"] == pytest.approx(slow_criterion(similarity, *places), abs=1e-3)


def test_what_is_given_stays_and_the_rest_is_searched(similarity):
    for fixed in ({"p": 2.0}, {"alpha": 0.33}, {"p": np.inf, "beta": -0.25}):
        model = ACAS(**fixed, random_state=0).fit(similarity)
        assert len(model.search_trace_) > 2
        for entry in (*model.search_trace_, model.parameters_):
            assert {name: entry[name] for name in fixed} == fixed
        by_hand = ACAS(2, **model.parameters_).fit(similarity)
        assert_array_equal(by_hand.row_embedding_, model.row_embedding_)


def test_sparse_relations_are_refused_with_the_reason_unless_all_is_given(rng):
    matrix = random_array((50, 40), density=0.1, random_state=rng).toarray()
    matrix[:, 0] = matrix[0] = 1.0
    sparse = csr_array(matrix)
    with pytest.raises(DataError, match=r"entries are 0: .* Give p, alpha and beta"):
        ACAS(random_state=0).fit(sparse)
    assert np.isfinite(ACAS(2, 1, 0.5, 1).fit(sparse).row_embedding_).all()


@pytest.mark.parametrize("all_pairs", [10**7, 1000])
def test_large_relations_are_searched_by_a_seeded_sample(similarity, monkeypatch, all_pairs):
    """Sketched by a sample, compared on all pairs where there are not too many, else on the sample."""
    monkeypatch.setattr(acas, "SAMPLE", 300)
    monkeypatch.setattr(acas, "ALL_PAIRS", all_pairs)
    model, again = (ACAS(random_state=1).fit(similarity) for _ in range(2))
    assert model.search_trace_ == again.search_trace_
    assert model.quantised_loss_ == again.quantised_loss_
    loss = slow_criterion(similarity, model.row_embedding_, model.column_embedding_)
    if all_pairs == 1000:
        assert model.quantised_loss_ == min(entry["loss"] for entry in model.search_trace_)
        assert model.quantised_loss_ == pytest.approx(loss, rel=0.3)
        return
    assert model.quantised_loss_ == pytest.approx(loss, rel=1e-6)
    for p, alpha, beta in MEMBERS.values():
        assert loss <= slow_criterion(similarity, *slow(similarity, p, alpha, beta, 2)) + 1e-9


def test_saved_and_loaded_with_infinity_and_nan(table, tmp_path, rng):
    given, chosen = ACAS(2, np.inf, 0.5, 1).fit(table), ACAS(p=np.inf, random_state=0).fit(table)
    new = rng.random((3, 7))
    for name, model in (("given", given), ("chosen", chosen)):
        again = ACAS.load(model.save(tmp_path / name))
        assert again.p == np.inf
        assert again.parameters_ == model.parameters_
        assert_array_equal(again.quantised_loss_, model.quantised_loss_)
        assert again.search_trace_ == model.search_trace_
        assert_array_equal(again.transform(new), model.transform(new))
        assert again.to_map().parameters == model.to_map().parameters
    assert np.isnan(ACAS.load(tmp_path / "given").quantised_loss_)


@pytest.mark.parametrize(
    "wrong",
    [
        {"p": 0.5},
        {"p": -1},
        {"p": np.nan},
        {"p": True},
        {"alpha": -0.1},
        {"alpha": np.inf},
        {"beta": np.inf},
        {"beta": "best"},
        {"n_quantiles": 1},
    ],
)
def test_impossible_parameters_are_refused(table, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ACAS(**wrong).fit(table)


def test_too_many_components(table):
    with pytest.raises(ParameterError, match="n_components=8 is too large"):
        ACAS(8, 1, 0.5, 1).fit(table)
    with pytest.warns(RelscapeWarning, match="has 6 axes; the others are zero"):
        assert not ACAS(7, 1, 0.5, 1).fit(table).row_embedding_[:, 6].any()
    assert ACAS(7, 0, 0, 1).fit(table).row_embedding_.shape == (9, 7)
