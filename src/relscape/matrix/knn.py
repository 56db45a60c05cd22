"""The nearest samples of every sample, for dense and sparse features, exact or approximate.

Up to twenty thousand sparse samples, a hundred thousand dense ones of fifty features, and any number of
up to ten features, the answer is exact. Matrix products find the candidates, and the final distances come
from one formula, the sum of squared differences: samples that coincide are at distance 0 exactly, equal
distances go to the lower index, and neither the number of threads nor the size of a block changes a
result. Larger sets are searched by nearest-neighbour descent (Dong, Moses and Li 2011), whose finds are
measured by the same formula.

Cosine distance is 1 − cos, computed as half the squared distance of unit vectors. A vector of zeros
has no direction: its cosine with everything is 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.matrix.neighbours import TREE_DIMENSIONS, nearest
from relscape.matrix.pair_distances import Cloud
from relscape.protocols import FloatArray, IntArray

__all__ = ["neighbours", "neighbours_of", "pairs_nearby"]

METRICS = ("euclidean", "cosine")
# Below these, starting up the approximate search takes longer than measuring all distances: samples where
# they are sparse, otherwise n² (d + 50).
EXACT_SAMPLES, EXACT_WORK = 20_000, 1e12
# From so many distances on, candidates are found by scikit-learn, several times as fast.
MANY_DISTANCES = 1_000_000
BLOCK_ENTRIES = 1_000_000
DESCENT_SEED = 0


def neighbours(
    X: Any, k: int, metric: str = "euclidean", random_state: np.random.Generator | None = None
) -> tuple[FloatArray, IntArray]:
    """Find the ``k`` nearest other samples of every sample.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        The samples.
    k : int
        How many, at most n − 1.
    metric : {"euclidean", "cosine"}
    random_state : numpy.random.Generator, optional
        Seeds the approximate search; without it, it is always seeded alike.

    Returns
    -------
    distances, indices : arrays of shape (n, k)
        Sorted by distance, equal distances by index. A sample is never its own neighbour, one that
        coincides with it may be.
    """
    cloud = _cloud(X, metric)
    if not 1 <= k < cloud.n:
        raise ParameterError(f"k={k}: among {cloud.n} samples each has 1 to {cloud.n - 1} others.")
    if _suits_tree(X, metric):
        return _without_self(*nearest(X, X, k + 1))
    if _few_enough(cloud, k):
        return _exact(cloud, cloud, k, np.arange(cloud.n))
    return _approximate(cloud, k, random_state)


def neighbours_of(X: Any, X_new: Any, k: int, metric: str = "euclidean") -> tuple[FloatArray, IntArray]:
    """Find the ``k`` samples of ``X`` nearest to every new sample, exactly.

    Returns
    -------
    distances, indices : arrays of shape (q, k)
        Sorted by distance, equal distances by index.
    """
    cloud, new = _clouds(X, X_new, k, metric)
    if _suits_tree(X, metric) and not issparse(X_new):
        return nearest(X, X_new, k)
    return _exact(cloud, new, k)


def pairs_nearby(
    X: Any, X_new: Any, k: int, reach: FloatArray, metric: str = "euclidean"
) -> tuple[IntArray, IntArray, FloatArray]:
    """Find the pairs of a new and an old sample of which one is near the other.

    The old sample is among the ``k`` nearest of the new one, or the new one lies within the old
    one's ``reach``.

    Parameters
    ----------
    X, X_new : arrays or sparse arrays of shapes (n, d) and (q, d)
    k : int
        Neighbours of a new sample.
    reach : array of shape (n,)
        How far the neighbourhood of each old sample extends.
    metric : {"euclidean", "cosine"}

    Returns
    -------
    rows, columns, distances : arrays of equal length
        The new samples, the old ones and how far they are apart, sorted by new sample and then as
        :func:`neighbours_of` sorts.
    """
    cloud, new = _clouds(X, X_new, k, metric)
    reach = np.asarray(reach, dtype=np.float64)
    limits = cloud.squares_of(reach)
    parts = []
    for block, squares in _blocks(cloud, new):
        slack = cloud.slack(new, block)
        border = np.partition(squares, k - 1, axis=1)[:, k - 1] + slack
        inside = (squares <= border[:, None]) | (squares <= limits + slack[:, None])
        i, j = np.nonzero(inside)
        exact = new.pair_squares(cloud, i + block.start, j)
        order = np.lexsort((j, exact, i))
        i, j, distances = i[order], j[order], cloud.distances_of(exact[order])
        starts = np.searchsorted(i, np.arange(len(squares)))
        kept = (np.arange(i.size) - starts[i] < k) | (distances <= reach[j])
        parts.append((i[kept] + block.start, j[kept], distances[kept]))
    rows, columns, all_distances = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    return rows, columns, all_distances


def _cloud(X: Any, metric: str) -> Cloud:
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    return Cloud.of(X, metric == "cosine")


def _clouds(X: Any, X_new: Any, k: int, metric: str) -> tuple[Cloud, Cloud]:
    if issparse(X) != issparse(X_new):
        X, X_new = csr_array(X), csr_array(X_new)
    cloud, new = _cloud(X, metric), _cloud(X_new, metric)
    if cloud.d != new.d:
        raise DataError(
            f"the new samples have {new.d} features, those they are compared with {cloud.d}; "
            "give the same features in the same order."
        )
    if not 1 <= k <= cloud.n:
        raise ParameterError(f"k={k}: among {cloud.n} samples there are 1 to {cloud.n} neighbours.")
    return cloud, new


def _suits_tree(X: Any, metric: str) -> bool:
    return metric == "euclidean" and not issparse(X) and np.shape(X)[1] <= TREE_DIMENSIONS


def _few_enough(cloud: Cloud, k: int) -> bool:
    used = np.count_nonzero(cloud.directed)
    if used <= max(EXACT_SAMPLES, k):
        return True
    return not issparse(cloud.table) and float(used) ** 2 * (cloud.d + 50) <= EXACT_WORK


def _without_self(distances: FloatArray, indices: IntArray) -> tuple[FloatArray, IntArray]:
    """Take each sample out of its own list, or the last entry where it is not in it."""
    n, width = indices.shape
    own = indices == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return distances[~own].reshape(n, width - 1), indices[~own].reshape(n, width - 1)


def _blocks(cloud: Cloud, new: Cloud) -> Iterator[tuple[slice, FloatArray]]:
    """Walk over the squared distances of new and old samples, as matrix products round them."""
    rows = max(1, BLOCK_ENTRIES // cloud.n)
    for first in range(0, new.n, rows):
        block = slice(first, min(first + rows, new.n))
        yield block, new.rounded_squares(cloud, block)


def _exact(cloud: Cloud, new: Cloud, k: int, own: IntArray | None = None) -> tuple[FloatArray, IntArray]:
    """Find neighbours from all distances; ``own`` names one old sample a new one may not have."""
    dense = not issparse(cloud.table) and not issparse(new.table)
    if dense and cloud.directed.all() and new.directed.all() and cloud.n * new.n > MANY_DISTANCES:
        return _among_candidates(cloud, new, k, own)
    return _among_all(cloud, new, k, own)


def _among_candidates(cloud: Cloud, new: Cloud, k: int, own: IntArray | None) -> tuple[FloatArray, IntArray]:
    """Measure a candidate more than is chosen; where it is as near as the last one chosen, measure all."""
    from sklearn.neighbors import NearestNeighbors

    asked = min(k + 1 + (own is not None), cloud.n)
    search = NearestNeighbors(n_neighbors=asked, algorithm="brute").fit(cloud.table)
    found = np.sort(search.kneighbors(new.table, return_distance=False), axis=1)
    i, j = np.repeat(np.arange(new.n), asked), found.ravel()
    squares = new.pair_squares(cloud, i, j).reshape(found.shape)
    farthest = squares.max(axis=1)
    if own is not None:
        squares[found == own[:, None]] = np.inf
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    found, squares = np.take_along_axis(found, order, 1), np.take_along_axis(squares, order, 1)
    distances = cloud.distances_of(squares)
    slack = cloud.slack(new, slice(0, new.n))
    unclear = np.flatnonzero(~(squares[:, -1] + slack < farthest)) if asked < cloud.n else np.array([], int)
    if unclear.size:
        rest = None if own is None else own[unclear]
        distances[unclear], found[unclear] = _among_all(cloud, new.rows(unclear), k, rest)
    return distances, found


def _among_all(cloud: Cloud, new: Cloud, k: int, own: IntArray | None = None) -> tuple[FloatArray, IntArray]:
    """Find neighbours from all distances, block by block."""
    found, squares_found = np.empty((new.n, k), np.int64), np.empty((new.n, k))
    for block, squares in _blocks(cloud, new):
        count = np.arange(len(squares))
        if own is not None:
            squares[count, own[block]] = np.inf
        border = np.partition(squares, k - 1, axis=1)[:, k - 1] + cloud.slack(new, block)
        i, j = np.nonzero(squares <= border[:, None])
        exact = new.pair_squares(cloud, i + block.start, j)
        order = np.lexsort((j, exact, i))
        first = np.searchsorted(i, count)
        chosen = order[first[:, None] + np.arange(k)]
        found[block], squares_found[block] = j[chosen], exact[chosen]
    return cloud.distances_of(squares_found), found


def _approximate(
    cloud: Cloud, k: int, random_state: np.random.Generator | None
) -> tuple[FloatArray, IntArray]:
    """Find neighbours by descent; samples for which it finds too few are searched exactly."""
    seed = (
        DESCENT_SEED if random_state is None else int(np.random.default_rng(random_state).integers(2**31 - 1))
    )
    used = np.flatnonzero(cloud.directed)
    found: IntArray = np.full((cloud.n, k + 1), -1, dtype=np.int64)
    near = _descent(cloud.table[used], k + 1, seed)
    found[used] = np.where(near >= 0, used[near], -1)
    i, j = np.repeat(np.arange(cloud.n), k + 1), found.ravel()
    squares = np.where(j >= 0, cloud.pair_squares(cloud, i, np.maximum(j, 0)), np.inf)
    squares = squares.reshape(found.shape)
    order = np.lexsort((found, squares))
    squares, found = _without_self(np.take_along_axis(squares, order, 1), np.take_along_axis(found, order, 1))
    distances = cloud.distances_of(squares)
    short = np.flatnonzero((found < 0).any(axis=1))
    if short.size:
        distances[short], found[short] = _exact(cloud, cloud.rows(short), k, short)
    return distances, found


def _descent(table: Any, k: int, seed: int) -> IntArray:
    """Run nearest-neighbour descent; every sample counts among its own neighbours there."""
    from pynndescent import NNDescent

    single = table.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples with too few finds are seen to by the caller
        # With several threads its result depends on their number.
        index = NNDescent(single, n_neighbors=k, random_state=seed, n_jobs=1)
        return np.asarray(index.neighbor_graph[0], dtype=np.int64)
