"""Whether clusters of two kinds hold together what is related: the Rand index of pairs across kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relscape.data.labels import number_together
from relscape.errors import DataError
from relscape.scores.guidance import guided_weights

__all__ = ["PairAgreement", "rand_index"]


class PairAgreement(NamedTuple):
    """How far "in one cluster" and "related" agree, over all pairs of a row thing and a column thing.

    ``rand`` is the share of pairs for which both hold or neither does, ``precision`` the share of pairs in
    one cluster that are related, ``recall`` the share of related pairs that are in one cluster. NaN where
    there are no such pairs.
    """

    rand: float
    precision: float
    recall: float


def rand_index(W: Any, row_clusters: Any, column_clusters: Any) -> PairAgreement:
    """Compare the clusters of the things of two kinds with how these are related.

    Where relations are sparse, unrelated pairs rule the Rand index: many small clusters, with nearly all
    pairs apart, come close to 1. So read it beside precision and recall.

    Parameters
    ----------
    W : array or sparse array of shape (m, n)
        Above 0 where two things are related.
    row_clusters, column_clusters : sequences of length m and n
        Clusters, of any type; a name means the same cluster on both sides.

    Returns
    -------
    PairAgreement
        ``rand``, ``precision`` and ``recall``, each from 0 to 1.

    Examples
    --------
    >>> rand_index([[1, 0], [1, 0], [0, 1]], ["a", "b", "b"], ["a", "b"])
    PairAgreement(rand=0.6666666666666666, precision=0.6666666666666666, recall=0.6666666666666666)
    """
    weights = guided_weights(W)
    for name, given, size in zip(
        ("row_clusters", "column_clusters"), (row_clusters, column_clusters), weights.shape, strict=True
    ):
        if len(given) != size:
            raise DataError(
                f"{name} has {len(given)} entries, but W is {weights.shape[0]} × {weights.shape[1]}: "
                f"expected a cluster for each of {size} things."
            )
    names, left, right = number_together(row_clusters, column_clusters, "clusters")
    related = weights.data > 0
    i = np.repeat(np.arange(len(left)), np.diff(weights.indptr))
    both = int((related & (left[i] == right[weights.indices])).sum())
    sizes = [np.bincount(codes, minlength=len(names)) for codes in (left, right)]
    together, known, pairs = int(sizes[0] @ sizes[1]), int(related.sum()), len(left) * len(right)
    return PairAgreement(
        (pairs - together - known + 2 * both) / pairs,
        both / together if together else float("nan"),
        both / known if known else float("nan"),
    )
