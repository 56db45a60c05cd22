"""Smooth minimisation where coordinates are bounded from below, by L-BFGS-B."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, OptimizeResult
from scipy.optimize import minimize as scipy_minimise

from relscape.protocols import Callback, FloatArray, Objective
from relscape.solvers.result import SolveResult
from relscape.threads import one_thread

__all__ = ["bounded_minimise"]

_MEMORY = 10


def bounded_minimise(
    objective: Objective,
    start: FloatArray,
    lower: FloatArray | float,
    tolerance: float = 1e-6,
    max_iterations: int = 500,
    callback: Callback | None = None,
) -> SolveResult:
    """Walk downhill, each coordinate kept at or above its bound, until the value hardly falls.

    Every step follows the gradient projected on the bounds, bent by what the last ten steps have told of the
    curvature.

    Parameters
    ----------
    objective : Objective
        Its points have the shape of ``start``, whatever that is.
    start : array
        Where to begin; what lies below its bound is moved there.
    lower : array or float
        The bounds, broadcast to the point; −inf where there is none.
    tolerance : float
        Arrived when a step lowers the value by less than this share of it.
    max_iterations : int
        Stop after so many.
    callback : Callback, optional
        Sees every iteration; True stops.
    """
    bounds = np.broadcast_to(np.asarray(lower, dtype=np.float64), start.shape)
    point = np.maximum(start, bounds)
    trace: list[float] = []
    stopped = False

    def evaluate(variables: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective.value_and_gradient(variables.reshape(point.shape))
        if not trace:
            trace.append(float(value))
        return value, np.asarray(gradient, dtype=np.float64).ravel()

    def watch(intermediate_result: OptimizeResult) -> None:
        nonlocal stopped
        value = float(intermediate_result.fun)
        trace.append(value)
        here = intermediate_result.x.reshape(point.shape)
        if callback is not None and callback(len(trace) - 1, value, here):
            stopped = True
            raise StopIteration

    with one_thread():
        outcome = scipy_minimise(
            evaluate,
            point.ravel(),
            method="L-BFGS-B",
            jac=True,
            bounds=Bounds(bounds.ravel(), np.inf),
            callback=watch,
            options={"maxiter": max_iterations, "maxcor": _MEMORY, "ftol": tolerance, "maxfun": 2**30},
        )
    converged = outcome.status == 0 and not stopped
    if stopped:
        reason = "stopped by the callback"
    elif outcome.status == 1:
        reason = f"{max_iterations} iterations are spent"
    elif converged:
        reason = f"a step lowers the value by less than {tolerance:g} of itself"
    else:
        reason = f"no lower value was found ({outcome.message})"
    end = np.asarray(outcome.x).reshape(point.shape)
    return SolveResult(end, float(outcome.fun), len(trace) - 1, converged, reason, trace)
