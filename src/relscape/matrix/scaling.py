"""Scales and sums of relations that the spectral models share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data.blocks import map_blocks, sum_blocks
from relscape.protocols import FloatArray, IntArray, RelationOperator, SparseArray

__all__ = ["column_maxima", "p_norms", "power", "profile_distances", "relation_norms"]


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


def relation_norms(relation: RelationOperator, p: float) -> tuple[FloatArray, FloatArray]:
    """Give the p-norms of all rows and of all columns of a relation, block by block."""
    rows = np.concatenate(map_blocks(relation, p_norms, p))
    largest = np.maximum.reduce(map_blocks(relation, column_maxima))
    if p == 0:
        return rows, (largest > 0).astype(float)
    if np.isinf(p):
        return rows, largest
    (sums,) = sum_blocks(relation, _column_powers, power(largest, -1.0), p)
    return rows, largest * sums ** (1.0 / p)


def column_maxima(block: SparseArray) -> FloatArray:
    """Give the largest entry of every column of a nonnegative block."""
    largest = np.zeros(block.shape[1])
    np.maximum.at(largest, block.indices, block.data)
    return largest


def _column_powers(block: SparseArray, inverse: FloatArray, p: float) -> tuple[FloatArray]:
    scaled = (block.data * inverse[block.indices]) ** p
    return (np.asarray(np.bincount(block.indices, scaled, block.shape[1]), dtype=np.float64),)


def profile_distances(
    relation: RelationOperator, row_sums: FloatArray, column_sums: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Squared chi-square distances of all rows and all columns to their average profile.

    For row i with masses p: Σ_j (p_ij/p_i − p_j)² / p_j, summed over the stored entries plus the
    masses of the columns it misses, so that no digits cancel and zeros are never visited.
    """
    total = row_sums.sum()
    column_mass = column_sums / total
    parts = map_blocks(relation, _row_distances, column_mass, along=[row_sums])
    squares, met = sum_blocks(relation, _column_distances, column_sums, along=[row_sums / total])
    return np.concatenate(parts), squares + np.clip(1.0 - met, 0.0, None)


def _row_distances(block: SparseArray, row_sums: FloatArray, column_mass: FloatArray) -> FloatArray:
    i, j, weight = _positive_entries(block)
    p_j, m = column_mass[j], block.shape[0]
    squares = np.bincount(i, (weight / row_sums[i] - p_j) ** 2 / p_j, m)
    return np.asarray(squares + np.clip(1.0 - np.bincount(i, p_j, m), 0.0, None))


def _column_distances(
    block: SparseArray, row_mass: FloatArray, column_sums: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sum over a block's rows the squares that are there, and the masses of the rows met."""
    i, j, weight = _positive_entries(block)
    p_i, n = row_mass[i], block.shape[1]
    squares = np.bincount(j, (weight / column_sums[j] - p_i) ** 2 / p_i, n)
    return np.asarray(squares, dtype=np.float64), np.asarray(np.bincount(j, p_i, n), dtype=np.float64)


def _positive_entries(block: SparseArray) -> tuple[IntArray, IntArray, FloatArray]:
    entries = block.data > 0
    i = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))[entries]
    return i, block.indices[entries], block.data[entries].astype(np.float64)
