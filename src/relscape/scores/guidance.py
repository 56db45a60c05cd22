"""How much of the guidance a map satisfies: similar pairs near, dissimilar ones far.

Gress and Davidson (2014) look at the distances of all pairs of two kinds and ask which share of the similar
ones is shorter than τ times their mean, for many τ, and which share is among the shorter half of all.
Neither changes with the scale of the map.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape.data.relation import relation_matrix, without_zeros
from relscape.errors import DataError, ParameterError
from relscape.matrix.neighbours import pair_squares
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.scores.neighbourhood import placed_part

__all__ = ["Satisfaction", "guidance_satisfaction", "guided_places", "guided_weights"]

# Distances held at once, some 8 MB, and how many of those around the median are sorted out in one go.
_TILE = 1_000_000

# Bits of a distance that one pass over all pairs settles, where they are too many to be held.
_BITS = 16


class Satisfaction(NamedTuple):
    """Which shares of guided pairs lie as they should, as :func:`guidance_satisfaction` measures them.

    ``similar[t]`` of the similar pairs are nearer than ``thresholds[t]`` times the mean distance of all
    pairs, and ``dissimilar[t]`` of the dissimilar ones farther. ``closest_half`` of the similar pairs are
    among the closest half of all pairs; chance is ½. NaN where there are no such pairs.
    """

    thresholds: FloatArray
    similar: FloatArray
    dissimilar: FloatArray
    closest_half: float


class _Distances(NamedTuple):
    """All squared distances of two kinds, or of one with itself, walked over in blocks and never kept."""

    rows: FloatArray
    columns: FloatArray
    within: bool

    @property
    def size(self) -> int:
        """The number of pairs; within one kind no thing is paired with itself."""
        return len(self.rows) * (len(self.columns) - self.within)

    def blocks(self) -> Iterator[FloatArray]:
        """Walk over the squared distances, by the formula of :func:`pair_squares`, to the same last digit."""
        n = len(self.columns)
        step = max(1, _TILE // n)
        for start in range(0, len(self.rows), step):
            part = self.rows[start : start + step]
            squares = np.zeros((len(part), n))
            for axis in range(part.shape[1]):
                squares += np.subtract.outer(part[:, axis], self.columns[:, axis]) ** 2
            own = np.arange(len(part))
            yield np.delete(squares, own * n + start + own) if self.within else squares.ravel()

    def mean(self) -> float:
        """Give the mean distance; blocks are summed in order and without rounding between them."""
        return math.fsum(float(np.sqrt(squares).sum()) for squares in self.blocks()) / self.size


def guidance_satisfaction(W: Any, rows: Any, columns: Any = None, thresholds: Any = None) -> Satisfaction:
    """Measure which shares of similar pairs are near, and of dissimilar ones far.

    Parameters
    ----------
    W : array or sparse array of shape (m, n)
        Guidance: above 0 for similar pairs, below 0 for dissimilar ones, 0 where nothing is known. How far
        from 0 does not matter.
    rows, columns : arrays of shape (m, k) and (n, k)
        Coordinates in one space; things with NaN are left out, with all that W says of them. Without
        columns W is about pairs of rows, and no thing is paired with itself.
    thresholds : sequence of float, optional
        The τ, in units of the mean distance of all pairs, guided or not. By default 0, 0.05, …, 2.

    Returns
    -------
    Satisfaction
        The shares at each threshold (``similar``, ``dissimilar``), and the share of similar pairs among the
        closest half of all pairs (``closest_half``). Pairs at exactly the median distance count by the part
        of them that belongs to the half, so that a map with all things in one place has ½.

    Notes
    -----
    Distances are computed in blocks and not kept. Their mean takes one pass. The median is exact: where
    there are too many pairs to hold, passes that count settle sixteen of its bits each, until those left
    fit into memory.

    Examples
    --------
    >>> found = guidance_satisfaction([[1, 0], [0, 1]], [[0.0], [4.0]], [[1.0], [4.0]], [0.2, 1.0])
    >>> found.similar.tolist(), found.closest_half
    ([0.5, 1.0], 1.0)
    """
    at = _thresholds(thresholds)
    weights, left, right = guided_places(W, rows, columns)
    if not weights.nnz:
        raise DataError("W has no pairs of things with coordinates, other than 0; there is nothing to score.")
    distances = _Distances(left, right, columns is None)
    i = np.repeat(np.arange(len(left)), np.diff(weights.indptr))
    squares = pair_squares(left, right, i, weights.indices)
    similar, dissimilar = (np.sort(squares[chosen]) for chosen in (weights.data > 0, weights.data < 0))
    borders = at * distances.mean()
    return Satisfaction(
        at,
        _shares(np.searchsorted(np.sqrt(similar), borders, side="left"), len(similar)),
        _shares(
            len(dissimilar) - np.searchsorted(np.sqrt(dissimilar), borders, side="right"), len(dissimilar)
        ),
        _closest_half(similar, distances) if len(similar) else float("nan"),
    )


def guided_weights(W: Any, name: str = "W") -> SparseArray:
    """Check a matrix of guidance, dense or sparse, and leave its zeros out."""
    weights = without_zeros(relation_matrix(W, name))
    if 0 in weights.shape:
        raise DataError(f"{name} has shape {weights.shape}; it needs at least one row and one column.")
    if not np.isfinite(weights.data).all():
        raise DataError(
            f"{name} has weights that are missing or infinite; expected numbers, 0 for no guidance."
        )
    return weights


def guided_places(W: Any, rows: Any, columns: Any) -> tuple[SparseArray, FloatArray, FloatArray]:
    """Check guidance with the coordinates of its things, and keep the things that have some.

    Without columns the guidance is within one kind; what it says of a thing and itself is left out.
    """
    weights = guided_weights(W)
    if columns is not None:
        return placed_part(weights, rows, columns, "W")
    if weights.shape[0] != weights.shape[1]:
        raise DataError(
            f"W is {weights.shape[0]} × {weights.shape[1]}, but guidance within one kind is square; give "
            "columns, where W is about two kinds."
        )
    cells = weights.tocoo()
    i, j = cells.coords
    others = csr_array((cells.data[i != j], (i[i != j], j[i != j])), shape=weights.shape)
    return placed_part(others, rows, rows, "W")


def _thresholds(given: Any) -> FloatArray:
    if given is None:
        return np.linspace(0.0, 2.0, 41)
    at = np.asarray(given, dtype=np.float64)
    if at.ndim != 1 or at.size == 0 or not (np.isfinite(at) & (at >= 0)).all():
        raise ParameterError(
            f"thresholds={given!r}: expected a list of finite numbers from 0 upwards, in mean distances."
        )
    return at


def _shares(counts: IntArray, of: int) -> FloatArray:
    return np.full(len(counts), np.nan) if of == 0 else counts / of


def _closest_half(similar: FloatArray, distances: _Distances) -> float:
    """Give the share of sorted squared distances among the shorter half of all.

    Those level with the median count by the part of all level ones that belongs to the half.
    """
    median, nearer, level = _order_statistic(distances, (distances.size - 1) // 2)
    before, until = (int(np.searchsorted(similar, median, side=side)) for side in ("left", "right"))
    return (before + (until - before) * (distances.size / 2 - nearer) / level) / len(similar)


def _order_statistic(distances: _Distances, place: int) -> tuple[float, int, int]:
    """Find the squared distance at a place of their order, how many are smaller, and how many equal it.

    Floats from 0 upwards are ordered as their bits read as whole numbers. Each pass counts, among the
    distances that share the leading bits settled so far, how many have which next ones.
    """
    shift, leading, nearer, left = 64, 0, 0, distances.size
    while left > _TILE and shift > 0:
        shift -= _BITS
        counts = np.zeros(1 << _BITS, dtype=np.int64)
        for bits in _sharing(distances, shift + _BITS, leading):
            counts += np.bincount((bits >> shift) & ((1 << _BITS) - 1), minlength=1 << _BITS)
        until = np.cumsum(counts)
        found = int(np.searchsorted(until, place - nearer, side="right"))
        nearer += int(until[found] - counts[found])
        leading, left = leading << _BITS | found, int(counts[found])
    if shift == 0:
        return float(np.int64(leading).view(np.float64)), nearer, left
    held = np.concatenate([*_sharing(distances, shift, leading)])
    bits = np.partition(held, place - nearer)[place - nearer]
    return float(bits.view(np.float64)), nearer + int((held < bits).sum()), int((held == bits).sum())


def _sharing(distances: _Distances, shift: int, leading: int) -> Iterator[IntArray]:
    """Walk over the bits of squared distances whose leading ones, all above ``shift``, are given."""
    for squares in distances.blocks():
        bits = squares.view(np.int64)
        yield bits if shift == 64 else bits[bits >> shift == leading]
