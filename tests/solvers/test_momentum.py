from __future__ import annotations

import numpy as np
import pytest

from relscape.errors import DataError, ParameterError
from relscape.solvers.momentum import momentum_descent


class Bowl:
    """Squared gaps to a target, averaged over rows; curvatures as given."""

    def __init__(self, target, curvature=1.0):
        self.target, self.curvature = target, curvature

    def value_and_gradient(self, point):
        gap = point - self.target
        n = len(point)
        return 1.0 + float((self.curvature * gap**2).sum() / n), 2 * self.curvature * gap / n


class Noisy(Bowl):
    """The same with gradients that are off by a hundredth, as approximate forces are."""

    def __init__(self, target):
        super().__init__(target)
        self.rng = np.random.default_rng(5)

    def value_and_gradient(self, point):
        value, gradient = super().value_and_gradient(point)
        noise = self.rng.standard_normal(gradient.shape)
        return value, gradient + 0.01 * np.abs(gradient).max() * noise


@pytest.fixture
def target(rng):
    return rng.standard_normal((50, 2))


def test_finds_the_bottom(target):
    result = momentum_descent(Bowl(target), np.zeros((50, 2)), 50 / 8)
    assert np.allclose(result.point, target, atol=1e-3)
    assert result.converged
    assert result.reason == "the value falls by less than 1e-05 of itself"
    assert result.iterations == 300 == len(result.trace) - 1


def test_curvatures_that_differ(target):
    curvature = np.geomspace(0.05, 1.0, 50)[:, None]
    result = momentum_descent(Bowl(target, curvature), np.zeros((50, 2)), 50 / 4, 2000, tolerance=1e-9)
    assert result.value == pytest.approx(1.0, abs=1e-6)


def test_rough_gradients(target):
    result = momentum_descent(Noisy(target), np.zeros((50, 2)), 50 / 8)
    assert result.value == pytest.approx(1.0, abs=1e-3)


def test_lowest_point_is_given_back(target):
    result = momentum_descent(Bowl(target), np.zeros((50, 2)), 50.0, n_iterations=60)
    assert result.value == min(result.trace)
    assert result.value == Bowl(target).value_and_gradient(result.point)[0]
    assert result.trace[0] == Bowl(target).value_and_gradient(np.zeros((50, 2)))[0]
    assert result.reason == "60 iterations are spent"
    assert not result.converged


@pytest.mark.parametrize("rate", [1e4, 1e100])
def test_goes_back_and_slows_down_when_the_rate_is_far_too_high(target, rate):
    result = momentum_descent(Bowl(target), np.zeros((50, 2)), rate, n_iterations=400)
    assert np.isfinite(result.point).all()
    assert result.value <= result.trace[0]
    if rate < 1e50:
        assert result.value == pytest.approx(1.0, abs=1e-3)
    else:
        assert result.reason == "no lower value was found at any rate"


def test_the_start_is_not_touched(target):
    start = np.zeros((50, 2))
    momentum_descent(Bowl(target), start, 5.0, n_iterations=5)
    assert not start.any()


def test_a_single_step_is_the_gradient_times_the_rate(target):
    start = np.zeros((50, 2))
    result = momentum_descent(Bowl(target), start, 5.0, n_iterations=1)
    gains = 0.8  # a coordinate that has not moved yet starts a little slower
    assert np.allclose(result.point, -5.0 * gains * Bowl(target).value_and_gradient(start)[1])


def test_callback_sees_every_iteration_and_stops(target):
    seen = []

    def watch(iteration, value, point):
        seen.append((iteration, value, Bowl(target).value_and_gradient(point)[0]))
        return iteration == 7

    result = momentum_descent(Bowl(target), np.zeros((50, 2)), 5.0, callback=watch)
    assert [iteration for iteration, _, _ in seen] == list(range(1, 8))
    assert result.trace[1:] == [value for _, value, _ in seen] == [value for _, _, value in seen]
    assert result.reason == "stopped by the callback"


def test_refusals(target):
    with pytest.raises(ParameterError, match="learning_rate=0"):
        momentum_descent(Bowl(target), np.zeros((50, 2)), 0.0)
    with pytest.raises(DataError, match="at the start"):
        momentum_descent(Bowl(target), np.full((50, 2), np.nan), 1.0)
