from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, random_array
from scipy.sparse.linalg import spsolve

from relscape.errors import DataError, ParameterError
from relscape.solvers import spd
from relscape.solvers.spd import solve_spd


def graph_system(n, rng, alpha=0.3, neighbours=8):
    """An E1 system: a random graph's Laplacian and positive pulls, all summing to about one."""
    half = random_array((n, n), density=neighbours / n, rng=rng, format="csr")
    W = half + half.T
    W.setdiag(0)
    W = W / W.sum()
    pull = rng.uniform(0.1, 1.0, n)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return csr_array(diags_array(alpha * pull / pull.sum() + (1 - alpha) * degrees) - (1 - alpha) * W)


@pytest.fixture
def iterative(monkeypatch):
    """Let conjugate gradients do the small systems, too."""
    monkeypatch.setattr(spd, "SMALL", 0)


@pytest.mark.parametrize("alpha", [0.05, 0.6, 0.95])
def test_conjugate_gradients_agree_with_a_sparse_factorisation(rng, iterative, alpha):
    A = graph_system(700, rng, alpha)
    B = rng.standard_normal((700, 3)) / 700
    result = solve_spd(A, B, tolerance=1e-12)
    expected = spsolve(A.tocsc(), B)
    assert result.converged
    assert 0 < result.iterations < 700
    assert np.allclose(result.solution, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_small_systems_are_factorised(rng):
    A = graph_system(300, rng)
    B = rng.standard_normal((300, 2))
    result = solve_spd(A, B)
    assert result.iterations == 0
    assert result.converged
    assert np.abs(A @ result.solution - B).max() < 1e-12 * np.abs(B).max()
    assert result.residual < 1e-13


def test_residual_is_the_true_one_of_the_worst_column(rng, iterative):
    A = graph_system(400, rng)
    B = rng.standard_normal((400, 4)) * [1e-6, 1.0, 1e3, 1e6]
    result = solve_spd(A, B, tolerance=1e-6)
    gaps = np.linalg.norm(B - A @ result.solution, axis=0) / np.linalg.norm(B, axis=0)
    assert result.residual == pytest.approx(gaps.max(), rel=1e-6)
    assert result.residual <= 1e-6


def test_more_columns_than_are_taken_at_a_time(rng, iterative):
    A = graph_system(400, rng)
    B = rng.standard_normal((400, 2 * spd.TOGETHER + 3))
    result = solve_spd(A, B, tolerance=1e-11)
    assert np.allclose(result.solution, np.linalg.solve(A.toarray(), B), rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("small", [0, 2000])
def test_sparse_right_hand_sides(rng, monkeypatch, small):
    monkeypatch.setattr(spd, "SMALL", small)
    A = graph_system(300, rng)
    B = random_array((300, 20), density=0.05, rng=rng, format="csr")
    sparse, dense = solve_spd(A, csr_array(B)), solve_spd(A, B.toarray())
    assert np.array_equal(sparse.solution, dense.solution)


def test_zero_right_hand_side_has_the_zero_solution(rng, iterative):
    A = graph_system(300, rng)
    B = rng.standard_normal((300, 2))
    B[:, 1] = 0
    result = solve_spd(A, B, start=np.ones((300, 2)))
    assert result.converged
    assert not result.solution[:, 1].any()


def test_a_good_start_saves_iterations_and_stays_untouched(rng, iterative):
    A = graph_system(500, rng)
    B = rng.standard_normal((500, 2))
    cold = solve_spd(A, B)
    start = cold.solution * (1 + 1e-6)
    kept = start.copy()
    warm = solve_spd(A, B, start=start)
    assert warm.iterations < cold.iterations / 1.5
    assert np.array_equal(start, kept)
    assert solve_spd(A, B, start=cold.solution).iterations == 0


def test_threads_do_not_change_the_result(rng, iterative):
    A = graph_system(1500, rng)
    B = rng.standard_normal((1500, 5))
    known = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = solve_spd(A, B)
        numba.set_num_threads(known)
        many = solve_spd(A, B)
    finally:
        numba.set_num_threads(known)
    assert np.array_equal(one.solution, many.solution)
    assert one.iterations == many.iterations


def test_iterations_may_run_out(rng, iterative):
    result = solve_spd(graph_system(400, rng, 0.01), rng.standard_normal((400, 1)), max_iterations=3)
    assert result.iterations == 3
    assert not result.converged
    assert result.residual > 1e-8


def test_callback_sees_residuals_and_stops(rng, iterative):
    seen = []

    def watch(iteration, value, point):
        seen.append((iteration, value, point.shape))
        return iteration == 4

    result = solve_spd(graph_system(400, rng, 0.05), rng.standard_normal((400, 40)), callback=watch)
    assert [iteration for iteration, _, _ in seen] == [1, 2, 3, 4]
    assert {shape for _, _, shape in seen} == {(400, spd.TOGETHER)}
    assert seen[-1][1] < seen[0][1]
    assert result.iterations == 4
    assert not result.converged


def test_no_right_hand_side(rng, iterative):
    result = solve_spd(graph_system(50, rng), np.zeros((50, 0)))
    assert result.solution.shape == (50, 0)
    assert result.converged


def test_refuses_a_diagonal_that_is_not_positive(rng):
    A = graph_system(50, rng).toarray()
    A[7] = A[:, 7] = 0
    with pytest.raises(DataError, match="row 7 of the matrix has 0 on the diagonal"):
        solve_spd(csr_array(A), np.ones((50, 1)))


@pytest.mark.parametrize("small", [0, 2000])
def test_refuses_an_indefinite_matrix(monkeypatch, small):
    monkeypatch.setattr(spd, "SMALL", small)
    A = csr_array(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(DataError, match="not positive definite"):
        solve_spd(A, np.array([[1.0], [-1.0]]))


def test_refuses_what_is_not_finite(rng):
    A = graph_system(50, rng)
    A.data[3] = np.nan
    with pytest.raises(DataError, match="not finite"):
        solve_spd(A, np.ones((50, 1)))


def test_refuses_shapes_that_do_not_fit(rng):
    A = graph_system(50, rng)
    with pytest.raises(ParameterError, match="expected n × n and n × r"):
        solve_spd(A, np.ones((40, 1)))
    with pytest.raises(ParameterError, match="expected n × n and n × r"):
        solve_spd(A, np.ones(50))
    with pytest.raises(ParameterError, match="start has shape"):
        solve_spd(A, np.ones((50, 1)), start=np.ones((50, 2)))
