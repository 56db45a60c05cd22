"""Coordinates in which a feature table has unit size: T with T' (Φ'Φ + ridge I) T = I."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular
from scipy.sparse.linalg import ArpackError, LinearOperator, aslinearoperator, eigsh

from relscape.errors import DataError
from relscape.protocols import FloatArray
from relscape.solvers.spectral import thin_svd

__all__ = ["Table", "one_hot_whitening", "whitening"]

DENSE_ENTRIES = 2_000_000  # up to this many entries a table is decomposed completely
FACTORED_SIDE = 5_000  # up to this many features their Gram matrix is factorised
RANK = 300  # directions kept of larger tables
_LEAST = 1e-10  # singular values below this share of the largest are rounding
_LEAST_SQUARE = 1e-13  # and so are squares of them
_LEAST_GRAM = 1e-12  # of all squares at once, somewhat more
_TOLERANCE = 1e-8  # of the squares of leading singular values, relative


class Table(Protocol):
    """A feature table (n × d) as an operator that can also be formed, and its Gram matrix (d × d)."""

    shape: tuple[int, int]

    @property
    def rounding(self) -> float:
        """The size up to which singular values are rounding."""
        ...

    def matvec(self, right: FloatArray) -> FloatArray:
        """Multiply it with a vector."""
        ...

    def rmatvec(self, left: FloatArray) -> FloatArray:
        """Multiply its transpose with a vector."""
        ...

    def rmatmat(self, left: FloatArray) -> FloatArray:
        """Multiply its transpose with some vectors."""
        ...

    def dense(self) -> FloatArray:
        """Form it."""
        ...

    def gram(self) -> FloatArray:
        """Form the products of its columns."""
        ...


def whitening(table: Table, ridge: float, rank: int | None, rng: np.random.Generator) -> LinearOperator:
    """Find T (d × r) with T' (Φ'Φ + ridge I) T = I.

    Small tables are decomposed completely, and directions in which nothing varies are left out. Of larger
    ones with up to 5,000 features the Gram matrix is factorised, which is exact too (decomposed, where there
    is no ridge and directions without variation must be found). Of still larger ones,
    or where a ``rank`` is asked for, the leading singular directions are kept: ``rank`` of them, or 300.

    Parameters
    ----------
    table : operator
        Φ (n × d), weighted and centred.
    ridge : float
        0 or more.
    rank : int or None
        At most so many directions.
    rng : numpy.random.Generator
        For the iteration that finds leading directions.
    """
    n, d = table.shape
    if n * d <= DENSE_ENTRIES:
        _, values, V = thin_svd(table.dense())
    elif rank is None and d <= FACTORED_SIDE:
        if ridge > 0:
            return _Factored(table.gram(), ridge)
        values, V = _complete(table.gram())
    else:
        values, V = _leading(table, min(RANK if rank is None else rank, min(n, d) - 1), rng)
    kept = values > max(_LEAST * values.max(initial=0.0), table.rounding)
    kept[len(kept) if rank is None else rank :] = False
    return aslinearoperator(np.asarray(V[:, kept] / np.sqrt(values[kept] ** 2 + ridge)))


def _complete(gram: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find all singular values of a table, largest first, and their right vectors, from its Gram matrix."""
    squares, vectors = eigh(gram, check_finite=False)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    return np.sqrt(np.where(squares > _LEAST_GRAM * squares[0], squares, 0.0)), vectors


def _leading(table: Table, k: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Find the k largest singular values, largest first, and their right vectors (d × k).

    Lanczos iteration on the products of rows or columns, whichever are fewer. Left vectors, of which a long
    table has large ones, are never made; what squaring costs in digits is no loss among leading directions.
    """
    n, d = table.shape
    wide = n < d
    there, back = (table.rmatvec, table.matvec) if wide else (table.matvec, table.rmatvec)
    side = min(n, d)
    products = LinearOperator((side, side), matvec=lambda v: back(there(v)), dtype=np.float64)
    try:
        squares, vectors = eigsh(
            products, k=k, v0=rng.uniform(-1.0, 1.0, side), ncv=min(side, 2 * k + 6), tol=_TOLERANCE
        )
    except ArpackError as error:
        raise DataError(
            f"the decomposition of a feature table found {len(getattr(error, 'eigenvalues', ()))} of {k} "
            "directions; if the features of guided things vary at all, ask for a smaller rank."
        ) from error
    order = np.argsort(-squares, kind="stable")
    squares, vectors = squares[order], vectors[:, order]
    squares = np.where(squares > _LEAST_SQUARE * squares[0], squares, 0.0)
    values = np.sqrt(squares)
    if wide:
        vectors = table.rmatmat(vectors) / np.where(values > 0, values, 1.0)
    return values, vectors


class _Factored(LinearOperator):  # type: ignore[misc]
    """The inverse transpose of a Cholesky factor."""

    def __init__(self, gram: FloatArray, ridge: float) -> None:
        super().__init__(np.dtype(np.float64), gram.shape)
        gram[np.diag_indices_from(gram)] += ridge
        try:
            self._factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise DataError(
                f"the weighted products of {len(gram)} features cannot be factorised with so small a ridge "
                f"({ridge:.3g}); raise regularization, or ask for a rank below {len(gram)}."
            ) from error

    def _matmat(self, right: FloatArray) -> FloatArray:
        return np.asarray(solve_triangular(self._factor, right, lower=True, trans="T", check_finite=False))

    def _rmatmat(self, left: FloatArray) -> FloatArray:
        return np.asarray(solve_triangular(self._factor, left, lower=True, check_finite=False))

    def _matvec(self, right: FloatArray) -> FloatArray:
        return self._matmat(right.reshape(-1, 1)).ravel()

    def _rmatvec(self, left: FloatArray) -> FloatArray:
        return self._rmatmat(left.reshape(-1, 1)).ravel()


def one_hot_whitening(weights: FloatArray, ridge: float, centered: bool) -> LinearOperator:
    """Find T for a table without features, in which every thing is its own column, at any size.

    With E = diag(w) + ridge I the matrix to whiten is E, or when centred E − w w' / Σw = E^½ (I − v v') E^½
    with v = E^(−½) w / √Σw, whose inverse root is known.
    """
    return _OneHot(weights, ridge, centered)


class _OneHot(LinearOperator):  # type: ignore[misc]
    """E^(−½) (I + β v v')."""

    def __init__(self, weights: FloatArray, ridge: float, centered: bool) -> None:
        n = len(weights)
        super().__init__(np.dtype(np.float64), (n, n))
        sizes = weights + ridge
        self._roots = np.where(sizes > 0, 1.0 / np.sqrt(np.where(sizes > 0, sizes, 1.0)), 0.0)
        self._v, self._beta = np.zeros(n), 0.0
        if centered:
            self._v = self._roots * weights / np.sqrt(weights.sum())
            square = float(self._v @ self._v)
            left = 1.0 - square  # 0 without a ridge: the constant then has no size, and is dropped
            self._beta = (1.0 / np.sqrt(left) - 1.0) / square if left > 1e-12 else -1.0 / square

    def _turned(self, vectors: FloatArray) -> FloatArray:
        return np.asarray(vectors + np.outer(self._beta * self._v, self._v @ vectors))

    def _matmat(self, right: FloatArray) -> FloatArray:
        return np.asarray(self._roots[:, None] * self._turned(right))

    def _rmatmat(self, left: FloatArray) -> FloatArray:
        return self._turned(self._roots[:, None] * left)

    def _matvec(self, right: FloatArray) -> FloatArray:
        return self._matmat(right.reshape(-1, 1)).ravel()

    def _rmatvec(self, left: FloatArray) -> FloatArray:
        return self._rmatmat(left.reshape(-1, 1)).ravel()
