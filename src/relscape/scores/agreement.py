"""Orders of a cohort's members by nearness, and how far those of two spaces agree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, njit
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from relscape.protocols import AnyArray, FloatArray, IntArray
from relscape.threads import one_thread

__all__ = ["FEW_DIMENSIONS", "CohortSpace", "agreements", "nearest_others"]

# Distances that a thread holds at once, some 8 MB for each of the two spaces.
_TILE = 1_000_000

# Parts that a cohort is dealt with in, at least, so that several threads have something to do.
FEWEST_PARTS = 8

# In few dimensions distances are summed from differences, exact for members that coincide.
FEW_DIMENSIONS = 16


class CohortSpace(NamedTuple):
    """The members of one cohort in one space, ready to be ordered by nearness."""

    points: Any
    norms: FloatArray
    kind: str

    @classmethod
    def of(cls, points: Any, metric: str) -> CohortSpace:
        """Prepare the members' points, dense or sparse, for "euclidean" or "cosine" nearness."""
        if metric == "cosine":
            norms = np.sqrt(_square_norms(points))
            return cls(points, np.where(norms > 0, norms, 1.0), "cosine")
        if issparse(points):
            return cls(points, _square_norms(points), "products")
        # Seen from one of its members a cohort has no large offset, and whole numbers stay whole, so that
        # what is equally near in truth is so in the machine.
        points = points - points[0]
        if points.shape[1] <= FEW_DIMENSIONS:
            return cls(points, np.empty(0), "differences")
        return cls(points, _square_norms(points), "products")

    def from_members(self, part: slice) -> FloatArray:
        """Give values that order all members by nearness to each of some, larger being farther."""
        if self.kind == "differences":
            return np.asarray(cdist(self.points[part], self.points, "sqeuclidean"))
        products = self.points[part] @ self.points.T
        table: AnyArray = products.toarray() if issparse(products) else products
        if self.kind == "cosine":
            table /= -self.norms
        else:
            table *= -2.0
            table += self.norms
        return table


def _square_norms(points: Any) -> FloatArray:
    if issparse(points):
        return np.asarray(points.multiply(points).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", points, points))


def agreements(original: CohortSpace, mapped: CohortSpace, taken: int, reach: int) -> IntArray:
    """Count, over the first ``taken`` members, the neighbours that both lists hold from each size on.

    The entry at κ − 1 counts those that are among the κ nearest in both spaces but not among the κ − 1
    nearest. Parts run in threads; counts are whole numbers, so that any order of adding gives the same.
    """

    def counted(part: slice) -> IntArray:
        found: IntArray = _common(original.from_members(part), mapped.from_members(part), part.start, reach)
        return found

    step = max(1, min(_TILE // original.points.shape[0], -(-taken // FEWEST_PARTS)))
    parts = [slice(start, min(start + step, taken)) for start in range(0, taken, step)]
    counts = np.zeros(reach, dtype=np.int64)
    with one_thread(), ThreadPoolExecutor(get_num_threads()) as threads:
        for found in threads.map(counted, parts):
            counts += found
    return counts


def nearest_others(space: CohortSpace) -> IntArray:
    """Give the member nearest to each one, the first of equally near ones."""
    n = space.points.shape[0]
    step = max(1, _TILE // n)
    found = np.empty(n, dtype=np.int64)
    with one_thread():
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            table = space.from_members(part)
            table[np.arange(len(table)), np.arange(part.start, part.stop)] = np.inf
            found[part] = table.argmin(axis=1)
    return found


@njit(cache=True, nogil=True)
def _common(original, mapped, first, reach):  # type: ignore[no-untyped-def]
    """Count the neighbours by the size from which on both lists hold them; query q is member first + q.

    The larger of a neighbour's two ranks is that size.
    """
    queries, members = original.shape
    counts = np.zeros(reach, np.int64)
    order = np.empty(members, np.int32)
    ends = np.empty(members + 1, np.int32)
    ranks = np.empty(members, np.int32)
    for q in range(queries):
        _nearest_first(original[q], first + q, reach, order, ends)
        ranks[:] = reach
        for place in range(reach):
            ranks[order[place]] = place
        _nearest_first(mapped[q], first + q, reach, order, ends)
        for place in range(reach):
            rank = max(place, ranks[order[place]])
            if rank < reach:
                counts[rank] += 1
    return counts


@njit(cache=True)
def _nearest_first(keys, own, reach, order, ends):  # type: ignore[no-untyped-def]
    """List all members but one in ``order`` by key, equal ones by index; the first ``reach`` come sorted.

    Members are dealt to as many buckets of equal width as there are, which ``ends`` counts, and only the
    buckets are sorted: several times as fast as sorting all of them at once.
    """
    low, high = np.inf, -np.inf
    for p in range(keys.size):
        if p != own:
            low, high = min(low, keys[p]), max(high, keys[p])
    width = high - low
    # Keys whose differences are too small or too large for a machine number share one bucket.
    buckets = keys.size if 1e-200 < width < 1e200 else 1
    scale = (keys.size - 1) / width if buckets > 1 else 0.0
    ends[: buckets + 1] = 0
    for p in range(keys.size):
        if p != own:
            b = int((keys[p] - low) * scale) if buckets > 1 else 0
            ends[b + 1] += 1
    for b in range(buckets):
        ends[b + 1] += ends[b]
    for p in range(keys.size):
        if p != own:
            b = int((keys[p] - low) * scale) if buckets > 1 else 0
            order[ends[b]] = p
            ends[b] += 1
    begin = 0
    for b in range(buckets):
        if begin >= reach:
            break
        _sort_part(keys, order, begin, ends[b])
        begin = ends[b]


@njit(cache=True)
def _sort_part(keys, order, begin, end):  # type: ignore[no-untyped-def]
    """Sort a bucket, whose members come by index; equal ones stay in that order."""
    if end - begin > 32:
        part = order[begin:end].copy()
        order[begin:end] = part[np.argsort(keys[part], kind="mergesort")]
        return
    for p in range(begin + 1, end):
        moved = order[p]
        key = keys[moved]
        free = p
        while free > begin and keys[order[free - 1]] > key:
            order[free] = order[free - 1]
            free -= 1
        order[free] = moved
