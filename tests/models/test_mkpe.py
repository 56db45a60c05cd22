from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array

from relscape import datasets, place
from relscape.data import RelationalData
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models.mkpe import MKPE


@pytest.fixture
def relation(rng):
    return rng.gamma(2.0, size=(12, 9))


def kernel(left, right, width):
    return np.exp(-((left[:, None] - right[None]) ** 2).sum(axis=2) / width**2)


def test_places_are_orthonormal_and_the_misfit_is_theirs(relation):
    model = MKPE(n_components=3).fit(relation)
    X, Z = model.row_embedding_, model.column_embedding_
    assert_allclose(X.T @ X, np.eye(3), atol=1e-12)
    assert_allclose(Z.T @ Z, np.eye(3), atol=1e-12)
    K = relation / relation.max()
    assert_allclose(model.misfit_, ((kernel(X, Z, model.width_) - K) ** 2).mean(), rtol=1e-12)
    assert_allclose(model.constant_misfit_, K.var(), rtol=1e-12)
    assert model.misfit_ < model.constant_misfit_


def test_another_minimiser_finds_nothing_lower_nearby(relation):
    """A general minimiser, over all matrices whose columns are made orthonormal, does not get lower."""
    model = MKPE().fit(relation)
    K, m, k = relation / relation.max(), len(relation), 2

    def misfit(flat):
        X, Z = (np.linalg.qr(part.reshape(-1, k))[0] for part in np.split(flat[:-1], [m * k]))
        return ((kernel(X, Z, np.exp(flat[-1])) - K) ** 2).mean()

    start = np.concatenate(
        [model.row_embedding_.ravel(), model.column_embedding_.ravel(), [np.log(model.width_)]]
    )
    widths = (start[-1] - 3, start[-1] + 3)
    bounds = [(None, None)] * (len(start) - 1) + [widths]
    found = minimize(misfit, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 30})
    assert model.misfit_ <= found.fun + 1e-9


def test_planted_places_come_back(rng):
    """Similarities that are the kernel of orthonormal places are fitted exactly, distances and all."""
    X = np.linalg.qr(rng.normal(size=(30, 2)))[0]
    Z = X[rng.permutation(30)]
    model = MKPE(n_restarts=3, random_state=0).fit(kernel(X, Z, 0.5))
    assert model.misfit_ < 1e-10
    found = kernel(model.row_embedding_, model.column_embedding_, model.width_)
    assert_allclose(found, kernel(X, Z, 0.5), atol=1e-4)
    assert_allclose(model.width_, 0.5, rtol=1e-3)


def test_scale_of_the_relation_does_not_matter(relation):
    first, second = MKPE().fit(relation), MKPE().fit(1000 * relation)
    assert_allclose(first.misfit_, second.misfit_, rtol=1e-10)
    assert_allclose(first.row_embedding_, second.row_embedding_, atol=1e-5)


def test_what_a_sparse_relation_does_not_hold_is_0(rng):
    counts = rng.poisson(0.8, size=(15, 10)) + np.eye(15, 10)
    dense, sparse = MKPE().fit(counts), MKPE().fit(csr_array(counts))
    assert_allclose(dense.misfit_, sparse.misfit_, rtol=1e-10)
    assert_allclose(dense.row_embedding_, sparse.row_embedding_, atol=1e-5)


def test_similarities_within_kinds_pull(rng):
    """Two groups of rows that the relation cannot tell apart are told apart by their kernel."""
    relation = 1.0 + 0.01 * rng.uniform(size=(12, 8))
    group = np.repeat([0, 1], 6)
    same = (group[:, None] == group[None]).astype(float)
    model = MKPE(n_components=1, within_weight=10.0, n_restarts=3, random_state=0)
    X = model.fit(relation, row_kernel=same, column_kernel=csr_array(np.eye(8))).row_embedding_
    within = abs(X - X.T)[same == 1].max()
    across = abs(X - X.T)[same == 0].min()
    assert within < across


def test_kernels_without_weight_change_nothing(relation):
    alone = MKPE().fit(relation)
    beside = MKPE(within_weight=0.0).fit(relation, row_kernel=np.eye(12))
    assert_array_equal(alone.row_embedding_, beside.row_embedding_)


def test_objects_without_relation_have_no_place(relation):
    relation[3] = 0.0
    with pytest.warns(RelscapeWarning, match="1 of 12 row objects"):
        model = MKPE().fit(relation, row_kernel=np.eye(12))
    assert np.isnan(model.row_embedding_[3]).all()
    assert np.isfinite(model.row_embedding_[model.row_defined_]).all()
    assert len(model.to_map().group("row")) == 11


def test_restarts_are_told_and_the_lowest_wins(relation):
    model = MKPE(start="random", n_restarts=3, random_state=1).fit(relation)
    values = [end["value"] for end in model.restarts_]
    assert len(values) == 3
    assert model.misfit_ == min(values)
    assert model.to_map().scores["misfit"] == model.misfit_


def test_an_unfinished_descent_warns(relation):
    with pytest.warns(RelscapeWarning, match="2 iterations are spent"):
        MKPE(max_iterations=2).fit(relation)


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (np.eye(5), r"row_kernel has shape \(5, 5\); expected 12 × 12"),
        (2 * np.eye(12), "row_kernel: .*between 0 and 2"),
        (np.triu(np.ones((12, 12))), "row_kernel is not symmetric"),
    ],
)
def test_kernels_are_checked(relation, kernel, told):
    with pytest.raises(DataError, match=told):
        MKPE().fit(relation, row_kernel=kernel)


def test_parameters_are_checked(relation):
    with pytest.raises(UnknownNameError, match="start"):
        MKPE(start="warm").fit(relation)
    with pytest.raises(ParameterError, match="within_weight"):
        MKPE(within_weight=-1).fit(relation)
    with pytest.raises(ParameterError, match="room for 9 orthonormal axes"):
        MKPE(n_components=10).fit(relation)


def test_a_full_set_of_axes(relation):
    """As many axes as the smaller kind has objects; correspondence analysis has one less."""
    model = MKPE(n_components=9, max_iterations=2000, tolerance=1e-6).fit(relation)
    Z = model.column_embedding_
    assert_allclose(Z @ Z.T, np.eye(9), atol=1e-12)


def test_nothing_new_can_be_placed(relation):
    model = MKPE().fit(datasets.load_smoking())
    assert not hasattr(model, "transform")
    new = pd.DataFrame([[1, 2, 3, 4]], columns=model.column_entities_.ids, index=["new"])
    with pytest.raises(ParameterError, match="MKPE map has no place for new things"):
        place(model.to_map(), RelationalData.from_frame(new))
