"""Neighbour weights in the form that all cohort models expect.

No sample weighs upon itself, weights are symmetric, none is negative, and together they are 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from relscape.data.arrays import plain_array
from relscape.errors import DataError, ParameterError
from relscape.matrix.spread_weights import spread_weights
from relscape.protocols import BlockedRelation, FloatArray, IntArray, SparseArray

__all__ = ["Affinity", "check_factor", "finish", "given_affinity", "shrunk"]


@dataclass(frozen=True, eq=False)
class Affinity:
    """Finished weights, and what is needed to weigh new samples alike.

    Parameters
    ----------
    weights : sparse array of shape (n, n), or SpreadWeights
        Symmetric, without diagonal, nonnegative, of sum 1.
    total : float
        What the raw weights were divided by.
    bandwidths : array of shape (n,)
        The precision beta of every sample's Gaussian; empty for other kinds.
    normalisers : array of shape (n,)
        The logarithm of the sum of ``exp(-beta d²)`` over a sample's neighbours; empty for other
        kinds.
    span : float
        The distance that weighs nothing, for weights that fall linearly; else 0.
    reach : array of shape (n,)
        The distance of every sample's farthest neighbour; empty for weights that were given.
    """

    weights: Any
    total: float
    bandwidths: FloatArray
    normalisers: FloatArray
    span: float
    reach: FloatArray


def given_affinity(W: Any, n: int) -> Affinity:
    """Check weights that were given, one for every pair of n samples, and finish them."""
    if isinstance(W, BlockedRelation):
        there = spread_weights(W, n)
        return Affinity(there, there.total, np.empty(0), np.empty(0), 0.0, np.empty(0))
    try:
        matrix = csr_array(plain_array(W), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the affinity is no matrix of numbers ({error}); {n} × {n} are needed.") from error
    if matrix.shape != (n, n):
        raise DataError(f"the affinity has shape {matrix.shape}; {n} × {n} is needed, one row a sample.")
    entries = matrix.tocoo()
    for broken, fault in ((~np.isfinite(entries.data), "not finite"), (entries.data < 0, "negative")):
        if broken.any():
            i, j = entries.row[broken][0], entries.col[broken][0]
            raise DataError(
                f"the affinity of samples {i} and {j} is {entries.data[broken][0]:g}; "
                f"{np.count_nonzero(broken)} entries are {fault}. Weights are finite and 0 or more."
            )
    weights, total = finish(matrix)
    return Affinity(weights, total, np.empty(0), np.empty(0), 0.0, np.empty(0))


def finish(W: SparseArray) -> tuple[SparseArray, float]:
    """Give weights the form all models expect, and say what they were divided by.

    That is no diagonal, symmetric, nonnegative, of sum 1.
    """
    one_way = coo_array(W)
    off = one_way.row != one_way.col
    one_way = csr_array((one_way.data[off], (one_way.row[off], one_way.col[off])), shape=W.shape)
    weights = csr_array((one_way + one_way.T) / 2.0)
    weights.data = np.maximum(weights.data, 0.0)
    weights.eliminate_zeros()
    weights.sort_indices()
    total = float(weights.data.sum())
    if not total > 0:
        raise DataError(
            "no two samples are related: all affinities are 0. Look whether the features differ between "
            "samples at all, or choose another affinity."
        )
    weights.data /= total
    return weights, total


def shrunk(
    W: SparseArray, row_codes: IntArray | None, column_codes: IntArray | None, factor: float
) -> SparseArray:
    """Multiply the weights between different cohorts by ``factor`` (eq. 3); pairs with a -1 stay."""
    if factor == 1.0 or row_codes is None or column_codes is None:
        return W
    entries = coo_array(W)
    left, right = np.asarray(row_codes)[entries.row], np.asarray(column_codes)[entries.col]
    between = (left != right) & (left >= 0) & (right >= 0)
    data = np.where(between, factor * entries.data, entries.data)
    return csr_array((data, (entries.row, entries.col)), shape=W.shape)


def check_factor(name: str, factor: float) -> None:
    """Refuse a shrinking factor outside (0, 1]."""
    if not 0 < factor <= 1:
        raise ParameterError(f"{name}={factor}: a factor above 0 and at most 1 is needed; 1 changes nothing.")
