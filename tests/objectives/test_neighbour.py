"""Forces and divergences of neighbour embedding, against double loops, differences and each other."""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.objectives import neighbour_sums
from relscape.objectives.neighbour import (
    conditional_divergence,
    gaussian_divergence,
    information,
    neighbour_divergence,
    repulsion,
    tsne,
)

N = 14


def graph(rng, n=N, share=0.4):
    """A symmetric graph without diagonal, of sum one; the last point has no neighbour."""
    weights = rng.uniform(0.1, 1.0, (n, n)) * (rng.random((n, n)) < share)
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    weights[-1] = weights[:, -1] = 0.0
    return csr_array(weights / weights.sum())


def student(Z):
    q = 1.0 / (1.0 + ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    np.fill_diagonal(q, 0.0)
    return q


def slow_joint(Z, W, kernel):
    total = sum(kernel(Z[i] - Z[j]) for i in range(len(Z)) for j in range(len(Z)) if i != j)
    value = 0.0
    for i in range(len(Z)):
        for j in range(len(Z)):
            if W[i, j] > 0:
                value += W[i, j] * np.log(W[i, j] / (kernel(Z[i] - Z[j]) / total))
    return value


def slow_conditional(Z, W):
    value = 0.0
    q = student(Z)
    for j in range(len(Z)):
        if W[:, j].sum() == 0:
            continue
        p, kernel = W[:, j] / W[:, j].sum(), q[:, j] / q[:, j].sum()
        value += sum(p[i] * np.log(p[i] / kernel[i]) for i in range(len(Z)) if p[i] > 0)
    return value / len(Z)


def assert_gradient(function, Z):
    """The gradient is that of central differences."""
    _, gradient = function(Z)
    step = 1e-5
    for place in np.ndindex(Z.shape):
        move = np.zeros(Z.shape)
        move[place] = step
        slope = (function(Z + move)[0] - function(Z - move)[0]) / (2 * step)
        assert_allclose(gradient[place], slope, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [3, 40, 700])  # one tile, several tiles, several blocks in parallel
def test_exact_repulsion_is_the_double_sum(rng, n, k):
    Z = rng.normal(size=(n, k))
    q = student(Z)
    forces, total = repulsion(Z, "exact")
    assert_allclose(forces, (q**2).sum(axis=1)[:, None] * Z - q**2 @ Z, atol=1e-11 * n)
    assert_allclose(total, q.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("method", "k", "tolerance"),
    [
        ("fft", 1, 1e-2),
        ("fft", 2, 1e-2),
        ("barnes-hut", 1, 5e-2),
        ("barnes-hut", 2, 5e-2),
        ("barnes-hut", 3, 5e-2),
    ],
)
@pytest.mark.parametrize("size", [1e-3, 1.0, 20.0])
def test_approximate_repulsion_is_near_the_exact_one(rng, method, k, tolerance, size):
    Z = size * rng.normal(size=(2000, k)) + 50.0
    exact, all_mass = repulsion(Z, "exact")
    near, mass = repulsion(Z, method)
    assert np.linalg.norm(near - exact) <= tolerance * np.linalg.norm(exact)
    assert_allclose(mass, all_mass, rtol=tolerance)


def test_grid_is_as_exact_as_it_says(rng):
    """Forces to about a thousandth, and much nearer than the grid of openTSNE."""
    from openTSNE import _tsne

    Z = 10.0 * rng.normal(size=(2000, 2))
    Z[0] = 0.0
    exact, all_mass = repulsion(Z, "exact")
    near, mass = repulsion(Z, "fft")
    theirs = np.zeros_like(Z)
    total = _tsne.estimate_negative_gradient_fft_2d(Z, theirs, 3, 50, 1.0, 1.0)
    ours = np.linalg.norm(near - exact)
    assert ours <= 2e-3 * np.linalg.norm(exact)
    assert ours <= 0.2 * np.linalg.norm(-total * theirs - exact)
    assert_allclose(mass, all_mass, rtol=1e-4)


def test_grid_forces_are_the_slope_of_its_own_total(rng):
    Z = 3.0 * rng.normal(size=(30, 2))
    low, high = Z.min(), Z.max()
    Z[0], Z[1] = low - 1.0, high + 1.0  # the corners of the grid stay where they are
    forces, _ = repulsion(Z, "fft")
    step = 1e-5
    for place in [(5, 0), (5, 1), (17, 0), (29, 1)]:
        move = np.zeros(Z.shape)
        move[place] = step
        slope = (repulsion(Z + move, "fft")[1] - repulsion(Z - move, "fft")[1]) / (2 * step)
        assert_allclose(-4.0 * forces[place], slope, rtol=1e-6)


def test_grid_serves_maps_of_very_different_axes(rng):
    Z = rng.normal(size=(1000, 2)) * [80.0, 0.01]
    exact, _ = repulsion(Z, "exact")
    near, _ = repulsion(Z, "fft")
    assert np.linalg.norm(near - exact) <= 1e-2 * np.linalg.norm(exact)


def test_a_map_too_wide_for_any_grid_takes_a_tree(rng):
    Z = 1e6 * rng.normal(size=(50, 2))
    assert_array_equal(repulsion(Z, "fft")[0], repulsion(Z, "barnes-hut")[0])


def test_places_that_are_lost_are_not_hidden():
    Z = np.array([[0.0, 0.0], [np.nan, 1.0], [1.0, 1.0]])
    for method in ("auto", "fft", "barnes-hut", "exact"):
        assert np.isnan(repulsion(Z, method)[1])


@pytest.mark.parametrize(
    ("n", "k", "width", "chosen"),
    [
        (3000, 2, 1.0, "exact"),
        (3001, 2, 1.0, "fft"),
        (3001, 2, 1e4, "barnes-hut"),
        (3001, 3, 1.0, "barnes-hut"),
        (3001, 4, 1.0, "exact"),
    ],
)
def test_auto_takes_what_suits_the_map(rng, n, k, width, chosen):
    Z = width * rng.random((n, k))
    forces, total = repulsion(Z)
    expected, sum_of_all = repulsion(Z, chosen)
    assert_array_equal(forces, expected)
    assert total == sum_of_all


def test_points_far_apart_keep_their_digits():
    _, total = repulsion(np.array([[0.0, 0.0], [3e9, 4e9]]))
    assert total == pytest.approx(2 / 25e18, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "exact", "barnes-hut", "fft"])
def test_points_on_one_spot_do_not_push_each_other(method):
    forces, total = repulsion(np.full((20, 2), 3.0), method)
    assert_array_equal(forces, np.zeros((20, 2)))
    assert total == pytest.approx(20 * 19)


def test_methods_that_do_not_fit_are_refused(rng):
    with pytest.raises(UnknownNameError, match="no method of repulsion 'ftt'"):
        repulsion(rng.normal(size=(5, 2)), "ftt")
    with pytest.raises(ParameterError, match="'fft' serves maps of up to 2 axes, this one has 3"):
        repulsion(rng.normal(size=(5, 3)), "fft")
    with pytest.raises(ParameterError, match="'barnes-hut' serves maps of up to 3 axes"):
        repulsion(rng.normal(size=(5, 4)), "barnes-hut")


@pytest.mark.parametrize("method", ["exact", "barnes-hut", "fft"])
def test_threads_do_not_change_a_result(rng, method):
    Z, W = 5.0 * rng.normal(size=(800, 2)), graph(rng, 800)
    assert W.nnz > neighbour_sums.FEW_PAIRS
    value, gradient = neighbour_divergence(Z, W, method)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        alone, by_itself = neighbour_divergence(Z, W, method)
    finally:
        numba.set_num_threads(before)
    assert value == alone
    assert_array_equal(gradient, by_itself)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_joint_divergences_are_double_loops(rng, k):
    Z, W = rng.normal(size=(N, k)), graph(rng)
    dense = W.toarray()
    heavy, _ = neighbour_divergence(Z, W)
    assert_allclose(heavy, slow_joint(Z, dense, lambda gap: 1 / (1 + gap @ gap)), rtol=1e-12)
    light, _ = gaussian_divergence(Z, W)
    assert_allclose(light, slow_joint(Z, dense, lambda gap: np.exp(-gap @ gap)), rtol=1e-12)
    own, _ = conditional_divergence(Z, W)
    assert_allclose(own, slow_conditional(Z, dense), rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("divergence", [neighbour_divergence, conditional_divergence, gaussian_divergence])
def test_gradients_are_slopes(rng, divergence, k):
    W = graph(rng)
    assert_gradient(lambda Z: divergence(Z, W), rng.normal(size=(N, k)))


def test_gradient_is_that_of_the_laplacian(rng):
    """7.2: 4 L(G) Z with G = (W − Q/Q_s) ∘ Q."""
    Z, W = rng.normal(size=(N, 2)), graph(rng)
    q = student(Z)
    G = (W.toarray() - q / q.sum()) * q
    _, gradient = neighbour_divergence(Z, W)
    assert_allclose(gradient, 4 * (np.diag(G.sum(axis=1)) - G) @ Z, atol=1e-14)


def test_exaggeration_multiplies_the_pull_only(rng):
    Z, W = rng.normal(size=(N, 2)), graph(rng)
    pushes, total = repulsion(Z)
    _, gradient = neighbour_divergence(Z, W, exaggeration=12.0)
    _, plain = neighbour_divergence(Z, W)
    assert_allclose(gradient + 4 * pushes / total, 12.0 * (plain + 4 * pushes / total), atol=1e-13)
    assert_gradient(lambda at: neighbour_divergence(at, W, exaggeration=12.0), Z)


@pytest.mark.parametrize("divergence", [neighbour_divergence, conditional_divergence, gaussian_divergence])
def test_turning_shifting_and_mirroring_leave_a_divergence(rng, divergence):
    Z, W = rng.normal(size=(N, 2)), graph(rng)
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    value, gradient = divergence(Z, W)
    moved, turned = divergence(Z @ turn + 100.0, W)
    assert_allclose(moved, value, rtol=1e-9)
    assert_allclose(turned, gradient @ turn, atol=1e-9)


def test_divergence_of_the_kernel_from_itself_is_zero(rng):
    Z = rng.normal(size=(N, 2))
    q = student(Z)
    value, gradient = neighbour_divergence(Z, csr_array(q / q.sum()))
    assert value == pytest.approx(0.0, abs=1e-13)
    assert_allclose(gradient, 0.0, atol=1e-13)


def test_rows_of_more_neighbours_than_a_tile(rng):
    n = 3 * neighbour_sums.TILE
    Z, W = rng.normal(size=(n, 2)), graph(rng, n, share=0.9)
    q, dense = student(Z), W.toarray()
    forces, logs = neighbour_sums.edges(Z, W)
    pull = dense * q
    assert_allclose(forces, pull.sum(axis=1)[:, None] * Z - pull @ Z, atol=1e-12)
    assert_allclose(logs, np.sum(W.data * np.log(q[W.nonzero()])), rtol=1e-12)


def test_logarithm_is_that_of_the_library():
    x = np.concatenate(
        [1 + 10.0 ** np.linspace(-16, 300, 2000), 2.0 ** np.arange(1000), np.linspace(1, 5, 999)]
    )
    ours = np.array([neighbour_sums._log(value) for value in x])
    assert_allclose(ours, np.log(x), rtol=1e-15)


def test_information_leaves_out_nothings():
    assert information(np.array([0.5, 0.0, 0.5])) == pytest.approx(np.log(0.5))
    assert information(csr_array(np.array([[0.25, 0.0], [0.0, 0.75]]))) == pytest.approx(
        0.25 * np.log(0.25) + 0.75 * np.log(0.75)
    )


def test_same_gradient_and_value_as_opentsne(rng):
    from openTSNE.tsne import kl_divergence_bh

    Z, W = 3.0 * rng.normal(size=(400, 2)), graph(rng, 400, share=0.05)
    theirs, slope = kl_divergence_bh(Z, W, 1.0, {"theta": 0.0}, should_eval_error=True)
    value, gradient = neighbour_divergence(Z, W, "exact")
    assert_allclose(value, theirs, rtol=1e-9)
    assert_allclose(gradient, 4.0 * slope, atol=1e-12)


def test_layout_keeps_a_finished_picture_where_it_is(rng):
    points = np.repeat(10.0 * np.eye(3), 20, axis=0) + 0.1 * rng.normal(size=(60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = tsne(points, perplexity=10, random_state=0)
        again = tsne(points, perplexity=10, random_state=0, start=first)
    assert first.shape == (60, 2)
    assert np.corrcoef(first[:, 0], again[:, 0])[0, 1] > 0.9
    centres = first.reshape(3, 20, 2).mean(axis=1)
    spread = first.reshape(3, 20, 2).std(axis=1).max()
    assert np.linalg.norm(centres[0] - centres[1]) > 3 * spread


def test_layout_refuses_what_it_cannot_arrange():
    with pytest.raises(ParameterError, match="at least 5 points"):
        tsne(np.zeros((3, 2)))
    with pytest.raises(DataError, match="one spot"):
        tsne(np.ones((10, 2)))
    with pytest.raises(ParameterError, match="start has shape"):
        tsne(np.zeros((10, 2)), start=np.zeros((9, 2)))
