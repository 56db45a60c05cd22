"""Products in fixed point: as near to the truth as floats are, and no order changes a bit."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

import relscape as rs
from relscape.data.blocks import normal_product
from relscape.matrix.fixed_sums import fixed_sums
from relscape.matrix.operators import LocalRelation
from relscape.protocols import RelationOperator


class Cut:
    """A relation in memory that gives itself out in parts of any size."""

    def __init__(self, matrix, bounds):
        self.matrix, self.bounds = csr_array(matrix), bounds
        self.shape, self.n_blocks = self.matrix.shape, len(bounds) - 1

    def row_sums(self):
        return np.asarray(self.matrix.sum(axis=1)).ravel()

    def column_sums(self):
        return np.asarray(self.matrix.sum(axis=0)).ravel()

    def matmat(self, right):
        return self.matrix @ right

    def rmatmat(self, left):
        return self.matrix.T @ left

    def normal(self, right, row_weights):
        return self.matrix.T @ (row_weights * (self.matrix @ right))

    def row_blocks(self, rows):
        raise NotImplementedError

    def map_blocks(self, function, *shared, along=()):
        return [
            function(csr_array(self.matrix[a:b]), *(array[a:b] for array in along), *shared)
            for a, b in pairwise(self.bounds)
        ]

    def sum_blocks(self, function, *shared, along=()):
        parts = self.map_blocks(function, *shared, along=along)[::-1]  # last ones first
        return tuple(sum(arrays[1:], arrays[0]) for arrays in zip(*parts, strict=True))

    def map_pieces(self, function, pieces, *shared):
        return [function(*piece, *shared) for piece in pieces]


@pytest.fixture
def matrix(rng):
    found = random_array((200, 12), density=0.3, random_state=rng, format="csr")
    found.data = np.exp(6 * rng.normal(size=found.nnz))  # sizes from 1e-8 to 1e8
    return csr_array(found)


def test_no_cut_changes_a_bit(matrix, rng):
    left, right, weights = rng.normal(size=(200, 3)), rng.normal(size=12), rng.random(200)
    here = fixed_sums(LocalRelation(matrix))
    assert isinstance(here, RelationOperator)
    plain = {
        tuple(Cut(matrix, bounds).sum_blocks(lambda b, x: (b.T @ x,), along=[left])[0].ravel())
        for bounds in ([0, 200], [0, 67, 150, 200])
    }
    assert len(plain) == 2  # floats do differ
    for bounds in ([0, 200], [0, 1, 50, 199, 200], list(range(201))):
        there = fixed_sums(Cut(matrix, bounds))
        assert_array_equal(there.rmatmat(left), here.rmatmat(left))
        assert_array_equal(there.column_sums(), here.column_sums())
        assert_array_equal(normal_product(there, right, weights), normal_product(here, right, weights))
    dense = fixed_sums(LocalRelation(matrix.toarray()))
    assert_array_equal(dense.rmatmat(left), here.rmatmat(left))


def test_sums_are_as_near_as_floats(matrix, rng):
    left = rng.normal(size=200) * np.exp(rng.normal(size=200))
    found = fixed_sums(LocalRelation(matrix)).rmatmat(left)
    whole = matrix.toarray()
    truth = np.array(
        [
            float(sum(Fraction(a) * Fraction(b) for a, b in zip(column, left, strict=True)))
            for column in whole.T
        ]
    )
    scale = whole.T @ np.abs(left)
    assert (np.abs(found - truth) <= 4e-16 * scale).all()


def test_extreme_sizes_and_empty_columns():
    matrix = np.zeros((3, 4))
    matrix[:, 0], matrix[:, 1], matrix[1, 2] = 1e-200, 1e200, 5.0
    left = np.array([[1e-40, 0.0], [3.0, 0.0], [-2.0, 0.0]])
    found = fixed_sums(LocalRelation(matrix)).rmatmat(left)
    assert_allclose(found, matrix.T @ left, rtol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e302])
def test_what_has_no_whole_number_is_added_in_floats(matrix, bad, rng):
    left = rng.normal(size=(200, 2))
    left[3, 1] = bad
    matrix = csr_array(matrix > 0, dtype=float)
    found, expected = fixed_sums(LocalRelation(matrix)).rmatmat(left), matrix.T @ left
    assert_allclose(found, expected, rtol=1e-9)
    assert np.isfinite(found).all() == np.isfinite(expected).all() == (bad == 1e302)


class Bare:
    """No more than a ``RelationOperator`` has."""

    def __init__(self, matrix):
        self._matrix, self.shape = matrix, matrix.shape

    def row_sums(self):
        return self._matrix.sum(axis=1)

    def column_sums(self):
        return self._matrix.sum(axis=0)

    def matmat(self, right):
        return self._matrix @ right

    def rmatmat(self, left):
        return self._matrix.T @ left

    def row_blocks(self, rows):
        for start in range(0, self.shape[0], 7):
            yield slice(start, start + 7), csr_array(self._matrix[start : start + 7])


def test_any_relation_operator_will_do(matrix, rng):
    left = rng.normal(size=(200, 3))
    here, other = fixed_sums(LocalRelation(matrix)), fixed_sums(Bare(matrix))
    assert_array_equal(other.rmatmat(left), here.rmatmat(left))
    counts = csr_array(rng.poisson(1.0, (30, 5)) + 1.0)
    found, expected = (rs.CODE(n_restarts=1, random_state=0).fit(R) for R in (Bare(counts), counts))
    assert_array_equal(found.column_embedding_, expected.column_embedding_)
