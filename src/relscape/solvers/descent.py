"""Smooth minimisation by L-BFGS or nonlinear conjugate gradients, from one start or the best of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult
from scipy.optimize import minimize as scipy_minimise

from relscape.errors import ParameterError, UnknownNameError
from relscape.protocols import Callback, FloatArray, Objective
from relscape.solvers.result import SolveResult
from relscape.threads import one_thread

__all__ = ["METHODS", "lowest", "minimise"]

METHODS = ("lbfgs", "cg")

# The gradient decides when to stop, so what scipy would stop for is set to zero.
_OPTIONS: dict[str, dict[str, Any]] = {
    "lbfgs": {"method": "L-BFGS-B", "maxcor": 20, "ftol": 0.0, "gtol": 0.0, "maxfun": 2**30},
    "cg": {"method": "CG", "c2": 0.1, "gtol": 0.0},
}
# Where a value cannot fall any more, rounding leaves gradients about this large relative to the value.
_ROUNDING = 1e-6
_SAME_VALUE = 1e-9


def minimise(
    objective: Objective,
    start: FloatArray,
    method: str = "lbfgs",
    tolerance: float = 1e-8,
    max_iterations: int = 2000,
    callback: Callback | None = None,
    scale: FloatArray | None = None,
) -> SolveResult:
    """Walk downhill from a start until the gradient vanishes.

    Parameters
    ----------
    objective : Objective
        Its points have the shape of ``start``, whatever that is.
    start : array
        Where to begin.
    method : {"lbfgs", "cg"}
        L-BFGS with 20 remembered steps, or conjugate gradients (Polak-Ribière, strong Wolfe conditions
        with c₂ = 0.1).
    tolerance : float
        The largest entry of the gradient that counts as zero.
    max_iterations : int
        Stop after so many.
    callback : Callback, optional
        Sees every iteration; True stops.
    scale : array, optional
        Positive, broadcast to the point. The solver works on ``point / scale``, which helps when
        coordinates are curved very differently; the tolerance applies to the true gradient all the same.
    """
    if method not in METHODS:
        raise UnknownNameError("solver", method, METHODS)
    start = np.asarray(start, dtype=np.float64)
    walk = _Walk(objective, start, _checked_scale(scale, start), tolerance, callback)
    if walk.arrived():
        return walk.result(None, max_iterations)
    options = dict(_OPTIONS[method], maxiter=max_iterations)
    with one_thread():
        outcome = scipy_minimise(
            walk.evaluate,
            (start / walk.scale).ravel(),
            method=options.pop("method"),
            jac=True,
            callback=walk.watch,
            options=options,
        )
    return walk.result(outcome, max_iterations)


def lowest(ends: Sequence[SolveResult]) -> SolveResult:
    """Choose among the ends of several descents: the lowest.

    Of ends as low within 1e-9 of the value, the most compact one wins: the smallest norm about the mean.
    """
    if not ends:
        raise ParameterError("starts is empty; expected at least one start.")
    best = ends[0]
    for end in ends[1:]:
        if _is_better(end, best):
            best = end
    return best


def _is_better(one: SolveResult, other: SolveResult) -> bool:
    if abs(one.value - other.value) <= _SAME_VALUE * abs(other.value):
        return _spread(one.point) < _spread(other.point)
    return one.value < other.value


def _spread(point: FloatArray) -> float:
    return float(np.linalg.norm(point - point.mean(axis=0)))


def _checked_scale(scale: FloatArray | None, start: FloatArray) -> FloatArray:
    if scale is None:
        return np.ones(start.shape)
    scale = np.asarray(scale, dtype=np.float64)
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise ParameterError("scale has entries that are not positive and finite; expected sizes of steps.")
    return np.broadcast_to(scale, start.shape)


class _Walk:
    """One descent: evaluates for scipy, remembers where it is, and knows when to stop."""

    def __init__(
        self,
        objective: Objective,
        start: FloatArray,
        scale: FloatArray,
        tolerance: float,
        callback: Callback | None,
    ) -> None:
        self.objective, self.scale, self.tolerance, self.callback = objective, scale, tolerance, callback
        self.point = start
        self.value, self.gradient = objective.value_and_gradient(start)
        self.latest = (self.point, self.value, self.gradient)
        self.trace = [self.value]
        self.stopped = False

    def evaluate(self, variables: FloatArray) -> tuple[float, FloatArray]:
        """Give value and gradient in the scaled, flat variables."""
        point = self._point(variables)
        self.latest = (point, *self.objective.value_and_gradient(point))
        _, value, gradient = self.latest
        return value, (gradient * self.scale).ravel()

    def watch(self, intermediate_result: OptimizeResult) -> None:
        """Take note of an iteration; scipy stops at StopIteration."""
        self._move(self._point(intermediate_result.x))
        self.trace.append(self.value)
        if self.callback is not None and self.callback(len(self.trace) - 1, self.value, self.point):
            self.stopped = True
        if self.stopped or self.arrived():
            raise StopIteration

    def arrived(self) -> bool:
        """Tell whether the gradient vanishes."""
        return self._steepest() <= self.tolerance

    def result(self, outcome: OptimizeResult | None, max_iterations: int) -> SolveResult:
        """Say where the walk ended, and why."""
        iterations = len(self.trace) - 1
        if self.arrived():
            converged, reason = True, f"the gradient is below {self.tolerance:g}"
        elif self.stopped:
            converged, reason = False, "stopped by the callback"
        elif outcome is not None and outcome.status == 1:
            converged, reason = False, f"{max_iterations} iterations are spent"
        elif self._steepest() <= _ROUNDING * max(1.0, abs(self.value)):
            converged, reason = True, "no further progress within rounding"
        else:
            converged = False
            reason = f"no lower value was found, though the gradient is still {self._steepest():.2g}"
        return SolveResult(self.point, self.value, iterations, converged, reason, self.trace)

    def _move(self, point: FloatArray) -> None:
        if not np.array_equal(point, self.latest[0]):
            self.latest = (point, *self.objective.value_and_gradient(point))
        self.point, self.value, self.gradient = self.latest

    def _point(self, variables: FloatArray) -> FloatArray:
        return np.asarray(variables.reshape(self.scale.shape) * self.scale)

    def _steepest(self) -> float:
        return float(np.abs(self.gradient).max(initial=0.0))
