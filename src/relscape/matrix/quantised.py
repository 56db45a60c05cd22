"""Relations and distances cut into levels: the criterion by which ACAS is chosen (Mu and Goulermas 2013)."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape.errors import DataError
from relscape.matrix.operators import LocalRelation
from relscape.matrix.selecting import entries_at, submatrix
from relscape.protocols import AnyArray, FloatArray, IntArray, RelationOperator

__all__ = ["QuantisedRelation", "levels"]

ALL_PAIRS = 10_000_000
SAMPLE = 1_000_000
MOST_EQUAL = 0.75  # beyond this share of equal weights most levels vanish


def levels(values: AnyArray, n_quantiles: int) -> IntArray:
    """Replace values by their levels 1 … q, cut at their own q-quantiles (linear interpolation).

    Level = 1 + the number of cut points below the value, so any increasing change of the values
    leaves the levels as they are.

    >>> levels(np.array([10.0, 20.0, 30.0, 40.0]), 2).tolist()
    [1, 1, 2, 2]
    """
    return 1 + np.searchsorted(_cuts(values, n_quantiles), values, side="left")


def _cuts(values: AnyArray, n_quantiles: int) -> FloatArray:
    return np.asarray(np.quantile(values, np.arange(1, n_quantiles) / n_quantiles))


class QuantisedRelation:
    """A relation's pairs, all or a seeded sample, with the level of each.

    Parameters
    ----------
    matrix : array, sparse array or RelationOperator
        The relation, m × n.
    n_quantiles : int
        Number of levels.
    random_state : numpy.random.Generator
        Draws pairs when there are more than ``limit``.
    limit : int
        Most pairs to look at.
    """

    def __init__(
        self, matrix: Any, n_quantiles: int, random_state: np.random.Generator, limit: int = ALL_PAIRS
    ) -> None:
        relation = matrix if isinstance(matrix, RelationOperator) else LocalRelation(matrix)
        m, n = relation.shape
        self._q = n_quantiles
        if m * n <= limit:
            self._i, self._j = (grid.ravel() for grid in np.indices((m, n)))
            weights = submatrix(relation, np.arange(m), np.arange(n)).toarray().ravel()
        else:
            size = min(SAMPLE, limit)
            self._i, self._j = random_state.integers(m, size=size), random_state.integers(n, size=size)
            weights = entries_at(relation, self._i, self._j)
        common, counts = np.unique(weights, return_counts=True)
        share = counts.max() / counts.sum()
        if share > MOST_EQUAL:
            raise DataError(
                f"the quantiles of the relation coincide, because {share:.0%} of its entries are "
                f"{common[counts.argmax()]:g}: levels cannot guide ACAS. Give p, alpha and beta, or use "
                "CoEmbedding."
            )
        self._levels = levels(weights, n_quantiles).astype(np.int16)

    def loss(self, rows: FloatArray, columns: FloatArray) -> float:
        """Root mean square difference between the levels of weights and of nearness (D_Q / √pairs)."""
        nearness = -self._squared_distances(rows, columns)
        difference = self._levels - levels(nearness, self._q)
        return float(np.sqrt(np.mean(np.square(difference, dtype=np.float64))))

    def _squared_distances(self, rows: FloatArray, columns: FloatArray) -> FloatArray:
        """Give squares up to a common power of two, by which they neither overflow nor vanish."""
        largest = max(np.abs(rows).max(initial=0.0), np.abs(columns).max(initial=0.0))
        exponent = int(np.frexp(largest)[1])
        squares = np.zeros(self._i.size)
        for q in range(rows.shape[1]):
            squares += np.ldexp(rows[self._i, q] - columns[self._j, q], -exponent) ** 2
        return squares
