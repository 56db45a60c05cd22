"""Mutual pairs of a relation that lies in blocks: every block sends only what could be among them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from relscape.data.blocks import map_blocks
from relscape.errors import ParameterError
from relscape.matrix.mutual_pairs import Pairs, as_relation, check_count, check_ties, largest, mutual_pairs
from relscape.matrix.operators import LocalRelation
from relscape.protocols import BoolArray, FloatArray, IntArray, RelationOperator, SparseArray

__all__ = ["relation_pairs"]


def relation_pairs(relation: RelationOperator, k_rows: int, k_columns: int, ties: str) -> Pairs:
    """List the mutual pairs of any relation; parameters as for ``mutual_pairs``.

    An entry among the strongest of its whole column is among the strongest of its column within its block,
    so a block of n columns sends at most n × k_rows entries. Rules that count zeros need the whole relation.
    """
    if isinstance(relation, LocalRelation):
        return mutual_pairs(relation.matrix, k_rows, k_columns, ties)
    if check_ties(ties) != "positive":
        raise ParameterError(
            f"ties={ties!r} counts zeros, which needs the relation in memory; elsewhere use ties='positive'."
        )
    m, n = relation.shape
    k_rows, k_columns = min(check_count("k_rows", k_rows), m), min(check_count("k_columns", k_columns), n)
    found = map_blocks(relation, _candidates, k_rows, k_columns, along=[np.arange(m)])
    i, j, weight, strong = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((i, j))  # by column, rows ascending: equal entries go by lowest index
    pointers = np.concatenate([[0], np.cumsum(np.bincount(j, minlength=n))])
    chosen = np.empty(i.size, dtype=bool)
    chosen[order] = largest(pointers, weight[order], k_rows, False)
    chosen &= strong
    pairs = np.lexsort((j[chosen], i[chosen]))
    return Pairs(i[chosen][pairs], j[chosen][pairs])


def _candidates(
    block: SparseArray, numbers: IntArray, k_rows: int, k_columns: int
) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Give the entries strong in their column of this block: row, column, weight, if strong in the row."""
    entries = as_relation(block) if block.shape[0] else csr_array(block.shape)
    strong = largest(entries.indptr, entries.data, k_columns, False)
    by_column = csr_array((np.arange(entries.nnz), entries.indices, entries.indptr), shape=entries.shape).T
    stored = by_column.tocsr()
    kept = np.zeros(entries.nnz, dtype=bool)
    kept[stored.data] = largest(stored.indptr, entries.data[stored.data], k_rows, False)
    rows = np.repeat(numbers, np.diff(entries.indptr))
    return rows[kept], entries.indices[kept].astype(np.int64), entries.data[kept], strong[kept]
