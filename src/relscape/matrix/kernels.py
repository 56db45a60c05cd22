"""Kernels as features: likeness with chosen instances, from which the kernel itself can be rebuilt.

A kernel matrix K = R R' makes of every instance a row of R. With landmarks L, R = k(·, L) V S^(−1/2), where
V S V' is the kernel among the landmarks: exact where all instances are landmarks, Nyström's approximation
where some are. Centring R by a weighted mean is centring the kernel with these weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array, issparse

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.protocols import FloatArray, IntArray

__all__ = ["KERNELS", "KernelMap", "kernel_map", "kernel_root", "kernel_settings", "scaled_columns"]

KERNELS = ("linear", "rbf", "precomputed")
_ALL_LANDMARKS = 2_000  # up to this many instances all are landmarks
_LANDMARKS = 1_000  # of more, so many unless asked for
_LEAST = 1e-10  # eigenvalues below this share of the largest are rounding


@dataclass(frozen=True, eq=False)
class KernelMap:
    """A kernel and the landmarks that instances are compared with.

    ``landmarks`` are their features, or for a precomputed kernel their positions among the instances of the
    fit; ``gamma`` is the RBF kernel's exp(−gamma d²). Features are divided by ``scale`` first, and the
    ``origin`` is taken off them, as it is of the landmarks: far from it products would lose their digits.
    """

    kernel: str
    landmarks: Any
    gamma: float = 0.0
    scale: FloatArray | None = None
    origin: FloatArray | None = None

    def columns(self, X: Any) -> FloatArray:
        """Give the kernel of some instances with the landmarks (q × m).

        For a precomputed kernel ``X`` is their kernel with all instances of the fit (q × n).
        """
        if self.kernel == "precomputed":
            chosen = X[:, self.landmarks]
            return np.asarray(chosen.toarray() if issparse(chosen) else chosen, dtype=np.float64)
        X = scaled_columns(X, self.scale)
        if self.origin is not None:
            X = (X.toarray() if issparse(X) else X) - self.origin
        product = X @ self.landmarks.T
        product = product.toarray() if issparse(product) else np.asarray(product)
        if self.kernel == "linear":
            return product
        squares = _row_squares(X)[:, None] - 2.0 * product + _row_squares(self.landmarks)
        return np.asarray(np.exp(-self.gamma * np.maximum(squares, 0.0)))


def kernel_settings(kind: str, given: Any) -> dict[str, Any]:
    """Read what a kind is to have: a kernel's name, or a dict of ``kernel``, ``gamma``, ``n_landmarks``."""
    settings = {"kernel": given} if isinstance(given, str) else given
    if not isinstance(settings, Mapping) or "kernel" not in settings:
        raise ParameterError(
            f'kernels[{kind!r}]={given!r}: give a name, such as "rbf", or {{"kernel": "rbf", "gamma": 0.5, '
            '"n_landmarks": 500}.'
        )
    for name in settings:
        if name not in ("kernel", "gamma", "n_landmarks"):
            raise UnknownNameError("setting", name, ("kernel", "gamma", "n_landmarks"), f"kernels[{kind!r}]")
    if settings["kernel"] not in KERNELS:
        raise UnknownNameError("kernel", settings["kernel"], KERNELS, f"kernels[{kind!r}]")
    gamma, landmarks = settings.get("gamma"), settings.get("n_landmarks")
    if gamma is not None and not (isinstance(gamma, int | float) and 0 < gamma < np.inf):
        raise ParameterError(f"kernels[{kind!r}]: gamma={gamma!r}; give a number above 0.")
    if landmarks is not None and not (isinstance(landmarks, int) and landmarks >= 1):
        raise ParameterError(f"kernels[{kind!r}]: n_landmarks={landmarks!r}; give an integer of at least 1.")
    return {"kernel": settings["kernel"], "gamma": gamma, "n_landmarks": landmarks}


def kernel_map(
    X: Any,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
    scale: FloatArray | None = None,
    centered: bool = False,
) -> KernelMap:
    """Choose the landmarks of a kernel and, unless given, its width.

    Without ``gamma`` it is one over the mean squared distance of two instances. Without ``n_landmarks`` all
    of up to 2,000 instances are landmarks, and 1,000 of more, drawn at random. Where the kernel is going to
    be ``centered``, a linear one may begin at any origin, as an RBF kernel always may.
    """
    n = X.shape[0]
    wanted = settings["n_landmarks"] or (n if n <= _ALL_LANDMARKS else _LANDMARKS)
    chosen: IntArray = np.arange(n) if wanted >= n else np.sort(rng.choice(n, wanted, replace=False))
    if settings["kernel"] == "precomputed":
        _refuse_asymmetric(X)
        return KernelMap("precomputed", chosen)
    X = scaled_columns(X, scale)
    gamma = settings["gamma"]
    if settings["kernel"] == "rbf" and gamma is None:
        spread = 2.0 * _variance(X)
        gamma = 1.0 / spread if spread > 0 else 1.0
    landmarks, origin = X[chosen], None
    if not issparse(X) and (centered or settings["kernel"] == "rbf"):
        origin = landmarks.mean(axis=0)
        landmarks = landmarks - origin
    return KernelMap(settings["kernel"], landmarks, float(gamma or 0.0), scale, origin)


def kernel_root(mapped: KernelMap, X: Any) -> FloatArray:
    """Give V S^(−1/2) (m × r) of the kernel among the landmarks of X, without its null directions."""
    if mapped.kernel == "precomputed":
        among = mapped.columns(X[mapped.landmarks])
    else:
        among = replace(mapped, scale=None, origin=None).columns(mapped.landmarks)
    values, vectors = eigh((among + among.T) / 2)
    if values[0] < -1e-6 * max(values[-1], 0.0) or values[-1] <= 0:
        raise DataError(
            f"the {mapped.kernel} kernel is not positive semidefinite: its eigenvalues among the landmarks "
            f"reach from {values[0]:.3g} to {values[-1]:.3g}. Give a kernel, not distances."
        )
    kept = values > _LEAST * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def scaled_columns(X: Any, scale: FloatArray | None) -> Any:
    """Divide the columns of a dense or sparse table."""
    if scale is None:
        return X
    return csr_array(X @ diags_array(1.0 / scale)) if issparse(X) else X / scale


def _variance(X: Any) -> float:
    """Sum the variances of all columns."""
    if not issparse(X):
        return float(X.var(axis=0).sum())
    whole = float(_row_squares(X).mean())
    found = whole - float((np.asarray(X.mean(axis=0)) ** 2).sum())
    return found if found > 1e-12 * whole else 0.0


def _row_squares(X: Any) -> FloatArray:
    squares = X.multiply(X) if issparse(X) else np.square(X)
    return np.asarray(squares.sum(axis=1)).ravel()


def _refuse_asymmetric(K: Any) -> None:
    if K.shape[0] != K.shape[1]:
        raise DataError(f"a precomputed kernel is square, one row and column an instance; this is {K.shape}.")
    difference = abs(K - K.T)
    if difference.max() > 1e-8 * max(abs(K).max(), 1e-300):
        raise DataError("a precomputed kernel is symmetric, this one is not.")
