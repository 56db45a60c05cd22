"""How strongly samples belong together: the neighbour weights of the cohort models.

Every kind of affinity ends alike (:func:`~relscape.matrix.weights.finish`): no sample weighs upon
itself, weights are symmetric, none is negative, and together they are 1. The settings say how raw
weights come about; ``fit`` measures them among the samples, and ``rows`` between new samples and those,
with the same divisor, so that a new sample that stands like an old one gets the old one's row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.calibration import calibrated, log_masses
from relscape.matrix.knn import neighbours
from relscape.matrix.label_distances import Pairs, label_neighbours, new_pairs
from relscape.matrix.pair_distances import diameter
from relscape.matrix.weights import (
    Affinity,
    check_factor,
    finish,
    given_affinity,
    shrunk,
)
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = [
    "Affinity",
    "AffinitySettings",
    "CosineAffinity",
    "DistanceAffinity",
    "GaussianAffinity",
    "affinity_settings",
    "calibrated",
    "given_affinity",
]

CANDIDATES_PER_PERPLEXITY = 3


@dataclass(frozen=True)
class GaussianAffinity:
    """Gaussian weights whose widths follow the local density, as in t-SNE.

    Parameters
    ----------
    perplexity : float
        Effective number of neighbours; bandwidths are found on three times as many.
    n_neighbors : int, optional
        Keep only so many of them afterwards, for a sparser graph.
    metric : {"euclidean", "cosine"}
    shrink : float
        Factor in (0, 1] upon weights between different cohorts; smaller separates more.
    shrink_distances : float
        Factor in (0, 1] upon distances within a cohort, before anything else.
    """

    perplexity: float = 30.0
    n_neighbors: int | None = None
    metric: str = "euclidean"
    shrink: float = 1.0
    shrink_distances: float = 1.0

    def fit(
        self, X: Any, codes: IntArray | None = None, random_state: np.random.Generator | None = None
    ) -> Affinity:
        """Weigh samples against each other; ``codes`` are their cohorts, -1 for none."""
        self._check()
        n = _samples(X)
        distances, indices = label_neighbours(
            X, self._candidates(n - 1), self.metric, codes, self.shrink_distances, random_state
        )
        probabilities, betas, masses = self._conditional(distances)
        kept = probabilities.shape[1]
        raw = _graph(indices[:, :kept], probabilities)
        weights, total = finish(shrunk(raw, codes, codes, self.shrink))
        return Affinity(weights, total, betas, masses, 0.0, distances[:, kept - 1])

    def rows(
        self,
        fitted: Affinity,
        X: Any,
        X_new: Any,
        codes: IntArray | None = None,
        codes_new: IntArray | None = None,
    ) -> SparseArray:
        """Weigh new samples against the old ones (q × n), by the old divisor.

        ``codes`` and ``codes_new`` are the cohorts of the old and the new samples. A new sample at
        the very place of an old one is taken for it.
        """
        self._check()
        candidates = self._candidates(_samples(X) - 1)
        factor = self.shrink_distances
        pairs = new_pairs(X, X_new, candidates, fitted.reach, self.metric, codes, codes_new, factor)
        first = pairs.ranks() < candidates
        probabilities, _, _ = self._conditional(pairs.distances[first].reshape(-1, candidates))
        kept = pairs.ranks() < probabilities.shape[1]
        toward = np.zeros(pairs.distances.size)
        toward[kept] = probabilities.ravel()
        near = pairs.distances <= fitted.reach[pairs.columns]
        exponents = -fitted.bandwidths[pairs.columns] * pairs.distances**2
        back = np.where(near, np.exp(exponents - fitted.normalisers[pairs.columns]), 0.0)
        raw = pairs.matrix((toward + back) / 2.0)
        return _placed(shrunk(raw, codes_new, codes, self.shrink), fitted, pairs)

    def _candidates(self, others: int) -> int:
        return min(int(np.ceil(CANDIDATES_PER_PERPLEXITY * self.perplexity)), others)

    def _conditional(self, distances: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        squares = distances**2
        probabilities, betas = calibrated(squares, self.perplexity)
        kept = squares.shape[1] if self.n_neighbors is None else min(self.n_neighbors, squares.shape[1])
        probabilities = probabilities[:, :kept]
        probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
        return probabilities, betas, log_masses(squares[:, :kept], betas)

    def _check(self) -> None:
        if self.n_neighbors is not None:
            _check_count(self.n_neighbors)
        if not 1 <= self.perplexity < np.inf:
            raise ParameterError(f"perplexity={self.perplexity}: a neighbourhood has at least 1 member.")
        check_factor("shrink", self.shrink)
        check_factor("shrink_distances", self.shrink_distances)


@dataclass(frozen=True)
class _NearestAffinity:
    """What affinities share that weigh pairs of which one is among the nearest of the other."""

    n_neighbors: int
    shrink: float = 1.0

    metric: ClassVar[str]

    def fit(
        self, X: Any, codes: IntArray | None = None, random_state: np.random.Generator | None = None
    ) -> Affinity:
        """Weigh samples against each other; ``codes`` are their cohorts, -1 for none."""
        _check_count(self.n_neighbors)
        check_factor("shrink", self.shrink)
        k, span = min(self.n_neighbors, _samples(X) - 1), self._span(X)
        distances, indices = neighbours(X, k, self.metric, random_state)
        one_way = _graph(indices, np.maximum(span - distances, 0.0))
        weights, total = finish(shrunk(csr_array(one_way.maximum(one_way.T)), codes, codes, self.shrink))
        return Affinity(weights, total, np.empty(0), np.empty(0), span, distances[:, -1])

    def rows(
        self,
        fitted: Affinity,
        X: Any,
        X_new: Any,
        codes: IntArray | None = None,
        codes_new: IntArray | None = None,
    ) -> SparseArray:
        """Weigh new samples against the old ones (q × n); see :meth:`GaussianAffinity.rows`."""
        pairs = new_pairs(X, X_new, min(self.n_neighbors, _samples(X) - 1), fitted.reach, self.metric)
        raw = pairs.matrix(np.maximum(fitted.span - pairs.distances, 0.0))
        return _placed(shrunk(raw, codes_new, codes, self.shrink), fitted, pairs)

    def _span(self, X: Any) -> float:
        """Give the distance that weighs nothing."""
        return 1.0 if self.metric == "cosine" else diameter(X)


@dataclass(frozen=True)
class CosineAffinity(_NearestAffinity):
    """The cosine of two samples, where positive, if one is among the most similar of the other.

    Parameters
    ----------
    n_neighbors : int
        How many most similar samples each one has.
    shrink : float
        Factor in (0, 1] upon weights between different cohorts; smaller separates more.
    """

    n_neighbors: int = 30

    metric: ClassVar[str] = "cosine"


@dataclass(frozen=True)
class DistanceAffinity(_NearestAffinity):
    """The largest distance minus that of two samples, if one is among the nearest of the other.

    Parameters
    ----------
    n_neighbors : int
        How many nearest samples each one has.
    shrink : float
        Factor in (0, 1] upon weights between different cohorts; smaller separates more.
    """

    n_neighbors: int = 50

    metric: ClassVar[str] = "euclidean"


AffinitySettings: TypeAlias = GaussianAffinity | CosineAffinity | DistanceAffinity


def affinity_settings(affinity: str | AffinitySettings, n_neighbors: int) -> AffinitySettings:
    """Turn the name of an affinity into its settings; settings stay as they are.

    "perplexity" is Gaussian with ``n_neighbors`` as its perplexity, "cosine" and "distance" have so
    many neighbours.
    """
    if isinstance(affinity, GaussianAffinity | CosineAffinity | DistanceAffinity):
        return affinity
    if affinity == "perplexity":
        return GaussianAffinity(perplexity=float(n_neighbors))
    if affinity == "cosine":
        return CosineAffinity(n_neighbors=n_neighbors)
    if affinity == "distance":
        return DistanceAffinity(n_neighbors=n_neighbors)
    raise UnknownNameError("affinity", affinity, ("perplexity", "cosine", "distance"))


def _placed(raw: SparseArray, fitted: Affinity, pairs: Pairs) -> SparseArray:
    """Divide new rows as the old ones were, and give samples that coincide with old ones their rows."""
    rows = csr_array(raw / fitted.total)
    new, old = pairs.coinciding()
    others = np.ones(rows.shape[0])
    others[new] = 0.0
    choice = csr_array((np.ones(new.size), (new, old)), shape=rows.shape)
    placed = csr_array(rows.multiply(others[:, None]) + choice @ fitted.weights)
    placed.eliminate_zeros()
    return placed


def _samples(X: Any) -> int:
    n = int(X.shape[0] if issparse(X) else np.shape(X)[0])
    if n < 2:
        raise DataError(f"{n} sample has no neighbours; give at least 2.")
    return n


def _check_count(n_neighbors: int) -> None:
    if n_neighbors < 1:
        raise ParameterError(f"n_neighbors={n_neighbors}: a sample needs at least 1 neighbour.")


def _graph(indices: IntArray, values: FloatArray) -> SparseArray:
    """Give the sparse matrix whose row i has ``values[i]`` at the columns ``indices[i]``."""
    n, k = indices.shape
    graph = csr_array((values.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    graph.sort_indices()
    return graph
