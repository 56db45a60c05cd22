"""How surely each sample belongs to each cohort: the n × c table R that pulls samples to prototypes.

A sample's likeness to a cohort is its mean weight to the members, or its likeness to their centroid. One
of four settings makes confidences of it: three fit a law to the members of every cohort and give each
sample the density of its own, :class:`RangeConfidence` stretches the likenesses to a fixed range. ``floor``
is the confidence a sample keeps in foreign cohorts. The table is divided by its total at the end, and
samples of unknown cohort (code -1) have an empty row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.cohort_likeness import Likeness
from relscape.matrix.cohorts import indicator
from relscape.matrix.confidence_laws import (
    Laws,
    fit_curves,
    fit_moments,
    kernel_density,
    normal_density,
    student_density,
)
from relscape.matrix.confidence_reach import unplaced
from relscape.matrix.confidence_tables import (
    Confidence,
    given_confidence,
    normalised,
    own_and_foreign,
    own_only,
    range_of,
    stretched,
)
from relscape.protocols import AnyArray, FloatArray, IntArray

__all__ = [
    "Confidence",
    "ConfidenceSettings",
    "GaussianConfidence",
    "KernelConfidence",
    "RangeConfidence",
    "StudentConfidence",
    "confidence_rows",
    "confidence_settings",
    "given_confidence",
    "unplaced",
]

# With more foreign confidence a sample than this, distance terms pull visibly to the prototypes' middle.
MOST_FOREIGN = 0.1


class _Law(NamedTuple):
    """A family of laws: how one is fitted to the members of every cohort, and how its density is asked."""

    fit: Callable[[FloatArray, IntArray, int], dict[str, AnyArray]]
    density: Callable[[Laws, FloatArray, IntArray, bool], FloatArray]


@dataclass(frozen=True)
class _LawConfidence:
    """Confidence in the own cohort is the density of the sample's likeness under the cohort's law."""

    similarity: str = "neighbors"
    floor: float | None = None
    density: str = "relative"
    metric: str = field(default="euclidean", kw_only=True)

    _law: ClassVar[_Law]

    def fit(
        self, codes: IntArray, c: int, weights: Any = None, X: Any = None, floor: float = 0.0
    ) -> Confidence:
        """Learn the cohorts' laws and give all samples their confidences.

        Parameters
        ----------
        codes : integer array of shape (n,)
            The cohort of every sample, -1 where unknown.
        c : int
            How many cohorts there are.
        weights : sparse array of shape (n, n)
            Weights between samples, for likeness by neighbours.
        X : array or sparse array of shape (n, d)
            Features, for likeness by centroids.
        floor : float
            Used where the settings leave it open.
        """
        _check_name("density", self.density, ("relative", "pdf"))
        likeness, codes = _likeness(self), np.asarray(codes)
        laws = likeness.fit(codes, c, weights, X)
        laws["floor"] = _checked_floor(self.floor, floor, c)
        laws |= self._law.fit(likeness.own(laws, weights, X, codes, codes), codes, c)
        return normalised(self.raw(laws, weights, X, codes, codes), laws)

    def raw(self, laws: Laws, weights: Any, X: Any, codes: IntArray, old_codes: IntArray) -> Any:
        """Give samples their confidences before the division by the total."""
        likeness = _likeness(self).own(laws, weights, X, codes, old_codes)
        own = self._law.density(laws, likeness, codes, self.density == "relative")
        sizes, floor = laws["sizes"], float(laws["floor"])
        if floor == 0:
            return own_only(own, codes, len(sizes))
        return own_and_foreign(own, np.full((len(codes), len(sizes)), floor), codes, sizes)


@dataclass(frozen=True)
class GaussianConfidence(_LawConfidence):
    """Confidence by a normal law with the mean and standard deviation of the cohort's members.

    Parameters
    ----------
    similarity : {"neighbors", "centroid"}
        Likeness to a cohort: the mean weight to its members, or by their centroid.
    floor : float, optional
        The confidence in every foreign cohort, at least 0 and below 1; None leaves it to the model.
    density : {"relative", "pdf"}
        As a share of the density at the law's mode, or as it is; the latter depends on the likeness's
        unit, and then usually outweighs any floor.
    metric : {"euclidean", "cosine"}
        For likeness by centroids.
    """

    _law: ClassVar[_Law] = _Law(fit_moments, normal_density)


@dataclass(frozen=True)
class StudentConfidence(_LawConfidence):
    """Confidence by Student's law, milder to outliers in small cohorts.

    Parameters are those of :class:`GaussianConfidence`.
    """

    _law: ClassVar[_Law] = _Law(fit_moments, student_density)


@dataclass(frozen=True)
class KernelConfidence(_LawConfidence):
    """Confidence by a kernel density, for cohorts whose members fall into several sorts.

    Parameters are those of :class:`GaussianConfidence`.
    """

    _law: ClassVar[_Law] = _Law(fit_curves, kernel_density)


@dataclass(frozen=True)
class RangeConfidence:
    """Confidence is the likeness itself, stretched to a range of its own for own and foreign cohorts.

    With a positive floor λ, likenesses to own cohorts are stretched to [1 − λ, 1] and those to foreign
    ones to [0, λ]. With floor 0 own likenesses stay as they are and foreign ones count nothing: a sample
    without neighbours in its cohort then has none at all, and follows its neighbours.

    Parameters
    ----------
    similarity, floor, metric
        As for :class:`GaussianConfidence`.
    """

    similarity: str = "neighbors"
    floor: float | None = None
    metric: str = field(default="euclidean", kw_only=True)

    def fit(
        self, codes: IntArray, c: int, weights: Any = None, X: Any = None, floor: float = 0.0
    ) -> Confidence:
        """Find the ranges and give all samples their confidences; see :meth:`GaussianConfidence.fit`."""
        likeness, codes = _likeness(self), np.asarray(codes)
        laws = likeness.fit(codes, c, weights, X)
        laws["floor"] = _checked_floor(self.floor, floor, c)
        if laws["floor"] > 0:
            found = likeness.all(laws, weights, X, codes, codes)
            own = indicator(codes, c).toarray().astype(bool)
            foreign = ~own & (codes >= 0)[:, None] & (laws["sizes"] > 0)
            laws["own_range"], laws["foreign_range"] = range_of(found[own]), range_of(found[foreign])
        return normalised(self.raw(laws, weights, X, codes, codes), laws)

    def raw(self, laws: Laws, weights: Any, X: Any, codes: IntArray, old_codes: IntArray) -> Any:
        """Give samples their confidences before the division by the total."""
        likeness, sizes, floor = _likeness(self), laws["sizes"], float(laws["floor"])
        own = likeness.own(laws, weights, X, codes, old_codes)
        if floor == 0:
            return own_only(own, codes, len(sizes))
        own = stretched(own, laws["own_range"], 1.0 - floor, 1.0)
        foreign = likeness.all(laws, weights, X, codes, old_codes)
        return own_and_foreign(own, stretched(foreign, laws["foreign_range"], 0.0, floor), codes, sizes)


ConfidenceSettings: TypeAlias = GaussianConfidence | StudentConfidence | KernelConfidence | RangeConfidence

SETTINGS: dict[str, type[ConfidenceSettings]] = {
    "gaussian": GaussianConfidence,
    "student": StudentConfidence,
    "kernel": KernelConfidence,
    "range": RangeConfidence,
}


def confidence_settings(given: str | ConfidenceSettings) -> ConfidenceSettings:
    """Find the settings of a name; settings themselves are given back."""
    if isinstance(given, ConfidenceSettings):
        return given
    _check_name("confidence", given, SETTINGS)
    return SETTINGS[given]()


def confidence_rows(
    settings: ConfidenceSettings | None,
    fitted: Confidence,
    weights_new: Any,
    X_new: Any,
    codes_old: IntArray,
    codes_new: IntArray,
) -> Any:
    """Give new samples their rows of R, carrying the same divisor.

    Parameters
    ----------
    settings : settings, or None
        Those that ``fitted`` comes from; None when its table was given, and then a new sample has the mean
        confidences of its cohort.
    fitted : Confidence
    weights_new : sparse array of shape (q, n)
        Weights of new samples to the old ones, carrying the divisor of W. For likeness by neighbours.
    X_new : array or sparse array of shape (q, d)
        Features of new samples. For likeness by centroids.
    codes_old, codes_new : integer arrays of shape (n,) and (q,)
        Cohorts, -1 where unknown. A new sample of unknown cohort has an empty row.

    Returns
    -------
    csr_array or array of shape (q, c), as ``fitted.matrix`` is
    """
    codes_old, codes_new = np.asarray(codes_old), np.asarray(codes_new)
    if settings is not None and fitted.laws:
        return settings.raw(fitted.laws, weights_new, X_new, codes_new, codes_old) / fitted.total
    c = fitted.matrix.shape[1]
    members = indicator(codes_old, c)
    means = diags_array(1.0 / np.maximum(members.sum(axis=0), 1.0)) @ members.T @ fitted.matrix
    rows = indicator(codes_new, c) @ means
    return csr_array(rows) if issparse(rows) else np.asarray(rows)


def _likeness(settings: ConfidenceSettings | _LawConfidence) -> Likeness:
    _check_name("similarity", settings.similarity, ("neighbors", "centroid"))
    _check_name("metric", settings.metric, ("euclidean", "cosine"))
    return Likeness(settings.similarity, settings.metric)


def _check_name(what: str, given: Any, known: Iterable[str]) -> None:
    if not isinstance(given, str) or given not in known:
        raise UnknownNameError(what, given, known)


def _checked_floor(own: float | None, usual: float, c: int) -> AnyArray:
    floor = usual if own is None else own
    if not 0 <= floor < 1:
        raise ParameterError(f"floor={floor!r}: confidence in foreign cohorts is at least 0 and below 1.")
    if (c - 1) * floor > MOST_FOREIGN * (1 + 1e-9):
        warnings.warn(
            f"floor={floor:.3g} in {c - 1} foreign cohorts adds up to {(c - 1) * floor:.3g} beside an own "
            "confidence of at most about 1: samples are drawn to the middle of all prototypes. "
            f"Up to {MOST_FOREIGN / (c - 1):.2g} is harmless.",
            RelscapeWarning,
            stacklevel=3,
        )
    return np.asarray(floor, dtype=np.float64)
