"""Distances and cosines between the rows of two tables, dense or sparse, in one shape of answer.

Short dense rows are subtracted. Long and sparse ones go through products, which cancel digits where two
rows nearly coincide; those few pairs are subtracted afterwards. Products run on one thread, so that the
number of threads never changes a digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

from relscape.protocols import AnyArray, FloatArray
from relscape.threads import one_thread

__all__ = ["as_table", "cosines", "distances", "median_distance", "row_blocks"]

# Up to this many columns subtracting is about as quick as a product.
SHORT_ROWS = 64
# Squared distances below this share of the squared lengths have lost more than ten digits' worth of trust.
NEARLY_EQUAL = 1e-6
BLOCK_ROWS = 4_096
ENTRIES_AT_ONCE = 4_000_000


def as_table(X: Any) -> Any:
    """Give a table as float64 rows: a sparse one as ``csr_array``, any other as a contiguous array."""
    if issparse(X):
        return csr_array(X, dtype=np.float64)
    return np.ascontiguousarray(X, dtype=np.float64)


def row_blocks(n: int, rows: int = BLOCK_ROWS) -> Iterator[slice]:
    """Cut ``n`` rows into slices of at most ``rows``, in order."""
    return (slice(first, min(first + rows, n)) for first in range(0, n, rows))


def distances(A: Any, B: Any) -> FloatArray:
    """Give the Euclidean distances of all rows of ``A`` (m × d) to all rows of ``B`` (n × d)."""
    A, B = _alike(A, B)
    if issparse(A):
        return np.sqrt(_sparse_squares(A, B))
    if A.shape[1] <= SHORT_ROWS or min(len(A), len(B)) == 0:
        return np.asarray(cdist(A, B))
    centre = B.mean(axis=0)
    return np.sqrt(_dense_squares(A - centre, B - centre))


def cosines(A: Any, B: Any) -> FloatArray:
    """Give the cosines of all rows of ``A`` with all rows of ``B``; a row of zeros has cosine 0 with all."""
    A, B = _alike(A, B)
    with one_thread():
        products = _dense(A @ B.T)
    lengths = np.sqrt(np.outer(_squared_lengths(A), _squared_lengths(B)))
    found = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return np.clip(found, -1.0, 1.0)


def median_distance(A: Any) -> float:
    """Give the median distance of two different rows, or 1 where more than half of the pairs coincide."""
    found = distances(A, A)
    pairs = found[np.triu_indices(len(found), 1)]
    return float(np.median(pairs)) or 1.0 if pairs.size else 1.0


def _alike(A: Any, B: Any) -> tuple[Any, Any]:
    """Make both tables of one sort: sparse as soon as one of them is."""
    if issparse(A) or issparse(B):
        return csr_array(A, dtype=np.float64), csr_array(B, dtype=np.float64)
    return as_table(A), as_table(B)


def _dense(product: Any) -> FloatArray:
    return np.asarray(product.toarray() if issparse(product) else product)


def _squared_lengths(A: Any) -> FloatArray:
    if issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", A, A))


def _dense_squares(A: AnyArray, B: AnyArray) -> FloatArray:
    with one_thread():
        products = A @ B.T
    squares, i, j = _from_products(products, _squared_lengths(A), _squared_lengths(B))
    for part in row_blocks(len(i), max(1, ENTRIES_AT_ONCE // A.shape[1])):
        gaps = A[i[part]] - B[j[part]]
        squares[i[part], j[part]] = np.einsum("ij,ij->i", gaps, gaps)
    return squares


def _sparse_squares(A: Any, B: Any) -> FloatArray:
    squares, i, j = _from_products((A @ B.T).toarray(), _squared_lengths(A), _squared_lengths(B))
    for part in row_blocks(len(i)):
        gaps = A[i[part]] - B[j[part]]
        squares[i[part], j[part]] = _squared_lengths(gaps)
    return squares


def _from_products(products: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, Any, Any]:
    """Form |x|² + |y|² − 2x'y, and find the pairs for which too few digits are left."""
    sums = a[:, None] + b[None, :]
    squares = np.maximum(sums - 2.0 * products, 0.0)
    i, j = np.nonzero(squares <= NEARLY_EQUAL * sums)
    return squares, i, j
