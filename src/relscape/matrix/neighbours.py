"""Exact nearest neighbours between two clouds of points, in bounded memory.

All distances come from one formula, the sum of squared differences in the order of the
coordinates. It has no cancelling digits, so points that coincide are at distance 0 exactly, equal
places give equal distances, and the number of threads never changes a result.

Up to ten dimensions a kd-tree answers; beyond, where trees no longer help, every query is compared
with all points in one pass over a single row of distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from relscape.errors import DataError, ParameterError
from relscape.protocols import BoolArray, FloatArray, IntArray

__all__ = ["are_near", "count_nearer", "kth_distance", "kth_nearest", "nearest", "pair_squares"]

TREE_DIMENSIONS = 10
# A tree pays off when it can skip most points: not for few of them, nor for a large share as neighbours.
TREE_POINTS_PER_NEIGHBOUR = 32
# Distances whose relative difference is below this may be ordered differently by the tree and by us.
UNCLEAR = 1e-9

# Up to this many distances one plain table is quicker than a tree, or than threads where no tree helps.
FEW_DISTANCES, SOME_DISTANCES = 100_000, 2_000_000
# Up to this many, counting what lies nearer than a pair is quicker than finding the k nearest by a tree.
COUNTED_DISTANCES = 10_000_000


def nearest(points: Any, queries: Any, k: int) -> tuple[FloatArray, IntArray]:
    """Find the ``k`` points nearest to every query.

    Parameters
    ----------
    points : array of shape (n, d)
        Where neighbours are looked for.
    queries : array of shape (q, d)
        Whose neighbours are wanted.
    k : int
        How many, at most n.

    Returns
    -------
    distances, indices : arrays of shape (q, k)
        Sorted by distance, equal distances by index; also at the border, where the lowest index is kept.
    """
    points, queries = _clouds(points, queries, k)
    if not _tree_helps(points, k):
        squares, indices = _scan(_by_coordinate(points), queries, k)
        return np.sqrt(squares), indices
    asked = min(k + 1, len(points))
    far, indices = _tree(points).query(queries, k=np.arange(1, asked + 1), workers=-1)
    unclear: BoolArray = np.zeros(len(queries), dtype=bool)
    if asked > k:
        unclear = far[:, k] - far[:, k - 1] <= UNCLEAR * far[:, k]
    indices = np.sort(indices[:, :k], axis=1).astype(np.int64)
    whose = np.repeat(np.arange(len(queries)), k)
    squares = pair_squares(queries, points, whose, indices.ravel()).reshape(indices.shape)
    order = np.argsort(squares, axis=1, kind="stable")
    squares, indices = np.take_along_axis(squares, order, 1), np.take_along_axis(indices, order, 1)
    if unclear.any():
        squares[unclear], indices[unclear] = _scan(_by_coordinate(points), queries[unclear], k)
    return np.sqrt(squares), indices


def kth_distance(points: Any, queries: Any, k: int) -> FloatArray:
    """Give the distance from every query to its ``k``-th nearest point."""
    points, queries = _clouds(points, queries, k)
    tree_helps = _tree_helps(points, k)
    if len(points) * len(queries) <= (FEW_DISTANCES if tree_helps else SOME_DISTANCES):
        return np.asarray(np.partition(cdist(queries, points), k - 1, axis=1)[:, k - 1])
    if tree_helps:
        return np.asarray(_tree(points).query(queries, k=[k], workers=-1)[0][:, 0])
    squares, _ = kth_nearest(points, queries, k)
    return np.sqrt(squares)


def are_near(
    points: Any, queries: Any, whose: IntArray, squares: FloatArray, k: int, slack: float = 0.0
) -> BoolArray:
    """Tell whether points at squared distances from the queries ``whose`` are among their ``k`` nearest.

    Points at equal distance all count, also where distances differ relatively by less than ``slack``.
    """
    points, queries = _clouds(points, queries, k)
    if len(points) * len(whose) <= COUNTED_DISTANCES:
        borders = squares / (1.0 + slack) ** 2
        return np.asarray(_count_within(_by_coordinate(points), queries, whose, borders) < k)
    asked, place = np.unique(whose, return_inverse=True)
    return np.asarray(np.sqrt(squares) <= kth_distance(points, queries[asked], k)[place] * (1.0 + slack))


def kth_nearest(points: Any, queries: Any, k: int) -> tuple[FloatArray, IntArray]:
    """Give the squared distance and the index of every query's ``k``-th nearest point.

    Points at equal distance are ordered by index, so a point p belongs to the ``k`` nearest exactly
    when its (squared distance, index) is not larger than this pair, taken as in a dictionary.
    """
    points, queries = _clouds(points, queries, k)
    squares, indices = _kth(_by_coordinate(points), queries, k)
    return squares, indices


def count_nearer(points: Any, queries: Any, targets: IntArray) -> IntArray:
    """Count the points that come before given ones in the order of distance.

    Parameters
    ----------
    points, queries : arrays of shape (n, d) and (q, d)
    targets : array of shape (q, t)
        Indices of the points asked about, for every query its own.

    Returns
    -------
    array of shape (q, t)
        How many points lie nearer to the query than the target, or equally near with a lower index.
        One more is the target's rank.
    """
    points, queries = _clouds(points, queries, 1)
    targets = np.ascontiguousarray(targets, dtype=np.int64)
    if targets.ndim != 2 or len(targets) != len(queries):
        raise ParameterError(
            f"targets has shape {targets.shape}; expected one row for each of {len(queries)} queries."
        )
    if targets.size and not 0 <= targets.min() <= targets.max() < len(points):
        raise ParameterError(f"targets must be indices of the {len(points)} points.")
    counts: IntArray = _count(_by_coordinate(points), queries, targets)
    return counts


def pair_squares(first: FloatArray, second: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
    """Give the squared distances of the pairs ``first[i], second[j]``, by the same formula as all others."""
    squares = np.zeros(len(i))
    for axis in range(first.shape[1]):
        squares += (first[i, axis] - second[j, axis]) ** 2
    return squares


def _clouds(points: Any, queries: Any, k: int) -> tuple[FloatArray, FloatArray]:
    points = np.ascontiguousarray(points, dtype=np.float64)
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    if points.ndim != 2 or queries.ndim != 2 or points.shape[1] != queries.shape[1]:
        raise DataError(
            f"points {points.shape} and queries {queries.shape} must be two tables of coordinates "
            "with the same number of columns."
        )
    if not (np.isfinite(points).all() and np.isfinite(queries).all()):
        raise DataError(
            "some coordinates are not finite; leave those objects out before asking for neighbours."
        )
    if not 1 <= k <= len(points):
        raise ParameterError(f"k={k}: among {len(points)} points there are 1 to {len(points)} neighbours.")
    return points, queries


def _tree_helps(points: FloatArray, k: int) -> bool:
    return points.shape[1] <= TREE_DIMENSIONS and k * TREE_POINTS_PER_NEIGHBOUR <= len(points)


def _tree(points: FloatArray) -> cKDTree:
    # Splitting at midpoints instead of medians stays fast when many points coincide.
    return cKDTree(points, balanced_tree=False)


def _by_coordinate(points: FloatArray) -> FloatArray:
    """Lay points out one coordinate after the other, so that the inner loops run over points."""
    return np.ascontiguousarray(points.T)


@njit(cache=True)
def _squares(axes, query):  # type: ignore[no-untyped-def]
    squares = np.zeros(axes.shape[1])
    for axis in range(axes.shape[0]):
        at = query[axis]
        coordinate = axes[axis]
        for p in range(squares.size):
            gap = coordinate[p] - at
            squares[p] += gap * gap
    return squares


@njit(cache=True)
def _kth_smallest(values, k):  # type: ignore[no-untyped-def]
    """Select the k-th smallest; that of the first values bounds it and discards most of the others."""
    head = min(values.size, max(k, 1024))
    bound = np.partition(values[:head], k - 1)[k - 1]
    if head == values.size:
        return bound
    return np.partition(values[values <= bound], k - 1)[k - 1]


@njit(parallel=True, cache=True)
def _scan(axes, queries, k):  # type: ignore[no-untyped-def]
    found_squares = np.empty((queries.shape[0], k))
    found = np.empty((queries.shape[0], k), np.int64)
    for q in prange(queries.shape[0]):
        squares = _squares(axes, queries[q])
        border = _kth_smallest(squares, k)
        at_border = k - np.sum(squares < border)
        chosen = np.empty(k, np.int64)
        count = 0
        for p in range(squares.size):
            if squares[p] < border:
                chosen[count] = p
                count += 1
            elif squares[p] == border and at_border > 0:
                chosen[count] = p
                count += 1
                at_border -= 1
        order = np.argsort(squares[chosen], kind="mergesort")
        found[q] = chosen[order]
        found_squares[q] = squares[chosen][order]
    return found_squares, found


@njit(parallel=True, cache=True)
def _kth(axes, queries, k):  # type: ignore[no-untyped-def]
    borders = np.empty(queries.shape[0])
    last = np.empty(queries.shape[0], np.int64)
    for q in prange(queries.shape[0]):
        squares = _squares(axes, queries[q])
        border = _kth_smallest(squares, k)
        at_border = k - np.sum(squares < border)
        p = -1
        while at_border > 0:
            p += 1
            if squares[p] == border:
                at_border -= 1
        borders[q] = border
        last[q] = p
    return borders, last


@njit(parallel=True, cache=True)
def _count_within(axes, queries, whose, borders):  # type: ignore[no-untyped-def]
    counts = np.zeros(whose.size, np.int64)
    for pair in prange(whose.size):
        squares = _squares(axes, queries[whose[pair]])
        border = borders[pair]
        before = 0
        for p in range(squares.size):
            before += squares[p] < border
        counts[pair] = before
    return counts


@njit(parallel=True, cache=True)
def _count(axes, queries, targets):  # type: ignore[no-untyped-def]
    counts = np.zeros(targets.shape, np.int64)
    for q in prange(queries.shape[0]):
        squares = _squares(axes, queries[q])
        for t in range(targets.shape[1]):
            target = targets[q, t]
            border = squares[target]
            before = 0
            for p in range(target):
                before += squares[p] <= border
            for p in range(target, squares.size):
                before += squares[p] < border
            counts[q, t] = before
    return counts
