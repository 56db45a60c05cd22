"""CODE: the likelihood of co-occurrence counts given squared distances (Globerson et al. 2007).

A model has two letters, the treatment of rows and of columns: C conditioned on, M the empirical marginal is a
factor, U it is not. With α(x) = p̄(x) for M and 1 otherwise, β(y) likewise, and d² = ‖φ(x) − ψ(y)‖²,

    MM MU UM UU   p(x,y) = α(x) β(y) exp(−d²)/Z
    CM CU         p(x,y) = p̄(x) β(y) exp(−d²)/Z(x)
    MC UC         p(x,y) = p̄(y) α(x) exp(−d²)/Z(y)

and ℓ = Σ p̄ log p, in nats an observation, has with Δ = p − p̄ the gradients

    ∂ℓ/∂Φ = 2 (D(Δ1) Φ − Δ Ψ),    ∂ℓ/∂Ψ = 2 (D(Δᵀ1) Ψ − Δᵀ Φ).

What concerns p̄ needs only products with the relation; what concerns p are sums over all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from relscape.data.blocks import sum_blocks
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.objectives.gauss_sums import conditional_sums, joint_sums
from relscape.protocols import FloatArray, IntArray, RelationOperator, SparseArray

__all__ = [
    "MODELS",
    "CooccurrenceObjective",
    "Table",
    "check_model",
    "log_likelihood",
    "pair_likelihood",
]

MODELS = ("CM", "MC", "MM", "CU", "UC", "UU", "MU", "UM")

_FARTHEST = 1e140  # squares of what is farther away are no numbers any more
_LARGEST_RATIO = 2.0**40  # of the sums of rows that are to weigh the same: sums over them keep 22 bits


def check_model(name: str) -> str:
    """Give the name back if it is one of the eight models."""
    if not isinstance(name, str):
        raise ParameterError(f"model: {type(name).__name__} names no model; give letters such as CM.")
    if name not in MODELS:
        both = " (conditioned on both sides nothing is left to model; the usual choice is 'CM')"
        raise UnknownNameError("model", name, MODELS, where="CODE" + (both if name == "CC" else ""))
    return name


@dataclass(frozen=True, eq=False)
class Table:
    """A relation seen as an empirical distribution p̄(x, y), made once for many evaluations.

    Parameters
    ----------
    relation : RelationOperator
        Every row and every column must have some mass.
    equal_rows : bool
        Give every row the same weight 1/m, as the paper does for documents; else divide by the total.

    Attributes
    ----------
    row_masses, column_masses : arrays of m and of n
        The marginals p̄(x) and p̄(y).
    row_factors : array of m
        What turns a row of the relation into probabilities.
    saturated : float
        Σ p̄ log p̄, which no likelihood exceeds.
    diagonal : float
        The probability of an object with itself; 0 unless the relation is square.
    """

    relation: RelationOperator
    equal_rows: bool = False
    row_masses: FloatArray = field(init=False, repr=False)
    column_masses: FloatArray = field(init=False, repr=False)
    row_factors: FloatArray = field(init=False, repr=False)
    saturated: float = field(init=False)
    diagonal: float = field(init=False)

    def __post_init__(self) -> None:
        """Read the relation once."""
        sums = self.relation.row_sums()
        _check_mass("row", sums)
        _check_mass("column", self.relation.column_sums())
        if self.equal_rows:
            _check_even(sums)
        m, n = self.relation.shape
        factors = 1.0 / (m * sums) if self.equal_rows else np.full(m, 1.0 / sums.sum())
        saturated, diagonal = sum_blocks(self.relation, _entropy, m == n, along=[factors, np.arange(m)])
        learned = {
            "row_masses": factors * sums,
            "column_masses": self.relation.rmatmat(factors[:, None])[:, 0],
            "row_factors": factors,
            "saturated": float(saturated[0]),
            "diagonal": float(diagonal[0]),
        }
        for name, value in learned.items():
            object.__setattr__(self, name, value)

    def times(self, right: FloatArray) -> FloatArray:
        """Multiply p̄ by an array of n rows from the right."""
        return self.row_factors[:, None] * self.relation.matmat(right)

    def transposed_times(self, left: FloatArray) -> FloatArray:
        """Multiply the transpose of p̄ by an array of m rows."""
        return self.relation.rmatmat(self.row_factors[:, None] * left)


def _entropy(
    block: SparseArray, factors: FloatArray, numbers: IntArray, square: bool
) -> tuple[FloatArray, FloatArray]:
    """Sum p̄ log p̄ over a block, and the diagonal of a square relation."""
    p = block.multiply(factors[:, None]).tocsr()
    mass = p.data[p.data > 0]
    diagonal = p.diagonal(k=int(numbers[0])).sum() if square and numbers.size else 0.0
    return np.array([(mass * np.log(mass)).sum()]), np.array([diagonal])


class _Expected(NamedTuple):
    """What a model expects: Σ p̄ log Z, the marginals of p, and the products P Ψ and Pᵀ Φ."""

    log_normaliser: float
    rows: FloatArray
    columns: FloatArray
    times: FloatArray
    transposed_times: FloatArray


def pair_likelihood(
    table: Table, model: str, left: FloatArray, right: FloatArray, exclude_self: bool = False
) -> tuple[float, FloatArray, FloatArray]:
    """Give the log-likelihood ℓ of a map and its gradients for the row and for the column points.

    Parameters
    ----------
    table : Table
        The empirical distribution p̄, m × n.
    model : str
        One of ``MODELS``.
    left, right : arrays, m × q and n × q
        The points Φ of the rows and Ψ of the columns. A relation within one kind has the same points on
        both sides, and the two gradients then add up.
    exclude_self : bool
        Leave the pair of an object with itself out of the model; only for square relations without
        such counts.
    """
    check_model(model)
    _check_points(table, left, right)
    if exclude_self:
        _check_self(table)
    # Multiplied-out squares lose digits far from the origin; the likelihood does not depend on it.
    masses, points = np.concatenate([table.row_masses, table.column_masses]), np.concatenate([left, right])
    centre = (masses[:, None] * points).sum(axis=0) / 2
    left, right = left - centre, right - centre
    times, transposed_times = table.times(right), table.transposed_times(left)
    squares = (table.row_masses[:, None] * left**2).sum() + (table.column_masses[:, None] * right**2).sum()
    masses_of = table.row_masses, table.column_masses
    expected = _expected(model, *masses_of, left, right, exclude_self, table.relation)
    value = 2 * (left * times).sum() - squares - expected.log_normaliser
    for letter, marginal in zip(model, (table.row_masses, table.column_masses), strict=True):
        if letter != "U":
            value += (marginal * np.log(marginal)).sum()
    left_gradient = (expected.rows - table.row_masses)[:, None] * left - (expected.times - times)
    right_gradient = (expected.columns - table.column_masses)[:, None] * right - (
        expected.transposed_times - transposed_times
    )
    return float(value), 2 * left_gradient, 2 * right_gradient


def log_likelihood(
    table: Table, model: str, left: FloatArray, right: FloatArray, exclude_self: bool = False
) -> float:
    """Give the log-likelihood alone; parameters as for ``pair_likelihood``."""
    return pair_likelihood(table, model, left, right, exclude_self)[0]


class CooccurrenceObjective:
    """−ℓ + ridge (‖Φ‖² + ‖Ψ‖²) of the points Φ and Ψ, stacked into one array of m + n rows.

    A positive ridge guarantees a minimum; without one, rows that share a single column may run away.
    """

    def __init__(self, table: Table, model: str, ridge: float = 0.0, exclude_self: bool = False) -> None:
        self.table = table
        self.model = check_model(model)
        self.ridge = ridge
        self.exclude_self = exclude_self

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the value at the stacked points, and the gradient in their shape."""
        m = len(self.table.row_masses)
        value, left, right = pair_likelihood(
            self.table, self.model, point[:m], point[m:], exclude_self=self.exclude_self
        )
        penalty = self.ridge * float((point**2).sum())
        return penalty - value, 2 * self.ridge * point - np.concatenate([left, right])


def _expected(
    model: str,
    rows: FloatArray,
    columns: FloatArray,
    left: FloatArray,
    right: FloatArray,
    exclude_self: bool,
    relation: RelationOperator,
) -> _Expected:
    if model[1] == "C":
        swapped = _expected(model[::-1], columns, rows, right, left, exclude_self, relation)
        return _Expected(
            swapped.log_normaliser, swapped.columns, swapped.rows, swapped.transposed_times, swapped.times
        )
    log_b = _log_factor(model[1], columns)
    if model[0] == "C":
        sums = conditional_sums(left, right, log_b, rows, exclude_self, relation)
        log_normaliser = float((rows * sums.log_normalisers).sum())
    else:
        sums = joint_sums(left, right, _log_factor(model[0], rows), log_b, exclude_self, relation)
        log_normaliser = sums.log_total
    times = sums.row_weights[:, None] * sums.row_means
    return _Expected(log_normaliser, sums.row_weights, sums.column_masses, times, sums.column_moments)


def _log_factor(letter: str, marginal: FloatArray) -> FloatArray:
    return np.log(marginal) if letter == "M" else np.zeros(len(marginal))


def _check_mass(side: str, sums: FloatArray) -> None:
    bad = np.flatnonzero(~(np.isfinite(sums) & (sums > 0)))
    if bad.size:
        raise DataError(
            f"{bad.size} of {sums.size} {side}s have no positive, finite sum, the first is {side} {bad[0]}; "
            "leave them out, nothing can be learnt about them."
        )


def _check_even(sums: FloatArray) -> None:
    least, most = sums.min(), sums.max()
    if least * _LARGEST_RATIO < most:
        raise DataError(
            f"the sums of rows lie between {least:.3g} and {most:.3g}: too far apart for equal weights. "
            "Divide each row by its sum first, or leave out those with next to nothing."
        )


def _check_points(table: Table, left: FloatArray, right: FloatArray) -> None:
    m, n = len(table.row_masses), len(table.column_masses)
    if left.ndim != 2 or right.ndim != 2 or len(left) != m or right.shape != (n, left.shape[1]):
        raise DataError(
            f"the points have shapes {left.shape} and {right.shape}; expected {m} and {n} points "
            "with the same number of coordinates."
        )
    if not (np.abs(left) < _FARTHEST).all() or not (np.abs(right) < _FARTHEST).all():
        raise DataError(
            "some points are not finite or too far away for squared distances; "
            "a positive ridge keeps points from running away."
        )


def _check_self(table: Table) -> None:
    m, n = len(table.row_masses), len(table.column_masses)
    if m != n or m < 2:
        raise DataError(
            f"exclude_self: the relation is {m} × {n}; expected a square one, at least 2 × 2, "
            "with the same objects as rows and columns."
        )
    if table.diagonal > 0:
        raise DataError(
            f"exclude_self: objects co-occur with themselves ({table.diagonal:.2%} of all counts); "
            "set the diagonal to zero, or keep the pairs of an object with itself."
        )
