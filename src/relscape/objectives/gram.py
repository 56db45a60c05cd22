"""CODE as a convex problem over Gram matrices (Globerson et al. 2007, section 5; spec of CODE, section 5).

With G the inner products of all points, rows first and then columns, d² = g_xx + g_yy − 2 g_xy is linear in
G, and so −ℓ is convex for every one of the eight models. With W = p̄ − p its gradient in the trace inner
product is the signed Laplacian of a bipartite graph,

    ∇f(G) = [ D(W1)  −W ;  −Wᵀ  D(Wᵀ1) ].

λ Tr(G) is added; it favours few dimensions, and is the ridge λ (‖Φ‖² + ‖Ψ‖²) of any points with G = AAᵀ.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from relscape.objectives.cooccurrence import Table, check_model
from relscape.objectives.pairs import pair_distribution
from relscape.protocols import FloatArray

__all__ = ["GramGradient", "GramObjective", "dense_table", "largest_penalty"]

_BLOCK = 4_000_000  # entries of a dense block of p
_KEPT_BLOCKS = 8  # tables of up to so many blocks keep p instead of computing it again for every product


def dense_table(table: Table) -> FloatArray:
    """Give p̄ as a dense array, m × n."""
    return table.times(np.eye(len(table.column_masses)))


class GramObjective:
    """f(G) + λ Tr(G) with f = −ℓ, for dense tables.

    Parameters
    ----------
    joint : array, m × n
        p̄, every row and column with some mass.
    model : str
        One of the eight models.
    penalty : float
        λ, of at least 0.
    """

    def __init__(self, joint: FloatArray, model: str, penalty: float = 0.0) -> None:
        self.model, self.penalty = check_model(model), penalty
        self._joint = joint
        self._rows, self._columns = joint.sum(axis=1), joint.sum(axis=0)
        self._log_factors = np.zeros(joint.shape)
        if model[0] == "M":
            self._log_factors += np.log(self._rows)[:, None]
        if model[1] == "M":
            self._log_factors += np.log(self._columns)

    def log_likelihood(self, gram: FloatArray) -> float:
        """Give ℓ alone, in nats an observation."""
        return float(np.vdot(self._joint, self._log_model(gram)))

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give −ℓ + λ Tr(G) at a symmetric G, and the gradient in the trace inner product."""
        logs = self._log_model(point)
        value = self.penalty * np.trace(point) - np.vdot(self._joint, logs)
        excess = self._joint - np.exp(logs)
        diagonal = np.concatenate([excess.sum(axis=1), excess.sum(axis=0)])
        m = len(self._rows)
        gradient = np.diag(diagonal + self.penalty)
        gradient[:m, m:] = -excess
        gradient[m:, :m] = -excess.T
        return float(value), gradient

    def _log_model(self, gram: FloatArray) -> FloatArray:
        """Give log p(x, y), the joint form of the model."""
        m, squares = len(self._rows), np.diagonal(gram)
        distances = squares[:m, None] + squares[m:] - 2.0 * gram[:m, m:]
        logs: FloatArray = self._log_factors - distances
        if self.model[0] == "C":
            logs += np.log(self._rows)[:, None] - _log_sum(logs, 1)
        elif self.model[1] == "C":
            logs += np.log(self._columns) - _log_sum(logs, 0)
        else:
            logs -= _log_sum(logs, None)
        return logs


def _log_sum(logs: FloatArray, axis: int | None) -> FloatArray:
    """Give log Σ exp along an axis, which stays; scipy's checks would cost more than a small table does."""
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=axis, keepdims=True)))


def largest_penalty(joint: FloatArray, model: str) -> float:
    """Give the smallest λ at which all points in one place are optimal: −λ_min(∇f(0)).

    For MM, CM and MC it is the spectral norm of p̄(x, y) − p̄(x) p̄(y).
    """
    size = sum(joint.shape)
    _, gradient = GramObjective(joint, model).value_and_gradient(np.zeros((size, size)))
    lowest = eigh(gradient, eigvals_only=True, subset_by_index=[0, 0])[0]
    return max(0.0, -float(lowest))


class GramGradient(LinearOperator):  # type: ignore[misc]
    """∇f + λI at G = AAᵀ as an operator that never forms anything (m + n)².

    Parameters
    ----------
    table : Table
        p̄, sparse or dense, in memory or not.
    model : str
        One of the eight models.
    penalty : float
        λ.
    points : array, (m + n) × r
        A: the rows' points and below them the columns'.
    """

    def __init__(self, table: Table, model: str, penalty: float, points: FloatArray) -> None:
        m = len(table.row_masses)
        super().__init__(np.dtype(np.float64), (len(points), len(points)))
        self._table, self._penalty = table, penalty
        centred = points - points.mean(axis=0)  # multiplied-out squares lose digits far from the origin
        self._model = pair_distribution(
            model, centred[:m], centred[m:], table.row_masses, table.column_masses
        )
        n = len(points) - m
        self._step = max(1, _BLOCK // n)
        self._kept = list(self._computed()) if m <= _KEPT_BLOCKS * self._step else None
        rows, columns = self._model_products(np.ones((m, 1)), np.ones((n, 1)))
        self._diagonal = np.concatenate([table.row_masses - rows[:, 0], table.column_masses - columns[:, 0]])

    def _computed(self) -> Iterator[tuple[slice, FloatArray]]:
        """Walk over p in dense blocks of rows."""
        fitted = self._model
        column_part = fitted.column_factors - (fitted.columns**2).sum(axis=1) - fitted.log_normaliser
        for start in range(0, len(fitted.rows), self._step):
            part = slice(start, start + self._step)
            points = fitted.rows[part]
            row_part = fitted.row_factors[part] - (points**2).sum(axis=1)
            yield part, np.exp(row_part[:, None] + column_part + 2.0 * points @ fitted.columns.T)

    def _model_products(self, upper: FloatArray, lower: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give P @ lower and Pᵀ @ upper in one pass."""
        times, transposed = np.empty((len(upper), lower.shape[1])), np.zeros((len(lower), upper.shape[1]))
        for part, block in self._computed() if self._kept is None else self._kept:
            times[part] = block @ lower
            transposed += block.T @ upper[part]
        return times, transposed

    def _matmat(self, right: FloatArray) -> FloatArray:
        m = len(self._table.row_masses)
        upper, lower = right[:m], right[m:]
        times, transposed = self._model_products(upper, lower)
        crossed = np.concatenate(
            [times - self._table.times(lower), transposed - self._table.transposed_times(upper)]
        )
        return np.asarray((self._diagonal + self._penalty)[:, None] * right + crossed)

    def _matvec(self, vector: FloatArray) -> FloatArray:
        return self._matmat(vector.reshape(-1, 1))[:, 0]

    def _adjoint(self) -> GramGradient:
        return self
