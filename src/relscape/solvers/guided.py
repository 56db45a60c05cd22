"""Axes of a guided projection: the eigenproblems behind it, each well posed or refused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from relscape.errors import DataError
from relscape.protocols import FloatArray

__all__ = ["Axes", "following_axes", "generalized_axes", "leading_axes", "reference_axes"]

_LEAST = 1e-10
_SINGULAR = 1e-12  # least eigenvalue of a form with ones on its diagonal, below which it has none
_PART = 64  # columns of a matrix that are formed at once


class Axes(NamedTuple):
    """Eigenvalues μ, ascending, and the vectors that belong to them, one a column."""

    values: FloatArray
    vectors: FloatArray


def leading_axes(C: FloatArray | LinearOperator, k: int, rng: np.random.Generator) -> Axes:
    """Give the k axes with the largest eigenvalues of C, as μ = 1 − eigenvalue.

    An array is decomposed by LAPACK, an operator by ARPACK's Lanczos iteration.
    """
    size = C.shape[0]
    if isinstance(C, np.ndarray):
        values, vectors = eigh(C, subset_by_index=[max(0, size - k), size - 1], check_finite=False)
    else:
        try:
            values, vectors = eigsh(
                C, k=k, which="LA", v0=rng.uniform(-1.0, 1.0, size), ncv=min(size - 1, 4 * k + 20), tol=1e-10
            )
        except ArpackNoConvergence as error:
            raise DataError(
                f"the decomposition found {len(error.eigenvalues)} of {k} axes and then did not converge; "
                "ask for fewer components."
            ) from error
    order = np.argsort(-values, kind="stable")
    return Axes(1.0 - values[order], vectors[:, order])


def generalized_axes(A: FloatArray, B: FloatArray, k: int) -> Axes:
    """Solve A p = μ B p with P' B P = I for the k least μ; a singular B is refused."""
    sizes = np.diag(B)
    if (sizes > 0).all():
        roots = np.sqrt(sizes)
        least = eigh(B / np.outer(roots, roots), eigvals_only=True, subset_by_index=[0, 0])[0]
        if least > _SINGULAR:
            return Axes(*eigh(A, B, subset_by_index=[0, min(k, len(A)) - 1], check_finite=False))
    least = eigh(B, eigvals_only=True, subset_by_index=[0, 0])[0]
    raise DataError(
        f"the size of an axis is not positive in every direction (least eigenvalue {least:.3g}), so "
        'there is no solution; raise regularization, and use degree="absolute" with negative guidance.'
    )


def reference_axes(
    A: FloatArray, B: FloatArray | None, size: int, k: int, free: str, ridge_form: FloatArray
) -> Axes:
    """Solve A p = μ B p where only the first ``size`` coordinates have a size, by elimination.

    For given a the best free b is −A_bb⁺ A_ba a, where there is a best one. What remains is the ordinary
    problem (A_aa − A_ab A_bb⁺ A_ba) a = μ B_aa a.

    Parameters
    ----------
    A : array
        The quadratic form, with its ridge.
    B : array or None
        The size of the first coordinates; None stands for the identity.
    size : int
        How many of the coordinates belong to the reference.
    k : int
        How many axes, at most ``size``.
    free : str
        The names of the free data sets, for messages.
    ridge_form : array
        What one more unit of regularization would add to A among the free coordinates, to say how much is
        needed where the problem has no solution.
    """
    A_ab, A_bb = A[:size, size:], A[size:, size:]
    inner = A[:size, :size]
    followers = np.zeros((A_bb.shape[0], size))
    if A_bb.size:
        values, vectors = eigh(A_bb, check_finite=False)
        tolerance = _LEAST * max(float(np.abs(values).max()), np.finfo(float).tiny)
        null = np.abs(values) <= tolerance
        loose = vectors[:, null].T @ A_ab.T
        if values[0] < -tolerance or np.abs(loose).max(initial=0.0) > 1e-6 * np.abs(A_ab).max(initial=0.0):
            raise DataError(_unbounded(free, float(values[0]), A_bb, ridge_form))
        kept = vectors[:, ~null]
        followers = -(kept / values[~null]) @ (kept.T @ A_ab.T)
        inner = inner + A_ab @ followers
    axes = _least(inner, B, min(k, size))
    return Axes(axes.values, np.vstack([axes.vectors, followers @ axes.vectors]))


def following_axes(C: LinearOperator, size: int, k: int, formed_side: int, rng: np.random.Generator) -> Axes:
    """Solve the problem of :func:`reference_axes` for A = I − C, B = I and no C among free coordinates.

    Then A_bb = I: the best b is C_ba a, and the axes are the leading ones of C_aa + C_ab C_ba, which is never
    larger than the reference. With up to ``formed_side`` coordinates it is formed.
    """

    def pulled(a: FloatArray) -> FloatArray:
        image = C.matmat(np.vstack([a, np.zeros((C.shape[0] - size, a.shape[1]))]))
        own = image[:size].copy()
        image[:size] = 0.0
        return np.asarray(own + C.matmat(image)[:size])

    k = min(k, size)
    if size <= max(formed_side, 2 * k + 2):
        unit = np.eye(size)
        parts = [pulled(unit[:, begin : begin + _PART]) for begin in range(0, size, _PART)]
        inner: FloatArray | LinearOperator = np.hstack(parts)
        inner = (inner + inner.T) / 2
    else:
        inner = LinearOperator(
            (size, size), matvec=lambda a: pulled(a.reshape(-1, 1)).ravel(), matmat=pulled, dtype=np.float64
        )
    axes = leading_axes(inner, k, rng)
    padded = np.vstack([axes.vectors, np.zeros((C.shape[0] - size, k))])
    return Axes(axes.values, np.vstack([axes.vectors, C.matmat(padded)[size:]]))


def _least(S: FloatArray, B: FloatArray | None, k: int) -> Axes:
    symmetric = (S + S.T) / 2
    if B is not None:
        return generalized_axes(symmetric, B, k)
    return Axes(*eigh(symmetric, subset_by_index=[0, k - 1], check_finite=False))


def _unbounded(free: str, least: float, A_bb: FloatArray, ridge_form: FloatArray) -> str:
    """Say that there is no least value, why, and what ridge would give one."""
    scale = np.trace(ridge_form) / len(ridge_form)
    definite = ridge_form + 1e-12 * scale * np.eye(len(ridge_form))
    lowest = float(eigh(A_bb, definite, eigvals_only=True, subset_by_index=[0, 0])[0])
    return (
        f"the problem is unbounded: nothing holds the free data sets ({free}), whose part has the least "
        f"eigenvalue {least:.3g}, so that dissimilar pairs push them away for ever. To repair it raise their "
        f'regularization by {1.01 * abs(lowest):.3g} or more, use constraint="joint", or weaken the negative '
        "guidance."
    )
