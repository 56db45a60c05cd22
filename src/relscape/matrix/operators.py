"""Relations as operators: a local matrix, and a scaled and deflated view of any relation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from relscape.protocols import FloatArray, IntArray, RelationOperator, SparseArray

__all__ = ["LocalRelation", "ScaledRelation", "bipartite_components"]


class LocalRelation:
    """A relation held in memory, sparse (CSR) or dense: the everyday ``RelationOperator``.

    Entries that a sparse array stores twice are summed, in a copy.
    """

    def __init__(self, matrix: Any) -> None:
        if not issparse(matrix):
            self.matrix: Any = np.asarray(matrix)
            return
        self.matrix = csr_array(matrix)
        if not self.matrix.has_canonical_format:
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of row objects and of column objects."""
        m, n = self.matrix.shape
        return int(m), int(n)

    def row_sums(self) -> FloatArray:
        """Sum over columns, one value a row object."""
        return np.asarray(self.matrix.sum(axis=1, dtype=np.float64)).ravel()

    def column_sums(self) -> FloatArray:
        """Sum over rows, one value a column object."""
        return np.asarray(self.matrix.sum(axis=0, dtype=np.float64)).ravel()

    def matmat(self, right: FloatArray) -> FloatArray:
        """Multiply by an array of n rows from the right."""
        return np.asarray(self.matrix @ right)

    def rmatmat(self, left: FloatArray) -> FloatArray:
        """Multiply the transpose by an array of m rows."""
        return np.asarray(self.matrix.T @ left)

    def row_blocks(self, rows: int) -> Iterator[tuple[slice, SparseArray]]:
        """Walk over the relation in sparse blocks of at most ``rows`` rows, in order."""
        for start in range(0, self.shape[0], rows):
            part = slice(start, min(start + rows, self.shape[0]))
            yield part, csr_array(self.matrix[part])


class ScaledRelation(LinearOperator):  # type: ignore[misc]
    """``D(row_scale) R D(column_scale) − left rightᵀ`` without forming it.

    ``left`` and ``right`` remove a singular triplet that is known beforehand (spec of the
    co-embeddings, section 7, step 3), so that an iteration does not waste effort on it.
    """

    def __init__(
        self,
        relation: RelationOperator,
        row_scale: FloatArray,
        column_scale: FloatArray,
        deflated: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        super().__init__(np.dtype(np.float64), relation.shape)
        self._relation = relation
        self._row_scale, self._column_scale = row_scale, column_scale
        self._deflated = deflated

    def norm_bound(self, values: FloatArray) -> float:
        """Give the size against which a singular value is large or small: 1 with the trivial triplet."""
        return float(values[0]) if self._deflated is None else 1.0

    def _matvec(self, x: FloatArray) -> FloatArray:
        x = x.ravel()
        image = self._row_scale * self._relation.matmat(self._column_scale * x)
        if self._deflated is None:
            return image
        left, right = self._deflated
        return image - left * (right @ x)

    def _rmatvec(self, y: FloatArray) -> FloatArray:
        y = y.ravel()
        image = self._column_scale * self._relation.rmatmat(self._row_scale * y)
        if self._deflated is None:
            return image
        left, right = self._deflated
        return image - right * (left @ y)

    def _matmat(self, X: FloatArray) -> FloatArray:
        image = self._row_scale[:, None] * self._relation.matmat(self._column_scale[:, None] * X)
        if self._deflated is None:
            return image
        left, right = self._deflated
        return image - np.outer(left, right @ X)

    def _rmatmat(self, Y: FloatArray) -> FloatArray:
        image = self._column_scale[:, None] * self._relation.rmatmat(self._row_scale[:, None] * Y)
        if self._deflated is None:
            return image
        left, right = self._deflated
        return image - np.outer(right, left @ Y)


def bipartite_components(matrix: Any) -> tuple[IntArray, IntArray]:
    """Find the connected components of a relation's bipartite graph, the largest first.

    Returns the component of every row and of every column; an object without any relation has -1.
    Size is the number of objects; ties keep the order of the first row.
    """
    edges = csr_array(matrix)
    if not edges.data.all():
        edges = edges.copy()
        edges.eliminate_zeros()
    m, n = edges.shape
    indptr = np.concatenate([edges.indptr, np.full(n, edges.indptr[-1], dtype=edges.indptr.dtype)])
    graph = csr_array((edges.data, edges.indices + m, indptr), shape=(m + n, m + n))
    _, found = connected_components(graph, directed=True, connection="weak")
    used = np.concatenate([np.diff(edges.indptr) > 0, np.bincount(edges.indices, minlength=n) > 0])
    sizes = np.bincount(found[used], minlength=found.max() + 1)
    rank = np.empty(sizes.size, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    component = np.where(used, rank[found], -1)
    return component[:m], component[m:]
