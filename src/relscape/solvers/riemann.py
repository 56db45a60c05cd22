"""Descent along a curved set: gradients projected on it, steps retracted to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from relscape.errors import DataError, UnknownNameError
from relscape.protocols import BatchObjective, Callback, FloatArray, IntArray, Manifold, Objective
from relscape.solvers.result import SolveResult
from relscape.threads import one_thread

__all__ = ["STEPS", "batch_descent", "riemannian_descent"]

STEPS = ("lbfgs", "plain")

_REMEMBERED = 20  # steps whose curvatures L-BFGS uses
_ARMIJO = 1e-4
_MOST_HALVINGS = 100
_CHANGE = 1e6  # steps found from curvatures differ from the last ones at most by this factor
_FLAT = 1e-12  # a cosine of step and change of gradient below this says nothing about curvature
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
_NEGLIGIBLE = 1e-6  # where no lower value is found, gradients as large relative to the value are rounding


def riemannian_descent(
    objective: Objective,
    manifold: Manifold,
    start: FloatArray,
    tolerance: float = 1e-8,
    max_iterations: int = 500,
    first_step: float | None = None,
    steps: str = "lbfgs",
    callback: Callback | None = None,
    check_every: int = 10,
) -> SolveResult:
    """Walk downhill on a manifold until the gradient along it vanishes.

    Every step is halved until the value falls by at least 10⁻⁴ of what the gradient promises. The point of
    the lowest value seen is given back.

    Parameters
    ----------
    objective : Objective
        Gives the ordinary gradient; it is projected here.
    manifold : Manifold
        Where the points live.
    start : array
        Where to begin; repaired if it is not a point of the manifold.
    tolerance : float
        The largest entry of the projected gradient that counts as zero.
    max_iterations : int
        Stop after so many.
    first_step : float, optional
        The first length tried, in units of the gradient; the number of rows unless given, since the gradient
        of an average over rows is as small as one over their number.
    steps : {"lbfgs", "plain"}
        "lbfgs": the gradient is divided by the curvatures met on the last twenty steps, which are carried
        along by projection; by far the fewest steps where curvatures differ. "plain": steps against the
        gradient, first tried at twice the last length; the reference, where values never rise.
    callback : Callback, optional
        Sees every iteration; True stops.
    check_every : int
        The point is repaired every so many iterations, and at the end.
    """
    if steps not in STEPS:
        raise UnknownNameError("kind of steps", steps, STEPS)
    with one_thread():
        start = manifold.repair(np.array(start, dtype=np.float64))
        step = float(len(start)) if first_step is None else first_step
        walk = _Walk(objective, manifold, start, step, steps)
        lowest = walk.spot
        trace = [lowest.value]
        stuck = stopped = False
        while not (stopped or walk.spot.steepest <= tolerance or len(trace) > max_iterations):
            stuck = not walk.advance()
            if stuck:
                break
            if len(trace) % check_every == 0:
                walk.repair()
            trace.append(walk.spot.value)
            lowest = min(walk.spot, lowest, key=_value)
            stopped = callback is not None and callback(len(trace) - 1, walk.spot.value, walk.spot.point)
        if walk.spot.value <= lowest.value + _ROUNDING * abs(lowest.value):
            lowest = walk.spot  # as low within rounding, and the gradient is smaller
        lowest = walk.repaired(lowest)
    converged, reason = _why(lowest, tolerance, stuck, stopped, max_iterations)
    return SolveResult(lowest.point, lowest.value, len(trace) - 1, converged, reason, trace)


def batch_descent(
    objective: BatchObjective,
    manifold: Manifold,
    start: FloatArray,
    batches: Callable[[np.random.Generator], Sequence[IntArray]],
    n_cycles: int,
    inner_iterations: int,
    rng: np.random.Generator,
    callback: Callback | None = None,
    tolerance: float = 1e-8,
    first_step: float | None = None,
) -> SolveResult:
    """Walk downhill on a manifold, looking at one batch of terms at a time.

    A cycle goes through the batches; each gets a few plain steps on the objective of its own terms, the point
    and the length of the steps being carried over. The whole objective is looked at once a cycle, and the
    point where it was lowest is given back. The trace holds these whole values.

    Parameters
    ----------
    objective : BatchObjective
        Gives values and gradients of all terms and of some.
    manifold : Manifold
        Where the points live.
    start : array
        Where to begin; repaired if it is not a point of the manifold.
    batches : callable
        Makes the batches of a cycle, arrays of numbers of terms, from a random generator.
    n_cycles : int
        How often to go through.
    inner_iterations : int
        Steps on each batch.
    rng : numpy.random.Generator
        Handed to ``batches``.
    callback : Callback, optional
        Sees every cycle; True stops.
    tolerance : float
        The largest entry of the whole projected gradient that counts as zero.
    first_step : float, optional
        As in :func:`riemannian_descent`.
    """
    with one_thread():
        point = manifold.repair(np.array(start, dtype=np.float64))
        step = float(len(point)) if first_step is None else first_step
        lowest = spot = _spot(objective, manifold, point)
        trace = [lowest.value]
        stopped = False
        while not (stopped or spot.steepest <= tolerance or len(trace) > n_cycles):
            for batch in batches(rng):
                walk = _Walk(_Some(objective, batch), manifold, point, step, "plain")
                for _ in range(inner_iterations):
                    if not walk.advance():
                        break
                    point, step = walk.spot.point, walk.step
            point = manifold.repair(point)
            spot = _spot(objective, manifold, point)
            trace.append(spot.value)
            lowest = min(spot, lowest, key=_value)
            stopped = callback is not None and callback(len(trace) - 1, spot.value, point)
    converged, reason = _why(lowest, tolerance, False, stopped, n_cycles, "cycles")
    return SolveResult(lowest.point, lowest.value, len(trace) - 1, converged, reason, trace)


@dataclass(frozen=True, eq=False)
class _Spot:
    """A point with its value and the gradient along the manifold."""

    point: FloatArray
    value: float
    gradient: FloatArray

    @property
    def steepest(self) -> float:
        return float(np.abs(self.gradient).max(initial=0.0))


def _value(spot: _Spot) -> float:
    return spot.value


def _spot(objective: Objective, manifold: Manifold, point: FloatArray) -> _Spot:
    value, gradient = objective.value_and_gradient(point)
    return _Spot(point, float(value), manifold.project(point, gradient))


@dataclass(frozen=True, eq=False)
class _Some:
    """Some terms of an objective, as an objective."""

    objective: BatchObjective
    terms: IntArray

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        return self.objective.value_and_gradient_of(point, self.terms)


class _Walk:
    """A descent under way: where it is, and how long a step it will try next."""

    def __init__(
        self, objective: Objective, manifold: Manifold, start: FloatArray, step: float, steps: str
    ) -> None:
        self.objective, self.manifold, self.step, self.steps = objective, manifold, step, steps
        self.spot = _spot(objective, manifold, start)
        if not np.isfinite(self.spot.value):
            raise DataError(f"the objective is {self.spot.value} at the start; expected a finite value.")
        self.pairs: list[tuple[FloatArray, FloatArray]] = []

    def advance(self) -> bool:
        """Take one step; False where none is lower."""
        before = self.spot
        direction = self._direction()
        step = self._search(direction)
        if step == 0 and self.pairs:
            self.pairs = []
            direction = -before.gradient
            step = self._search(direction)
        if step == 0:
            return False
        self.step = 2 * step if self.steps == "plain" else self._curved_step(before)
        if self.steps == "lbfgs":
            self._remember(before, step * direction)
        return True

    def repair(self) -> None:
        """Bring the point back to the manifold where it has left it."""
        self.spot = self.repaired(self.spot)

    def repaired(self, spot: _Spot) -> _Spot:
        """Give the same spot, or one on the manifold."""
        point = self.manifold.repair(spot.point)
        return spot if point is spot.point else _spot(self.objective, self.manifold, point)

    def _search(self, direction: FloatArray) -> float:
        """Move to the first point low enough and give the length of the step; 0 where there is none."""
        point, step = self.spot.point, 1.0 if self.pairs else self.step
        slope = float(np.vdot(direction, self.spot.gradient))
        now = self.spot.value
        limit = now + (0.0 if self.steps == "plain" else _ROUNDING * abs(now))
        for _ in range(_MOST_HALVINGS):
            moved = self.manifold.retract(point, step * direction)
            if np.array_equal(moved, point):
                break
            value, gradient = self.objective.value_and_gradient(moved)
            if value <= limit + _ARMIJO * step * slope:
                self.spot = _Spot(moved, float(value), self.manifold.project(moved, gradient))
                return step
            step /= 2
        return 0.0

    def _direction(self) -> FloatArray:
        """Give the way down: against the gradient, or as earlier steps have turned it."""
        gradient = self.spot.gradient
        if self.pairs:
            turned = self.manifold.project(self.spot.point, -_newton_like(self.pairs, gradient))
            if np.vdot(turned, gradient) < 0:
                return turned
            self.pairs = []
        return -gradient

    def _curved_step(self, before: _Spot) -> float:
        """Give the inverse of the curvature met along the last step, for when no earlier ones are known."""
        moved = self.spot.point - before.point
        changed = self.spot.gradient - before.gradient
        over, under = float(np.vdot(moved, moved)), abs(float(np.vdot(moved, changed)))
        if not (over > 0 and under > 0):
            return 2 * self.step
        return float(np.clip(over / under, self.step / _CHANGE, self.step * _CHANGE))

    def _remember(self, before: _Spot, moved: FloatArray) -> None:
        """Carry the remembered steps and changes of the gradient to the new point, and add the last one."""
        point, project = self.spot.point, self.manifold.project
        self.pairs.append((moved, -before.gradient))
        carried = [(project(point, step), project(point, change)) for step, change in self.pairs]
        carried[-1] = (carried[-1][0], carried[-1][1] + self.spot.gradient)
        self.pairs = [pair for pair in carried if _curved(*pair)][-_REMEMBERED:]


def _curved(step: FloatArray, change: FloatArray) -> bool:
    """Tell whether a step met a curvature upwards, beyond rounding."""
    return float(np.vdot(step, change)) > _FLAT * float(np.linalg.norm(step) * np.linalg.norm(change))


def _newton_like(pairs: list[tuple[FloatArray, FloatArray]], gradient: FloatArray) -> FloatArray:
    """Divide the gradient by the curvatures met on earlier steps: the two loops of L-BFGS."""
    result = gradient
    shares = []
    for step, change in reversed(pairs):
        share = float(np.vdot(step, result) / np.vdot(step, change))
        result = result - share * change
        shares.append(share)
    step, change = pairs[-1]
    result = result * float(np.vdot(step, change) / np.vdot(change, change))
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        result = result + (share - float(np.vdot(change, result) / np.vdot(step, change))) * step
    return result


def _why(
    spot: _Spot, tolerance: float, stuck: bool, stopped: bool, most: int, unit: str = "iterations"
) -> tuple[bool, str]:
    """Say whether a descent has arrived, and why it stopped."""
    if spot.steepest <= tolerance:
        return True, f"the gradient is below {tolerance:g}"
    if stopped:
        return False, "stopped by the callback"
    if not stuck:
        return False, f"{most} {unit} are spent"
    if spot.steepest <= _NEGLIGIBLE * max(1.0, abs(spot.value)):
        return True, "no further progress within rounding"
    return False, f"no lower value was found, though the gradient is still {spot.steepest:.2g}"
