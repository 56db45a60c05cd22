"""A cloud of samples, dense or sparse, and the squared distances of its pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, prange
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError
from relscape.protocols import BoolArray, FloatArray, IntArray

__all__ = ["Cloud", "diameter"]

# Up to so many samples the largest distance is found among all pairs.
ALL_PAIRS_SAMPLES = 3_000
MOST_SWEEPS = 10

# A matrix product of unit vectors of any practical length is this exact, and more.
ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class Cloud:
    """Samples made ready for measuring distances.

    Parameters
    ----------
    table : array or sparse array of shape (n, d)
        The samples; for cosine distances divided by their lengths.
    squares : array of shape (n,)
        Their squared lengths; 1 throughout for cosine distances, also for vectors of zeros.
    directed : array of bool, shape (n,)
        For cosine distances, whether a sample has a direction, which a vector of zeros has not.
    cosine : bool
    """

    table: Any
    squares: FloatArray
    directed: BoolArray
    cosine: bool

    @classmethod
    def of(cls, X: Any, cosine: bool) -> Cloud:
        """Check samples and prepare them."""
        table: Any = (
            csr_array(X, dtype=np.float64) if issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        )
        if table.ndim != 2:
            raise DataError(f"X has {table.ndim} dimensions; a table with one row a sample is needed.")
        if issparse(table) and not table.has_canonical_format:
            table = table.copy()
            table.sum_duplicates()
        if not np.isfinite(table.data if issparse(table) else table).all():
            raise DataError(
                "some features are not finite; fill them in, or leave those samples or features out."
            )
        directed = np.ones(table.shape[0], dtype=bool)
        if not cosine:
            return cls(table, _square_lengths(table), directed, cosine)
        largest = np.asarray(abs(table).max(axis=1).toarray() if issparse(table) else abs(table).max(axis=1))
        directed = largest.ravel() > 0
        table = _divided(table, np.where(directed, largest.ravel(), 1.0))
        table = _divided(table, np.where(directed, np.sqrt(_square_lengths(table)), 1.0))
        return cls(table, np.ones(table.shape[0]), directed, cosine)

    @property
    def n(self) -> int:
        """Count the samples."""
        return int(self.table.shape[0])

    @property
    def d(self) -> int:
        """Count the features."""
        return int(self.table.shape[1])

    def rows(self, chosen: IntArray) -> Cloud:
        """Give some of the samples."""
        return Cloud(self.table[chosen], self.squares[chosen], self.directed[chosen], self.cosine)

    def rounded_squares(self, other: Cloud, block: slice) -> FloatArray:
        """Give the squared distances of some samples to all of another cloud, up to :meth:`slack`."""
        products = (-2.0 * self.table[block]) @ other.table.T
        squares: FloatArray = products.toarray() if issparse(products) else products
        squares += self.squares[block, None]
        squares += other.squares
        return squares

    def slack(self, other: Cloud, block: slice) -> FloatArray:
        """Bound twice the rounding of :meth:`rounded_squares`, whichever of the two clouds is asked."""
        largest = self.squares.max(initial=0.0)
        return np.asarray(ROUNDING * (other.squares[block] + largest))

    def pair_squares(self, other: Cloud, i: IntArray, j: IntArray) -> FloatArray:
        """Give the squared distances of pairs: sample ``i`` of this cloud and ``j`` of the other."""
        squares: FloatArray
        if issparse(self.table):
            mine, theirs = self.table, other.table
            squares = _sparse_squares(
                *(mine.indptr, mine.indices, mine.data), *(theirs.indptr, theirs.indices, theirs.data), i, j
            )
        else:
            squares = _dense_squares(self.table, other.table, i, j)
        if self.cosine:
            squares = np.where(self.directed[i] & other.directed[j], squares, 2.0)
        return squares

    def distances_of(self, squares: FloatArray) -> FloatArray:
        """Turn squared distances into distances: 1 − cos of unit vectors is half their square."""
        return squares / 2.0 if self.cosine else np.sqrt(squares)

    def squares_of(self, distances: FloatArray) -> FloatArray:
        """Turn distances back into the squares they came from."""
        return distances * 2.0 if self.cosine else distances**2


def diameter(X: Any) -> float:
    """Give the largest Euclidean distance of two samples, of many samples a close lower bound.

    The bound comes from walking to the farthest sample until no step gets longer.
    """
    cloud = Cloud.of(X, cosine=False)
    everyone = np.arange(cloud.n)
    if cloud.n <= ALL_PAIRS_SAMPLES:
        farthest = cloud.rounded_squares(cloud, slice(0, cloud.n)).argmax(axis=1)
        return float(np.sqrt(cloud.pair_squares(cloud, everyone, farthest).max()))
    at, largest = 0, 0.0
    for _ in range(MOST_SWEEPS):
        squares = cloud.pair_squares(cloud, np.full(cloud.n, at), everyone)
        if squares.max() <= largest:
            break
        at, largest = int(squares.argmax()), float(squares.max())
    return float(np.sqrt(largest))


def _square_lengths(table: Any) -> FloatArray:
    if issparse(table):
        return np.asarray(table.multiply(table).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", table, table))


def _divided(table: Any, divisors: FloatArray) -> Any:
    if not issparse(table):
        return np.asarray(table / divisors[:, None])
    entries = table.data / np.repeat(divisors, np.diff(table.indptr))
    return csr_array((entries, table.indices, table.indptr), shape=table.shape)


@njit(parallel=True, cache=True)
def _dense_squares(first, second, i, j):  # type: ignore[no-untyped-def]
    squares = np.empty(i.size)
    for pair in prange(i.size):
        total = 0.0
        for axis in range(first.shape[1]):
            gap = first[i[pair], axis] - second[j[pair], axis]
            total += gap * gap
        squares[pair] = total
    return squares


@njit(parallel=True, cache=True)
def _sparse_squares(starts_a, columns_a, data_a, starts_b, columns_b, data_b, i, j):  # type: ignore[no-untyped-def]
    squares = np.empty(i.size)
    for pair in prange(i.size):
        a, end_a = starts_a[i[pair]], starts_a[i[pair] + 1]
        b, end_b = starts_b[j[pair]], starts_b[j[pair] + 1]
        total = 0.0
        while a < end_a or b < end_b:
            if b == end_b or (a < end_a and columns_a[a] < columns_b[b]):
                gap = data_a[a]
                a += 1
            elif a == end_a or columns_b[b] < columns_a[a]:
                gap = data_b[b]
                b += 1
            else:
                gap = data_a[a] - data_b[b]
                a += 1
                b += 1
            total += gap * gap
        squares[pair] = total
    return squares
