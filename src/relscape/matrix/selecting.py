"""Some rows and columns of a relation, and single entries, whether it is held here or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from relscape.data.blocks import map_blocks, normal_product, sum_blocks
from relscape.matrix.operators import LocalRelation
from relscape.protocols import (
    AnyArray,
    BlockedRelation,
    BoolArray,
    FloatArray,
    IntArray,
    RelationOperator,
    SparseArray,
)

__all__ = ["SelectedRelation", "entries_at", "selected", "submatrix"]


def selected(relation: RelationOperator, rows: IntArray, columns: IntArray) -> RelationOperator:
    """Keep some rows and columns, by ascending positions: a copy of what is in memory, a view of all else."""
    if isinstance(relation, LocalRelation):
        return LocalRelation(relation.matrix[rows][:, columns])
    return SelectedRelation(relation, rows, columns)


def submatrix(relation: RelationOperator, rows: IntArray, columns: IntArray) -> SparseArray:
    """Bring some rows and columns, by ascending positions, into memory."""
    if isinstance(relation, LocalRelation):
        return csr_array(relation.matrix[rows][:, columns])
    keep = np.zeros(relation.shape[0], dtype=bool)
    keep[rows] = True
    return csr_array(vstack(map_blocks(relation, _taken, columns, along=[keep]), format="csr"))


def entries_at(relation: RelationOperator, i: IntArray, j: IntArray) -> FloatArray:
    """Give the weights of single pairs (i, j), zeros too."""
    if isinstance(relation, LocalRelation):
        return np.asarray(relation.matrix[i, j], dtype=np.float64).ravel()
    order = np.argsort(i, kind="stable")
    numbers = np.arange(relation.shape[0])
    found = np.empty(i.size)
    found[order] = np.concatenate(map_blocks(relation, _entries, i[order], j[order], along=[numbers]))
    return found


class SelectedRelation:
    """Some rows and columns of a relation, without a copy: products go through the whole one.

    ``rows`` and ``columns`` are ascending positions.
    """

    def __init__(self, relation: RelationOperator, rows: IntArray, columns: IntArray) -> None:
        self._relation, self._rows, self._columns = relation, rows, columns

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of row objects and of column objects."""
        return len(self._rows), len(self._columns)

    def row_sums(self) -> FloatArray:
        """Sum over columns, one value a row object."""
        return self.matmat(np.ones(len(self._columns)))

    def column_sums(self) -> FloatArray:
        """Sum over rows, one value a column object."""
        return self.rmatmat(np.ones(len(self._rows)))

    def matmat(self, right: FloatArray) -> FloatArray:
        """Multiply by an array of n rows from the right."""
        return self._relation.matmat(self._spread(right, 1))[self._rows]

    def rmatmat(self, left: FloatArray) -> FloatArray:
        """Multiply the transpose by an array of m rows."""
        return self._relation.rmatmat(self._spread(left, 0))[self._columns]

    def normal(self, right: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Multiply ``Rᵀ D(row_weights) R`` by a vector; other rows get no weight."""
        return normal_product(self._relation, self._spread(right, 1), self._spread(row_weights, 0))[
            self._columns
        ]

    def row_blocks(self, rows: int) -> Iterator[tuple[slice, SparseArray]]:
        """Walk over the relation in sparse blocks of at most ``rows`` rows, in order."""
        start, keep = 0, self._keep()
        for part, block in self._relation.row_blocks(rows):
            inside = _taken(block, keep[part], self._columns)
            yield slice(start, start + inside.shape[0]), inside
            start += inside.shape[0]

    def map_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> list[Any]:
        """Call a function on what is kept of every block and give the results in the order of rows."""
        chosen, spread = self._within(function, along)
        return map_blocks(self._relation, chosen, self._columns, *shared, along=spread)

    def sum_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> tuple[FloatArray, ...]:
        """Add up what a function gives on what is kept of every block."""
        chosen, spread = self._within(function, along)
        return sum_blocks(self._relation, chosen, self._columns, *shared, along=spread)

    @property
    def n_blocks(self) -> int:
        """Give the number of row blocks."""
        return self._relation.n_blocks if isinstance(self._relation, BlockedRelation) else 1

    def map_pieces(
        self, function: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Call a function on pieces of work that belong to no block, where the relation does."""
        if isinstance(self._relation, BlockedRelation):
            return self._relation.map_pieces(function, pieces, *shared)
        return [function(*piece, *shared) for piece in pieces]

    def _within(
        self, function: Callable[..., Any], along: Sequence[AnyArray]
    ) -> tuple[Callable[..., Any], list[AnyArray]]:
        return partial(_on_taken, function, len(along)), [
            self._keep(),
            *(self._spread(array, 0) for array in along),
        ]

    def _keep(self) -> BoolArray:
        keep = np.zeros(self._relation.shape[0], dtype=bool)
        keep[self._rows] = True
        return keep

    def _spread(self, values: AnyArray, side: int) -> AnyArray:
        """Lay values out over all rows (side 0) or columns (side 1), with zeros between."""
        whole = np.zeros((self._relation.shape[side], *values.shape[1:]), dtype=values.dtype)
        whole[self._columns if side else self._rows] = values
        return whole


def _taken(block: SparseArray, keep: BoolArray, columns: IntArray) -> SparseArray:
    return csr_array(block[np.flatnonzero(keep)][:, columns])


def _on_taken(function: Callable[..., Any], count: int, block: SparseArray, *rest: Any) -> Any:
    """Call a function on the kept part of a block; ``rest`` is the mask, ``count`` parts, columns, shared."""
    keep, parts, columns, shared = rest[0], rest[1 : count + 1], rest[count + 1], rest[count + 2 :]
    return function(_taken(block, keep, columns), *(part[keep] for part in parts), *shared)


def _entries(block: SparseArray, numbers: IntArray, i: IntArray, j: IntArray) -> FloatArray:
    if numbers.size == 0:
        return np.empty(0)
    begin, end = np.searchsorted(i, [numbers[0], numbers[-1] + 1])
    return np.asarray(block[i[begin:end] - numbers[0], j[begin:end]], dtype=np.float64).ravel()
