"""Co-occurrences under a log-bilinear model with free marginals: log p = a(x) + b(y) + 2 φ(x)·ψ(y).

The model of sufficient dimensionality reduction (Globerson and Tishby 2003), the association model RC(q) of
contingency tables. Written with squared distances it is CODE with the columns' factors free,
p(y|x) ∝ exp(b'(y) − ‖φ(x) − ψ(y)‖²) with b' = b + ‖ψ‖², so every model of CODE is a special case and none
has a higher likelihood. At its best both marginals are the empirical ones.
"""

from __future__ import annotations

import numpy as np

from relscape.objectives.cooccurrence import Table
from relscape.objectives.gauss_sums import conditional_sums
from relscape.objectives.pairs import PairDistribution
from relscape.protocols import FloatArray

__all__ = ["BilinearObjective", "balanced"]


class BilinearObjective:
    """−ℓ + ridge (‖Φ‖² + ‖Ψ‖²) of the points of m rows and n columns and of b' of the columns.

    A point is an array of m + n rows: coordinates, and in the last column b' (0 for the rows, unused).
    """

    def __init__(self, table: Table, ridge: float = 0.0) -> None:
        self.table = table
        self.ridge = ridge

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the value at a point, and the gradient in its shape."""
        m, k = len(self.table.row_masses), point.shape[1] - 1
        rows, columns, logs = point[:m, :k], point[m:, :k], point[m:, k]
        row_masses, column_masses = self.table.row_masses, self.table.column_masses
        sums = conditional_sums(rows, columns, logs, row_masses)
        times, turned = self.table.times(columns), self.table.transposed_times(rows)
        squares = row_masses @ (rows**2).sum(axis=1) + column_masses @ (columns**2).sum(axis=1)
        value = 2.0 * np.vdot(rows, times) - squares - row_masses @ sums.log_normalisers
        value += column_masses @ logs + row_masses @ np.log(row_masses)
        gradient = np.zeros_like(point)
        gradient[:m, :k] = 2.0 * (times - row_masses[:, None] * sums.row_means)
        gaps = sums.column_masses - column_masses
        gradient[m:, :k] = 2.0 * (gaps[:, None] * columns - sums.column_moments + turned)
        gradient[m:, k] = -gaps
        penalty = self.ridge * float(np.vdot(point[:, :k], point[:, :k]))
        steepness = -gradient
        steepness[:, :k] += 2.0 * self.ridge * point[:, :k]
        return penalty - float(value), steepness


def balanced(table: Table, point: FloatArray) -> PairDistribution:
    """Bring a point into the form that is unique: both kinds centred, axes orthogonal, both kinds alike.

    The model knows only the products φ·ψ; of all factors of the centred interaction, those of its singular
    value decomposition are taken, the values' roots on either side. The distribution stays the same, and no
    other form of it has a smaller ‖Φ‖² + ‖Ψ‖².
    """
    m, k = len(table.row_masses), point.shape[1] - 1
    rows, columns = point[:m, :k], point[m:, :k]
    logs = point[m:, k] - (columns**2).sum(axis=1)
    centre = rows.mean(axis=0)
    logs = logs + 2.0 * columns @ centre
    left_q, left_r = np.linalg.qr(rows - centre)
    right_q, right_r = np.linalg.qr(columns - columns.mean(axis=0))
    U, values, Vt = np.linalg.svd(left_r @ right_r.T, full_matrices=False)
    turned = [left_q @ U * np.sqrt(values), right_q @ Vt.T * np.sqrt(values)]
    rows, columns = (np.pad(side, [(0, 0), (0, k - side.shape[1])]) for side in turned)
    column_factors = logs + (columns**2).sum(axis=1)
    normalisers = conditional_sums(rows, columns, column_factors, table.row_masses).log_normalisers
    return PairDistribution(rows, columns, np.log(table.row_masses) - normalisers, column_factors, 0.0)
