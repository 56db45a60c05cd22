"""Connected components of a relation's bipartite graph, also of one that lies in blocks elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from relscape.data.blocks import map_blocks
from relscape.matrix.operators import LocalRelation
from relscape.protocols import IntArray, RelationOperator

__all__ = ["bipartite_components", "relation_components"]


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
    component = np.where(used, _ranked(found, used)[found], -1)
    return component[:m], component[m:]


def relation_components(relation: RelationOperator) -> tuple[IntArray, IntArray]:
    """Find the components of any relation: every block finds its own, which shared columns then join."""
    if isinstance(relation, LocalRelation):
        return bipartite_components(relation.matrix)
    m, n = relation.shape
    parts = map_blocks(relation, bipartite_components)
    counts = [int(columns.max(initial=-1)) + 1 for _, columns in parts]
    firsts = m + np.cumsum([0, *counts[:-1]])  # numbers of the blocks' components, after those of rows
    ends = [np.flatnonzero(columns >= 0) for _, columns in parts]
    column = np.concatenate(ends) + m + sum(counts)
    met = np.concatenate(
        [first + columns[end] for (_, columns), end, first in zip(parts, ends, firsts, strict=True)]
    )
    row_met = np.concatenate(
        [np.where(rows >= 0, first + rows, -1) for (rows, _), first in zip(parts, firsts, strict=True)]
    )
    used_rows = np.flatnonzero(row_met >= 0)
    size = m + sum(counts) + n
    one, other = np.concatenate([used_rows, met]), np.concatenate([row_met[used_rows], column])
    graph = csr_array((np.ones(one.size, dtype=np.int8), (one, other)), shape=(size, size))
    _, found = connected_components(graph, directed=True, connection="weak")
    used = np.zeros(size, dtype=bool)
    used[used_rows] = used[column] = True
    component = np.where(used, _ranked(found, used)[found], -1)
    return component[:m], component[m + sum(counts) :]


def _ranked(found: IntArray, used: Any) -> IntArray:
    """Give components new numbers by size, counting used objects; ties keep the order of the first row."""
    sizes = np.bincount(found[used], minlength=found.max() + 1)
    rank = np.empty(sizes.size, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return rank
