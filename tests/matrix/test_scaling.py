from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array

from relscape.matrix.scaling import p_norms, power

KINDS = [np.asarray, csr_array, csc_array]


@pytest.fixture
def matrix(rng):
    matrix = rng.gamma(1.0, size=(8, 6)) * (rng.random((8, 6)) < 0.6)
    matrix[3] = 0
    return matrix


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 10.0, np.inf])
def test_norms_are_those_of_numpy(matrix, kind, p):
    assert_allclose(p_norms(kind(matrix), p), np.linalg.norm(matrix, p, axis=1), rtol=1e-13)
    assert_allclose(p_norms(kind(matrix).T, p), np.linalg.norm(matrix, p, axis=0), rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_norm_zero_is_one_and_zero_for_an_empty_row(matrix, kind):
    assert_array_equal(p_norms(kind(matrix), 0), np.where(np.arange(8) == 3, 0.0, 1.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_an_empty_row_has_norm_zero(matrix, kind, p):
    assert p_norms(kind(matrix), p)[3] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_large_powers_neither_overflow_nor_vanish(kind, size):
    assert_allclose(p_norms(kind(np.full((2, 4), size)), 3.0), size * 4 ** (1 / 3), rtol=1e-13)
    assert_allclose(p_norms(kind(np.full((2, 4), size)), 1000.0), size * 4**0.001, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_are_taken_as_they_are(kind):
    assert_allclose(p_norms(kind(np.array([[3, 4], [0, 200]])), 2), [5, 200])


def test_a_sparse_matrix_is_left_as_it_was(matrix):
    given = csr_array(matrix)
    p_norms(given, 3.0)
    assert_array_equal(given.toarray(), matrix)


def test_powers_of_zero_are_zero():
    assert_array_equal(power(np.array([0.0, 4.0]), -0.5), [0.0, 0.5])
    assert_array_equal(power(np.array([0.0, 4.0]), 0.0), [0.0, 1.0])
