"""Scales and sums of relations that the spectral models share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.protocols import FloatArray, RelationOperator

__all__ = ["p_norms", "power", "profile_distances"]

_BLOCK_ROWS = 16_384


def power(values: FloatArray, exponent: float) -> FloatArray:
    """Give ``values ** exponent``, and 0 where the value is 0, so that empty objects drop out of products."""
    return np.power(values, exponent, out=np.zeros_like(values), where=values > 0)


def p_norms(matrix: Any, p: float) -> FloatArray:
    """Norm of every row of a nonnegative matrix: 1 for p = 0, the sum, …, the maximum for p = ∞.

    The maximum is factored out, so that large powers do not overflow. Empty rows have norm 0.
    """
    found = matrix.max(axis=1)
    largest = np.asarray(found.toarray() if issparse(found) else found, dtype=float).ravel()
    if p == 0:
        return (largest > 0).astype(float)
    if np.isinf(p):
        return largest
    inverse = power(largest, -1.0)
    if issparse(matrix):
        scaled = csr_array(matrix, dtype=float, copy=True)
        scaled.data = (scaled.data * np.repeat(inverse, np.diff(scaled.indptr))) ** p
    else:
        scaled = (np.asarray(matrix, dtype=float) * inverse[:, None]) ** p
    return largest * np.asarray(scaled.sum(axis=1)).ravel() ** (1.0 / p)


def profile_distances(
    relation: RelationOperator, row_sums: FloatArray, column_sums: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Squared chi-square distances of all rows and all columns to their average profile.

    For row i with masses p: Σ_j (p_ij/p_i − p_j)² / p_j, summed over the stored entries plus the
    masses of the columns it misses, so that no digits cancel and zeros are never visited.
    """
    m, n = relation.shape
    total = row_sums.sum()
    row_mass, column_mass = row_sums / total, column_sums / total
    row_squares, column_squares = np.zeros(m), np.zeros(n)
    row_met, column_met = np.zeros(m), np.zeros(n)
    for part, block in relation.row_blocks(_BLOCK_ROWS):
        entries = block.data > 0
        i = np.repeat(np.arange(part.start, part.stop), np.diff(block.indptr))[entries]
        j, weight = block.indices[entries], block.data[entries].astype(np.float64)
        p_i, p_j = row_mass[i], column_mass[j]
        row_squares += np.bincount(i, (weight / row_sums[i] - p_j) ** 2 / p_j, m)
        column_squares += np.bincount(j, (weight / column_sums[j] - p_i) ** 2 / p_i, n)
        row_met += np.bincount(i, p_j, m)
        column_met += np.bincount(j, p_i, n)
    return (
        row_squares + np.clip(1.0 - row_met, 0.0, None),
        column_squares + np.clip(1.0 - column_met, 0.0, None),
    )
