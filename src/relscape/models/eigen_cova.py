"""eigen-COVA: a linear map of samples and one of prototypes, from a few eigenvectors.

Samples are placed at Z = F U and prototypes at E = V V_p. What is minimised,

    α η Σ r_ij ‖z_i − e_j‖² + (1 − α) tr(Zᵀ L(W) Z) − α (1 − η) tr(Eᵀ L(W_v) E),

keeps samples near their prototypes and their neighbours, and prototypes apart; W_v are the distances of the
prototypes given, divided by their sum as W and R are by theirs. It is a quadratic form in P = [U; V_p]. Axes
are found one after the other, each orthogonal to the earlier ones in U as in V_p.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError, RelscapeWarning
from relscape.models.checks import as_number, is_auto, shown
from relscape.objectives.cohort import Anchors
from relscape.protocols import FloatArray, SparseArray
from relscape.threads import one_thread

__all__ = ["Axes", "EigenCova", "QuadraticForm", "axes_of", "eigen_cova", "quadratic_form"]

USUAL_ETA = 0.8
_THOUSAND = 1000  # eta is lowered in steps of a thousandth
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class EigenCova:
    """A fitted eigen-COVA.

    Parameters
    ----------
    projection : array, q × k
        U; samples with features F are placed at F U.
    prototype_map : array, k × k
        V_p, which turns and stretches the prototypes.
    eigenvalues : array of k
        What each axis contributes to the objective.
    eta : float
        The share of nearness to prototypes that was used.
    prototypes : array, c × k
        E = V V_p, the places of the prototypes on the map.
    negative : bool
        Whether every axis lowers the objective below zero. An axis that does not shows nothing of the
        cohorts: ``eta`` was too large.
    """

    projection: FloatArray
    prototype_map: FloatArray
    eigenvalues: FloatArray
    eta: float
    prototypes: FloatArray
    negative: bool


class QuadraticForm(NamedTuple):
    """The matrix O of the objective as it depends on η: ``base + η · slope``, both (q + k) × (q + k)."""

    base: FloatArray
    slope: FloatArray

    def at(self, eta: float) -> FloatArray:
        """Give O itself."""
        return self.base + eta * self.slope


class Axes(NamedTuple):
    """Axes of a quadratic form: ``vectors`` [U; V_p] ((q + k) × k) and their ``values`` (k)."""

    vectors: FloatArray
    values: FloatArray


def eigen_cova(
    F: FloatArray,
    W: SparseArray,
    R: FloatArray | SparseArray,
    V: FloatArray,
    alpha: float,
    eta: float | str = "auto",
    anchors: Anchors | None = None,
) -> EigenCova:
    """Fit eigen-COVA.

    Parameters
    ----------
    F : array, n × q
        Features of the samples, scaled as for the other projections: their size acts as a ridge.
    W : sparse array, n × n
        Weights of neighbours, symmetric, summing to one.
    R : array or sparse array, n × c
        Confidences, summing to one.
    V : array, c × k
        Prototypes; as many axes are found as they have.
    alpha : float
        The share of cohorts against neighbours, above 0 and up to 1.
    eta : float or "auto"
        Between 0 and 1: the share of nearness to prototypes against prototypes staying apart. "auto" takes
        0.8, or where an axis would then show nothing of the cohorts, the largest value that avoids this.
    anchors : Anchors, optional
        Samples held to places. A place p is given among the prototypes and moves with them, to V_pᵀ p.
    """
    F, V = np.asarray(F, dtype=np.float64), np.asarray(V, dtype=np.float64)
    wanted = checked_eta(eta)
    form = quadratic_form(F, W, R, V, alpha, anchors)
    k = V.shape[1]
    needed = _extent(V)
    used = USUAL_ETA if wanted is None else wanted
    axes = axes_of(form.at(used), k)
    negative = _negative(form, used, axes, needed)
    if not negative:
        largest, lowered = _largest_eta(form, k, needed, used)
        if wanted is None and lowered is not None:
            used, axes, negative = largest, lowered, True
        warnings.warn(_too_large(wanted, largest, lowered is not None), RelscapeWarning, stacklevel=2)
    U, Vp = axes.vectors[:-k], axes.vectors[-k:]
    return EigenCova(U, Vp, axes.values, used, V @ Vp, negative and needed == k)


def quadratic_form(
    F: FloatArray,
    W: SparseArray,
    R: FloatArray | SparseArray,
    V: FloatArray,
    alpha: float,
    anchors: Anchors | None = None,
) -> QuadraticForm:
    """Write the objective as tr(Pᵀ O P) with P = [U; V_p], for any η.

    Parameters
    ----------
    F, W, R, V, alpha, anchors
        As for :func:`eigen_cova`.
    """
    _check_shapes(F, W, R, V, alpha)
    q, k = F.shape[1], V.shape[1]
    sample_mass = np.asarray(R.sum(axis=1)).ravel()
    cohort_mass = np.asarray(R.sum(axis=0)).ravel()
    base, slope = np.zeros((q + k, q + k)), np.zeros((q + k, q + k))
    with one_thread():
        if alpha < 1:
            degrees = np.asarray(W.sum(axis=1)).ravel()
            base[:q, :q] = (1 - alpha) * (F.T @ (degrees[:, None] * F - W @ F))
        apart = _apart(V)
        base[q:, q:] = -alpha * apart
        slope[:q, :q] = alpha * (F.T @ (sample_mass[:, None] * F))
        slope[:q, q:] = -alpha * (F.T @ (R @ V))
        slope[q:, q:] = alpha * (V.T @ (cohort_mass[:, None] * V) + apart)
        if anchors is not None:
            held, places = F[anchors.index], anchors.places
            strengths = anchors.strengths[:, None]
            base[:q, :q] += held.T @ (strengths * held)
            base[:q, q:] -= held.T @ (strengths * places)
            base[q:, q:] += places.T @ (strengths * places)
    return QuadraticForm(_symmetric(base, q), _symmetric(slope, q))


def axes_of(matrix: FloatArray, k: int) -> Axes:
    """Find k axes of a quadratic form, each orthogonal to the earlier ones in its first and last k entries.

    The axis p = [u; v] is the unit eigenvector of the smallest eigenvalue. Then u is taken out of the first
    part of the form and v out of the last, corrections of rank two; what is taken out gets an eigenvalue
    above all others, or it could return as an axis with eigenvalue zero. The largest entry of p is positive.

    Parameters
    ----------
    matrix : array, (q + k) × (q + k)
        O, symmetric.
    k : int
        Number of axes, and of the last entries.
    """
    current = matrix.copy()
    vectors, values = np.empty((len(matrix), k)), np.empty(k)
    ceiling = 2 * float(np.sqrt((matrix**2).sum())) or 1.0
    for t in range(k):
        with one_thread():
            value, found = eigh(current, subset_by_index=[0, 0], check_finite=False)
        p = found[:, 0]
        vectors[:, t] = p * (1.0 if p[np.abs(p).argmax()] >= 0 else -1.0)
        values[t] = value[0]
        for part in (slice(None, -k), slice(-k, None)):
            _take_out(current, part, vectors[:, t], ceiling)
    return Axes(vectors, values)


def _take_out(matrix: FloatArray, part: slice, p: FloatArray, ceiling: float) -> None:
    """Make one part of p an eigenvector of the matrix with the eigenvalue ``ceiling``, in place."""
    out = np.zeros_like(p)
    out[part] = p[part]
    length = float(np.linalg.norm(out))
    if length <= _ROUNDING:
        return
    out /= length
    with one_thread():
        image = matrix @ out
    matrix -= np.outer(image, out) + np.outer(out, image)
    matrix += (float(out @ image) + ceiling) * np.outer(out, out)


def _apart(V: FloatArray) -> FloatArray:
    """Give Vᵀ L(W_v) V, with the distances W_v of the prototypes summing to one."""
    distances = cdist(V, V)
    total = distances.sum()
    if total == 0:
        raise DataError("all prototypes are at one place; give cohorts different ones.")
    weights = distances / total
    return np.asarray(V.T @ (weights.sum(axis=1)[:, None] * V - weights @ V))


def _symmetric(matrix: FloatArray, q: int) -> FloatArray:
    matrix[q:, :q] = matrix[:q, q:].T
    return (matrix + matrix.T) / 2


def _extent(V: FloatArray) -> int:
    """Count the dimensions that the prototypes extend in: so many axes can tell cohorts apart."""
    return int(np.linalg.matrix_rank(V - V.mean(axis=0), tol=1e-9 * float(np.abs(V).max())))


def _negative(form: QuadraticForm, eta: float, axes: Axes, needed: int) -> bool:
    """Tell whether the first ``needed`` axes have eigenvalues below zero, rounding aside."""
    rounding = _ROUNDING * float(np.linalg.norm(form.at(eta)))
    return bool((axes.values[:needed] < -rounding).all())


def _largest_eta(form: QuadraticForm, k: int, needed: int, failing: float) -> tuple[float, Axes | None]:
    """Find the largest η below one that fails whose axes are all negative, in thousandths; and the axes.

    For a given map the objective rises with η, so that small ones pass wherever any does.
    """
    low, high = 1, math.ceil(failing * _THOUSAND)
    best = axes_of(form.at(low / _THOUSAND), k)
    if not _negative(form, low / _THOUSAND, best, needed):
        return low / _THOUSAND, None
    while high - low > 1:
        middle = (low + high) // 2
        axes = axes_of(form.at(middle / _THOUSAND), k)
        if _negative(form, middle / _THOUSAND, axes, needed):
            low, best = middle, axes
        else:
            high = middle
    return low / _THOUSAND, best


def _too_large(wanted: float | None, largest: float, found: bool) -> str:
    if not found:
        return (
            "an axis of the map shows nothing of the cohorts, whatever eta is; do the features or the "
            "confidences tell the cohorts apart? A smaller alpha or fewer components may help."
        )
    if wanted is None:
        return f"eta was lowered from {USUAL_ETA} to {largest}: above, an axis shows nothing of the cohorts."
    return (
        f"eta={wanted:g} is too large: an axis shows nothing of the cohorts. Up to {largest} they all do; "
        'give that, or eta="auto".'
    )


def checked_eta(eta: float | str) -> float | None:
    """Give η as a number, or None for "auto"."""
    if is_auto(eta):
        return None
    if 0 < as_number(eta) < 1:
        return float(eta)
    raise ParameterError(f'eta={shown(eta)}: expected "auto" or a number between 0 and 1, both excluded.')


def _check_shapes(
    F: FloatArray, W: SparseArray, R: FloatArray | SparseArray, V: FloatArray, alpha: float
) -> None:
    if not 0 < alpha <= 1:
        raise ParameterError(f"alpha={alpha!r}: expected a number above 0 and up to 1.")
    n, (c, k) = len(F), V.shape
    if W.shape != (n, n) or R.shape != (n, c):
        raise ParameterError(
            f"the features are of {n} samples and there are {c} prototypes, so weights {(n, n)} and "
            f"confidences {(n, c)} were expected; they have shapes {W.shape} and {R.shape}."
        )
    if F.shape[1] < k:
        raise ParameterError(f"{k} axes need at least as many features; there are {F.shape[1]}.")
