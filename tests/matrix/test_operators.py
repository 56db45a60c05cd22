"""Relations as operators against the dense matrices they stand for."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from scipy.sparse.csgraph import connected_components

from relscape.matrix.components import bipartite_components
from relscape.matrix.operators import LocalRelation, ScaledRelation
from relscape.matrix.scaling import power, profile_distances
from relscape.protocols import RelationOperator


def twice(matrix):
    """The same matrix as CSR that stores every entry in two unequal parts."""
    once = csr_array(matrix)
    data = np.repeat(once.data, 2) * np.tile([0.25, 0.75], once.nnz)
    return csr_array((data, np.repeat(once.indices, 2), 2 * once.indptr), shape=once.shape)


@pytest.fixture(params=["sparse", "dense", "repeated"])
def relation(request, rng):
    matrix = random_array((40, 25), density=0.2, random_state=rng)
    if request.param == "repeated":
        matrix = twice(matrix)
    return LocalRelation(matrix.toarray() if request.param == "dense" else csr_array(matrix))


def dense(relation):
    matrix = relation.matrix
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def test_local_relation_is_a_relation_operator(relation, rng):
    assert isinstance(relation, RelationOperator)
    R = dense(relation)
    assert relation.shape == R.shape
    assert_allclose(relation.row_sums(), R.sum(axis=1))
    assert_allclose(relation.column_sums(), R.sum(axis=0))
    for right in (rng.normal(size=25), rng.normal(size=(25, 3))):
        assert_allclose(relation.matmat(right), R @ right, atol=1e-14)
    for left in (rng.normal(size=40), rng.normal(size=(40, 3))):
        assert_allclose(relation.rmatmat(left), R.T @ left, atol=1e-14)


def test_the_normal_product_is_two_products(relation, rng):
    R, right, weights = dense(relation), rng.normal(size=25), rng.random(40)
    assert_allclose(relation.normal(right, weights), R.T @ (weights * (R @ right)), atol=1e-13)
    assert_array_equal(dense(relation.transposed()), R.T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_the_normal_product_of_many_rows_is_that_of_any_number_of_threads(rng, dtype):
    matrix = csr_array(rng.poisson(0.5, size=(4_000, 30)).astype(dtype))
    right, weights = rng.normal(size=30), rng.random(4_000)
    expected = matrix.toarray().T @ (weights * (matrix.toarray() @ right))
    found = LocalRelation(matrix).normal(right, weights)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert_array_equal(LocalRelation(matrix).normal(right, weights), found)
    finally:
        numba.set_num_threads(threads)


def test_blocks_cover_the_relation_in_order(relation):
    parts = list(relation.row_blocks(16))
    assert [part.start for part, _ in parts] == [0, 16, 32]
    assert_array_equal(np.vstack([block.toarray() for _, block in parts]), dense(relation))


@pytest.mark.parametrize("deflate", [False, True])
def test_scaled_relation(relation, rng, deflate):
    rows, columns = rng.random(40), rng.random(25)
    deflated = (rng.normal(size=40), rng.normal(size=25)) if deflate else None
    operator = ScaledRelation(relation, rows, columns, deflated)
    explicit = rows[:, None] * dense(relation) * columns
    if deflated:
        explicit = explicit - np.outer(*deflated)
    assert_allclose(operator.matmat(np.eye(25)), explicit, atol=1e-14)
    assert_allclose(operator.rmatmat(np.eye(40)), explicit.T, atol=1e-14)
    assert_allclose(operator.matvec(np.arange(25.0)), explicit @ np.arange(25), atol=1e-12)
    assert_allclose(operator.rmatvec(np.arange(40.0)), explicit.T @ np.arange(40), atol=1e-12)


def test_components_against_the_whole_graph(rng):
    """Same partition as scipy finds in the (m + n)-node graph, numbered by size."""
    for _ in range(20):
        R = (rng.random((12, 9)) < 0.1).astype(float)
        rows, columns = bipartite_components(csr_array(R))
        graph = np.block([[np.zeros((12, 12)), R], [R.T, np.zeros((9, 9))]])
        _, truth = connected_components(graph, directed=False)
        ours = np.concatenate([rows, columns])
        isolated = graph.sum(axis=0) == 0
        assert_array_equal(ours == -1, isolated)
        kept = ~isolated
        same_ours = ours[kept][:, None] == ours[kept]
        assert_array_equal(same_ours, truth[kept][:, None] == truth[kept])
        sizes = np.bincount(ours[kept]) if kept.any() else np.zeros(0)
        assert (np.diff(sizes) <= 0).all()


def test_stored_zeros_connect_nothing():
    R = csr_array(([1.0, 0.0, 1.0, 1.0], ([0, 0, 1, 2], [0, 2, 0, 2])), shape=(3, 3))
    rows, columns = bipartite_components(R)
    assert rows.tolist() == [0, 0, 1]
    assert columns.tolist() == [0, -1, 1]
    assert R.nnz == 4


def test_power_of_nothing_is_nothing():
    assert_array_equal(power(np.array([4.0, 0.0, 0.25]), -0.5), [0.5, 0.0, 2.0])
    assert_array_equal(power(np.array([4.0, 0.0]), 0.0), [1.0, 0.0])


def test_profile_distances(relation):
    R = dense(relation) + 0.0
    used = R[:, R.sum(axis=0) > 0][R.sum(axis=1) > 0]
    P = used / used.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    expected_rows = ((P / r[:, None] - c) ** 2 / c).sum(axis=1)
    expected_columns = ((P / c - r[:, None]) ** 2 / r[:, None]).sum(axis=0)
    rows, columns = profile_distances(relation, R.sum(axis=1), R.sum(axis=0))
    assert_allclose(rows[R.sum(axis=1) > 0], expected_rows, rtol=1e-12)
    assert_allclose(columns[R.sum(axis=0) > 0], expected_columns, rtol=1e-12)
