"""Gradient descent with momentum and a gain for every coordinate: for objectives whose gradients are rough.

Approximate forces, as large neighbour embeddings use them, mislead a line search; steps of a fixed rate do
not mind.
"""

from __future__ import annotations

import numpy as np

from relscape.errors import DataError, ParameterError
from relscape.protocols import Callback, FloatArray, Objective
from relscape.solvers.result import SolveResult

__all__ = ["momentum_descent"]

_FASTER, _SLOWER, _LEAST_GAIN = 0.2, 0.8, 0.01
_MOST_RETREATS = 30


def momentum_descent(
    objective: Objective,
    start: FloatArray,
    learning_rate: float,
    n_iterations: int = 500,
    momentum: tuple[float, float] = (0.5, 0.8),
    switch: int = 250,
    tolerance: float = 1e-5,
    monitor_every: int = 50,
    callback: Callback | None = None,
) -> SolveResult:
    """Walk downhill with momentum, and keep the lowest point seen.

    A coordinate that keeps its direction gains speed, one that turns about loses some. Should the value leave
    all bounds, the walk goes back to its lowest point and continues at half the rate.

    Parameters
    ----------
    objective : Objective
        Its value may be approximate, and so may its gradient.
    start : array
        Where to begin.
    learning_rate : float
        Length of a step in units of the gradient; about n / 12 to n / 4 where gradients are averages over n
        rows.
    n_iterations : int
        At most so many.
    momentum : pair of floats
        The share of the last step that the next one keeps, before and after ``switch``.
    switch : int
        After so many iterations the second momentum applies.
    tolerance : float
        Arrived when ``monitor_every`` iterations lower the best value by less than this share of it. Looked
        at after ``switch`` only.
    monitor_every : int
        How often to look.
    callback : Callback, optional
        Sees every iteration; True stops.
    """
    if not (np.isfinite(learning_rate) and learning_rate > 0):
        raise ParameterError(f"learning_rate={learning_rate!r}: expected a positive number.")
    point = np.array(start, dtype=np.float64)
    value, gradient = objective.value_and_gradient(point)
    if not np.isfinite(value):
        raise DataError(f"the objective is {value} at the start; expected a finite value.")
    best, lowest = (point, gradient), float(value)
    trace = [lowest]
    update, gains = np.zeros_like(point), np.ones_like(point)
    retreats, seen = 0, lowest
    converged, reason = False, f"{n_iterations} iterations are spent"
    for iteration in range(1, n_iterations + 1):
        gains = np.where(update * gradient < 0, gains + _FASTER, np.maximum(gains * _SLOWER, _LEAST_GAIN))
        kept = momentum[0] if iteration <= switch else momentum[1]
        update = kept * update - learning_rate * gains * gradient
        point = point + update
        value, gradient = objective.value_and_gradient(point)
        trace.append(float(value))
        if value < lowest:
            best, lowest = (point, gradient), float(value)
        if callback is not None and callback(iteration, float(value), point):
            reason = "stopped by the callback"
            break
        if not value <= trace[0] + abs(lowest):
            retreats += 1
            if retreats > _MOST_RETREATS:
                reason = "no lower value was found at any rate"
                break
            learning_rate /= 2
            point, gradient = best
            update, gains = np.zeros_like(point), np.ones_like(point)
        if iteration % monitor_every == 0:
            if iteration > switch and seen - lowest <= tolerance * abs(lowest):
                converged, reason = True, f"the value falls by less than {tolerance:g} of itself"
                break
            seen = lowest
    return SolveResult(best[0], lowest, len(trace) - 1, converged, reason, trace)
