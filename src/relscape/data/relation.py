"""Relation: how the things of one kind relate to those of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from relscape.errors import DataError
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["Relation", "gather_pairs", "relation_matrix"]


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
    if matrix.nnz < weights.size and (weights % 1.0 != 0.0).any():
        order = np.lexsort((weights, j, i))
        matrix = csr_array(coo_array((weights[order], (i[order], j[order])), shape=shape))
    return matrix
