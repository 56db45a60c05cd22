"""Several tables at once: every kind has one set of points, the likelihoods add up with weights.

All points of all kinds stand under one another in one array; a term knows where those of its own kinds are
(spec of CODE, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from relscape.objectives.cooccurrence import Table, pair_likelihood
from relscape.objectives.multiway import TupleTable, tuple_likelihood
from relscape.objectives.pairs import pair_distribution
from relscape.protocols import BoolArray, FloatArray, IntArray

__all__ = ["PairTerm", "RowProblems", "SeveralTables", "Term", "TupleTerm", "place_by_several"]

_FAR = 1e40
_STEPS, _HALVINGS = 200, 40
_STILL = 1e-14  # of the value: where a full step more is all that is left


class Term(Protocol):
    """The likelihood of one table, as a function of all points."""

    def likelihood(self, points: FloatArray) -> tuple[float, list[tuple[IntArray, FloatArray]]]:
        """Give the value, and gradients with the positions they belong to."""
        ...


@dataclass(frozen=True, eq=False)
class PairTerm:
    """A table of pairs: ``left`` and ``right`` say where the points of its rows and columns are.

    Within one kind both may name the same points. To leave out pairs of a thing with itself, rows and columns
    must then be the same things in the same order; things that are never a row, or never a column, are marked
    in ``no_row`` and ``no_column``. The table holds next to nothing for them, and they stand where no
    exponential reaches, so that they have no part in any sum.
    """

    table: Table
    model: str
    left: IntArray
    right: IntArray
    exclude_self: bool = False
    no_row: BoolArray | None = None
    no_column: BoolArray | None = None

    def likelihood(self, points: FloatArray) -> tuple[float, list[tuple[IntArray, FloatArray]]]:
        """Give the value, and gradients with the positions they belong to."""
        left, right = self._clouds(points)
        if self.no_row is None or self.no_column is None:
            value, by_left, by_right = pair_likelihood(
                self.table, self.model, left, right, exclude_self=self.exclude_self
            )
            return value, [(self.left, by_left), (self.right, by_right)]
        value, by_left, by_right = pair_likelihood(
            self.table, self.model, left, right, exclude_self=self.exclude_self
        )
        rows, columns = ~self.no_row, ~self.no_column
        return value, [(self.left[rows], by_left[rows]), (self.right[columns], by_right[columns])]

    def log_factors(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the log-factors of rows and columns, with the normalisers this term has."""
        masses = self.table.row_masses, self.table.column_masses
        fitted = pair_distribution(self.model, *self._clouds(points), *masses, self.exclude_self)
        rows = slice(None) if self.no_row is None else ~self.no_row
        columns = slice(None) if self.no_column is None else ~self.no_column
        return fitted.row_factors[rows], fitted.column_factors[columns]

    def _clouds(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        left, right = points[self.left], points[self.right]
        if self.no_row is not None:
            left[self.no_row] = _FAR
        if self.no_column is not None:
            right[self.no_column] = -_FAR
        return left, right


@dataclass(frozen=True, eq=False)
class TupleTerm:
    """A table of tuples; ``positions`` say where the points of each of its variables are."""

    table: TupleTable
    model: str
    positions: tuple[IntArray, ...]

    def likelihood(self, points: FloatArray) -> tuple[float, list[tuple[IntArray, FloatArray]]]:
        """Give the value, and gradients with the positions they belong to."""
        value, gradients = tuple_likelihood(self.table, self.model, [points[at] for at in self.positions])
        return value, list(zip(self.positions, gradients, strict=True))


@dataclass(frozen=True, eq=False)
class SeveralTables:
    """−Σ_t w_t ℓ_t + ridge ‖E‖² of the points E of all kinds."""

    terms: Sequence[Term]
    weights: Sequence[float]
    ridge: float = 0.0

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the value at all points, and the gradient in their shape."""
        value = self.ridge * float(np.vdot(point, point))
        gradient = 2.0 * self.ridge * point
        for term, weight in zip(self.terms, self.weights, strict=True):
            reached, parts = term.likelihood(point)
            value -= weight * reached
            for at, part in parts:
                gradient[at] -= weight * part
        return value, gradient


class RowProblems(NamedTuple):
    """New things seen through one table: where their partners are on average, and all possible partners.

    ``means`` (q × k), ``points`` (n × k), ``log_weights`` (n) as in ``place_frozen``; ``shares`` (q) say how
    much this table counts for each new thing, 0 where it says nothing of it.
    """

    means: FloatArray
    points: FloatArray
    log_weights: FloatArray
    shares: FloatArray


def place_by_several(problems: Sequence[RowProblems], ridge: FloatArray) -> FloatArray:
    """Place new things by what several tables say of them, each at the one maximum of a concave sum.

    Maximises Σ_t share_t (2φ·mean_t − log Σ_y w_t(y) exp(2φ·ψ_y − ‖ψ_y‖²)) − ridge ‖φ‖² by damped Newton
    steps from the origin.
    """
    bases = [part.log_weights - (part.points**2).sum(axis=1) for part in problems]
    placed = np.zeros((len(ridge), problems[0].points.shape[1]))
    for i in range(len(ridge)):
        pairs = zip(problems, bases, strict=True)
        placed[i] = _climb([(p, base, i) for p, base in pairs if p.shares[i] > 0], float(ridge[i]), placed[i])
    return placed


def _climb(parts: list[tuple[RowProblems, FloatArray, int]], ridge: float, x: FloatArray) -> FloatArray:
    value, gradient, hessian = _state(parts, ridge, x)
    for _ in range(_STEPS):
        step = np.linalg.solve(hessian, gradient)
        slope = float(step @ gradient)
        if slope < _STILL * max(1.0, abs(value)):
            return np.asarray(x + step)
        for halving in range(_HALVINGS):
            trial = x + 0.5**halving * step
            reached = _state(parts, ridge, trial)
            if reached[0] >= value + 1e-4 * 0.5**halving * slope:
                break
        else:
            break
        x, (value, gradient, hessian) = trial, reached
    return x


def _state(
    parts: list[tuple[RowProblems, FloatArray, int]], ridge: float, x: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Give the value at x, the gradient, and the negative Hessian."""
    value, gradient = -ridge * float(x @ x), -2.0 * ridge * x
    hessian = 2.0 * ridge * np.eye(x.size)
    for part, base, i in parts:
        share, mean = part.shares[i], part.means[i]
        logs = base + 2.0 * part.points @ x
        top = logs.max()
        p = np.exp(logs - top)
        total = p.sum()
        p /= total
        centre = p @ part.points
        away = part.points - centre
        value += share * float(2.0 * x @ mean - top - np.log(total))
        gradient = gradient + 2.0 * share * (mean - centre)
        hessian += 4.0 * share * (away.T * p) @ away
    return value, gradient, hessian
