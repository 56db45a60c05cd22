"""Relations as operators: a local matrix, and a scaled and deflated view of any relation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import LinearOperator

from relscape.data.blocks import normal_product
from relscape.matrix.normal import normal_of_rows
from relscape.protocols import FloatArray, RelationOperator, SparseArray

__all__ = ["LocalRelation", "ScaledRelation"]


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

    def normal(self, right: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Multiply ``Rᵀ D(row_weights) R`` by a vector, in one pass over a sparse relation."""
        if issparse(self.matrix):
            return normal_of_rows(self.matrix, right, row_weights)
        return self.rmatmat(row_weights * self.matmat(right))

    def transposed(self) -> LocalRelation:
        """Give the relation of the column objects with the row objects, a sparse one in its own rows."""
        return LocalRelation(self.matrix.T)

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
        self._row_weights = row_scale**2
        self._deflated = deflated

    def norm_bound(self, values: FloatArray) -> float:
        """Give the size against which a singular value is large or small: 1 with the trivial triplet."""
        return float(values[0]) if self._deflated is None else 1.0

    def flipped(self) -> ScaledRelation | None:
        """Give the transpose in rows of its own, or nothing where the relation cannot be turned here."""
        if not isinstance(self._relation, LocalRelation):
            return None
        deflated = None if self._deflated is None else self._deflated[::-1]
        return ScaledRelation(self._relation.transposed(), self._column_scale, self._row_scale, deflated)

    def gram(self, x: FloatArray) -> FloatArray:
        """Multiply the Gram operator of the columns by a vector, in one pass over the relation.

        A deflated triplet is one of the scaled relation with σ = 1, so its square is what it takes out.
        """
        x = x.ravel()
        scaled = normal_product(self._relation, self._column_scale * x, self._row_weights)
        image = self._column_scale * scaled
        if self._deflated is None:
            return image
        right = self._deflated[1]
        return image - right * (right @ x)

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
