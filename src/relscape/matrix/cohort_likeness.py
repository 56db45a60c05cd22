"""How like a cohort a sample is: by its weights to the members, or by the distance to their centroid.

What is learned from the samples is kept as arrays, so that new samples can be compared in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError
from relscape.matrix.cohorts import centroids, cohort_sizes, indicator
from relscape.matrix.confidence_laws import Laws
from relscape.matrix.measures import as_table, cosines, distances, row_blocks
from relscape.matrix.spread_weights import SpreadWeights, own_sums
from relscape.protocols import AnyArray, FloatArray, IntArray

__all__ = ["Likeness"]


class Likeness:
    """Compares samples with cohorts in one of two ways.

    "neighbors" is the mean weight to a cohort's members, the sample itself excluded: the sum is divided by
    the cohort's size, less one for the sample's own. "centroid" is the cosine with the centroid, at least
    0, or the largest distance of any sample to any centroid minus the distance.

    A new sample counts as a member of the cohort it is said to be in, so that one which is already among
    the samples gets what it had.
    """

    def __init__(self, similarity: str, metric: str) -> None:
        self.by_neighbours = similarity == "neighbors"
        self.by_cosine = metric == "cosine"

    def fit(self, codes: IntArray, c: int, weights: Any, X: Any) -> dict[str, AnyArray]:
        """Learn what likenesses are made of; the arrays are passed to the other methods as ``laws``."""
        sizes = cohort_sizes(codes, c)
        if self.by_neighbours:
            if weights is None:
                raise DataError("likeness by neighbours is made from sample weights: give weights.")
            return {"sizes": sizes, "single": np.asarray(_single(weights, codes, sizes))}
        if X is None:
            raise DataError(
                "likeness to centroids is made from features: give X, or choose similarity='neighbors'."
            )
        laws = {"sizes": sizes, **_packed(centroids(X, codes, c))}
        if not self.by_cosine:
            filled = sizes > 0
            tops = [distances(block, _unpacked(laws))[:, filled].max(initial=0.0) for block in _blocks_of(X)]
            laws["top"] = np.asarray(max(tops, default=0.0))
        return laws

    def own(self, laws: Laws, weights: Any, X: Any, codes: IntArray, old_codes: IntArray) -> FloatArray:
        """Compare every sample with its own cohort; 0 where the cohort is unknown."""
        known = codes >= 0
        if self.by_neighbours:
            others = laws["sizes"][codes] - 1
            sums = _own_sums(weights, codes, old_codes)
            means = np.where(others > 0, sums / np.maximum(others, 1), laws["single"])
            return np.where(known, means, 0.0)
        own = np.zeros(len(codes))
        for part, block in zip(row_blocks(len(codes)), _blocks_of(X), strict=True):
            likeness = self._to_centroids(laws, block)
            own[part] = np.take_along_axis(likeness, np.maximum(codes[part], 0)[:, None], 1)[:, 0]
        return np.where(known, own, 0.0)

    def all(self, laws: Laws, weights: Any, X: Any, codes: IntArray, old_codes: IntArray) -> FloatArray:
        """Compare every sample with every cohort, as a dense table; 0 for cohorts without members."""
        sizes = laws["sizes"]
        if self.by_neighbours:
            members = indicator(old_codes, len(sizes))
            spread = isinstance(weights, SpreadWeights)
            sums = weights @ members.toarray() if spread else (csr_array(weights) @ members).toarray()
            found = sums / np.maximum(sizes, 1)
            known = np.flatnonzero(codes >= 0)
            found[known, codes[known]] = self.own(laws, weights, X, codes, old_codes)[known]
        else:
            found = np.concatenate([self._to_centroids(laws, block) for block in _blocks_of(X)])
        found[:, sizes == 0] = 0.0
        return np.asarray(found)

    def _to_centroids(self, laws: Laws, X: Any) -> FloatArray:
        middle = _unpacked(laws)
        found = cosines(X, middle) if self.by_cosine else laws["top"] - distances(X, middle)
        return np.maximum(found, 0.0)


def _own_sums(weights: Any, codes: IntArray, old_codes: IntArray) -> FloatArray:
    """Sum every sample's weights to the old samples of its own cohort."""
    if isinstance(weights, SpreadWeights):
        return weights.own_sums(codes, old_codes)
    return own_sums(csr_array(weights), codes, old_codes)


def _single(weights: Any, codes: IntArray, sizes: IntArray) -> float:
    """Say how like its cohort a sample without fellows is: as any sample is at best, or 1 if none is."""
    others = np.where(codes >= 0, sizes[codes] - 1, 0)
    fellows = others > 0
    means = _own_sums(weights, codes, codes)[fellows] / others[fellows]
    return float(means.max(initial=0.0)) or 1.0


def _blocks_of(X: Any) -> Any:
    table = as_table(X)
    return (table[part] for part in row_blocks(table.shape[0]))


def _packed(middle: Any) -> dict[str, AnyArray]:
    """Lay centroids out as plain arrays."""
    if not issparse(middle):
        return {"centroids": middle}
    return {
        "centroids": middle.data,
        "centroid_columns": middle.indices,
        "centroid_starts": middle.indptr,
        "centroid_shape": np.asarray(middle.shape),
    }


def _unpacked(laws: Laws) -> Any:
    if "centroid_shape" not in laws:
        return laws["centroids"]
    parts = (laws["centroids"], laws["centroid_columns"], laws["centroid_starts"])
    return csr_array(parts, shape=tuple(laws["centroid_shape"].tolist()))
