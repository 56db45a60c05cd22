"""What workers do with blocks. Functions here are known to workers by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape.data.relation import relation_matrix
from relscape.errors import DataError
from relscape.models.inputs import matrix_digest
from relscape.protocols import FloatArray, SparseArray

__all__ = [
    "Description",
    "added",
    "called",
    "column_sums",
    "described",
    "kept",
    "normal",
    "product",
    "tidy",
    "transposed",
]


class Description(NamedTuple):
    """What is to be known of a block: shape, number of entries, sums of rows, digest."""

    shape: tuple[int, int]
    stored: int
    row_sums: FloatArray
    digest: str


def tidy(number: int, block: Any) -> SparseArray:
    """Bring a block into sorted CSR of floats; weights that are none are refused by block and row."""
    made = block() if callable(block) else block
    matrix = relation_matrix(made, f"block {number}")
    values = matrix.data
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        first = int(np.flatnonzero(~np.isfinite(values) | (values < 0))[0])
        row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
        raise DataError(
            f"block {number} has weights that are negative or not finite, the first {values[first]:g} in its "
            f"row {row}, column {matrix.indices[first]}. A weight says how strongly two things are related."
        )
    return matrix


def described(block: SparseArray) -> Description:
    """Sum up the rows of a block and digest it."""
    m, n = block.shape
    return Description((int(m), int(n)), int(block.nnz), _sums(block, 1), matrix_digest(block))


def column_sums(block: SparseArray) -> tuple[FloatArray]:
    """Sum up the columns of a block."""
    return (_sums(block, 0),)


def _sums(block: SparseArray, axis: int) -> FloatArray:
    return np.asarray(block.sum(axis=axis, dtype=np.float64)).ravel()


def called(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function."""
    return function(*given)


def kept(values: Any) -> Any:
    """Give back what is given, so that it stays on the worker."""
    return values


def added(*parts: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    """Add tuples of arrays, place by place, in the order in which they come; whole numbers stay whole."""
    totals = [np.array(array, dtype=np.result_type(array, np.int64)) for array in parts[0]]
    for part in parts[1:]:
        for total, array in zip(totals, part, strict=True):
            total += array
    return tuple(totals)


def product(block: SparseArray, right: FloatArray) -> FloatArray:
    """Multiply a block from the right."""
    return np.asarray(block @ right)


def transposed(block: SparseArray, left: FloatArray) -> tuple[FloatArray]:
    """Multiply a block's transpose."""
    return (np.asarray(block.T @ left),)


def normal(block: SparseArray, weights: FloatArray, right: FloatArray) -> tuple[FloatArray]:
    """Multiply a block, weigh its rows, and multiply by its transpose."""
    image = block @ right
    scaled = weights * image if image.ndim == 1 else weights[:, None] * image
    return (np.asarray(block.T @ scaled),)


def rows_of(matrix: SparseArray, start: int, stop: int) -> SparseArray:
    """Cut rows out of a matrix."""
    return csr_array(matrix[start:stop])


def _measure_sparse_arrays() -> None:
    """Tell Dask how much memory a sparse array takes; it knows only the older sparse matrices.

    Without this a worker would not know that its memory is full, and would not spill to the disk.
    """
    from dask.sizeof import sizeof
    from scipy.sparse import sparray

    @sizeof.register(sparray)  # type: ignore[untyped-decorator]
    def _size(array: Any) -> int:
        return int(sum(part.nbytes for part in vars(array).values() if isinstance(part, np.ndarray)))


_measure_sparse_arrays()
