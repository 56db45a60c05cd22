"""The product ``Rᵀ D(w) R x`` of a sparse relation, in one pass over its rows."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from relscape.protocols import FloatArray, SparseArray

__all__ = ["normal_of_rows"]

_MOST_BLOCKS = 16
_ENTRIES_A_COLUMN = 16  # a block's own sum must be short beside the entries that go into it


def normal_of_rows(matrix: SparseArray, right: FloatArray, row_weights: FloatArray) -> FloatArray:
    """Multiply ``Rᵀ D(row_weights) R`` by a vector, R in canonical CSR.

    A row serves both products while it is in the cache. Blocks of rows, whose number depends on the matrix
    alone, have sums of their own that are added in order: so the number of threads changes nothing.
    """
    m, n = matrix.shape
    blocks = 1
    while 2 * blocks <= min(_MOST_BLOCKS, matrix.nnz // (_ENTRIES_A_COLUMN * n)):
        blocks *= 2
    ends = np.linspace(0, matrix.nnz, blocks + 1).astype(np.int64)
    bounds = np.searchsorted(matrix.indptr, ends)
    bounds[0], bounds[-1] = 0, m
    sums = np.zeros((blocks, n))
    _add_rows(matrix.indptr, matrix.indices, matrix.data, right, row_weights, bounds, sums)
    return sums[0] if blocks == 1 else np.asarray(sums.sum(axis=0))


@njit(parallel=True, cache=True)
def _add_rows(indptr, indices, data, right, row_weights, bounds, sums):  # type: ignore[no-untyped-def]
    for block in prange(sums.shape[0]):
        for i in range(bounds[block], bounds[block + 1]):
            image = 0.0
            for place in range(indptr[i], indptr[i + 1]):
                image += data[place] * right[indices[place]]
            image *= row_weights[i]
            for place in range(indptr[i], indptr[i + 1]):
                sums[block, indices[place]] += data[place] * image
