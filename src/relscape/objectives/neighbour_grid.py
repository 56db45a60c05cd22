"""Repulsion of points in the plane by way of a grid: work that grows with the points, not with their pairs.

The push on a point, Σ_j q_ij² (z_i − z_j) with q = 1/(1 + squared distance), is −½ times the slope of the
potential Σ_j q_ij. Points are spread over the nodes of a grid by smooth weights (B-splines of degree five),
one convolution by Fourier transforms gives the potential at the nodes, and the same weights and their slopes
give it back at the points: as in the smooth particle mesh Ewald method (Essmann et al. 1995), without the
near part, since this kernel is smooth. The forces are the exact slopes of the potential so approximated.

Points are spread in a fixed number of blocks with nodes of their own, which are added in order, so that the
number of threads never changes a result.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log2

import numpy as np
from numba import get_num_threads, njit, prange
from scipy import fft

from relscape.protocols import FloatArray

__all__ = ["grid_nodes", "grid_repulsion"]

_SPACING = 1 / 3  # between nodes, the kernel having width 1: forces are then right to about a thousandth
_FEWEST = 32  # nodes that a small map extends over, closer to each other
_REACH = 6  # nodes of an axis over which a point is spread
_MARGIN = 32  # nodes kept free, where the wrapped kernel is not smooth
_STEP = 16  # grids grow by so many nodes, so that a growing map uses one kernel for a while
_BLOCKS = 4
_ROWS = 256  # points read back together


def grid_nodes(Z: FloatArray) -> int:
    """Count the nodes of the grid that a map needs: what its repulsion costs beside its points."""
    spans = np.ptp(Z, axis=0)
    rows, columns = _wrapped(_shape(spans / _spacing(spans)))
    return rows * columns


def grid_repulsion(Z: FloatArray) -> tuple[FloatArray, float]:
    """Give the push on every point (n × k) and the sum of all q_ij, i ≠ j, on one or two axes.

    The places must be finite and not all the same.
    """
    n, k = Z.shape
    spacing = _spacing(np.ptp(Z, axis=0))
    # Places in units of nodes; on one axis all points lie on a line in the plane.
    places = np.zeros((n, 2))
    places[:, :k] = (Z - Z.min(axis=0)) / spacing
    shape = _shape(places.max(axis=0))
    wrapped = _wrapped(shape)
    threads = get_num_threads()
    spread = np.zeros((_BLOCKS, *shape))
    _spread(places, spread)
    waves = fft.rfft2(spread.sum(axis=0), wrapped, workers=threads)
    waves *= _kernel_waves(*wrapped, spacing)
    nodes = fft.irfft2(waves, wrapped, workers=threads)[: shape[0], : shape[1]]
    potential, slopes = np.empty(n), np.empty((n, 2))
    _read(places, np.ascontiguousarray(nodes), potential, slopes)
    return slopes[:, :k] * (-0.5 / spacing), float((potential - 1.0).sum())


def _spacing(spans: FloatArray) -> float:
    """Give the distance of nodes: halved, and halved again, until a small map extends over enough of them."""
    return _SPACING * 0.5 ** max(0, ceil(log2(_FEWEST * _SPACING / spans.max())))


def _shape(tops: FloatArray) -> tuple[int, int]:
    """Give the nodes needed on each of the two axes, from the largest places; the second may be missing."""
    rows, columns = (-(-(int(top) + _REACH + 1) // _STEP) * _STEP for top in (*tops, 0.0)[:2])
    return rows, columns


def _wrapped(shape: tuple[int, int]) -> tuple[int, int]:
    """Give the size of a grid on which the two ends of a map do not meet, fit for fast transforms."""
    rows, columns = (fft.next_fast_len(2 * size + _MARGIN, real=True) for size in shape)
    return rows, columns


@lru_cache(maxsize=4)
def _kernel_waves(rows: int, columns: int, spacing: float) -> FloatArray:
    """Give the transform of the kernel on a wrapped grid, divided twice by that of the spline."""
    first = np.minimum(np.arange(rows), rows - np.arange(rows)) * spacing
    second = np.minimum(np.arange(columns), columns - np.arange(columns)) * spacing
    kernel = 1.0 / (1.0 + first[:, None] ** 2 + second[None, :] ** 2)
    waves = fft.rfft2(kernel).real
    waves /= _spline_waves(rows)[:, None] ** 2
    waves /= _spline_waves(columns)[None, : columns // 2 + 1] ** 2
    return np.ascontiguousarray(waves)


def _spline_waves(size: int) -> FloatArray:
    """Give the transform of the spline at whole numbers: 66, 26 and 1 in 120 at distances 0, 1 and 2."""
    angle = 2.0 * np.pi * np.arange(size) / size
    return (66.0 + 52.0 * np.cos(angle) + 2.0 * np.cos(2.0 * angle)) / 120.0


@njit(cache=True, error_model="numpy")
def _weights(part, weights, slopes):  # type: ignore[no-untyped-def]
    """Write the spline's values at a point's six nodes, and their slopes, for the part of a node it is past.

    Built up from degree to degree: M_{p+1}(x) = (x M_p(x) + (p + 1 − x) M_p(x − 1))/p.
    """
    weights[0] = 1.0 - part
    weights[1] = part
    for p in range(2, _REACH):
        if p == _REACH - 1:
            slopes[0] = -weights[0]
            for a in range(1, p):
                slopes[a] = weights[a - 1] - weights[a]
            slopes[p] = weights[p - 1]
        weights[p] = part * weights[p - 1] / p
        for a in range(p - 1, 0, -1):
            weights[a] = ((part + p - a) * weights[a - 1] + (a + 1 - part) * weights[a]) / p
        weights[0] = (1.0 - part) * weights[0] / p


@njit(parallel=True, cache=True, error_model="numpy")
def _spread(places, grids):  # type: ignore[no-untyped-def]
    n = places.shape[0]
    for block in prange(_BLOCKS):
        first, second, slopes = np.empty(_REACH), np.empty(_REACH), np.empty(_REACH)
        grid = grids[block]
        for i in range(block * n // _BLOCKS, (block + 1) * n // _BLOCKS):
            row, column = int(places[i, 0]), int(places[i, 1])
            _weights(places[i, 0] - row, first, slopes)
            _weights(places[i, 1] - column, second, slopes)
            for a in range(_REACH):
                for b in range(_REACH):
                    grid[row + a, column + b] += first[a] * second[b]


@njit(parallel=True, cache=True, error_model="numpy")
def _read(places, nodes, potential, slopes):  # type: ignore[no-untyped-def]
    n = places.shape[0]
    for block in prange((n + _ROWS - 1) // _ROWS):
        first, second = np.empty(_REACH), np.empty(_REACH)
        along, across = np.empty(_REACH), np.empty(_REACH)
        for i in range(block * _ROWS, min((block + 1) * _ROWS, n)):
            row, column = int(places[i, 0]), int(places[i, 1])
            _weights(places[i, 0] - row, first, along)
            _weights(places[i, 1] - column, second, across)
            value, x, y = 0.0, 0.0, 0.0
            for a in range(_REACH):
                level, slope = 0.0, 0.0
                for b in range(_REACH):
                    node = nodes[row + a, column + b]
                    level += second[b] * node
                    slope += across[b] * node
                value += first[a] * level
                x += along[a] * level
                y += first[a] * slope
            potential[i] = value
            slopes[i, 0] = x
            slopes[i, 1] = y
