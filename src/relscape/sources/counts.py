"""Matrices of counts on their way in: refusing what cannot be a weight, size factors, logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError, ParameterError
from relscape.protocols import SparseArray
from relscape.sources.bounds import check_matrix_size, entries_of

__all__ = ["check_weighing", "checked_weights", "weighed"]


def checked_weights(matrix: Any, where: str, remedy: str = "") -> SparseArray:
    """Bring a matrix into a sparse array of rows; entries that cannot be weights are refused by position.

    ``remedy`` ends the message about negative entries, where more is known of what to do.
    """
    if matrix.ndim != 2:
        raise DataError(f"{where}: expected a matrix, of two dimensions; this has {matrix.ndim}.")
    if matrix.dtype.kind not in "biuf":
        what = "complex numbers" if matrix.dtype.kind == "c" else str(matrix.dtype)
        raise DataError(f"{where}: weights are real numbers, this matrix holds {what}.")
    check_matrix_size(matrix.shape, entries_of(matrix), where)
    if issparse(matrix) and matrix.format in ("csr", "csc"):
        _check_structure(matrix, where)
    rows = csr_array(matrix)
    for wrong, what in ((~np.isfinite(rows.data), "not finite"), (rows.data < 0, "negative")):
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            row = int(np.searchsorted(rows.indptr, first, side="right")) - 1
            raise DataError(
                f"{where}: {int(wrong.sum()):,} entries are {what}, the first ({rows.data[first]:g}) in row "
                f"{row + 1}, column {int(rows.indices[first]) + 1}. A weight says how strongly two things "
                f"relate: 0 or more. {remedy}".rstrip()
            )
    return rows


def _check_structure(matrix: Any, where: str) -> None:
    """Refuse a sparse matrix whose parts do not fit together, as damaged files leave it."""
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise DataError(f"{where}: the parts of the matrix do not fit together ({error}).") from error


def check_weighing(size_factors: float | None) -> None:
    """Refuse a total that rows cannot be brought to."""
    if size_factors is None:
        return
    number = isinstance(size_factors, int | float) and not isinstance(size_factors, bool)
    if not number or not math.isfinite(size_factors) or size_factors <= 0:
        raise ParameterError(
            f"size_factors is {size_factors!r}; expected the total that every row is brought to, such as "
            "10000, or None to leave the rows as they are."
        )


def weighed(matrix: SparseArray, size_factors: float | None = None, log1p: bool = False) -> SparseArray:
    """Bring every row to the same total, then take log(1 + x) of all entries, each if asked for.

    A row without entries stays without.

    >>> weighed(csr_array([[1.0, 3.0], [0.0, 0.0]]), size_factors=8).toarray().tolist()
    [[2.0, 6.0], [0.0, 0.0]]
    """
    check_weighing(size_factors)
    if size_factors is None and not log1p:
        return matrix
    single = matrix.dtype == np.float32
    values = matrix.data.astype(np.float32 if single else np.float64)
    if size_factors is not None:
        totals = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
        factors = np.divide(size_factors, totals, out=np.zeros_like(totals), where=totals > 0)
        values *= np.repeat(factors, np.diff(matrix.indptr)).astype(values.dtype)
    if log1p:
        np.log1p(values, out=values)
    return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
