"""Communities that explain both the links and the words of documents (the model of CESNA).

Document u belongs to community c to the degree F_uc ≥ 0. Two documents are linked with probability
1 − exp(−x_uv − e), x_uv = F_u'F_v, where e is the chance of a link that no community explains; document u has
word m with probability s_um = 1/(1 + exp(−w_m'F_u − b_m)). The loss is

    − Σ_links ln(1 − exp(−x_uv − e)) + Σ_nonlinks x_uv
    − λ Σ_um [X_um ln s_um + (1 − X_um) ln(1 − s_um)] + l₁ Σ |w|

over pairs u < v. W is kept as the difference of two nonnegative arrays, their sum being |W| at the minimum,
so that everything is smooth and the only constraints are bounds. Pairs without a link cost nothing: their
sum follows from that of all pairs. Words are gone through in blocks of documents, never n × d at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["AffiliationLoss", "Affiliations", "NewcomerLoss", "word_loss"]

_BLOCK_ENTRIES = 200_000  # at a time: what fits the cache is fastest


class Affiliations(NamedTuple):
    """F (n × c), W (d × c) and the biases b (d)."""

    degrees: FloatArray
    weights: FloatArray
    biases: FloatArray


class AffiliationLoss:
    """The loss above as an objective of one long vector: F, the two parts of W, b.

    Parameters
    ----------
    words : csr_array
        n × d, 0 or 1: X.
    pairs : array, L × 2
        The links, each once whatever its direction, without self links.
    n_communities : int
        How many communities.
    content_weight : float
        λ.
    sparsity : float
        l₁.
    background : float
        e, positive.
    dtype : dtype
        Of the arithmetic with words, which takes most of the time.
    """

    def __init__(
        self,
        words: SparseArray,
        pairs: IntArray,
        n_communities: int,
        content_weight: float,
        sparsity: float,
        background: float,
        dtype: type[np.floating] = np.float64,
    ) -> None:
        self.words, self.pairs = csr_array(words, dtype=dtype), pairs
        self.n_communities = n_communities
        self.content_weight, self.sparsity, self.background = content_weight, sparsity, background
        n, d = words.shape
        self._ends = np.cumsum([n * n_communities, d * n_communities, d * n_communities])

    def packed(self, degrees: FloatArray, weights: FloatArray, biases: FloatArray) -> FloatArray:
        """Write affiliations as one vector."""
        parts = (degrees, np.maximum(weights, 0.0), np.maximum(-weights, 0.0), biases)
        return np.concatenate([np.ravel(part) for part in parts])

    def unpacked(self, point: FloatArray) -> Affiliations:
        """Read affiliations from one vector."""
        degrees, above, below, biases = np.split(point, self._ends)
        shape = (-1, self.n_communities)
        return Affiliations(degrees.reshape(shape), (above - below).reshape(shape), biases)

    def lower_bounds(self) -> FloatArray:
        """Give the bounds of the vector from below: 0 for all but the biases."""
        return np.concatenate([np.zeros(self._ends[-1]), np.full(self.words.shape[1], -np.inf)])

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the loss and its gradient."""
        F, W, b = self.unpacked(point)
        linked, link_gradient = _link_loss(F, self.pairs, self.background)
        worded, by_degrees, by_weights, by_biases = word_loss(self.words, F, W, b)
        scale, penalty = self.content_weight, self.sparsity
        size = float(point[self._ends[0] : self._ends[-1]].sum())
        gradient = np.concatenate(
            [
                np.ravel(link_gradient + scale * by_degrees),
                np.ravel(scale * by_weights) + penalty,
                penalty - np.ravel(scale * by_weights),
                scale * by_biases,
            ]
        )
        return linked + scale * worded + penalty * size, gradient


class NewcomerLoss:
    """How badly degrees of membership explain the words of new documents, plus Σ prior_c F_uc.

    Of a new document no link is known, nor that it has none. The last term, an exponential prior, keeps
    documents of few words from belonging to a community without bounds.
    """

    def __init__(self, words: SparseArray, learned: Affiliations, prior: FloatArray) -> None:
        self.words, self.learned, self.prior = words, learned, prior

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the loss of all newcomers (q × c), and its gradient."""
        value, gradient, _, _ = word_loss(self.words, point, self.learned.weights, self.learned.biases)
        return value + float((point @ self.prior).sum()), gradient + self.prior


def _link_loss(F: FloatArray, pairs: IntArray, background: float) -> tuple[float, FloatArray]:
    """Give − Σ_links ln(1 − exp(−x − e)) + Σ_nonlinks x, and its gradient."""
    total = F.sum(axis=0)
    i, j = pairs.T
    x = np.einsum("uc,uc->u", F[i], F[j])
    apart = -np.expm1(-x - background)
    everyone = 0.5 * (total @ total - np.einsum("uc,uc->", F, F))
    # A link's own x is not among those of the pairs without one: −e^{−x}/(1 − e^{−x}) − 1 is −1/(1 − e^{−x}).
    pulls = csr_array((-1.0 / apart, (i, j)), shape=(len(F), len(F)))
    return float(everyone - x.sum() - np.log(apart).sum()), total - F + pulls @ F + pulls.T @ F


def word_loss(
    words: SparseArray, F: FloatArray, W: FloatArray, b: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Give − Σ [X ln s + (1 − X) ln(1 − s)], and its gradients by F, W and b."""
    dtype = words.dtype
    n, d = words.shape
    degrees, weights, biases = F.astype(dtype), W.astype(dtype), b.astype(dtype)
    value = 0.0
    by_degrees, by_weights, by_biases = np.empty(F.shape), np.zeros(W.shape), np.zeros(d)
    rows = max(1, _BLOCK_ENTRIES // max(d, 1))
    for begin in range(0, n, rows):
        part = slice(begin, begin + rows)
        logits = degrees[part] @ weights.T + biases
        small = np.exp(-np.abs(logits))
        value += float(np.maximum(logits, 0.0).sum(dtype=np.float64))
        value += float(np.log(1.0 + small).sum(dtype=np.float64))
        chances = np.where(logits >= 0, 1.0, small) / (1.0 + small)
        by_degrees[part] = chances @ weights
        by_weights += chances.T @ degrees[part]
        by_biases += chances.sum(axis=0, dtype=np.float64)
    seen_weights, seen_degrees, seen = words @ weights, words.T @ degrees, words.sum(axis=0)
    value -= float(np.einsum("uc,uc->", seen_weights, degrees, dtype=np.float64)) + float(seen @ biases)
    return value, by_degrees - seen_weights, by_weights - seen_degrees, by_biases - seen
