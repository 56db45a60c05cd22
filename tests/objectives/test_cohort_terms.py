"""The terms of COVA against double loops and differences."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from relscape.objectives import neighbour_sums
from relscape.objectives.cohort_terms import (
    anchor_pull,
    graph_tension,
    prototype_divergence,
    prototype_pull,
)

N, C = 9, 4


@pytest.fixture(params=[1, 2, 3])
def k(request):
    return request.param


@pytest.fixture
def places(rng, k):
    return rng.normal(size=(N, k))


@pytest.fixture
def prototypes(rng, k):
    return 2.0 * rng.normal(size=(C, k)) + 1.0


@pytest.fixture(params=["dense", "sparse", "floored"])
def confidence(request, rng):
    """Of sum one, with a sample of no cohort and a cohort of no sample, but for the floored one."""
    R = rng.uniform(0.1, 1.0, (N, C))
    if request.param != "floored":
        R = R * (rng.random((N, C)) < 0.5)
        R[3] = 0.0
        R[:, 2] = 0.0
    R /= R.sum()
    return csr_array(R) if request.param == "sparse" else R


@pytest.fixture
def weights(rng):
    W = np.triu(rng.random((N, N)) * (rng.random((N, N)) < 0.4), 1)
    W = W + W.T
    return csr_array(W / W.sum())


def dense(matrix):
    return matrix.toarray() if isinstance(matrix, csr_array) else matrix


def slopes(function, Z, step=1e-5):
    gradient = np.zeros(Z.shape)
    for place in np.ndindex(Z.shape):
        move = np.zeros(Z.shape)
        move[place] = step
        gradient[place] = (function(Z + move)[0] - function(Z - move)[0]) / (2 * step)
    return gradient


def test_pull_of_prototypes_is_a_double_loop(places, confidence, prototypes):
    value, gradient = prototype_pull(places, confidence, prototypes)
    R = dense(confidence)
    slow = sum(R[i, j] * np.sum((places[i] - prototypes[j]) ** 2) for i in range(N) for j in range(C))
    assert_allclose(value, slow, rtol=1e-12)
    assert_allclose(gradient, 2 * (R.sum(axis=1)[:, None] * places - R @ prototypes), atol=1e-13)
    assert_allclose(
        gradient, slopes(lambda Z: prototype_pull(Z, confidence, prototypes), places), rtol=1e-6, atol=1e-9
    )


def test_tension_of_a_graph_is_a_double_loop(places, weights):
    value, gradient = graph_tension(places, weights)
    W = weights.toarray()
    slow = 0.5 * sum(W[i, j] * np.sum((places[i] - places[j]) ** 2) for i in range(N) for j in range(N))
    assert_allclose(value, slow, rtol=1e-12)
    assert_allclose(gradient, slopes(lambda Z: graph_tension(Z, weights), places), rtol=1e-6, atol=1e-9)


def test_divergence_of_prototypes_is_a_double_loop(places, confidence, prototypes):
    value, gradient = prototype_divergence(places, confidence, prototypes)
    R = dense(confidence)
    t = 1 / (1 + ((places[:, None] - prototypes[None]) ** 2).sum(axis=2))
    slow = sum(
        R[i, j] * np.log(R[i, j] / (t[i, j] / t.sum())) for i in range(N) for j in range(C) if R[i, j] > 0
    )
    assert_allclose(value, slow, rtol=1e-12)
    H = (R - t / t.sum()) * t
    assert_allclose(gradient, 2 * (H.sum(axis=1)[:, None] * places - H @ prototypes), atol=1e-13)
    assert_allclose(
        gradient,
        slopes(lambda Z: prototype_divergence(Z, confidence, prototypes), places),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("c", [20, 2 * neighbour_sums.TILE + 5])
@pytest.mark.parametrize("sparse", [False, True])
def test_many_samples_and_cohorts_in_parallel(rng, c, sparse):
    n = neighbour_sums.FEW_PAIRS // c + 100
    Z, V = rng.normal(size=(n, 2)), rng.normal(size=(c, 2))
    R = rng.random((n, c)) * (rng.random((n, c)) < 0.3)
    R /= R.sum()
    t = 1 / (1 + ((Z[:, None] - V[None]) ** 2).sum(axis=2))
    H = (R - t / t.sum()) * t
    given = csr_array(R) if sparse else R
    value, gradient = prototype_divergence(Z, given, V)
    kept = R > 0
    assert_allclose(value, np.sum(R[kept] * np.log(R[kept] / (t[kept] / t.sum()))), rtol=1e-10)
    assert_allclose(gradient, 2 * (H.sum(axis=1)[:, None] * Z - H @ V), atol=1e-12)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        alone, by_itself = prototype_divergence(Z, given, V)
    finally:
        numba.set_num_threads(before)
    assert value == alone
    assert_array_equal(gradient, by_itself)


def test_divergence_of_the_kernel_from_itself_is_zero(places, prototypes):
    t = 1 / (1 + ((places[:, None] - prototypes[None]) ** 2).sum(axis=2))
    value, gradient = prototype_divergence(places, t / t.sum(), prototypes)
    assert value == pytest.approx(0.0, abs=1e-14)
    assert_allclose(gradient, 0.0, atol=1e-15)


def test_values_keep_their_digits_far_from_the_origin(places, confidence, prototypes, weights):
    far = 1e6
    assert_allclose(
        prototype_pull(places + far, confidence, prototypes + far)[0],
        prototype_pull(places, confidence, prototypes)[0],
        rtol=1e-8,
    )
    assert_allclose(graph_tension(places + far, weights)[0], graph_tension(places, weights)[0], rtol=1e-8)


def test_samples_on_one_spot_have_no_tension(weights):
    value, gradient = graph_tension(np.full((N, 2), 0.1), weights)
    assert value == pytest.approx(0.0, abs=1e-30)
    assert_allclose(gradient, 0.0, atol=1e-30)


def test_anchors_pull_their_samples_only(rng, places, k):
    index = np.array([2, 5, 2])
    targets, strengths = rng.normal(size=(3, k)), np.array([0.5, 1.0, 2.0])
    value, gradient = anchor_pull(places, index, targets, strengths)
    slow = sum(s * np.sum((places[i] - p) ** 2) for i, p, s in zip(index, targets, strengths, strict=True))
    assert_allclose(value, slow, rtol=1e-12)
    assert_allclose(
        gradient, slopes(lambda Z: anchor_pull(Z, index, targets, strengths), places), rtol=1e-6, atol=1e-8
    )
    others = np.setdiff1d(np.arange(N), index)
    assert_array_equal(gradient[others], 0.0)
