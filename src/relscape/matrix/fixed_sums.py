"""A relation whose products are the same to the last bit, however its rows are cut into blocks.

Floating-point sums depend on their order, and a long descent makes much of a last digit. Here the terms of a
sum over rows are rounded to whole multiples of a quantum, 2⁻⁶² of the most that the sum can be, and added as
integers, which no order changes. Where the rows of what is multiplied are of like size, that is at least as
near to the true sum as adding floats is; where one row is 2¹⁰ times as large as the others, sums without it
lose ten bits of 62. What is not finite, or beyond 2 to the power of ±1000, is added in floats. Products from
the right are sums within a row, whose order never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from relscape.data.blocks import map_blocks, sum_blocks
from relscape.matrix.operators import LocalRelation
from relscape.matrix.scaling import column_maxima
from relscape.protocols import (
    AnyArray,
    BlockedRelation,
    FloatArray,
    IntArray,
    RelationOperator,
    SparseArray,
)

__all__ = ["FixedSums", "FixedSumsElsewhere", "fixed_sums"]

_BITS = 62  # of a sum; one more is left for rounding
_LARGEST_SHIFT = 1000


def fixed_sums(relation: RelationOperator) -> FixedSums:
    """Give a view of a relation whose sums over rows do not depend on where and in what parts it lies."""
    if isinstance(relation, BlockedRelation):
        return FixedSumsElsewhere(relation)
    return FixedSums(relation)


class FixedSums:
    """A ``RelationOperator`` over another one, held here, with sums in fixed point."""

    def __init__(self, relation: RelationOperator) -> None:
        if isinstance(relation, LocalRelation):
            relation = LocalRelation(csr_array(relation.matrix))
        self.relation: Any = relation
        self._row_sums = np.asarray(relation.matmat(np.ones(relation.shape[1])))
        largest = np.maximum.reduce(map_blocks(relation, column_maxima))
        (counts,) = sum_blocks(relation, _column_counts)
        self._column_bounds = largest * counts
        self._column_bounds = self.rmatmat(np.ones(self.shape[0]))

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of row objects and of column objects."""
        m, n = self.relation.shape
        return m, n

    def row_sums(self) -> FloatArray:
        """Sum over columns, one value a row object."""
        return np.array(self._row_sums)

    def column_sums(self) -> FloatArray:
        """Sum over rows, one value a column object."""
        return np.array(self._column_bounds)

    def matmat(self, right: FloatArray) -> FloatArray:
        """Multiply by an array of n rows from the right."""
        return np.asarray(self.relation.matmat(right))

    def rmatmat(self, left: FloatArray) -> FloatArray:
        """Multiply the transpose by an array of m rows."""
        wide = left.reshape(len(left), -1)
        largest = np.abs(wide).max(axis=0, initial=0.0)
        by_column, by_axis = _shifts(self._column_bounds, _BITS), _shifts(largest, 0)
        most = max(np.abs(shifts).max(initial=0) for shifts in (by_column, by_axis))
        if most > _LARGEST_SHIFT or not np.isfinite(largest).all():  # no whole numbers stand for these
            return np.asarray(self.relation.rmatmat(left))
        sums = self._sums(np.ldexp(1.0, by_column), np.ldexp(1.0, by_axis), wide)
        found = np.ldexp(sums.astype(np.float64), -by_column[:, None] - by_axis)
        return np.asarray(found.reshape(-1, *left.shape[1:]))

    def _sums(self, by_column: FloatArray, by_axis: FloatArray, left: FloatArray) -> IntArray:
        if isinstance(self.relation, LocalRelation):
            return _fixed_block(self.relation.matrix, left, by_column, by_axis)[0]
        found: Any = sum_blocks(self.relation, _fixed_block, by_column, by_axis, along=[left])[0]
        return np.asarray(found, dtype=np.int64)

    def row_blocks(self, rows: int) -> Iterator[tuple[slice, SparseArray]]:
        """Walk over the relation in sparse blocks of at most ``rows`` rows, in order."""
        yield from self.relation.row_blocks(rows)


class FixedSumsElsewhere(FixedSums):
    """The same for a ``BlockedRelation``: integers are added where the blocks are."""

    @property
    def n_blocks(self) -> int:
        """Give the number of row blocks."""
        return int(self.relation.n_blocks)

    def normal(self, right: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Multiply ``Rᵀ D(row_weights) R`` by a vector; a first round says how large sums can be."""
        return self.rmatmat(row_weights * self.matmat(right))

    def map_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> list[Any]:
        """Call a function on every block and give the results in the order of rows."""
        return list(self.relation.map_blocks(function, *shared, along=along))

    def sum_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> tuple[FloatArray, ...]:
        """Add up what a function gives on every block."""
        return tuple(self.relation.sum_blocks(function, *shared, along=along))

    def map_pieces(
        self, function: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Call a function on pieces of work that belong to no block."""
        return list(self.relation.map_pieces(function, pieces, *shared))


def _shifts(bounds: FloatArray, bits: int) -> IntArray:
    """Give the powers of two that bring what is at most a bound to so many bits; they never round."""
    return np.asarray(bits - np.frexp(bounds)[1])


def _column_counts(block: SparseArray) -> tuple[IntArray]:
    return (np.bincount(block.indices, minlength=block.shape[1]),)


def _fixed_block(
    block: SparseArray, left: FloatArray, by_column: FloatArray, by_axis: FloatArray
) -> tuple[IntArray]:
    """Sum a block's products with its rows of ``left`` in quanta: one row a column, one column an axis."""
    sums = np.zeros((block.shape[1], left.shape[1]), dtype=np.int64)
    values = np.ascontiguousarray(block.data, dtype=np.float64)
    _add_products(block.indptr, block.indices, values, np.ascontiguousarray(left * by_axis), by_column, sums)
    return (sums,)


@njit(cache=True)
def _add_products(starts, columns, values, left, by_column, sums):  # type: ignore[no-untyped-def]
    for i in range(left.shape[0]):
        for entry in range(starts[i], starts[i + 1]):
            j = columns[entry]
            value = values[entry]
            for axis in range(left.shape[1]):
                sums[j, axis] += np.int64(np.rint(value * left[i, axis] * by_column[j]))
