from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from relscape.errors import ParameterError, UnknownNameError
from relscape.solvers.descent import METHODS, lowest, minimise


class Quadratic:
    """½ aᵀ D a − bᵀ a over a 3 × 2 array, lowest at b / D."""

    curvature = np.array([[1.0, 2.0], [5.0, 10.0], [0.5, 3.0]])
    slope = np.array([[1.0, -1.0], [2.0, 0.0], [4.0, 1.0]])

    def value_and_gradient(self, point):
        assert point.shape == (3, 2)
        value = float((self.curvature * point**2).sum() / 2 - (self.slope * point).sum())
        return value, self.curvature * point - self.slope


class Rosenbrock:
    def value_and_gradient(self, point):
        return float(rosen(point)), rosen_der(point)


class DoubleWell:
    """(x² − 1)² + tilt · x a coordinate: two minima each."""

    def __init__(self, tilt=0.0):
        self.tilt = tilt

    def value_and_gradient(self, point):
        value = ((point**2 - 1) ** 2 + self.tilt * point).sum()
        return float(value), 4 * point * (point**2 - 1) + self.tilt


class Trough:
    """(x − y − 1)² + 1 of two coordinates of two points: every point of a line is lowest."""

    def value_and_gradient(self, point):
        gap = point[0] - point[1]
        pull = np.where(np.arange(gap.size) == 0, 2 * (gap - 1), 0.0)
        return float((gap[0] - 1) ** 2 + 1), np.stack([pull, -pull])


@pytest.mark.parametrize("method", METHODS)
def test_quadratic(method):
    result = minimise(Quadratic(), np.zeros((3, 2)), method, tolerance=1e-6)
    assert np.allclose(result.point, Quadratic.slope / Quadratic.curvature, atol=1e-5)
    assert result.point.shape == (3, 2)
    assert result.converged
    assert result.reason == "the gradient is below 1e-06"
    assert np.abs(Quadratic().value_and_gradient(result.point)[1]).max() <= 1e-6
    assert result.value == Quadratic().value_and_gradient(result.point)[0]


@pytest.mark.parametrize("method", METHODS)
def test_rosenbrock(method):
    result = minimise(Rosenbrock(), np.array([-1.2, 1.0]), method)
    assert np.allclose(result.point, 1, atol=1e-6)
    assert result.converged


@pytest.mark.parametrize("method", METHODS)
def test_trace_holds_the_start_and_every_iteration(method):
    seen = []

    def watch(iteration, value, point):
        seen.append((iteration, value, Rosenbrock().value_and_gradient(point)[0]))
        return False

    start = np.array([-1.2, 1.0])
    result = minimise(Rosenbrock(), start, method, callback=watch)
    assert result.trace[0] == rosen(start)
    assert result.trace[1:] == [value for _, value, _ in seen] == [value for _, _, value in seen]
    assert [iteration for iteration, _, _ in seen] == list(range(1, result.iterations + 1))
    assert result.trace[-1] == result.value
    assert all(np.diff(result.trace) <= 0)


@pytest.mark.parametrize("method", METHODS)
def test_callback_stops(method):
    result = minimise(
        Rosenbrock(), np.array([-1.2, 1.0]), method, callback=lambda iteration, value, point: iteration == 3
    )
    assert result.iterations == 3
    assert len(result.trace) == 4
    assert not result.converged
    assert result.reason == "stopped by the callback"


@pytest.mark.parametrize("method", METHODS)
def test_iterations_are_spent(method):
    result = minimise(Rosenbrock(), np.array([-1.2, 1.0]), method, max_iterations=4)
    assert result.iterations == 4
    assert not result.converged
    assert result.reason == "4 iterations are spent"


@pytest.mark.parametrize("method", METHODS)
def test_no_progress_within_rounding(method):
    class Shifted(Rosenbrock):
        """A value so large that its last digits hide the end of the descent."""

        def value_and_gradient(self, point):
            value, gradient = super().value_and_gradient(point)
            return 1e3 + value, gradient

    result = minimise(Shifted(), np.array([-1.2, 1.0]), method, tolerance=0.0)
    assert result.reason == "no further progress within rounding"
    assert result.converged


@pytest.mark.parametrize("method", METHODS)
def test_a_wrong_gradient_does_not_pass_for_an_end(method):
    class Wrong(Quadratic):
        def value_and_gradient(self, point):
            value, gradient = super().value_and_gradient(point)
            return value, -gradient

    result = minimise(Wrong(), np.ones((3, 2)), method)
    assert not result.converged
    assert result.reason.startswith("no lower value was found, though the gradient is still")


@pytest.mark.parametrize("method", METHODS)
def test_a_start_at_the_end_stays(method):
    start = Quadratic.slope / Quadratic.curvature
    result = minimise(Quadratic(), start, method)
    assert result.iterations == 0
    assert np.array_equal(result.point, start)
    assert result.converged
    assert len(result.trace) == 1


@pytest.mark.parametrize("method", METHODS)
def test_scale_evens_out_curvature(method):
    class Steep:
        curvature = 10.0 ** np.arange(6)[:, None] * np.ones((6, 2))

        def value_and_gradient(self, point):
            return float((self.curvature * (point - 1) ** 2).sum() / 2), self.curvature * (point - 1)

    plain = minimise(Steep(), np.zeros((6, 2)), method)
    scaled = minimise(Steep(), np.zeros((6, 2)), method, scale=1 / np.sqrt(Steep.curvature[:, :1]))
    assert scaled.iterations < plain.iterations
    assert scaled.converged
    assert np.abs(Steep().value_and_gradient(scaled.point)[1]).max() <= 1e-8
    assert np.allclose(scaled.point, 1, atol=1e-8)


def test_the_start_is_left_alone():
    start = np.array([-1.2, 1.0])
    minimise(Rosenbrock(), start)
    assert start.tolist() == [-1.2, 1.0]


def test_lowest_end_wins():
    starts = [np.array([[0.5], [0.5]]), np.array([[-0.5], [-0.5]]), np.array([[-0.5], [0.5]])]
    result = lowest([minimise(DoubleWell(tilt=0.2), start) for start in starts])
    assert (result.point < 0).all()
    assert result.value == min(minimise(DoubleWell(tilt=0.2), start).value for start in starts)
    assert result.trace[0] == DoubleWell(tilt=0.2).value_and_gradient(starts[1])[0]


def test_among_equally_low_ends_the_most_compact_wins():
    wide, narrow = np.array([[3.0, 9.0], [0.0, -9.0]]), np.array([[3.0, 101.0], [0.0, 100.0]])
    for starts in ([wide, narrow], [narrow, wide]):
        assert lowest([minimise(Trough(), start) for start in starts]).point[0, 1] == pytest.approx(101)


def test_what_cannot_be_used_is_named():
    with pytest.raises(UnknownNameError, match="no solver 'newton'"):
        minimise(Quadratic(), np.zeros((3, 2)), "newton")
    with pytest.raises(ParameterError, match="scale has entries that are not positive"):
        minimise(Quadratic(), np.zeros((3, 2)), scale=np.array([0.0, 1.0]))
    with pytest.raises(ParameterError, match="starts is empty"):
        lowest([])
