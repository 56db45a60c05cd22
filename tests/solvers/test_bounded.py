"""Minimisation above bounds: closed forms, nonnegative least squares, and why it stopped."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from relscape.solvers.bounded import bounded_minimise


class LeastSquares:
    """½‖Ax − b‖²."""

    def __init__(self, A, b):
        self.A, self.b = A, b

    def value_and_gradient(self, point):
        rest = self.A @ point - self.b
        return 0.5 * float(rest @ rest), self.A.T @ rest


class Nearest:
    """½‖X − C‖², of any shape."""

    def __init__(self, target):
        self.target = target

    def value_and_gradient(self, point):
        assert point.shape == self.target.shape
        return 0.5 * float(np.sum((point - self.target) ** 2)), point - self.target


def test_it_agrees_with_nonnegative_least_squares(rng):
    A, b = rng.normal(size=(30, 8)), rng.normal(size=30)
    result = bounded_minimise(LeastSquares(A, b), np.ones(8), 0.0, tolerance=1e-14)
    assert_allclose(result.point, nnls(A, b)[0], atol=1e-5)
    assert result.converged
    assert "1e-14" in result.reason


def test_each_coordinate_keeps_to_its_own_bound(rng):
    target = rng.normal(size=(5, 3))
    lower = np.where(rng.random((5, 3)) < 0.5, 0.2, -np.inf)
    result = bounded_minimise(Nearest(target), np.full((5, 3), -1.0), lower, tolerance=1e-14)
    assert_allclose(result.point, np.maximum(target, lower), atol=1e-7)


def test_the_trace_starts_at_the_start_and_never_rises(rng):
    objective = LeastSquares(rng.normal(size=(20, 6)), rng.normal(size=20))
    result = bounded_minimise(objective, np.ones(6), 0.0)
    assert_allclose(result.trace[0], objective.value_and_gradient(np.ones(6))[0])
    assert_allclose(result.trace[-1], result.value)
    assert (np.diff(result.trace) <= 0).all()
    assert result.iterations == len(result.trace) - 1


def test_it_says_that_iterations_are_spent(rng):
    objective = LeastSquares(rng.normal(size=(40, 30)), rng.normal(size=40))
    result = bounded_minimise(objective, np.ones(30), 0.0, tolerance=0.0, max_iterations=3)
    assert not result.converged
    assert result.reason == "3 iterations are spent"


def test_a_callback_can_stop_it(rng):
    objective = LeastSquares(rng.normal(size=(40, 30)), rng.normal(size=40))
    seen = []

    def watch(iteration, value, point):
        seen.append((iteration, value, point.shape))
        return iteration == 2

    result = bounded_minimise(objective, np.ones(30), 0.0, tolerance=0.0, callback=watch)
    assert [entry[0] for entry in seen] == [1, 2]
    assert result.reason == "stopped by the callback"
    assert_allclose(result.value, objective.value_and_gradient(result.point)[0])
