"""Descent on costs whose terms are drawn anew as it goes: with an adaptive rate, or Adam's moments.

Both take a cost that is given its terms, and a way to draw them. What they reach is an average over draws, so
neither looks for a lowest value; they stop when the average no longer falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from relscape.errors import DataError, ParameterError
from relscape.protocols import Callback, FloatArray, IntArray
from relscape.solvers.result import SolveResult

__all__ = ["Cost", "adam_descent", "adaptive_descent"]

Cost: TypeAlias = Callable[[FloatArray, IntArray], tuple[float, FloatArray]]
"""``cost(point, terms)`` gives the value and the gradient of the cost made of these terms."""

_FASTER, _SLOWER = 1.01, 0.4
_ROUNDS_SEEN = 10

_FIRST, _SECOND, _LEAST = 0.9, 0.999, 1e-12
_STEPS_SEEN = 25
_COOLER, _COOLINGS = 0.3, 3


def adaptive_descent(
    cost: Cost,
    draw: Callable[[], IntArray],
    start: FloatArray,
    rate: float = 10.0,
    rounds: int = 2000,
    steps: int = 20,
    tolerance: float = 0.0,
    callback: Callback | None = None,
) -> SolveResult:
    """Walk downhill in rounds of steps on the same terms, with a rate that follows the success.

    The rate of a round begins at a base; it grows by a hundredth with every step after which the cost is no
    higher than the lowest of the round, and falls to 0.4 of itself with any other. Steps are taken in either
    case. A round that ends below the base lowers it to 0.4 of itself (Wu 2018, chapter 5).

    Parameters
    ----------
    cost : callable
        Gives value and gradient for a point and terms.
    draw : callable
        Draws the terms of a round.
    start : array
        Where to begin.
    rate : float
        The first base.
    rounds, steps : int
        At most so many rounds, of so many steps each.
    tolerance : float
        Arrived when the mean cost of ten rounds is below that of the ten before by less than this share; 0
        spends all rounds.
    callback : Callback, optional
        Sees every round; True stops.

    Returns
    -------
    SolveResult
        The last point; its iterations are rounds, and the trace holds the first value of each.
    """
    _check(rate, rounds)
    point = np.array(start, dtype=np.float64)
    base, trace = rate, []
    converged, reason = False, f"{rounds} rounds are spent"
    for number in range(1, rounds + 1):
        terms, now, lowest = draw(), base, np.inf
        for step in range(steps):
            value, gradient = _looked(cost, point, terms)
            if step == 0:
                trace.append(value)
            now *= _FASTER if value <= lowest else _SLOWER
            lowest = min(lowest, value)
            point = point - now * gradient
        if now < base:
            base *= _SLOWER
        if callback is not None and callback(number, trace[-1], point):
            reason = "stopped by the callback"
            break
        if number % _ROUNDS_SEEN == 0 and _is_flat(trace, _ROUNDS_SEEN, tolerance):
            converged, reason = True, f"ten rounds lower the cost by less than {tolerance:g} of itself"
            break
    value = _looked(cost, point, draw())[0]
    return SolveResult(point, value, len(trace), converged, reason, [*trace, value])


def adam_descent(
    cost: Cost,
    draw: Callable[[], IntArray],
    start: FloatArray,
    rate: float = 0.1,
    max_iterations: int = 2000,
    tolerance: float = 2e-3,
    callback: Callback | None = None,
) -> SolveResult:
    """Walk downhill with Adam's moments, on new terms at every step, and cool down where it no longer falls.

    Each coordinate moves by its mean gradient relative to its root mean square (Kingma and Ba 2015), so the
    rate is about the length of a step, whatever the scale of the cost. Where the mean cost of 25 steps is
    not enough below that of the 25 before, the rate falls to 0.3 of itself; after the third time, it is the
    end. What the noise of the draws kept alive comes to rest on the way.

    Parameters
    ----------
    cost : callable
        Gives value and gradient for a point and terms.
    draw : callable
        Draws the terms of a step.
    start : array
        Where to begin.
    rate : float
        Length of the first steps, a coordinate.
    max_iterations : int
        At most so many steps.
    tolerance : float
        The share by which 25 steps should lower the cost.
    callback : Callback, optional
        Sees every step; True stops.

    Returns
    -------
    SolveResult
        The last point; the trace holds the value of every step.
    """
    _check(rate, max_iterations)
    point = np.array(start, dtype=np.float64)
    first, second = np.zeros_like(point), np.zeros_like(point)
    trace: list[float] = []
    cooled, last_change = 0, 0
    converged, reason = False, f"{max_iterations} iterations are spent"
    for step in range(1, max_iterations + 1):
        value, gradient = _looked(cost, point, draw())
        trace.append(value)
        first += (1.0 - _FIRST) * (gradient - first)
        second += (1.0 - _SECOND) * (gradient**2 - second)
        mean, spread = first / (1.0 - _FIRST**step), second / (1.0 - _SECOND**step)
        point = point - rate * mean / (np.sqrt(spread) + _LEAST)
        if callback is not None and callback(step, value, point):
            reason = "stopped by the callback"
            break
        if step - last_change >= 2 * _STEPS_SEEN and (step - last_change) % _STEPS_SEEN == 0:
            if not _is_flat(trace, _STEPS_SEEN, tolerance):
                continue
            if cooled == _COOLINGS:
                converged, reason = True, f"25 steps lower the cost by less than {tolerance:g} of itself"
                break
            cooled, last_change, rate = cooled + 1, step, rate * _COOLER
    value = _looked(cost, point, draw())[0]
    return SolveResult(point, value, len(trace), converged, reason, [*trace, value])


def _looked(cost: Cost, point: FloatArray, terms: IntArray) -> tuple[float, FloatArray]:
    value, gradient = cost(point, terms)
    if not np.isfinite(value):
        raise DataError(f"the cost is {value}; expected a finite value. A smaller rate may help.")
    if not np.isfinite(gradient).all():
        raise DataError(
            f"the gradient is not finite where the cost is {value:g}; does the start have places that are no "
            "numbers? Otherwise a smaller rate may help."
        )
    return float(value), gradient


def _is_flat(trace: list[float], window: int, tolerance: float) -> bool:
    """Tell whether the mean of the last values is hardly below that of as many before."""
    if tolerance <= 0 or len(trace) < 2 * window:
        return False
    before, now = np.mean(trace[-2 * window : -window]), np.mean(trace[-window:])
    return bool(before - now < tolerance * abs(before))


def _check(rate: float, iterations: int) -> None:
    if not (np.isfinite(rate) and rate > 0):
        raise ParameterError(f"rate={rate!r}: expected a positive number.")
    if iterations < 1:
        raise ParameterError(f"{iterations} iterations: expected at least 1.")
