"""Work on a relation block by block, wherever its blocks are: here in turn, or where a cluster keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relscape.protocols import AnyArray, BlockedRelation, FloatArray, NormalRelation, RelationOperator

__all__ = ["map_blocks", "normal_product", "sum_blocks"]

_BLOCK_ROWS = 16_384


def map_blocks(
    relation: RelationOperator, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
) -> list[Any]:
    """Call ``function(block, *parts, *shared)`` on every block of rows and give the results in order.

    Parameters
    ----------
    relation : RelationOperator
        A ``BlockedRelation`` is worked on where its blocks are, any other one here.
    function : callable
        Pure, and known by its name in a module, so that it can be called elsewhere.
    shared
        What every call gets.
    along : sequence of arrays
        Arrays with one entry a row, of which every call gets its part.
    """
    if isinstance(relation, BlockedRelation):
        return relation.map_blocks(function, *shared, along=along)
    return [
        function(block, *(array[part] for array in along), *shared)
        for part, block in relation.row_blocks(_BLOCK_ROWS)
    ]


def sum_blocks(
    relation: RelationOperator, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
) -> tuple[FloatArray, ...]:
    """Add up, over all blocks in a fixed order, the arrays that a function gives; arguments as before."""
    if isinstance(relation, BlockedRelation):
        return relation.sum_blocks(function, *shared, along=along)
    total: tuple[FloatArray, ...] | None = None
    for part, block in relation.row_blocks(_BLOCK_ROWS):
        found = function(block, *(array[part] for array in along), *shared)
        total = found if total is None else tuple(a + b for a, b in zip(total, found, strict=True))
    return total or ()


def normal_product(relation: RelationOperator, right: FloatArray, row_weights: FloatArray) -> FloatArray:
    """Multiply ``Rᵀ D(row_weights) R`` by a vector, in one pass where the relation can."""
    if isinstance(relation, NormalRelation):
        return relation.normal(right, row_weights)
    return relation.rmatmat(row_weights * relation.matmat(right))
