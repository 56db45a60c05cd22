"""Relation: how the things of one kind relate to those of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from relscape.data.arrays import plain_array
from relscape.errors import DataError
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["Relation", "gather_pairs", "overflowing", "pair_totals", "relation_matrix", "without_zeros"]

_EXACT = 2.0**53  # up to here every whole number is one of double precision


@dataclass(frozen=True, eq=False)
class Relation:
    """How the things of one kind relate to those of another (or of the same) kind.

    ``matrix`` is sparse, one row a thing of kind ``rows``, one column a thing of kind ``columns``;
    a larger entry means more strongly related. An undirected relation is within one kind and symmetric.
    """

    name: str
    rows: str
    columns: str
    matrix: SparseArray
    directed: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DataError(f"the relation {self.name!r} is not named by a text; write {str(self.name)!r}.")
        matrix = relation_matrix(self.matrix, f"relation {self.name!r}")
        object.__setattr__(self, "matrix", matrix)
        if self.rows == self.columns and matrix.shape[0] != matrix.shape[1]:
            raise DataError(
                f"relation {self.name!r} is within kind {self.rows!r}, but its matrix is "
                f"{matrix.shape[0]} × {matrix.shape[1]}; it must be square."
            )
        if self.directed:
            return
        if self.rows != self.columns:
            raise DataError(
                f"relation {self.name!r} joins {self.rows!r} and {self.columns!r}: only a relation within "
                "one kind can be undirected."
            )
        if (matrix - matrix.T).nnz:
            raise DataError(f"relation {self.name!r} is undirected but its matrix is not symmetric.")


def relation_matrix(matrix: Any, what: str) -> SparseArray:
    """Bring a dense or sparse matrix of numbers into a sorted sparse array of floats."""
    matrix = plain_array(matrix)
    if not issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise DataError(f"{what}: a relation matrix has two dimensions, this array has {matrix.ndim}.")
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{what}: a relation matrix holds real numbers, this one holds {matrix.dtype}.")
    if matrix.dtype.kind != "f" or matrix.dtype.itemsize not in (4, 8):
        matrix = matrix.astype(np.float64)
    sparse = csr_array(matrix)
    if not sparse.has_canonical_format:
        sparse = sparse.copy()
        sparse.sum_duplicates()
    return sparse


def gather_pairs(weights: FloatArray, i: IntArray, j: IntArray, shape: tuple[int, int]) -> SparseArray:
    """Sum the weights of repeated pairs, to the same last digit whatever the order they come in."""
    matrix = csr_array(coo_array((weights, (i, j)), shape=shape))
    if matrix.nnz < weights.size and not _add_exactly(weights):
        order = _pair_order(weights, i.astype(np.int64) * shape[1] + j)
        matrix = csr_array(coo_array((weights[order], (i[order], j[order])), shape=shape))
    return matrix


def _pair_order(weights: FloatArray, pairs: IntArray) -> IntArray:
    """Order entries by their pair, and those of a repeated pair by weight."""
    order = np.argsort(pairs)
    same = np.diff(pairs[order]) == 0
    repeated = np.append(same, False) | np.append(False, same)
    chosen = order[repeated]
    order[repeated] = chosen[np.lexsort((weights[chosen], pairs[chosen]))]
    return order


def _add_exactly(weights: FloatArray) -> bool:
    """Tell whether no sum of some of the weights is rounded: all are whole, and not too large."""
    with np.errstate(over="ignore"):
        total = np.abs(weights).sum()
    return bool(total <= _EXACT and (weights == np.trunc(weights)).all())


def without_zeros(matrix: SparseArray) -> SparseArray:
    """Leave out zeros that are stored; a matrix without any is given back as it is."""
    if matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return matrix


def pair_totals(relation: Relation, kind: str, counted: bool) -> FloatArray | IntArray:
    """Sum the weights, or count the partners, of every thing of one of the kinds a relation joins.

    Within one kind, every pair that a thing begins or ends counts once.
    """
    matrix = without_zeros(relation.matrix)
    pattern = csr_array((np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), matrix.shape)
    values = pattern if counted else matrix.astype(np.float64)
    if relation.rows != relation.columns:
        return np.asarray(values.sum(axis=1 if kind == relation.rows else 0))
    if not relation.directed:
        return np.asarray(values.sum(axis=1))
    if counted:
        return np.asarray(np.diff((pattern + pattern.T).indptr), dtype=np.int64)
    return np.asarray(values.sum(axis=1) + values.sum(axis=0) - values.diagonal())


def overflowing(matrix: SparseArray) -> tuple[int, int] | None:
    """Find a row (0) or column (1) whose finite weights sum beyond the largest number: which, and where.

    Where no row and no column does but all weights together do, the heaviest row is given.
    """
    if not matrix.nnz:
        return None
    largest = np.finfo(matrix.dtype).max
    if float(np.abs(matrix.data).max()) <= float(largest) / matrix.nnz:
        return None
    with np.errstate(over="ignore"):
        sums = [np.asarray(abs(matrix).sum(axis=axis)) for axis in (1, 0)]
        total = sums[0].sum()
    for side, values in enumerate(sums):
        broken = np.flatnonzero(~np.isfinite(values))
        if broken.size:
            return side, int(broken[0])
    return None if np.isfinite(total) else (0, int(np.argmax(sums[0])))
