"""Relation features: every sample described by how it relates to some representatives.

Projections learn a linear map of these features, so that a new sample is placed once its relations to the
representatives are known. The features are nearly dependent on each other; only their leading singular
directions are kept, which makes the map well posed and stands in for stopping early.

Compacted features go one step further. A sample's similarities to the labelled representatives are
averaged by cohort, one number a cohort, and relation features are made of these numbers. A representative
is never compared with itself there, so that no sample sees its own label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from relscape.errors import ParameterError, UnknownNameError
from relscape.matrix.compaction import Compaction, compaction_of
from relscape.matrix.measures import as_table, cosines, distances, median_distance, row_blocks
from relscape.protocols import FloatArray, IntArray
from relscape.threads import one_thread

__all__ = ["MEASURES", "FittedFeatures", "RelationFeatures", "feature_scale"]

MEASURES = ("euclidean", "gaussian", "cosine")
# Directions of the normal equations below this share of the largest say nothing about a scale.
LEAST_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class FittedFeatures:
    """The features of the samples, and what a new sample needs to get its own.

    Attributes
    ----------
    representatives : array or csr_array of shape (q, d)
        What samples are compared with; compacted rows (q, features of the compaction) where there is one.
    representative_codes : integer array of shape (q,)
        Their cohorts, -1 where unknown.
    chosen : integer array of shape (q,)
        Which samples they are.
    bandwidth : float
        Of the Gaussian measure; 0 for the others.
    directions : array of shape (q, r)
        The leading right singular directions, orthonormal; the identity if all energy is kept.
    scale : float
        What the features are multiplied by.
    table : array of shape (n, r)
        The features F of the samples, scaled.
    compaction : Compaction or None
        How samples were described by cohorts first.
    """

    representatives: Any
    representative_codes: IntArray
    chosen: IntArray
    bandwidth: float
    directions: FloatArray
    scale: float
    table: FloatArray
    compaction: Compaction | None = None

    def scaled(self, scale: float) -> FittedFeatures:
        """Give the same features multiplied by another factor."""
        return replace(self, scale=scale, table=self.table * (scale / self.scale))


@dataclass(frozen=True)
class RelationFeatures:
    """How samples are described by their relations to representatives.

    Parameters
    ----------
    measure : {"euclidean", "gaussian", "cosine"}
        Distance, exp(−distance² / 2σ²), or cosine.
    n_representatives : int
        How many samples are drawn, at most all.
    share : float, optional
        Draws this share of the samples instead.
    compact : bool
        Whether similarities are first averaged by cohort. They are cosines if the measure is, Gaussian
        otherwise; the measure then compares the averages.
    n_neighbors : int
        How many of a sample's most similar representatives count in the averages.
    energy : float
        The share of the features' sum of squares about their mean that the kept directions hold; 1 keeps
        the features as they are.
    bandwidth : float, optional
        σ of Gaussian similarities between samples; the median distance of two representatives if None.
    n_directions : int, optional
        Keeps this many directions whatever their energy.
    """

    measure: str = "euclidean"
    n_representatives: int = 500
    share: float | None = None
    compact: bool = False
    n_neighbors: int = 30
    energy: float = 0.99
    bandwidth: float | None = None
    n_directions: int | None = None

    def fit(
        self,
        X: Any,
        codes: IntArray,
        c: int,
        rng: np.random.Generator,
        links: Any = None,
        least: int = 3,
    ) -> FittedFeatures:
        """Draw representatives and describe all samples.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
        codes : integer array of shape (n,)
            The cohort of every sample, -1 where unknown.
        c : int
            How many cohorts there are.
        rng : numpy.random.Generator
            Draws the representatives.
        links : sparse array of shape (n, n), optional
            Directed links; compacted features then hold the links to the members of every cohort, too.
        least : int
            Keep at least this many directions where there are as many; a map needs one an axis.
        """
        self._check()
        X, codes = as_table(X), np.asarray(codes)
        chosen = self._drawn(codes, rng)
        compaction = None
        if self.compact:
            similarity = 0.0 if self.measure == "cosine" else self.bandwidth
            compaction = compaction_of(
                X[chosen], chosen, codes, c, similarity, self.n_neighbors, links is not None
            )
            X = compaction.rows(X, links, np.arange(len(codes)))
        representatives = X[chosen]
        bandwidth = 0.0
        if self.measure == "gaussian":
            given = None if self.compact else self.bandwidth
            bandwidth = median_distance(representatives) if given is None else float(given)
        relate = Relation(self.measure, representatives, bandwidth)
        directions = self._directions(relate, X, least)
        table = relate.projected(X, directions)
        return FittedFeatures(
            representatives, codes[chosen], chosen, bandwidth, directions, 1.0, table, compaction
        )

    def rows(
        self, fitted: FittedFeatures, X_new: Any, links: Any = None, who: IntArray | None = None
    ) -> FloatArray:
        """Describe new samples in the same way, scale included.

        Parameters
        ----------
        fitted : FittedFeatures
        X_new : array or sparse array of shape (m, d)
        links : sparse array of shape (m, n), optional
            For compacted features with links: those of the new samples to the old ones.
        who : integer array of shape (m,), optional
            For compacted features: which of the old samples these are, -1 for others. An old sample then
            gets its old features.
        """
        X = as_table(X_new)
        if fitted.compaction is not None:
            X = fitted.compaction.rows(X, links, who)
        relate = Relation(self.measure, fitted.representatives, fitted.bandwidth)
        return relate.projected(X, fitted.directions) * fitted.scale

    def _check(self) -> None:
        if self.measure not in MEASURES:
            raise UnknownNameError("measure of relation features", self.measure, MEASURES)
        if self.share is not None and not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share!r}: give a share of the samples, above 0 and at most 1.")
        if not 0 < self.energy <= 1:
            raise ParameterError(f"energy={self.energy!r}: give a share, above 0 and at most 1.")
        if self.bandwidth is not None and not 0 < self.bandwidth < np.inf:
            raise ParameterError(f"bandwidth={self.bandwidth!r}: give a positive number, or None.")
        for name in ("n_representatives", "n_neighbors", "n_directions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{name}={value!r}: give a whole number of at least 1.")

    def _drawn(self, codes: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw representatives, in the order of the samples.

        Compacted features need labelled ones, and at least one of every cohort while there is room.
        """
        wanted = self.n_representatives if self.share is None else max(1, round(self.share * len(codes)))
        if not self.compact:
            return np.sort(rng.permutation(len(codes))[:wanted])
        order = rng.permutation(np.flatnonzero(codes >= 0))
        firsts = np.zeros(len(order), dtype=bool)
        firsts[np.unique(codes[order], return_index=True)[1]] = True
        return np.sort(np.concatenate([order[firsts], order[~firsts]])[:wanted])

    def _directions(self, relate: Relation, X: Any, least: int) -> FloatArray:
        """Find the leading right singular directions of the features.

        As many as hold the wanted share of the energy about the mean row: the mean itself is common to
        all samples, and often so long that it would take most of the share alone.
        """
        q = relate.representatives.shape[0]
        if self.energy == 1 and self.n_directions is None:
            return np.eye(q)
        gram, sums = np.zeros((q, q)), np.zeros(q)
        with one_thread():
            for block in relate.blocks(X):
                gram += block.T @ block
                sums += block.sum(axis=0)
            _, vectors = eigh(gram, overwrite_a=False)
            leading = vectors[:, ::-1]
            centred = gram - np.outer(sums, sums) / X.shape[0]
            energies = np.maximum(np.einsum("ij,ij->j", leading, centred @ leading), 0.0)
        held = np.cumsum(energies)
        enough = int(np.searchsorted(held, self.energy * held[-1] * (1 - 1e-12))) + 1
        r = max(enough, least) if self.n_directions is None else self.n_directions
        kept = leading[:, : min(r, q)]
        largest = np.abs(kept).argmax(axis=0)
        return np.ascontiguousarray(kept * np.where(kept[largest, np.arange(kept.shape[1])] < 0, -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Relation:
    """A measure between any samples and the representatives."""

    measure: str
    representatives: Any
    bandwidth: float

    def blocks(self, X: Any) -> Iterator[FloatArray]:
        """Give all measurements, some rows at a time."""
        for part in row_blocks(X.shape[0]):
            if self.measure == "cosine":
                yield cosines(X[part], self.representatives)
                continue
            found = distances(X[part], self.representatives)
            if self.measure == "gaussian":
                found = np.exp(-0.5 * (found / self.bandwidth) ** 2)
            yield found

    def projected(self, X: Any, directions: FloatArray) -> FloatArray:
        """Give the measurements along some directions."""
        found = np.empty((X.shape[0], directions.shape[1]))
        with one_thread():
            for part, block in zip(row_blocks(X.shape[0]), self.blocks(X), strict=True):
                found[part] = block @ directions
        return found


def feature_scale(F: FloatArray, alpha: float, W: Any, R: Any, V: FloatArray) -> float:
    """Find how long features must be for an orthonormal map of them to reach the prototypes.

    An orthonormal U has squared length k. The best map without that constraint, for squared distances to
    prototypes and neighbours, has some other length; features multiplied by the root of their ratio let
    an orthonormal one be as good.

    Parameters
    ----------
    F : array of shape (n, r)
        Features.
    alpha : float
        The weight of the cohorts against that of the neighbours.
    W : sparse array of shape (n, n)
        Symmetric weights between samples.
    R : csr_array or array of shape (n, c)
        Confidences.
    V : array of shape (c, k)
        Prototypes.

    Returns
    -------
    float
        |U| / √k for the U that minimises α Σ r|z − v|² + (1 − α) tr(Z'LZ) with Z = FU, the shortest if
        there are several; 1 if it is 0.
    """
    W = csr_array(W)
    pulls = alpha * np.asarray(R.sum(axis=1)).ravel() + (1 - alpha) * np.asarray(W.sum(axis=1)).ravel()
    with one_thread():
        normal = F.T @ (pulls[:, None] * F - (1 - alpha) * (W @ F))
        right = alpha * (F.T @ np.asarray(R @ V))
        values, vectors = eigh((normal + normal.T) / 2)
        kept = values > LEAST_SHARE * values[-1]
        U = vectors[:, kept] @ ((vectors[:, kept].T @ right) / values[kept, None])
    return float(np.sqrt((U**2).sum() / V.shape[1])) or 1.0
