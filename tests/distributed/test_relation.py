"""A relation spread over processes against the same relation in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_diag, csr_array, random_array, vstack

import relscape as rs
from relscape.distributed import DistributedRelation
from relscape.errors import DataError, ParameterError
from relscape.matrix.components import bipartite_components, relation_components
from relscape.matrix.mutual_blocks import relation_pairs
from relscape.matrix.mutual_pairs import mutual_pairs
from relscape.matrix.scaling import p_norms, relation_norms
from relscape.matrix.selecting import SelectedRelation, entries_at, submatrix
from relscape.protocols import BlockedRelation, RelationOperator


def counts(m, n, density=0.2, seed=0):
    rng = np.random.default_rng(seed)
    matrix = random_array((m, n), density=density, random_state=rng, format="csr")
    matrix.data = np.ceil(matrix.data * 5)
    return csr_array(matrix)


@pytest.fixture(scope="module")
def matrix():
    whole = counts(60, 25).toarray()
    whole[[7, 30]] = 0.0  # rows without any relation
    whole[:, 4] = 0.0
    return csr_array(whole)


@pytest.fixture(scope="module")
def relation(client, matrix):
    return DistributedRelation.from_matrix(matrix, 11, client=client)  # two levels of sums


def test_it_is_a_relation_operator(relation, matrix, rng):
    assert isinstance(relation, RelationOperator)
    assert isinstance(relation, BlockedRelation)
    R = matrix.toarray()
    assert relation.shape == R.shape
    assert relation.n_stored == matrix.nnz
    assert_allclose(relation.row_sums(), R.sum(axis=1))
    assert_allclose(relation.column_sums(), R.sum(axis=0))
    for right in (rng.normal(size=25), rng.normal(size=(25, 3))):
        assert_allclose(relation.matmat(right), R @ right, atol=1e-12)
    for left in (rng.normal(size=60), rng.normal(size=(60, 3))):
        assert_allclose(relation.rmatmat(left), R.T @ left, atol=1e-12)
    right, weights = rng.normal(size=25), rng.random(60)
    for factor in (1.0, 2.0):  # other weights replace those that stay with the workers
        expected = R.T @ (factor * weights * (R @ right))
        assert_allclose(relation.normal(right, factor * weights), expected, rtol=1e-12)
    parts = list(relation.row_blocks(4))
    assert max(block.shape[0] for _, block in parts) <= 4
    assert parts[-1][0].stop == 60
    assert_array_equal(vstack([block for _, block in parts]).toarray(), R)


def test_no_block_sends_sums_of_all_columns_here(client, matrix):
    spread = DistributedRelation.from_matrix(matrix, 11, client=client)
    assert spread.traffic.received == 8 * (60 + 25)  # a sum of every row and of every column


def test_sums_are_the_same_bits_whatever_happens_where(client, rng):
    matrix = random_array((90, 20), density=0.5, random_state=rng, format="csr")
    left = rng.normal(size=90)
    one, other = (DistributedRelation.from_matrix(matrix, 20, client=client) for _ in range(2))
    assert_array_equal(one.rmatmat(left), other.rmatmat(left))
    slices = np.linspace(0, 90, 21).astype(int)
    partial = [matrix[a:b].T @ left[a:b] for a, b in pairwise(slices)]
    while len(partial) > 1:  # the same tree by hand
        groups = [partial[k : k + 8] for k in range(0, len(partial), 8)]
        partial = [sum(group[1:], group[0]) for group in groups]
    assert_array_equal(one.rmatmat(left), partial[0])


@pytest.mark.parametrize("p", [0, 1, 2.5, np.inf])
def test_norms(relation, matrix, p):
    rows, columns = relation_norms(relation, p)
    assert_allclose(rows, p_norms(matrix, p), rtol=1e-13)
    assert_allclose(columns, p_norms(matrix.T, p), rtol=1e-13)


def test_entries_parts_and_pairs(relation, matrix, rng):
    i, j = rng.integers(60, size=200), rng.integers(25, size=200)
    assert_array_equal(entries_at(relation, i, j), matrix.toarray()[i, j])
    rows, columns = np.array([0, 3, 4, 31, 59]), np.array([1, 2, 20])
    assert_array_equal(submatrix(relation, rows, columns).toarray(), matrix.toarray()[np.ix_(rows, columns)])
    for k_rows, k_columns in ((1, 1), (3, 2), (40, 30)):
        found = relation_pairs(relation, k_rows, k_columns, "positive")
        expected = mutual_pairs(matrix, k_rows, k_columns, "positive")
        assert_array_equal(found.rows, expected.rows)
        assert_array_equal(found.columns, expected.columns)
    with pytest.raises(ParameterError, match="positive"):
        relation_pairs(relation, 3, 3, "inclusive")


def test_a_selection_is_a_relation_too(relation, matrix, rng):
    rows, columns = np.flatnonzero(rng.random(60) < 0.5), np.flatnonzero(rng.random(25) < 0.5)
    part, R = SelectedRelation(relation, rows, columns), matrix.toarray()[np.ix_(rows, columns)]
    assert part.shape == R.shape
    assert_allclose(part.row_sums(), R.sum(axis=1))
    assert_allclose(part.column_sums(), R.sum(axis=0))
    right, left = rng.normal(size=(len(columns), 2)), rng.normal(size=(len(rows), 2))
    assert_allclose(part.matmat(right), R @ right, atol=1e-12)
    assert_allclose(part.rmatmat(left), R.T @ left, atol=1e-12)
    weights = rng.random(len(rows))
    assert_allclose(part.normal(right[:, 0], weights), R.T @ (weights * (R @ right[:, 0])), atol=1e-12)
    assert_array_equal(vstack([block for _, block in part.row_blocks(7)]).toarray(), R)
    assert_allclose(relation_norms(part, 2)[1], p_norms(R.T, 2), rtol=1e-13)
    assert_array_equal(submatrix(part, np.arange(3), np.arange(2)).toarray(), R[:3, :2])


def test_components_are_joined_across_blocks(client, rng):
    parts = [counts(8, 5, 0.5, seed=1), counts(9, 6, 0.4, seed=2), counts(3, 3, 0.9, seed=3)]
    whole = block_diag([*parts, np.zeros((2, 1))], format="csr")
    whole = csr_array(whole[rng.permutation(whole.shape[0])][:, rng.permutation(whole.shape[1])])
    spread = DistributedRelation.from_matrix(whole, 7, client=client)
    for found, expected in zip(relation_components(spread), bipartite_components(whole), strict=True):
        assert_array_equal(found, expected)


def test_blocks_that_cannot_be_used_are_named(client):
    with pytest.raises(DataError, match="block 1 has 4 columns, block 0 has 3"):
        DistributedRelation([csr_array((2, 3)), csr_array((2, 4))], client=client)
    with pytest.raises(DataError, match=r"block 1 .*negative.*-2 in its row 1, column 0"):
        DistributedRelation([np.ones((2, 2)), np.array([[1.0, 0.0], [-2.0, 1.0]])], client=client)
    with pytest.raises(DataError, match="at least one block"):
        DistributedRelation([], client=client)
    with pytest.raises(DataError, match="3 row things are named, but the blocks have 2 rows"):
        three = rs.EntitySet("doc", ["a", "b", "c"])
        DistributedRelation([np.ones((2, 2))], client=client, row_entities=three)
    with pytest.raises(ParameterError, match="n_blocks=0"):
        DistributedRelation.from_matrix(np.ones((2, 2)), 0, client=client)
