"""Cohorts for samples without one, from the samples around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError
from relscape.matrix.knn import neighbours_of
from relscape.protocols import IntArray, SparseArray

__all__ = ["completed_by_graph", "completed_codes", "predicted_codes"]


def completed_codes(X: Any, codes: IntArray, n_neighbors: int = 5, metric: str = "euclidean") -> IntArray:
    """Let the nearest labelled samples vote on the cohort of each unlabelled one.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        The samples.
    codes : array of shape (n,)
        Their cohorts, -1 for none.
    n_neighbors : int
        Number of voters, at most the size of the smallest labelled cohort, so that no cohort is
        outvoted merely for being small.
    metric : {"euclidean", "cosine"}

    Returns
    -------
    array of shape (n,)
        The codes without any -1. Given ones stay. Equal votes go to the cohort with the nearest voter.
    """
    codes = np.array(codes, dtype=np.int64)
    table = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    open_rows = np.flatnonzero(codes < 0)
    codes[open_rows] = predicted_codes(table, codes, table[open_rows], n_neighbors, metric)
    return codes


def predicted_codes(
    X: Any, codes: IntArray, X_new: Any, n_neighbors: int = 5, metric: str = "euclidean"
) -> IntArray:
    """Predict the cohorts of new samples by the votes that :func:`completed_codes` counts."""
    if n_neighbors < 1:
        raise ParameterError(f"n_neighbors={n_neighbors}: at least 1 neighbour has to vote.")
    codes = np.asarray(codes, dtype=np.int64)
    labelled = np.flatnonzero(codes >= 0)
    if not labelled.size:
        raise DataError("no sample has a cohort; label some samples of every cohort first.")
    if not X_new.shape[0]:
        return np.empty(0, dtype=np.int64)
    sizes = np.bincount(codes[labelled])
    k = min(n_neighbors, int(sizes[sizes > 0].min()))
    _, voters = neighbours_of(X[labelled], X_new, k, metric)
    votes = codes[labelled][voters]
    # For each voter, how many vote alike; argmax takes the first, that is nearest, of the most.
    support = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    return np.asarray(votes[np.arange(len(votes)), support.argmax(axis=1)])


def completed_by_graph(W: SparseArray, codes: IntArray) -> IntArray:
    """Spread cohorts along weights until nothing changes.

    In each round an unlabelled sample joins the cohort to which its weights sum up highest, the
    lower code on a tie; the next round counts it as a member. Samples that no path joins to a
    labelled one keep -1.
    """
    codes = np.array(codes, dtype=np.int64)
    if not (codes >= 0).any():
        raise DataError("no sample has a cohort; label some samples of every cohort first.")
    W = csr_array(W)
    count = int(codes.max()) + 1
    while True:
        labelled, open_rows = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        indicator = csr_array(
            (np.ones(labelled.size), (labelled, codes[labelled])), shape=(codes.size, count)
        )
        pull = csr_array(W[open_rows] @ indicator)
        pull.eliminate_zeros()
        pull.sort_indices()
        reached = np.flatnonzero(np.diff(pull.indptr))
        if not reached.size:
            return codes
        for row in reached:
            span = slice(pull.indptr[row], pull.indptr[row + 1])
            codes[open_rows[row]] = pull.indices[span][pull.data[span].argmax()]
