"""Which row and column objects of a relation are each other's strongest partners: the set K(R).

A pair (i, j) belongs to K(R) when r_ij is among the k_rows largest entries of column j and among
the k_columns largest of row i (Wu, Mu, Liatsis and Goulermas 2016, equation 43). Only stored
entries are sorted; zeros, which a rule may also count, are described by one number a row and one
a column and listed only where both sides agree.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from scipy.sparse import csr_array, issparse

from relscape.data.arrays import plain_array
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.protocols import BoolArray, IntArray, SparseArray

__all__ = [
    "TIES",
    "Pairs",
    "as_relation",
    "check_count",
    "check_ties",
    "largest",
    "mutual_pairs",
    "strongest",
]

TIES = ("index", "inclusive", "positive")
MOST_ZERO_PAIRS = 50_000_000


class Pairs(NamedTuple):
    """Pairs of row and column objects, sorted by row and then by column."""

    rows: IntArray
    columns: IntArray


def as_relation(R: Any) -> SparseArray:
    """Bring a dense or sparse relation into sorted CSR with positive entries only, without touching it."""
    R = plain_array(R)
    if not issparse(R):
        R = np.asarray(R)
        if R.ndim != 2:
            raise DataError(
                f"R has {R.ndim} dimensions; expected a matrix, one row and one column an object."
            )
    relation = csr_array(R, dtype=np.float64)
    if 0 in relation.shape:
        raise DataError(f"R has shape {relation.shape}; a relation needs at least one row and one column.")
    broken = ~np.isfinite(relation.data) | (relation.data < 0)
    if broken.any():
        stored = int(np.flatnonzero(broken)[0])
        row = int(np.searchsorted(relation.indptr, stored, side="right")) - 1
        raise DataError(
            f"R has {int(broken.sum())} entries that are negative or not finite, the first in row {row}, "
            f"column {relation.indices[stored]}; a relation is a matrix of strengths from 0 upwards."
        )
    if not relation.has_canonical_format or (relation.data == 0).any():
        relation = relation.copy()
        relation.sum_duplicates()
        relation.eliminate_zeros()
    return relation


def check_count(name: str, value: Any) -> int:
    """Refuse anything but a whole number from 1 upwards."""
    if not isinstance(value, Integral) or value < 1:
        raise ParameterError(f"{name}={value!r}: expected a whole number of at least 1.")
    return int(value)


def check_ties(ties: str) -> str:
    """Refuse a tie rule that does not exist."""
    if not isinstance(ties, str) or ties not in TIES:
        raise UnknownNameError("rule for ties", ties, TIES)
    return ties


def mutual_pairs(R: Any, k_rows: int = 5, k_columns: int = 5, ties: str = "inclusive") -> Pairs:
    """List the pairs of K(R): strong for the row object and strong for the column object.

    Parameters
    ----------
    R : array or sparse array of shape (m, n)
        Nonnegative; larger is stronger.
    k_rows : int
        How many row objects a column counts as its strongest (k_r of the paper); at most m is used.
    k_columns : int
        How many column objects a row counts as its strongest (k_c of the paper); at most n is used.
    ties : str
        "index": exactly k, of equal entries those of lowest index.
        "inclusive": all entries at least as large as the k-th; does not depend on the order of objects.
        "positive": as "index", but an entry of zero is never a partner. The rule for sparse relations:
        under the others an object with fewer than k partners fills up with zeros.

    Raises
    ------
    DataError
        When zeros alone would make more than 5·10⁷ pairs, as "inclusive" does on large sparse relations.
    """
    check_ties(ties)
    relation = as_relation(R)
    m, n = relation.shape
    k_rows, k_columns = min(check_count("k_rows", k_rows), m), min(check_count("k_columns", k_columns), n)
    # Transposing the positions of the entries tells where each entry of a column is stored.
    stored = csr_array(
        (np.arange(relation.nnz), relation.indices, relation.indptr), shape=relation.shape
    ).T.tocsr()
    chosen: BoolArray = np.zeros(relation.nnz, dtype=bool)
    inclusive = ties == "inclusive"
    chosen[stored.data] = largest(stored.indptr, relation.data[stored.data], k_rows, inclusive)
    chosen &= largest(relation.indptr, relation.data, k_columns, inclusive)
    rows = np.repeat(np.arange(m), np.diff(relation.indptr))[chosen]
    columns = relation.indices[chosen].astype(np.int64)
    if ties == "positive":
        return Pairs(rows, columns)
    zero_rows, zero_columns = _zero_pairs(
        relation,
        _last_zeros(relation.indptr, relation.indices, n, k_columns, inclusive),
        _last_zeros(stored.indptr, stored.indices, m, k_rows, inclusive),
    )
    if zero_rows.size == 0:
        return Pairs(rows, columns)
    rows, columns = np.concatenate([rows, zero_rows]), np.concatenate([columns, zero_columns])
    order = np.argsort(rows * n + columns, kind="stable")
    return Pairs(rows[order], columns[order])


def strongest(R: Any, top: int) -> IntArray:
    """Give the columns of the ``top`` largest entries of every row, as an array of m × top.

    Equal entries go by lowest index, zeros too where a row has fewer than ``top`` positive ones.
    The columns of a row are listed by index.
    """
    relation = as_relation(R)
    n = relation.shape[1]
    if check_count("top", top) > n:
        raise ParameterError(f"top={top}: the relation has {n} columns.")
    chosen = largest(relation.indptr, relation.data, top, False)
    columns: IntArray = _with_zeros(relation.indptr, relation.indices, chosen, top)
    return np.sort(columns, axis=1)


def _zero_pairs(
    relation: SparseArray, row_last: IntArray, column_last: IntArray
) -> tuple[IntArray, IntArray]:
    """List the zeros (i, j) that both sides count: j ≤ row_last[i] and i ≤ column_last[j]."""
    m, n = relation.shape
    open_columns = np.flatnonzero(column_last >= 0)
    at_least = int((row_last == n - 1).sum()) * int((column_last == m - 1).sum()) - relation.nnz
    if at_least > MOST_ZERO_PAIRS:
        raise _too_many(at_least)
    parts = (relation.indptr, relation.indices, row_last, column_last, open_columns)
    counts = _count_zeros(*parts)
    ends = np.cumsum(counts)
    if ends[-1] > MOST_ZERO_PAIRS:
        raise _too_many(int(ends[-1]))
    columns = np.empty(ends[-1], dtype=np.int64)
    _list_zeros(*parts, ends - counts, columns)
    return np.repeat(np.arange(m), counts), columns


def _too_many(count: int) -> DataError:
    return DataError(
        f"at least {count} pairs without any relation tie for a place among the strongest, more than the "
        f"{MOST_ZERO_PAIRS} that are listed; use ties='positive', which never counts a zero, or smaller k."
    )


@njit(parallel=True, cache=True)
def largest(indptr, data, k, inclusive):  # type: ignore[no-untyped-def]
    """Mark the k largest stored entries of every row; ``inclusive`` marks all that equal the k-th."""
    chosen = np.ones(data.size, np.bool_)
    for i in prange(indptr.size - 1):
        start, end = indptr[i], indptr[i + 1]
        if end - start <= k:
            continue
        border = np.partition(data[start:end], end - start - k)[end - start - k]
        at_border = k - np.sum(data[start:end] > border)
        for p in range(start, end):
            if data[p] < border:
                chosen[p] = False
            elif data[p] == border and not inclusive:
                chosen[p] = at_border > 0
                at_border -= 1
    return chosen


@njit(parallel=True, cache=True)
def _last_zeros(indptr, indices, width, k, inclusive):  # type: ignore[no-untyped-def]
    """Give the last zero of every row that is among its k largest entries, -1 where there is none."""
    last = np.full(indptr.size - 1, -1, np.int64)
    for i in prange(indptr.size - 1):
        missing = k - (indptr[i + 1] - indptr[i])
        if missing <= 0:
            continue
        if inclusive:
            last[i] = width - 1
            continue
        p, column = indptr[i], 0
        while missing > 0:
            if p < indptr[i + 1] and indices[p] == column:
                p += 1
            else:
                missing -= 1
                last[i] = column
            column += 1
    return last


@njit(cache=True)
def _zeros_of_row(i, indptr, indices, row_last, column_last, open_columns, at, out):  # type: ignore[no-untyped-def]
    """Count the agreed zeros of a row, and write them from ``at`` on when ``out`` has room for any."""
    count = 0
    p = indptr[i]
    for column in open_columns:
        if column > row_last[i]:
            break
        while p < indptr[i + 1] and indices[p] < column:
            p += 1
        stored = p < indptr[i + 1] and indices[p] == column
        if column_last[column] >= i and not stored:
            if out.size > 0:
                out[at + count] = column
            count += 1
    return count


@njit(parallel=True, cache=True)
def _count_zeros(indptr, indices, row_last, column_last, open_columns):  # type: ignore[no-untyped-def]
    counts = np.zeros(row_last.size, np.int64)
    for i in prange(row_last.size):
        counts[i] = _zeros_of_row(
            i, indptr, indices, row_last, column_last, open_columns, 0, np.empty(0, np.int64)
        )
    return counts


@njit(parallel=True, cache=True)
def _list_zeros(indptr, indices, row_last, column_last, open_columns, starts, out):  # type: ignore[no-untyped-def]
    for i in prange(row_last.size):
        _zeros_of_row(i, indptr, indices, row_last, column_last, open_columns, starts[i], out)


@njit(parallel=True, cache=True)
def _with_zeros(indptr, indices, chosen, top):  # type: ignore[no-untyped-def]
    """List the chosen entries of every row, filled up with its first zeros."""
    columns = np.empty((indptr.size - 1, top), np.int64)
    for i in prange(indptr.size - 1):
        count = 0
        for p in range(indptr[i], indptr[i + 1]):
            if chosen[p]:
                columns[i, count] = indices[p]
                count += 1
        p, column = indptr[i], 0
        while count < top:
            if p < indptr[i + 1] and indices[p] == column:
                p += 1
            else:
                columns[i, count] = column
                count += 1
            column += 1
    return columns
