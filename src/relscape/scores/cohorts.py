"""How well a map shows cohorts: kept apart (S_s), in their places (S_c), next to the right ones (S_c^(r)).

Mu, Goulermas and Ananiadou, section 4 and appendix G. Samples without a cohort or without a place (NaN) are
left out everywhere. The local score S_n is in :mod:`relscape.scores.preservation`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from relscape.data.cohorts import Cohorts, read_cohorts
from relscape.errors import DataError
from relscape.matrix.mutual_pairs import check_count
from relscape.matrix.neighbours import nearest
from relscape.protocols import BoolArray, FloatArray, IntArray
from relscape.scores.agreement import FEW_DIMENSIONS, CohortSpace, nearest_others

__all__ = [
    "CohortLinks",
    "cohort_links",
    "cohort_neighbors",
    "cohort_position",
    "cohort_separation",
    "cohorts_of",
    "places_of",
]

# Digits, relative to the largest, in which distances between cohorts are compared: those of a regular
# arrangement are equal in truth, and rounding must not choose between them.
DIGITS = 9

# Distances to prototypes held at once, some 32 MB.
_TILE = 4_000_000


class CohortLinks(NamedTuple):
    """Neighbouring cohorts, wanted and found, as pairs of rows of the prototypes, the smaller first.

    ``kept`` are wanted and found, ``lost`` wanted but not found, ``added`` found without being wanted;
    arrays of shape (number, 2).
    """

    kept: IntArray
    lost: IntArray
    added: IntArray

    @property
    def share(self) -> float:
        """The share of the wanted links that is kept: S_c^(r)."""
        return len(self.kept) / (len(self.kept) + len(self.lost))


def cohort_separation(Z: Any, y: Any) -> float:
    """Give the share of samples whose nearest other sample on the map is of their own cohort: S_s.

    Parameters
    ----------
    Z : array of shape (n, k)
        Places on the map; samples with NaN are left out.
    y : sequence of length n, or Cohorts
        Cohorts, of any type; samples without one (None, NaN, or −1 among whole numbers) are left out.

    Returns
    -------
    float
        From 0 to 1. Where several samples share the nearest place, the share of them that is of the
        cohort counts, which is what choosing among them at random gives on average.

    Examples
    --------
    >>> cohort_separation([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])
    1.0
    >>> cohort_separation([[0.0], [0.1], [5.0], [5.1]], ["a", "b", "a", "b"])
    0.0
    """
    places, cohorts, kept = _labelled(Z, y)
    places, codes = places[kept], cohorts.codes[kept]
    if len(codes) < 2:
        raise DataError(
            f"{len(codes)} samples have both a place and a cohort; a nearest other one needs at least two."
        )
    spots, spot = np.unique(places, axis=0, return_inverse=True)
    spot = spot.ravel()
    # Samples of each cohort in each spot, looked up by one number for the two.
    both = spot * len(cohorts.names) + codes
    pairs, counts = np.unique(both, return_counts=True)
    crowd = np.bincount(spot)
    shared = crowd[spot] > 1
    alike = np.zeros(len(codes))
    alike[shared] = (counts[np.searchsorted(pairs, both[shared])] - 1) / (crowd[spot[shared]] - 1)
    alone = np.flatnonzero(~shared)
    if len(alone):
        next_spot = _next_spots(spots)[spot[alone]]
        wanted = next_spot * len(cohorts.names) + codes[alone]
        at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        alike[alone] = np.where(pairs[at] == wanted, counts[at], 0) / crowd[next_spot]
    return float(alike.mean())


def cohort_position(Z: Any, y: Any, prototypes: Any) -> float:
    """Give the share of samples whose nearest prototype is that of their own cohort: S_c.

    Parameters
    ----------
    Z : array of shape (n, k)
        Places on the map; samples with NaN are left out.
    y : sequence of length n, or Cohorts
        Cohorts, of any type; samples without one are left out.
    prototypes : array of shape (c, k)
        The cohorts' places, in the order of ``read_cohorts(y, n).names``, which is sorted; whole
        numbers may also be the rows themselves, so that a cohort without members keeps its row. For
        eigen-COVA, the prototypes as its map moved them.

    Returns
    -------
    float
        From 0 to 1. Prototypes that are equally near share a sample. A map that is shrunk, shifted or
        turned against its prototypes loses here, even if everything else is right.

    Examples
    --------
    >>> cohort_position([[0.0], [0.4], [0.9], [0.2]], ["a", "a", "b", "b"], [[0.0], [1.0]])
    0.75
    """
    places, cohorts, kept = _labelled(Z, y)
    rows = _rows(cohorts, prototypes)
    targets = _targets(prototypes, rows[kept])
    if targets.shape[1] != places.shape[1]:
        raise DataError(
            f"Z has {places.shape[1]} coordinates and prototypes have {targets.shape[1]}; "
            "both must lie in one space."
        )
    if not kept.any():
        raise DataError("no sample has both a place and a cohort; there is nothing to score.")
    there = np.flatnonzero(~np.isnan(targets).any(axis=1))
    own = np.searchsorted(there, rows[kept])
    places, score = places[kept], 0.0
    step = max(1, _TILE // len(there))
    for start in range(0, len(places), step):
        distance = cdist(places[start : start + step], targets[there], "sqeuclidean")
        nearest_ones = distance == distance.min(axis=1, keepdims=True)
        mine = nearest_ones[np.arange(len(distance)), own[start : start + step]]
        score += float((mine / nearest_ones.sum(axis=1)).sum())
    return score / len(places)


def cohort_neighbors(Z: Any, y: Any, prototypes: Any, k: int = 2, similarity: bool | None = None) -> float:
    """Give the share of neighbouring cohorts that are neighbours on the map as well: S_c^(r).

    Two cohorts are neighbours when one is among the k nearest of the other. Wanted neighbours are those
    of the prototypes, found ones those of the cohorts' mean places.

    Parameters
    ----------
    Z : array of shape (n, k)
        Places on the map; samples with NaN are left out.
    y : sequence of length n, or Cohorts
        Cohorts, of any type; samples without one are left out.
    prototypes : array of shape (c, any) or (c, c)
        Where the cohorts should be, in a space of any dimension; rows as in :func:`cohort_position`.
        Or how they relate, when ``similarity`` says which way.
    k : int
        Nearest cohorts looked at; all others when there are fewer, and then the score is 1.
    similarity : bool, optional
        True if ``prototypes`` is a c × c similarity, False if it is a dissimilarity; by default they
        are places.

    Returns
    -------
    float
        From 0 to 1; cohorts without members are left out. Of equally near cohorts those that come
        first count.

    Examples
    --------
    >>> Z, y = [[0.0], [1.0], [3.0], [7.0]], ["a", "b", "c", "d"]
    >>> cohort_neighbors(Z, y, [[0.0], [1.0], [3.0], [7.0]], k=1)
    1.0
    >>> round(cohort_neighbors(Z, y, [[0.0], [7.0], [1.0], [3.0]], k=1), 3)
    0.333
    """
    return cohort_links(Z, y, prototypes, k, similarity).share


def cohort_links(Z: Any, y: Any, prototypes: Any, k: int = 2, similarity: bool | None = None) -> CohortLinks:
    """List the links between neighbouring cohorts that a map keeps, loses and adds.

    The parameters are those of :func:`cohort_neighbors`, whose value is the ``share`` of the result.
    """
    check_count("k", k)
    places, cohorts, kept = _labelled(Z, y)
    rows = _rows(cohorts, prototypes)[kept]
    there = np.unique(rows)
    if len(there) < 2:
        raise DataError(f"{len(there)} cohorts have members with places; neighbours need at least two.")
    centres = np.vstack([places[kept][rows == row].mean(axis=0) for row in there])
    wanted = _adjacency(_distances(prototypes, there, rows, similarity), k)
    found = _adjacency(cdist(centres, centres), k)

    def pairs(chosen: BoolArray) -> IntArray:
        return there[np.argwhere(np.triu(chosen))]

    return CohortLinks(pairs(wanted & found), pairs(wanted & ~found), pairs(found & ~wanted))


def cohorts_of(y: Any, n: int) -> Cohorts:
    """Read the cohorts of n samples, or take them as they are."""
    if not isinstance(y, Cohorts):
        return read_cohorts(y, n)
    if len(y.codes) != n:
        raise DataError(f"y has {len(y.codes)} cohorts for {n} samples; give one for every sample.")
    return y


def places_of(Z: Any) -> FloatArray:
    """Check the places of samples on a map: numbers, or NaN for samples left out."""
    places = np.asarray(Z, dtype=np.float64)
    if places.ndim != 2:
        raise DataError(f"Z has shape {places.shape}; expected a table of samples by coordinates.")
    if np.isinf(places).any():
        raise DataError("Z has infinite coordinates; expected numbers, or NaN for samples left out.")
    return places


def _labelled(Z: Any, y: Any) -> tuple[FloatArray, Cohorts, BoolArray]:
    """Check places and cohorts, and say which samples have both."""
    places = places_of(Z)
    cohorts = cohorts_of(y, len(places))
    return places, cohorts, ~np.isnan(places).any(axis=1) & (cohorts.codes >= 0)


def _next_spots(spots: FloatArray) -> IntArray:
    """Give the spot nearest to each one; all differ."""
    if spots.shape[1] > FEW_DIMENSIONS:
        return nearest_others(CohortSpace.of(spots, "euclidean"))
    _, found = nearest(spots, spots, 2)
    return np.where(found[:, 0] == np.arange(len(spots)), found[:, 1], found[:, 0])


def _rows(cohorts: Cohorts, prototypes: Any) -> IntArray:
    """Give the prototype row of every sample's cohort, −1 where it has none."""
    c = len(prototypes)
    if len(cohorts.names) == c:
        return cohorts.codes
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in cohorts.values)
    if whole and min(cohorts.values) >= 0 and max(cohorts.values) < c:
        values = np.asarray(cohorts.values, dtype=np.int64)
        return np.where(cohorts.codes >= 0, values[cohorts.codes], -1)
    raise DataError(
        f"there are {c} prototypes and {len(cohorts.names)} cohorts in y; expected a prototype for each "
        "cohort, in the sorted order of their labels."
    )


def _targets(prototypes: Any, used: IntArray) -> FloatArray:
    """Check the places of prototypes; only a cohort without members may have none (NaN)."""
    targets = np.asarray(prototypes, dtype=np.float64)
    if targets.ndim != 2:
        raise DataError(f"prototypes has shape {targets.shape}; expected a table of cohorts by coordinates.")
    if np.isinf(targets).any() or np.isnan(targets[used]).any():
        raise DataError("prototypes of cohorts with members have coordinates that are missing or infinite.")
    return targets


def _distances(prototypes: Any, there: IntArray, rows: IntArray, similarity: bool | None) -> FloatArray:
    """Give what orders the cohorts that are there by nearness, as they should be."""
    if similarity is None:
        targets = _targets(prototypes, rows)[there]
        return np.asarray(cdist(targets, targets))
    table = np.asarray(prototypes, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(
            f"prototypes has shape {table.shape}; with similarity={similarity} a square table of cohorts "
            "by cohorts was expected. Leave similarity out to give places."
        )
    table = table[np.ix_(there, there)]
    if not np.isfinite(table).all():
        raise DataError("some entries of the relation between cohorts are missing or infinite.")
    return np.asarray(-table if similarity else table)


def _adjacency(distances: FloatArray, k: int) -> BoolArray:
    """Join each cohort with its k nearest, and the other way round."""
    largest = np.abs(distances).max()
    compared = np.round(distances / largest, DIGITS) if largest > 0 else distances.copy()
    np.fill_diagonal(compared, np.inf)
    chosen = np.argsort(compared, axis=1, kind="stable")[:, : min(k, len(compared) - 1)]
    joined = np.zeros(compared.shape, dtype=bool)
    np.put_along_axis(joined, chosen, True, axis=1)
    return joined | joined.T
