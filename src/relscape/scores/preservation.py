"""How well a map keeps the neighbourhoods inside cohorts: S_n, its curve, and what chance alone gives.

Mu, Goulermas and Ananiadou, appendix G. For every sample the nearest κ others of its own cohort are looked up
in the original space and on the map; the share that both lists hold is averaged over samples and over
κ = 1, …, K. A map without any structure has κ / (n − 1) of them right in a cohort of n, so the chance
level is far from 0 and differs between data sets: always read S_n next to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data.arrays import plain_array
from relscape.data.cohorts import Cohorts
from relscape.errors import DataError, UnknownNameError
from relscape.matrix.mutual_pairs import check_count
from relscape.protocols import FloatArray, IntArray
from relscape.scores.agreement import CohortSpace, agreements
from relscape.scores.cohorts import cohorts_of, places_of

__all__ = ["neighbor_preservation", "neighbor_preservation_chance", "neighbor_preservation_curve"]

METRICS = ("euclidean", "cosine")

# The largest neighbourhood is this share of the smallest cohort.
LARGEST_SHARE = 0.9

# Up to this many pairs of samples all lists are compared; beyond, those of a random subset, but no fewer than
# this many samples: the standard error is then at most about half a percent.
MOST_PAIRS = 25_000_000
FEWEST_SAMPLED = 500


def neighbor_preservation(
    X: Any,
    Z: Any,
    y: Any,
    sample: int | None = None,
    random_state: int | np.random.Generator | None = None,
    *,
    metric: str = "euclidean",
    k: int | None = None,
) -> float:
    """Give the share of nearest neighbours of the same cohort that a map keeps: S_n.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        The samples as the map's maker saw them.
    Z : array of shape (n, k)
        Their places on the map; samples with NaN are left out.
    y : sequence of length n
        Cohorts, of any type; samples without one (None, NaN, or −1 among whole numbers) are left out.
    sample : int, optional
        Compare the lists of this many samples only, drawn at random in proportion to the cohorts; their
        lists are those among all members. By default all, or as many as keep to some 25 million pairs.
    random_state : int or Generator, optional
        Draws the sample, and the order of equally near members (the same in both spaces): the order of
        a file must not count as structure.
    metric : str
        "euclidean" or "cosine", for X; places on the map are compared by Euclidean distance.
    k : int, optional
        The largest neighbourhood K. By default nine tenths of the smallest cohort of two or more,
        rounded down; smaller cohorts than K + 1 are compared at their n − 1 others.

    Returns
    -------
    float
        From 0 to 1. Compare it with :func:`neighbor_preservation_chance`, not with another data set.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.5], [4.5]]
    >>> neighbor_preservation(X, [[0.0], [2.0], [5.0], [9.0]], ["a"] * 4)
    1.0
    """
    return float(neighbor_preservation_curve(X, Z, y, sample, random_state, metric=metric, k=k).mean())


def neighbor_preservation_curve(
    X: Any,
    Z: Any,
    y: Any,
    sample: int | None = None,
    random_state: int | np.random.Generator | None = None,
    *,
    metric: str = "euclidean",
    k: int | None = None,
) -> FloatArray:
    """Give :func:`neighbor_preservation` for every neighbourhood size κ = 1, …, K on its own."""
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    points, places = _features(X), places_of(Z)
    if points.shape[0] != len(places):
        raise DataError(
            f"X has {points.shape[0]} samples and Z has {len(places)} places; expected a place for each."
        )
    codes = np.where(np.isnan(places).any(axis=1), -1, cohorts_of(y, len(places)).codes)
    sizes = _sizes(codes)
    largest = _largest(sizes, k)
    rng = np.random.default_rng(random_state)
    shuffled = rng.permutation(len(codes))
    taken = _taken(sizes, sample)
    total = np.zeros(largest)
    for cohort in np.flatnonzero(sizes > 1):
        members = shuffled[codes[shuffled] == cohort]
        spaces = CohortSpace.of(points[members], metric), CohortSpace.of(places[members], "euclidean")
        reach = min(largest, len(members) - 1)
        overlap = np.cumsum(agreements(*spaces, int(taken[cohort]), reach))
        shares = overlap / (taken[cohort] * np.arange(1, reach + 1))
        # Beyond the number of others all of them are neighbours, in any map.
        total += sizes[cohort] * np.append(shares, np.ones(largest - reach))
    curve: FloatArray = total / sizes[sizes > 1].sum()
    return curve


def neighbor_preservation_chance(y: Any, k: int | None = None) -> float:
    """Give the S_n that a map without any structure has on average.

    ``y`` and ``k`` are those of :func:`neighbor_preservation`.

    Examples
    --------
    >>> neighbor_preservation_chance([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    0.5555555555555556
    """
    sizes = _sizes(cohorts_of(y, len(y.codes if isinstance(y, Cohorts) else y)).codes)
    reach = np.arange(1, _largest(sizes, k) + 1)
    counted = sizes[sizes > 1]
    others = counted[:, None] - 1
    shares = (np.minimum(reach, others) / others).mean(axis=1)
    return float(shares @ counted / counted.sum())


def _features(X: Any) -> Any:
    """Check the original samples: a dense table, or a sparse one in rows."""
    X = plain_array(X)
    points: Any = csr_array(X, dtype=np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
    if points.ndim != 2:
        raise DataError(f"X has shape {points.shape}; expected a table of samples by features.")
    if not np.isfinite(points.data if issparse(points) else points).all():
        raise DataError("X has values that are missing or infinite; fill them in before scoring a map of X.")
    return points


def _sizes(codes: IntArray) -> IntArray:
    sizes = np.bincount(codes[codes >= 0])
    if not (sizes > 1).any():
        raise DataError(
            "no cohort has two members with places, so that nobody has neighbours; S_n needs larger cohorts."
        )
    return sizes


def _largest(sizes: IntArray, k: int | None) -> int:
    """Give the largest neighbourhood that is looked at, K."""
    if k is not None:
        return min(check_count("k", k), int(sizes.max()) - 1)
    return int(LARGEST_SHARE * sizes[sizes > 1].min())


def _taken(sizes: IntArray, sample: int | None) -> IntArray:
    """Say how many members of each cohort have their lists compared, in proportion to its size."""
    counted = np.where(sizes > 1, sizes, 0)
    pairs = int((counted.astype(np.int64) ** 2).sum())
    if sample is not None:
        share = check_count("sample", sample) / counted.sum()
    else:
        share = max(MOST_PAIRS / pairs, FEWEST_SAMPLED / counted.sum())
    taken: IntArray = np.minimum(np.ceil(np.minimum(share, 1.0) * counted), counted).astype(np.int64)
    return taken
