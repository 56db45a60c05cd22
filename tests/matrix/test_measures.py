from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from relscape.matrix.measures import cosines, distances, median_distance


@pytest.mark.parametrize("columns", [1, 5, 64, 65, 300])
@pytest.mark.parametrize("sparse", [False, True])
def test_distances_are_those_of_scipy(rng, columns, sparse):
    A, B = rng.normal(size=(30, columns)), rng.normal(size=(20, columns))
    B[:5] = A[:5]
    form = csr_array if sparse else np.asarray
    found = distances(form(A), form(B))
    np.testing.assert_allclose(found, cdist(A, B), rtol=1e-9)
    assert (np.diag(found)[:5] == 0).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_close_rows_far_from_the_origin_keep_their_digits(rng, sparse):
    A = 1e3 + rng.normal(size=(10, 100))
    B = A + 1e-3 * rng.normal(size=(10, 100))
    form = csr_array if sparse else np.asarray
    np.testing.assert_allclose(distances(form(A), form(B)), cdist(A, B), rtol=1e-8)


def test_a_sparse_and_a_dense_table_may_meet(rng):
    A, B = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    np.testing.assert_allclose(distances(csr_array(A), B), cdist(A, B), rtol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_cosines_are_those_of_scipy_and_zero_for_empty_rows(rng, sparse):
    A, B = rng.normal(size=(7, 9)), rng.normal(size=(6, 9))
    A[3] = 0
    form = csr_array if sparse else np.asarray
    found = cosines(form(A), form(B))
    assert (found[3] == 0).all()
    kept = [0, 1, 2, 4, 5, 6]
    np.testing.assert_allclose(found[kept], 1 - cdist(A[kept], B, "cosine"), atol=1e-14)


def test_the_median_distance_is_over_different_rows():
    assert median_distance(np.array([[0.0], [1.0], [3.0]])) == 2.0
    assert median_distance(np.zeros((4, 2))) == 1.0
    assert median_distance(np.zeros((1, 2))) == 1.0
