"""Sparse symmetric positive definite systems with many right-hand sides.

Preconditioned conjugate gradients: the sparse systems of embedding problems are well conditioned, while their
factors fill in. Small ones are factorised all the same, which is exact to the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, prange
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError, ParameterError
from relscape.protocols import Callback, FloatArray, SparseArray
from relscape.threads import one_thread

__all__ = ["SpdResult", "solve_spd"]

SMALL = 2000  # below so many unknowns a dense factorisation is quick
TOGETHER = 16  # right-hand sides at a time: four arrays of so many columns are all the memory needed
BLOCKS = 32  # rows are cut into so many parts whose sums are added in order
_MOST = 10_000
_DRIFT_CHECKS = 5
_INDEFINITE = (
    "the matrix of the system is not positive definite; is there a part that nothing holds in place?"
)


@dataclass(frozen=True, eq=False)
class SpdResult:
    """The solution of a linear system, and how well it solves it.

    ``residual`` is the largest ‖b − A x‖ / ‖b‖ of the columns, ``iterations`` the most that any column needed
    (0 where the matrix was factorised).
    """

    solution: FloatArray
    iterations: int
    residual: float
    converged: bool


def solve_spd(
    A: Any,
    B: FloatArray | SparseArray,
    start: FloatArray | None = None,
    tolerance: float = 1e-8,
    max_iterations: int | None = None,
    callback: Callback | None = None,
) -> SpdResult:
    """Solve A X = B for a symmetric positive definite sparse A.

    Up to 2,000 unknowns A is factorised. Beyond, conjugate gradients run on all columns side by side, each
    with scalars of its own, preconditioned by the diagonal; a column that has arrived rests. The number of
    threads does not change the result.

    Parameters
    ----------
    A : sparse array, n × n, or an operator
        Symmetric and positive definite; only the diagonal is checked beforehand. An operator, such as
        a matrix on other machines, has ``shape``, ``diagonal()`` and ``@``, and is never factorised.
    B : array or sparse array, n × r
        Right-hand sides. They are taken sixteen at a time, so that many cost no more memory than B and X.
    start : array, n × r, optional
        Where to begin, such as the solution of a similar system; zeros otherwise.
    tolerance : float
        The residual relative to each right-hand side that counts as solved.
    max_iterations : int, optional
        At most so many; 10,000 unless given.
    callback : Callback, optional
        Sees every iteration with the largest relative residual and the columns at work; True stops.
    """
    elsewhere = not issparse(A)
    A = A if elsewhere else csr_array(A, dtype=np.float64)
    if A.shape[0] != A.shape[1] or B.ndim != 2 or B.shape[0] != A.shape[0]:
        raise ParameterError(
            f"a {A.shape[0]} × {A.shape[1]} matrix and right-hand sides of shape {B.shape} do not make a "
            "system; expected n × n and n × r."
        )
    if start is not None and start.shape != B.shape:
        raise ParameterError(
            f"start has shape {start.shape}; expected that of the right-hand sides, {B.shape}."
        )
    diagonal = A.diagonal()
    if not (np.isfinite(diagonal).all() and (elsewhere or np.isfinite(A.data).all())):
        raise DataError("the matrix of the system has entries that are not finite.")
    if not (diagonal > 0).all():
        row = int(np.argmin(diagonal > 0))
        raise DataError(
            f"row {row} of the matrix has {diagonal[row]:g} on the diagonal, so that it is not positive "
            "definite; expected positive entries: nothing holds this unknown in place."
        )
    if len(diagonal) < SMALL and not elsewhere:
        return _factorised(A, _dense(B), tolerance)
    limit = _MOST if max_iterations is None else max_iterations
    return _by_blocks(_System(A, diagonal, tolerance, limit, callback), B, start)


def _dense(B: Any) -> FloatArray:
    full = B.toarray() if issparse(B) else B
    return np.ascontiguousarray(full, dtype=np.float64)


def _factorised(A: SparseArray, B: FloatArray, tolerance: float) -> SpdResult:
    try:
        with one_thread():
            solution = cho_solve(cho_factor(A.toarray(), lower=True, check_finite=False), B)
    except LinAlgError as error:
        raise DataError(_INDEFINITE) from error
    residual = _largest(_relative(B - A @ solution, B))
    return SpdResult(solution, 0, residual, residual <= tolerance)


def _relative(gap: FloatArray, B: FloatArray) -> FloatArray:
    """Give the length of each column of ``gap`` relative to that of B; where B is 0, the length itself."""
    sizes = np.sqrt((B**2).sum(axis=0))
    return np.asarray(np.sqrt((gap**2).sum(axis=0)) / np.where(sizes > 0, sizes, 1.0))


def _largest(residuals: FloatArray) -> float:
    return float(residuals.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class _System:
    """The matrix and when to stop."""

    A: Any
    diagonal: FloatArray
    tolerance: float
    limit: int
    callback: Callback | None


def _by_blocks(system: _System, B: Any, start: FloatArray | None) -> SpdResult:
    solution = np.zeros(B.shape) if start is None else np.array(start, dtype=np.float64)
    columns = B.tocsc() if issparse(B) else B
    iterations, residual, stopped = 0, 0.0, False
    for begin in range(0, B.shape[1], TOGETHER):
        part = slice(begin, begin + TOGETHER)
        right = _dense(columns[:, part])
        block = np.ascontiguousarray(solution[:, part])
        if not stopped:
            spent, stopped = _conjugate_gradients(system, right, block)
            iterations = max(iterations, spent)
            solution[:, part] = block
        residual = max(residual, _largest(_relative(right - _product(system.A, block), right)))
    return SpdResult(solution, iterations, residual, residual <= system.tolerance)


def _conjugate_gradients(system: _System, B: FloatArray, X: FloatArray) -> tuple[int, bool]:
    """Improve X in place; give the iterations spent and whether the callback stopped.

    The residual that the iteration carries along drifts from the true one by rounding, so it is compared at
    the end, and the iteration begins anew where they differ.
    """
    A, diagonal = system.A, system.diagonal
    sizes = np.sqrt((B**2).sum(axis=0))
    X[:, sizes == 0] = 0.0
    goals = (system.tolerance * sizes) ** 2
    spent = 0
    for _ in range(_DRIFT_CHECKS):
        gap = B - _product(A, X)
        squares = (gap**2).sum(axis=0)
        active = squares > goals
        if not active.any():
            break
        direction = gap / diagonal[:, None]
        inner = (gap * direction).sum(axis=0)
        while active.any():
            if spent >= system.limit:
                return spent, False
            spread, curvature = _spread(A, direction)
            if not (curvature[active] > 0).all():
                raise DataError(_INDEFINITE)
            length = np.divide(inner, curvature, out=np.zeros_like(inner), where=active)
            inner_now, squares = _advance(X, gap, direction, spread, diagonal, length)
            spent += 1
            active &= squares > goals
            turn = np.divide(inner_now, inner, out=np.zeros_like(inner), where=active)
            _turn(direction, gap, diagonal, turn)
            inner = inner_now
            if system.callback is not None:
                seen = np.divide(np.sqrt(squares), sizes, out=np.zeros_like(sizes), where=sizes > 0)
                if system.callback(spent, _largest(seen), X):
                    return spent, True
    return spent, False


def _product(A: Any, X: FloatArray) -> FloatArray:
    """Multiply a sparse by a dense matrix, rows in parallel."""
    return _spread(A, X)[0]


def _spread(A: Any, P: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give A P and, a column, the inner product of P and A P."""
    if not issparse(A):
        found = np.ascontiguousarray(A @ P)
        return found, (P * found).sum(axis=0)
    product = np.empty_like(P)
    parts = np.zeros((BLOCKS, P.shape[1]))
    _multiply(A.indptr, A.indices, A.data, P, product, parts)
    return product, parts.sum(axis=0)


def _advance(
    X: FloatArray,
    gap: FloatArray,
    direction: FloatArray,
    spread: FloatArray,
    diagonal: FloatArray,
    length: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Step along each column's direction; give rᵀ D⁻¹ r and rᵀ r of the new residuals."""
    parts = np.zeros((2, BLOCKS, X.shape[1]))
    _step(X, gap, direction, spread, diagonal, length, parts)
    inner, squares = parts.sum(axis=1)
    return inner, squares


@njit(parallel=True, cache=True)
def _multiply(indptr, indices, data, P, product, parts):  # type: ignore[no-untyped-def]
    n, r = P.shape
    for block in prange(BLOCKS):
        row = np.empty(r)
        for i in range(block * n // BLOCKS, (block + 1) * n // BLOCKS):
            row[:] = 0.0
            for place in range(indptr[i], indptr[i + 1]):
                j, weight = indices[place], data[place]
                for t in range(r):
                    row[t] += weight * P[j, t]
            for t in range(r):
                product[i, t] = row[t]
                parts[block, t] += P[i, t] * row[t]


@njit(parallel=True, cache=True)
def _step(X, gap, direction, spread, diagonal, length, parts):  # type: ignore[no-untyped-def]
    n, r = X.shape
    for block in prange(BLOCKS):
        for i in range(block * n // BLOCKS, (block + 1) * n // BLOCKS):
            for t in range(r):
                X[i, t] += length[t] * direction[i, t]
                gap[i, t] -= length[t] * spread[i, t]
                square = gap[i, t] ** 2
                parts[0, block, t] += square / diagonal[i]
                parts[1, block, t] += square


@njit(parallel=True, cache=True)
def _turn(direction, gap, diagonal, turn):  # type: ignore[no-untyped-def]
    n, r = direction.shape
    for block in prange(BLOCKS):
        for i in range(block * n // BLOCKS, (block + 1) * n // BLOCKS):
            for t in range(r):
                direction[i, t] = gap[i, t] / diagonal[i] + turn[t] * direction[i, t]
