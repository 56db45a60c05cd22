"""Convex minimisation over positive semidefinite matrices, whole or as a product AAᵀ.

G is optimal exactly when the gradient has no negative eigenvalue and is orthogonal to G. Both solvers stop
by this certificate, which bounds how far the value is from the least one: by convexity at most
tolerance · (max(1, Tr G) + Tr G*), with G* the optimum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, svd
from scipy.sparse import eye_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from relscape.protocols import Callback, FloatArray, Objective
from relscape.solvers.descent import minimise
from relscape.solvers.result import SolveResult
from relscape.threads import one_thread

__all__ = ["factored_descent", "lowest_eigenpairs", "positive_part", "projected_gradient", "square_root"]

_ARMIJO = 1e-4
_SHORTEST, _ROUNDING = 1e-30, 1e-14
_DENSE_SIDE = 400  # up to here LAPACK finds all eigenvalues sooner than Lanczos the lowest
_ESCAPES = 4  # directions added to a factor at a time
_ROUNDS = 100


def positive_part(matrix: FloatArray) -> FloatArray:
    """Project a symmetric matrix on the semidefinite ones: its negative eigenvalues become 0."""
    values, vectors = eigh((matrix + matrix.T) / 2, check_finite=False)
    keep = values > 0
    scaled = vectors[:, keep] * np.sqrt(values[keep])
    return np.asarray(scaled @ scaled.T)


def square_root(gram: FloatArray) -> FloatArray:
    """Give A with AAᵀ = G in principal axes: eigenvectors times roots of eigenvalues, the largest first.

    Eigenvalues that are rounding are left out; there is always at least one column.
    """
    values, vectors = eigh(gram, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    count = max(1, int((values > _ROUNDING * len(values) * abs(values[0])).sum()))
    return np.asarray(vectors[:, :count] * np.sqrt(values[:count].clip(0.0)))


def projected_gradient(
    objective: Objective,
    start: FloatArray,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None = None,
) -> SolveResult:
    """Minimise a convex objective over semidefinite matrices by projected gradient steps.

    Every step goes down the gradient and is projected back; it is halved until the value falls by at least
    10⁻⁴ of what the gradient promises, so values never rise. The next step is first tried at the length
    that fits the curvature just seen (Barzilai and Borwein), or four times the last where there was none.

    Parameters
    ----------
    objective : Objective
        Of symmetric matrices; its gradient is the one in the trace inner product.
    start : array
        Symmetric, semidefinite.
    tolerance : float
        Stop when no eigenvalue of the gradient is below -tolerance and its product with G is at most
        tolerance · max(1, Tr G).
    max_iterations : int
        Each costs an eigen decomposition or a few.
    callback : Callback, optional
        Sees every iteration; True stops.
    """
    with one_thread():
        return _projected(objective, start, tolerance, max_iterations, callback)


def _projected(
    objective: Objective, gram: FloatArray, tolerance: float, max_iterations: int, callback: Callback | None
) -> SolveResult:
    value, gradient = objective.value_and_gradient(gram)
    trace = [value]
    step = 1.0 / max(float(np.linalg.norm(gradient)), _SHORTEST)

    def result(converged: bool, reason: str) -> SolveResult:
        return SolveResult(gram, value, len(trace) - 1, converged, reason, trace)

    while True:
        if _certified(gradient, gram, tolerance):
            return result(True, f"certified optimal within {tolerance:.2g}")
        if len(trace) > max_iterations:
            return result(False, f"{max_iterations} iterations are spent")
        while True:
            tried = positive_part(gram - step * gradient)
            there, slope = objective.value_and_gradient(tried)
            promised = float(np.vdot(gradient, gram - tried))
            if value - there >= _ARMIJO * promised and promised > 0:
                break
            if promised <= _ROUNDING * max(1.0, abs(value)):
                return result(False, "no further progress within rounding")
            step /= 2
        moved, turned = tried - gram, slope - gradient
        curvature = float(np.vdot(moved, turned))
        step = float(np.vdot(moved, moved)) / curvature if curvature > 0 else 4.0 * step
        gram, value, gradient = tried, there, slope
        trace.append(value)
        if callback is not None and callback(len(trace) - 1, value, gram):
            return result(False, "stopped by the callback")


def _certified(gradient: FloatArray, gram: FloatArray, tolerance: float) -> bool:
    if abs(np.vdot(gradient, gram)) > tolerance * max(1.0, float(np.trace(gram))):
        return False
    lowest = eigh(gradient, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0]
    return bool(lowest >= -tolerance)


def factored_descent(
    objective: Objective,
    gradient_at: Callable[[FloatArray], LinearOperator],
    start: FloatArray,
    tolerance: float,
    max_iterations: int,
    callback: Callback | None = None,
) -> SolveResult:
    """Minimise a convex objective of G = AAᵀ by descent in A, which grows as many columns as it needs.

    Where A is stationary, the lowest eigenvalue of the gradient at G (by Lanczos) tells whether G is
    optimal; if not, its eigenvectors are the directions to go on with, as new columns of A.

    Parameters
    ----------
    objective : Objective
        The value of AAᵀ and its gradient in A; any number of columns.
    gradient_at : callable
        Gives the gradient at AAᵀ in the trace inner product, for a given A.
    start : array
        A of at least one column; zeros will do.
    tolerance : float
        Of the certificate, as in :func:`projected_gradient`.
    max_iterations : int
        Of the descent, over all numbers of columns.
    callback : Callback, optional
        Sees every iteration; True stops.
    """
    factor, trace = start, [objective.value_and_gradient(start)[0]]

    def result(converged: bool, reason: str) -> SolveResult:
        return SolveResult(factor, trace[-1], len(trace) - 1, converged, reason, trace)

    stopped = False

    def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
        nonlocal stopped
        trace.append(value)
        stopped = callback is not None and callback(len(trace) - 1, value, point)
        return stopped

    for _ in range(_ROUNDS):
        left = max_iterations - len(trace) + 1
        if left < 1:
            return result(False, f"{max_iterations} iterations are spent")
        # ⟨∇F, AAᵀ⟩ is half the product of A with its gradient; entries this small keep it within tolerance.
        small = 2.0 * tolerance * max(1.0, float(np.linalg.norm(factor))) / np.sqrt(factor.size)
        end = minimise(objective, factor, "lbfgs", small, left, watch)
        factor = _compressed(end.point)
        if stopped:
            return result(False, "stopped by the callback")
        if not end.converged:
            spent = len(trace) > max_iterations
            return result(False, f"{max_iterations} iterations are spent" if spent else end.reason)
        values, vectors = lowest_eigenpairs(gradient_at(factor), _ESCAPES, tolerance / 10)
        if values.size == 0:
            return result(False, "the eigenvalues for the certificate did not converge")
        if values[0] >= -tolerance:
            if _orthogonal(objective, factor, tolerance):
                return result(True, f"certified optimal within {tolerance:.2g}")
            if end.iterations == 0:
                return result(False, "no further progress within rounding")
            continue
        grown = _escaped(objective, factor, trace[-1], values, vectors)
        if grown is None:
            return result(False, "no further progress within rounding")
        factor = grown
    return result(False, f"not certified after {_ROUNDS} rounds")


def _orthogonal(objective: Objective, factor: FloatArray, tolerance: float) -> bool:
    """Tell whether the gradient at AAᵀ is orthogonal to AAᵀ within the tolerance."""
    _, gradient = objective.value_and_gradient(factor)
    product = abs(float(np.vdot(gradient, factor))) / 2
    return product <= tolerance * max(1.0, float(np.vdot(factor, factor)))


def _escaped(
    objective: Objective, factor: FloatArray, value: float, values: FloatArray, vectors: FloatArray
) -> FloatArray | None:
    """Add the directions in which the value falls as columns, as long as they may be."""
    down = values < 0
    columns, length = vectors[:, down], 1.0
    promised = -float(values[down].sum())
    while length**2 * promised > _ROUNDING * max(1.0, abs(value)):
        grown = np.hstack([factor, length * columns])
        if value - objective.value_and_gradient(grown)[0] >= _ARMIJO * length**2 * promised:
            return grown
        length /= 2
    return None


def _compressed(factor: FloatArray) -> FloatArray:
    """Turn A to principal axes and leave out columns that are rounding; AAᵀ stays."""
    with one_thread():
        U, values, _ = svd(factor, full_matrices=False, check_finite=False)
    count = max(1, int((values**2 > _ROUNDING * len(factor) * values[0] ** 2).sum()))
    return np.asarray(U[:, :count] * values[:count])


def lowest_eigenpairs(operator: LinearOperator, k: int, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Find up to ``k`` of the lowest eigenvalues of a symmetric operator, ascending, with their vectors.

    Small operators are decomposed by LAPACK, larger ones by Lanczos with a fixed first vector, to an absolute
    ``tolerance``; what has not converged is left out.
    """
    side = operator.shape[0]
    with one_thread():
        if side <= _DENSE_SIDE:
            matrix = operator.matmat(np.eye(side))
            values, vectors = eigh((matrix + matrix.T) / 2, subset_by_index=[0, min(k, side) - 1])
            return values, vectors
        # ARPACK's tolerance is relative, and what is sought may be 0: look at the eigenvalues less 1.
        shifted = operator - aslinearoperator(eye_array(side))
        first = np.random.default_rng(0).uniform(-1.0, 1.0, side)
        try:
            values, vectors = eigsh(shifted, k=k, which="SA", v0=first, tol=tolerance, ncv=10 * k + 10)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(values)
    return np.asarray(values)[order] + 1.0, np.asarray(vectors)[:, order]
