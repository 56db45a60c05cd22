"""Sparse products on all cores. Every row is summed by one thread, so threads never change a result."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from relscape.protocols import FloatArray, SparseArray

__all__ = ["product"]


@njit(parallel=True, cache=True)
def _row_sums_of_products(indptr, indices, data, vector, out):  # type: ignore[no-untyped-def]
    for i in prange(indptr.size - 1):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * vector[indices[p]]
        out[i] = total


def product(matrix: SparseArray, vector: FloatArray) -> FloatArray:
    """Multiply a CSR array by a vector, in double precision whatever the array stores."""
    out = np.empty(matrix.shape[0])
    dense = np.ascontiguousarray(vector, dtype=np.float64)
    _row_sums_of_products(matrix.indptr, matrix.indices, matrix.data, dense, out)
    return out
