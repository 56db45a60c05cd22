"""Neighbours among samples whose distances within a cohort are shortened.

Shortening pulls members of the own cohort into a neighbourhood, never anyone else: whoever of
another cohort is among the k nearest then was among them before. So the k nearest by the shortened
distances are found among the k nearest of all, and the k nearest of the own cohort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.matrix.knn import neighbours, pairs_nearby
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["Pairs", "label_neighbours", "new_pairs"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of new and old samples, sorted by new sample, then distance, then old sample."""

    rows: IntArray
    columns: IntArray
    distances: FloatArray
    shape: tuple[int, int]

    def ranks(self) -> IntArray:
        """Count the pairs of every new sample from 0 on, the nearest first."""
        starts = np.searchsorted(self.rows, np.arange(self.shape[0]))
        return np.arange(self.rows.size) - starts[self.rows]

    def matrix(self, values: FloatArray) -> SparseArray:
        """Give the pairs' values as a sparse matrix with one row a new sample."""
        return csr_array((values, (self.rows, self.columns)), shape=self.shape)

    def coinciding(self) -> tuple[IntArray, IntArray]:
        """Give the new samples at the place of an old one, and the first such old one of each."""
        found = (self.ranks() == 0) & (self.distances == 0)
        return self.rows[found], self.columns[found]


def label_neighbours(
    X: Any,
    k: int,
    metric: str,
    codes: IntArray | None,
    factor: float,
    random_state: np.random.Generator | None = None,
) -> tuple[FloatArray, IntArray]:
    """Find the ``k`` nearest others, distances within a cohort being multiplied by ``factor``.

    Samples with code -1 are in no cohort. Returns what :func:`relscape.matrix.knn.neighbours` does.
    """
    distances, indices = neighbours(X, k, metric, random_state)
    if factor == 1.0 or codes is None:
        return distances, indices
    codes = np.asarray(codes)
    n = len(codes)
    parts = [_Found(np.repeat(np.arange(n), k), indices.ravel(), distances.ravel())]
    for cohort in np.unique(codes[codes >= 0]):
        members = np.flatnonzero(codes == cohort)
        if members.size > 1:
            width = min(k, members.size - 1)
            near, whom = neighbours(X[members], width, metric, random_state)
            parts.append(_Found(np.repeat(members, width), members[whom.ravel()], near.ravel()))
    pairs = _merged(parts, codes, codes, factor, (n, n))
    first = pairs.ranks() < k
    return pairs.distances[first].reshape(n, k), pairs.columns[first].reshape(n, k)


def new_pairs(
    X: Any,
    X_new: Any,
    k: int,
    reach: FloatArray,
    metric: str,
    codes: IntArray | None = None,
    codes_new: IntArray | None = None,
    factor: float = 1.0,
) -> Pairs:
    """Find the pairs of new and old samples of which one is near the other.

    As :func:`relscape.matrix.knn.pairs_nearby`, distances within a cohort being multiplied by
    ``factor`` where both have a cohort. At least ``k`` pairs a new sample.
    """
    shape = (X_new.shape[0], X.shape[0])
    found = _Found(*pairs_nearby(X, X_new, k, reach, metric))
    if factor == 1.0 or codes is None or codes_new is None:
        return Pairs(found.rows, found.columns, found.distances, shape)
    codes, codes_new = np.asarray(codes), np.asarray(codes_new)
    parts = [found]
    for cohort in np.intersect1d(codes[codes >= 0], codes_new):
        old, new = np.flatnonzero(codes == cohort), np.flatnonzero(codes_new == cohort)
        i, j, near = pairs_nearby(X[old], X_new[new], min(k, old.size), reach[old] / factor, metric)
        parts.append(_Found(new[i], old[j], near))
    return _merged(parts, codes_new, codes, factor, shape)


@dataclass(frozen=True, eq=False)
class _Found:
    rows: IntArray
    columns: IntArray
    distances: FloatArray


def _merged(
    parts: list[_Found], row_codes: IntArray, column_codes: IntArray, factor: float, shape: tuple[int, int]
) -> Pairs:
    """Bring pairs from several searches together, each once, by their shortened distances."""
    rows = np.concatenate([part.rows for part in parts])
    columns = np.concatenate([part.columns for part in parts])
    distances = np.concatenate([part.distances for part in parts])
    _, once = np.unique(rows * shape[1] + columns, return_index=True)
    rows, columns, distances = rows[once], columns[once], distances[once]
    same = (row_codes[rows] == column_codes[columns]) & (row_codes[rows] >= 0)
    distances = np.where(same, factor * distances, distances)
    order = np.lexsort((columns, distances, rows))
    return Pairs(rows[order], columns[order], distances[order], shape)
