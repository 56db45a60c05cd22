"""Weights between samples that lie in row blocks on other machines, seen through products and questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from relscape.data.blocks import map_blocks, sum_blocks
from relscape.errors import DataError
from relscape.matrix.components import relation_components
from relscape.protocols import BlockedRelation, FloatArray, IntArray, SparseArray

__all__ = ["GraphSystem", "SpreadWeights", "spread_weights"]

_UNEVEN = 1e-10  # how much a product and the transposed one may differ by rounding


@dataclass(frozen=True, eq=False)
class SpreadWeights:
    """Symmetric weights W of sum 1, a square relation divided by ``total``."""

    relation: BlockedRelation
    total: float

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of samples, twice."""
        return self.relation.shape

    def sum(self, axis: int | None = None) -> Any:
        """Sum all weights, or those of every sample."""
        sums = self.relation.row_sums() / self.total
        return sums.sum() if axis is None else sums

    def __matmul__(self, right: FloatArray) -> FloatArray:
        """Multiply by one row, or one value, a sample."""
        return self.relation.matmat(right) / self.total

    def own_sums(self, codes: IntArray, old_codes: IntArray) -> FloatArray:
        """Sum every sample's weights to samples of its own cohort."""
        return np.concatenate(map_blocks(self.relation, own_sums, old_codes, along=[codes])) / self.total

    def components(self) -> IntArray:
        """Give every sample the number of its part of the graph; one without weights is a part of its own."""
        rows, columns = relation_components(self.relation)
        n = len(rows)
        parts = np.maximum(rows, columns).max(initial=-1) + 1
        alone = np.flatnonzero(rows < 0)
        there = np.flatnonzero(rows >= 0)
        joined = csr_array((np.ones(there.size), (rows[there], columns[there])), shape=(parts, parts))
        count, numbers = connected_components(joined, directed=False)
        found = np.empty(n, dtype=np.int64)
        found[there] = numbers[rows[there]]
        found[alone] = count + np.arange(alone.size)
        return found


@dataclass(frozen=True, eq=False)
class GraphSystem:
    """The matrix D(diagonal) − factor W of a linear system, for weights that lie elsewhere."""

    weights: SpreadWeights
    own: FloatArray
    factor: float

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of unknowns, twice."""
        return self.weights.shape

    def diagonal(self) -> FloatArray:
        """Give the diagonal; weights of a sample with itself are not there."""
        return self.own

    def __matmul__(self, right: FloatArray) -> FloatArray:
        """Multiply by some columns."""
        return self.own[:, None] * right - self.factor * (self.weights @ right)


def spread_weights(relation: BlockedRelation, n: int) -> SpreadWeights:
    """Check weights that lie elsewhere (square, symmetric, no diagonal) and divide them by their sum."""
    if relation.shape != (n, n):
        raise DataError(f"the affinity has shape {relation.shape}; {n} × {n} is needed, one row a sample.")
    probe = np.random.default_rng(0).uniform(0.5, 1.5, n)
    one, other = relation.matmat(probe), relation.rmatmat(probe)
    if not np.abs(one - other).max(initial=0.0) <= _UNEVEN * one.max(initial=0.0):
        row = int(np.abs(one - other).argmax())
        raise DataError(
            f"the affinity on the cluster is not symmetric, sample {row} weighs others otherwise than they "
            "do it: give (W + Wᵀ)/2, as no worker has both halves of a pair."
        )
    (own,) = sum_blocks(relation, _diagonal, along=[np.arange(n)])
    if own[0]:
        raise DataError(
            f"the affinity on the cluster weighs {int(own[0])} samples against themselves; leave these out."
        )
    total = float(relation.row_sums().sum())
    if not total > 0:
        raise DataError("no two samples are related: all affinities are 0.")
    return SpreadWeights(relation, total)


def own_sums(weights: SparseArray, codes: IntArray, old_codes: IntArray) -> FloatArray:
    """Sum the weights of some samples to the old samples of their own cohorts."""
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    within = codes[rows] == old_codes[weights.indices]
    return np.asarray(np.bincount(rows[within], weights.data[within], weights.shape[0]), dtype=np.float64)


def _diagonal(block: SparseArray, numbers: IntArray) -> tuple[IntArray]:
    """Count the entries of a block that are on the diagonal of the whole."""
    rows = np.repeat(numbers, np.diff(block.indptr))
    return (np.array([np.count_nonzero((rows == block.indices) & (block.data > 0))]),)
