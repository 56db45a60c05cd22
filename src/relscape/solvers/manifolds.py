"""Sets of matrices to move on: orthonormal columns, and full column rank.

Each is a small :class:`~relscape.protocols.Manifold`; solvers know nothing else of the geometry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh, qr, svd

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.protocols import FloatArray
from relscape.threads import one_thread

__all__ = ["RETRACTIONS", "FullRank", "Stiefel"]

RETRACTIONS = ("qr", "polar")

_ORTHONORMAL = 1e-13  # the largest entry of UᵀU − I that is rounding
_VANISHING = 1e-12  # a singular value below this share of the largest counts as zero,
_LIFTED = 1e-8  # and becomes this share
_SURELY_FULL = 1e-12  # squared singular values further apart than this are looked at one by one


@dataclass(frozen=True)
class Stiefel:
    """Matrices U (q × k, q ≥ k) with orthonormal columns, UᵀU = I.

    Parameters
    ----------
    retraction : {"qr", "polar"}
        How to come back to the set from U + ξ: by its Q factor with a positive triangle, which is the
        quicker one, or by the nearest orthonormal matrix. Both follow ξ to first order.
    """

    retraction: str = "qr"

    def __post_init__(self) -> None:
        if self.retraction not in RETRACTIONS:
            raise UnknownNameError("retraction", self.retraction, RETRACTIONS)

    def project(self, point: FloatArray, vector: FloatArray) -> FloatArray:
        """Take away what would change lengths and angles of the columns: G − U sym(UᵀG)."""
        inner = point.T @ vector
        return np.asarray(vector - point @ ((inner + inner.T) / 2))

    def retract(self, point: FloatArray, tangent: FloatArray) -> FloatArray:
        """Walk from U along ξ and land on an orthonormal matrix."""
        moved = point + tangent
        return _q_factor(moved) if self.retraction == "qr" else _polar_factor(moved)

    def repair(self, point: FloatArray) -> FloatArray:
        """Replace a matrix that is not orthonormal by the nearest that is."""
        _check_shape(point, "orthonormal")
        with one_thread():
            gap = np.abs(point.T @ point - np.eye(point.shape[1])).max(initial=0.0)
        return point if gap <= _ORTHONORMAL else _polar_factor(point)

    def random(self, rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        """Draw uniformly: every rotation of a matrix is as likely."""
        drawn = rng.standard_normal(shape)
        _check_shape(drawn, "orthonormal")
        return _q_factor(drawn)


@dataclass(frozen=True)
class FullRank:
    """Matrices Z (n × k, n ≥ k) of rank k: an open set, so that every direction is tangent."""

    def project(self, point: FloatArray, vector: FloatArray) -> FloatArray:  # noqa: ARG002
        """Give the direction itself."""
        return vector

    def retract(self, point: FloatArray, tangent: FloatArray) -> FloatArray:
        """Take the step as it is; the rank is looked after by :meth:`repair`, every few steps."""
        return point + tangent

    def repair(self, point: FloatArray) -> FloatArray:
        """Lift vanishing singular values to a size that is tiny, yet not zero.

        Values up to 10⁻¹² of the largest become 10⁻⁸ of it, so that the matrix hardly changes. Usually its
        k × k Gram matrix shows already that there are none.
        """
        _check_shape(point, "of full rank")
        with one_thread():
            squares = eigvalsh(point.T @ point)
            if squares[0] > _SURELY_FULL * squares[-1]:
                return point
            U, values, Vt = svd(point, full_matrices=False, check_finite=False)
        largest = values[0] or 1.0
        low = values <= _VANISHING * largest
        if not low.any():
            return point
        return np.asarray(point + (U[:, low] * (_LIFTED * largest - values[low])) @ Vt[low])


def _check_shape(point: FloatArray, what: str) -> None:
    """Refuse what no point of the set can look like."""
    if point.ndim != 2 or point.shape[0] < point.shape[1] or point.shape[1] == 0:
        shape = " × ".join(map(str, point.shape))
        raise ParameterError(
            f"a matrix {what} needs at least as many rows as columns, and one column; this one is {shape}. "
            "Ask for fewer components."
        )
    if not np.isfinite(point).all():
        raise DataError(f"a matrix {what} was expected, but this one has entries that are not finite.")


def _q_factor(matrix: FloatArray) -> FloatArray:
    """Orthonormalise the columns in turn, signs so that the triangular factor has a positive diagonal.

    LAPACK chooses the signs as it likes; without the rule columns would flip between two steps.
    """
    with one_thread():
        Q, triangle = qr(matrix, mode="economic", check_finite=False)
    return np.asarray(Q * np.where(np.diagonal(triangle) < 0, -1.0, 1.0))


def _polar_factor(matrix: FloatArray) -> FloatArray:
    """Give the nearest matrix with orthonormal columns."""
    with one_thread():
        U, _, Vt = svd(matrix, full_matrices=False, check_finite=False)
        return np.asarray(U @ Vt)
