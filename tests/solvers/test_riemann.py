from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.objectives.cohort import CohortObjective, ProjectedObjective
from relscape.protocols import BatchObjective
from relscape.solvers.manifolds import RETRACTIONS, FullRank, Stiefel
from relscape.solvers.riemann import STEPS, batch_descent, riemannian_descent


class Rayleigh:
    """tr(Uᵀ A U): on orthonormal matrices lowest where U spans the smallest eigenvectors."""

    def __init__(self, A):
        self.A = A

    def value_and_gradient(self, point):
        image = self.A @ point
        return float(np.vdot(point, image)), 2 * image


class LeastSquares:
    """Mean squared gap of F U to targets, in whole and in batches of rows."""

    def __init__(self, F, targets):
        self.F, self.targets = F, targets

    def value_and_gradient(self, point):
        return self.value_and_gradient_of(point, np.arange(len(self.F)))

    def value_and_gradient_of(self, point, terms):
        F = self.F[terms]
        misfit = F @ point - self.targets[terms]
        return float((misfit**2).sum() / len(F)), 2 * F.T @ misfit / len(F)


class Rosenbrock:
    def value_and_gradient(self, point):
        return float(rosen(point.ravel())), rosen_der(point.ravel()).reshape(point.shape)


class Flattening:
    """½ (‖first column − 1‖² + ‖second column‖²): lowest where the rank is one."""

    def value_and_gradient(self, point):
        gap = point - [1.0, 0.0]
        return float((gap**2).sum() / 2), gap


def stiff_matrix(rng, sizes):
    Q = np.linalg.qr(rng.standard_normal((len(sizes), len(sizes))))[0]
    return (Q * sizes) @ Q.T


def gap(U):
    return np.abs(U.T @ U - np.eye(U.shape[1])).max()


@pytest.mark.parametrize("retraction", RETRACTIONS)
@pytest.mark.parametrize("steps", STEPS)
def test_smallest_eigenvalues(rng, retraction, steps):
    A = stiff_matrix(rng, np.linspace(1, 5, 12))
    manifold = Stiefel(retraction)
    result = riemannian_descent(Rayleigh(A), manifold, manifold.random(rng, (12, 3)), steps=steps)
    assert result.converged
    if steps != "plain":
        assert result.reason == "the gradient is below 1e-08"
    assert result.value == pytest.approx(np.linalg.eigvalsh(A)[:3].sum(), rel=1e-12)
    assert gap(result.point) < 1e-12


def test_curvatures_that_differ_cost_fewer_steps_the_more_is_known_of_them(rng):
    A = stiff_matrix(rng, np.geomspace(1e-3, 10, 30))
    start = Stiefel().random(rng, (30, 2))
    ends = [
        riemannian_descent(Rayleigh(A), Stiefel(), start, max_iterations=5000, steps=steps)
        for steps in ("lbfgs", "plain")
    ]
    assert ends[0].converged
    assert np.allclose(ends[0].value, np.linalg.eigvalsh(A)[:2].sum(), rtol=1e-9)
    assert ends[0].iterations < ends[1].iterations


@pytest.mark.parametrize("steps", STEPS)
def test_unconstrained_quadratic_reaches_the_normal_equations(rng, steps):
    F, targets = rng.standard_normal((40, 6)), rng.standard_normal((40, 2))
    expected = np.linalg.lstsq(F, targets)[0]
    result = riemannian_descent(
        LeastSquares(F, targets), FullRank(), rng.standard_normal((6, 2)), 1e-10, 2000, steps=steps
    )
    assert result.converged
    assert np.allclose(result.point, expected, atol=1e-8)


def test_curved_valley():
    start = np.array([[-1.2], [1.0]])
    result = riemannian_descent(Rosenbrock(), FullRank(), start, max_iterations=5000)
    assert result.converged
    assert np.allclose(result.point, 1, atol=1e-6)


def test_plain_values_never_rise_and_gradients_vanish(rng):
    result = riemannian_descent(
        Rosenbrock(), FullRank(), rng.standard_normal((2, 1)), 1e-6, 50_000, steps="plain"
    )
    assert (np.diff(result.trace) <= 0).all()
    assert np.abs(Rosenbrock().value_and_gradient(result.point)[1]).max() <= 1e-6


@pytest.mark.parametrize("steps", STEPS)
def test_lowest_point_is_given_back(rng, steps):
    result = riemannian_descent(
        Rosenbrock(), FullRank(), np.array([[-1.2], [1.0]]), max_iterations=37, steps=steps
    )
    assert result.value == min(result.trace)
    assert result.value == Rosenbrock().value_and_gradient(result.point)[0]
    assert result.iterations == 37 == len(result.trace) - 1
    assert not result.converged
    assert result.reason == "37 iterations are spent"


def test_orthonormal_after_every_step(rng):
    gaps = []
    A = stiff_matrix(rng, np.geomspace(1e-2, 1e2, 20))
    riemannian_descent(
        Rayleigh(A),
        Stiefel(),
        Stiefel().random(rng, (20, 2)),
        callback=lambda iteration, value, point: gaps.append(gap(point)) or False,
    )
    assert max(gaps) < 1e-12


def test_a_start_off_the_manifold_is_repaired(rng):
    A = stiff_matrix(rng, np.linspace(1, 3, 8))
    result = riemannian_descent(Rayleigh(A), Stiefel(), rng.standard_normal((8, 2)))
    assert gap(result.point) < 1e-12
    assert result.value == pytest.approx(np.linalg.eigvalsh(A)[:2].sum(), rel=1e-12)
    with pytest.raises(ParameterError, match="2 × 8"):
        riemannian_descent(Rayleigh(np.eye(2)), Stiefel(), rng.standard_normal((2, 8)))


def test_rank_is_kept_where_the_objective_flattens(rng):
    result = riemannian_descent(
        Flattening(), FullRank(), rng.standard_normal((30, 2)), tolerance=1e-14, max_iterations=60
    )
    values = np.linalg.svd(result.point, compute_uv=False)
    assert values[1] > 1e-9 * values[0]
    assert np.allclose(result.point, [1.0, 0.0], atol=1e-6)


def test_start_at_the_end(rng):
    A = np.diag([1.0, 2.0, 3.0])
    result = riemannian_descent(Rayleigh(A), Stiefel(), np.eye(3)[:, :2])
    assert result.converged
    assert result.iterations == 0
    assert result.trace == [3.0]


def test_no_iterations(rng):
    start = Stiefel().random(rng, (5, 2))
    result = riemannian_descent(Rayleigh(np.diag(np.arange(5.0))), Stiefel(), start, max_iterations=0)
    assert np.array_equal(result.point, start)
    assert not result.converged


def test_first_step_may_be_far_too_long_or_short(rng):
    A = stiff_matrix(rng, np.linspace(1, 5, 10))
    start = Stiefel().random(rng, (10, 2))
    ends = [riemannian_descent(Rayleigh(A), Stiefel(), start, first_step=step) for step in (1e-9, 1.0, 1e9)]
    assert all(end.converged for end in ends)
    assert np.allclose([end.value for end in ends], np.linalg.eigvalsh(A)[:2].sum())


def test_callback_stops(rng):
    result = riemannian_descent(
        Rosenbrock(),
        FullRank(),
        np.array([[-1.2], [1.0]]),
        callback=lambda iteration, value, point: iteration == 3,
    )
    assert result.iterations == 3
    assert result.reason == "stopped by the callback"
    assert not result.converged


@pytest.fixture
def cohorts(rng):
    """Three blobs, their nearest neighbours as weights, and prototypes on a triangle."""
    labels = np.repeat(np.arange(3), 20)
    X = rng.standard_normal((60, 3)) + 2 * np.eye(3)[labels]
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    W = np.zeros((60, 60))
    np.put_along_axis(W, np.argsort(distances, axis=1)[:, 1:7], 1.0, axis=1)
    W = W + W.T
    R = np.eye(3)[labels] + 0.05
    V = np.array([[2.0, 0.0], [-1.0, 1.5], [-1.0, -1.5]])
    return csr_array(W / W.sum()), R / R.sum(), V, V[labels] + 0.1 * rng.standard_normal((60, 2)), X


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("variant", ["2", "3", "4"])
def test_cohort_embeddings_fall_to_a_stationary_map_of_full_rank(cohorts, variant, steps):
    W, R, V, start, _ = cohorts
    objective = CohortObjective(W, R, V, 0.6, variant)
    result = riemannian_descent(objective, FullRank(), start, 1e-7, 2000, steps=steps)
    if steps == "plain":
        assert (np.diff(result.trace) <= 0).all()
    assert result.converged
    assert np.abs(objective.value_and_gradient(result.point)[1]).max() <= 1e-6
    assert np.linalg.matrix_rank(result.point - result.point.mean(axis=0)) == 2


@pytest.mark.parametrize("variant", ["1", "2", "3", "4"])
def test_cohort_projections_converge_on_the_orthonormal_maps(cohorts, variant):
    W, R, V, _, X = cohorts
    objective = ProjectedObjective(CohortObjective(W, R, V, 0.9, variant), X)
    start = Stiefel().random(np.random.default_rng(2), (3, 2))
    result = riemannian_descent(objective, Stiefel(), start)
    assert result.converged
    assert gap(result.point) < 1e-12
    _, G = objective.value_and_gradient(result.point)
    assert np.abs(Stiefel().project(result.point, G)).max() <= 1e-6
    assert result.value <= objective.value_and_gradient(start)[0]


class WrongGradient(Rosenbrock):
    def value_and_gradient(self, point):
        value, gradient = super().value_and_gradient(point)
        return value, -gradient


def test_says_when_nothing_lower_is_found():
    result = riemannian_descent(WrongGradient(), FullRank(), np.array([[-1.2], [1.0]]))
    assert not result.converged
    assert "no lower value was found" in result.reason


def test_refusals(rng):
    with pytest.raises(UnknownNameError, match="'plain'"):
        riemannian_descent(Rosenbrock(), FullRank(), np.ones((2, 1)), steps="plane")
    with pytest.raises(DataError, match="at the start"):
        riemannian_descent(Rayleigh(np.full((3, 3), np.inf)), FullRank(), np.ones((3, 1)))


def rows_in_batches(n, size):
    return lambda rng: np.array_split(rng.permutation(n), n // size)


def test_batches_come_near_the_whole_minimum(rng):
    F = rng.standard_normal((400, 8))
    target = Stiefel().random(rng, (8, 2))
    objective = LeastSquares(F, F @ target + 0.01 * rng.standard_normal((400, 2)))
    assert isinstance(objective, BatchObjective)
    start = Stiefel().random(rng, (8, 2))
    whole = riemannian_descent(objective, Stiefel(), start)
    gaps = []
    result = batch_descent(
        objective,
        Stiefel(),
        start,
        rows_in_batches(400, 50),
        n_cycles=15,
        inner_iterations=3,
        rng=np.random.default_rng(1),
        callback=lambda iteration, value, point: gaps.append(gap(point)) or False,
    )
    assert result.iterations == 15 == len(gaps)
    assert max(gaps) < 1e-12
    assert result.value == min(result.trace)
    assert whole.value <= result.value < 1.1 * whole.value
    assert result.reason == "15 cycles are spent"


def test_one_batch_of_everything_is_the_plain_descent(rng):
    objective = LeastSquares(rng.standard_normal((30, 4)), rng.standard_normal((30, 2)))
    start = Stiefel().random(rng, (4, 2))
    result = batch_descent(
        objective, Stiefel(), start, lambda rng: [np.arange(30)], n_cycles=4, inner_iterations=5, rng=rng
    )
    plain = riemannian_descent(objective, Stiefel(), start, max_iterations=20, steps="plain")
    assert result.trace == plain.trace[::5]


def test_batches_are_repeatable_and_may_be_stopped(rng):
    objective = LeastSquares(rng.standard_normal((60, 4)), rng.standard_normal((60, 2)))
    start = Stiefel().random(rng, (4, 2))

    def run(callback=None):
        return batch_descent(
            objective, Stiefel(), start, rows_in_batches(60, 20), 5, 2, np.random.default_rng(3), callback
        )

    assert np.array_equal(run().point, run().point)
    stopped = run(lambda iteration, value, point: iteration == 2)
    assert stopped.iterations == 2
    assert stopped.reason == "stopped by the callback"


def test_batches_stop_at_a_minimum_of_the_whole():
    objective = LeastSquares(np.eye(4), np.eye(4)[:, :2])
    result = batch_descent(
        objective, Stiefel(), np.eye(4)[:, :2], lambda rng: [np.arange(4)], 5, 2, np.random.default_rng(0)
    )
    assert result.converged
    assert result.iterations == 0
