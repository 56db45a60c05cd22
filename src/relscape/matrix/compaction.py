"""Samples described by cohorts: how similar each is, on average, to the representatives of every cohort.

Of a sample's similarities only those to its most similar representatives count; their sum by cohort is
divided by the cohort's number of representatives. A new sample needs no label for that. A sample that is
a representative itself is left out of its own sums and counts, so that it does not see its own label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.errors import DataError
from relscape.matrix.cohorts import cohort_sizes, indicator
from relscape.matrix.measures import cosines, distances, median_distance, row_blocks
from relscape.protocols import FloatArray, IntArray

__all__ = ["Compaction", "compaction_of"]


@dataclass(frozen=True, eq=False)
class Compaction:
    """What is needed to describe samples by cohorts.

    Attributes
    ----------
    representatives : array or csr_array of shape (q, d)
    codes : integer array of shape (q,)
        Cohorts of the representatives.
    chosen : integer array of shape (q,)
        Which samples they are.
    n_cohorts : int
    bandwidth : float
        σ of Gaussian similarities; 0 means cosines, at least 0.
    n_neighbors : int
        How many similarities of a sample count.
    link_codes : integer array of shape (n,) or empty
        Cohorts of all samples where links to them are features, too.
    """

    representatives: Any
    codes: IntArray
    chosen: IntArray
    n_cohorts: int
    bandwidth: float
    n_neighbors: int
    link_codes: IntArray

    def rows(self, X: Any, links: Any = None, who: IntArray | None = None) -> FloatArray:
        """Describe samples.

        Parameters
        ----------
        X : array or csr_array of shape (m, d)
        links : sparse array of shape (m, n), optional
            Links to the samples of the fit; none if absent.
        who : integer array of shape (m,), optional
            Which samples of the fit these are, -1 for others; all are others if absent.

        Returns
        -------
        array of shape (m, c), or (m, 2c) with links
        """
        who = np.full(X.shape[0], -1) if who is None else who
        own = self._own_representative(who)
        parts = [self._averages(X[part], own[part]) for part in row_blocks(X.shape[0])]
        found = np.concatenate(parts) if parts else np.zeros((0, self.n_cohorts))
        return np.hstack([found, self._link_averages(links, who)]) if self.link_codes.size else found

    def _own_representative(self, who: IntArray) -> IntArray:
        """Find the place of samples among the representatives, -1 for all others."""
        place = np.full(max(who.max(initial=-1), self.chosen.max(initial=-1)) + 2, -1)
        place[self.chosen] = np.arange(len(self.chosen))
        return place[who]

    def _averages(self, X: Any, own: IntArray) -> FloatArray:
        if self.bandwidth == 0:
            found = np.maximum(cosines(X, self.representatives), 0.0)
        else:
            found = np.exp(-0.5 * (distances(X, self.representatives) / self.bandwidth) ** 2)
        themselves = np.flatnonzero(own >= 0)
        found[themselves, own[themselves]] = -1.0
        if self.n_neighbors < found.shape[1]:
            far = np.argsort(-found, axis=1, kind="stable")[:, self.n_neighbors :]
            np.put_along_axis(found, far, 0.0, 1)
        np.maximum(found, 0.0, out=found)
        sums = (indicator(self.codes, self.n_cohorts).T @ found.T).T
        return np.asarray(sums / self._counts(self.codes, self.codes[own], own >= 0))

    def _link_averages(self, links: Any, who: IntArray) -> FloatArray:
        if links is None:
            return np.zeros((len(who), self.n_cohorts))
        edges = csr_array(links, dtype=np.float64).tocoo()
        rows, columns = edges.coords
        others = who[rows] != columns
        edges = csr_array((edges.data[others], (rows[others], columns[others])), shape=edges.shape)
        sums = (edges @ indicator(self.link_codes, self.n_cohorts)).toarray()
        return np.asarray(sums / self._counts(self.link_codes, self.link_codes[who], who >= 0))

    def _counts(self, codes: IntArray, own_codes: IntArray, inside: Any) -> FloatArray:
        """Count the members a sample is compared with, without itself; at least 1, so as to divide by it."""
        counts = np.tile(cohort_sizes(codes, self.n_cohorts), (len(own_codes), 1))
        members = np.flatnonzero(inside & (own_codes >= 0))
        counts[members, own_codes[members]] -= 1
        return np.maximum(counts, 1).astype(np.float64)


def compaction_of(
    representatives: Any,
    chosen: IntArray,
    codes: IntArray,
    c: int,
    bandwidth: float | None,
    n_neighbors: int,
    with_links: bool,
) -> Compaction:
    """Prepare a description by cohorts from representatives, all of them of known cohort.

    Parameters
    ----------
    representatives : array or csr_array of shape (q, d)
    chosen : integer array of shape (q,)
        Which samples they are.
    codes : integer array of shape (n,)
        The cohorts of all samples.
    c : int
    bandwidth : float or None
        σ of Gaussian similarities, 0 for cosines; None takes the median distance of two representatives.
    n_neighbors : int
    with_links : bool
        Whether links to all samples are features, too.
    """
    if not len(chosen):
        raise DataError("compacted features need samples of known cohort; give labels, or compact=False.")
    sigma = median_distance(representatives) if bandwidth is None else bandwidth
    link_codes = codes if with_links else np.zeros(0, dtype=np.int64)
    return Compaction(representatives, codes[chosen], chosen, c, float(sigma), n_neighbors, link_codes)
