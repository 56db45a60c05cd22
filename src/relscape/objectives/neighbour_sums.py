"""Sums of the kernel q = 1/(1 + squared distance): over all pairs, along edges, and over prototypes.

Every row of points owns its outputs and adds up in one order, and totals are taken over the rows afterwards,
so that the number of threads never changes a result. No array of pairs is ever made: a row looks at a few
columns at a time, whose differences it keeps axis by axis, where sums run on vector units.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from relscape.protocols import FloatArray, SparseArray

__all__ = ["all_pairs", "edges", "prototypes"]

FEW_PAIRS = 100_000  # up to here waking other threads costs more than it saves
BLOCK = 64  # rows that share their working space
TILE = 256  # columns at a time: what one row needs of them stays in the first cache

# Flags of float arithmetic: sums may be reordered so that they run on vector units.
_SUMS = {"reassoc", "contract", "nsz"}
_EXACT = {"contract"}
# error_model="numpy": a check of every divisor would keep the sums off the vector units.

_LN2 = 0.6931471805599453
_ROOT = 1.4142135623730951
# Parts of a number as it is stored: whatever is not in the exponent; the exponents of 1 and of 2⁵² in place.
# A small whole number in the last bits of 2⁵² is added to it; _SHIFT takes that, and the exponent of 1, off.
_MANTISSA = np.uint64((1 << 52) - 1)
_WIDTH = np.uint64(52)
_ONE = np.uint64(1023 << 52)
_LARGE = np.uint64(1075 << 52)
_SHIFT = 2.0**52 + 1023.0


def all_pairs(Z: FloatArray, shares: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Sum over all other points, exactly.

    Parameters
    ----------
    Z : array, n × k
    shares : array of n, optional
        Factors u: a pair then counts u_i + u_j instead of 1.

    Returns
    -------
    forces : array, n × k
        Σ_j (u_i + u_j) q_ij² (z_i − z_j).
    masses : array of n
        Σ_j q_ij, the factors left out, j ≠ i.
    """
    n, k = Z.shape
    places = _floats(Z)
    factors = np.full(n, 0.5) if shares is None else _floats(shares)
    forces, masses = np.empty((n, k)), np.empty(n)
    run = _all_pairs if n * n > FEW_PAIRS else _few_pairs
    run(places, _floats(places.T), factors, forces, masses)
    return forces, masses


def edges(Z: FloatArray, graph: SparseArray, targets: FloatArray | None = None) -> tuple[FloatArray, float]:
    """Sum along the edges of a graph with weights w, from points to one another or to other targets.

    Parameters
    ----------
    Z : array, n × k
    graph : sparse array, n × m
    targets : array, m × k, optional
        The points themselves if left out.

    Returns
    -------
    forces : array, n × k
        Σ_j w_ij q_ij (z_i − z_j).
    logs : float
        Σ_ij w_ij log q_ij.
    """
    n, k = Z.shape
    axes = _floats(Z.T)
    ends = axes if targets is None else _floats(targets.T)
    forces, logs = np.empty((n, k)), np.empty(n)
    run = _all_edges if graph.nnz > FEW_PAIRS else _few_edges
    run(axes, ends, graph.indptr, graph.indices, _floats(graph.data), forces, logs)
    return forces, float(logs.sum())


def prototypes(
    Z: FloatArray, R: FloatArray | SparseArray, V: FloatArray
) -> tuple[FloatArray, FloatArray, float, float]:
    """Sum over all pairs of a point and a prototype, t_ij = 1/(1 + ‖z_i − v_j‖²).

    Parameters
    ----------
    Z : array, n × k
    R : array, n × c, dense or sparse
    V : array, c × k

    Returns
    -------
    pulls : array, n × k
        Σ_j r_ij t_ij (z_i − v_j).
    pushes : array, n × k
        Σ_j t_ij² (z_i − v_j).
    logs : float
        Σ_ij r_ij log t_ij.
    total : float
        Σ_ij t_ij.
    """
    n, k = Z.shape
    pulls, pushes = np.zeros((n, k)), np.empty((n, k))
    logs, masses = np.zeros(n), np.empty(n)
    dense = isinstance(R, np.ndarray)
    run = _all_prototypes if n * len(V) > FEW_PAIRS else _few_prototypes
    run(_floats(Z), _floats(R) if dense else np.empty((n, 0)), _floats(V.T), pulls, pushes, logs, masses)
    drawn = (pulls, float(logs.sum())) if dense else edges(Z, R, V)
    return drawn[0], pushes, drawn[1], float(masses.sum())


def _floats(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


@njit(cache=True, fastmath=_EXACT, error_model="numpy")
def _log(x):  # type: ignore[no-untyped-def]
    """Give log x for x ≥ 1: straight code that the compiler turns into vector code.

    x = 2ᵉ m with m between √½ and √2, and log m = 2 atanh(s) for s = (m − 1)/(m + 1), of which the series
    1 + s²/3 + s⁴/5 + … is left after nine terms at less than 3e-17.
    """
    bits = np.float64(x).view(np.uint64)
    m = np.uint64((bits & _MANTISSA) | _ONE).view(np.float64)
    e = np.uint64((bits >> _WIDTH) | _LARGE).view(np.float64) - _SHIFT
    high = m > _ROOT
    m = 0.5 * m if high else m
    e = e + 1.0 if high else e
    s = (m - 1.0) / (m + 1.0)
    r = s * s
    p = r * (1 / 19) + 1 / 17
    p = p * r + 1 / 15
    p = p * r + 1 / 13
    p = p * r + 1 / 11
    p = p * r + 1 / 9
    p = p * r + 1 / 7
    p = p * r + 1 / 5
    p = p * r + 1 / 3
    return e * _LN2 + 2.0 * (s + s * (r * p))


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _squares(gaps, squares):  # type: ignore[no-untyped-def]
    """Write 1 + the squared distance of every column."""
    first = gaps[0, : squares.size]
    for j in range(squares.size):
        squares[j] = 1.0 + first[j] * first[j]
    for a in range(1, gaps.shape[0]):
        axis = gaps[a, : squares.size]
        for j in range(squares.size):
            squares[j] += axis[j] * axis[j]


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _dot(first, second):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(first.size):
        total += first[j] * second[j]
    return total


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _pulled(squares, weights, pulls):  # type: ignore[no-untyped-def]
    """Write w q of every column, and give the sum of w log q."""
    total = 0.0
    for j in range(squares.size):
        pulls[j] = weights[j] / squares[j]
        total -= weights[j] * _log(squares[j])
    return total


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _pushed(squares, pushes):  # type: ignore[no-untyped-def]
    """Write q² of every column, and give the sum of q."""
    total = 0.0
    for j in range(squares.size):
        q = 1.0 / squares[j]
        total += q
        pushes[j] = q * q
    return total


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _gaps(place, axes, begin, size, gaps):  # type: ignore[no-untyped-def]
    """Write the differences to ``size`` columns from ``begin``, axis by axis."""
    for a in range(place.size):
        axis = axes[a, begin : begin + size]
        gap = gaps[a, :size]
        at = place[a]
        for j in range(size):
            gap[j] = at - axis[j]


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _gaps_along(at, axis, columns, gap):  # type: ignore[no-untyped-def]
    """Write the differences of one axis to the columns of a list."""
    for j in range(gap.size):
        gap[j] = at - axis[columns[j]]


@njit(cache=True)
def _pair_rows(first, last, Z, axes, shares, forces, masses):  # type: ignore[no-untyped-def]
    n, k = Z.shape
    gaps, work = np.empty((k, TILE)), np.empty((2, TILE))
    for i in range(first, last):
        masses[i] = 0.0
        forces[i] = 0.0
        for begin in range(0, n, TILE):
            size = min(TILE, n - begin)
            squares, pushes = work[0, :size], work[1, :size]
            _gaps(Z[i], axes, begin, size, gaps)
            _squares(gaps, squares)
            if begin <= i < begin + size:
                squares[i - begin] = np.inf  # a point does not push itself
            masses[i] += _pushed(squares, pushes)
            pushes *= shares[i] + shares[begin : begin + size]
            for a in range(k):
                forces[i, a] += _dot(pushes, gaps[a, :size])


@njit(parallel=True, cache=True)
def _all_pairs(Z, axes, shares, forces, masses):  # type: ignore[no-untyped-def]
    n = Z.shape[0]
    for block in prange((n + BLOCK - 1) // BLOCK):
        _pair_rows(block * BLOCK, min((block + 1) * BLOCK, n), Z, axes, shares, forces, masses)


@njit(cache=True)
def _few_pairs(Z, axes, shares, forces, masses):  # type: ignore[no-untyped-def]
    _pair_rows(0, Z.shape[0], Z, axes, shares, forces, masses)


@njit(cache=True)
def _edge_rows(first, last, axes, targets, starts, ends, weights, forces, logs):  # type: ignore[no-untyped-def]
    k = axes.shape[0]
    gaps, work = np.empty((k, TILE)), np.empty((2, TILE))
    for i in range(first, last):
        logs[i] = 0.0
        forces[i] = 0.0
        for begin in range(starts[i], starts[i + 1], TILE):
            size = min(TILE, starts[i + 1] - begin)
            squares, pulls = work[0, :size], work[1, :size]
            for a in range(k):
                _gaps_along(axes[a, i], targets[a], ends[begin : begin + size], gaps[a, :size])
            _squares(gaps, squares)
            logs[i] += _pulled(squares, weights[begin : begin + size], pulls)
            for a in range(k):
                forces[i, a] += _dot(pulls, gaps[a, :size])


@njit(parallel=True, cache=True)
def _all_edges(axes, targets, starts, ends, weights, forces, logs):  # type: ignore[no-untyped-def]
    n = axes.shape[1]
    for block in prange((n + BLOCK - 1) // BLOCK):
        last = min((block + 1) * BLOCK, n)
        _edge_rows(block * BLOCK, last, axes, targets, starts, ends, weights, forces, logs)


@njit(cache=True)
def _few_edges(axes, targets, starts, ends, weights, forces, logs):  # type: ignore[no-untyped-def]
    _edge_rows(0, axes.shape[1], axes, targets, starts, ends, weights, forces, logs)


@njit(cache=True)
def _prototype_rows(first, last, Z, R, axes, pulls, pushes, logs, masses):  # type: ignore[no-untyped-def]
    """Sum over all prototypes; without columns of R, only what does not depend on it."""
    k, c = axes.shape
    gaps, work = np.empty((k, TILE)), np.empty((2, TILE))
    for i in range(first, last):
        pushes[i] = 0.0
        masses[i] = 0.0
        for begin in range(0, c, TILE):
            size = min(TILE, c - begin)
            squares, kernel = work[0, :size], work[1, :size]
            _gaps(Z[i], axes, begin, size, gaps)
            _squares(gaps, squares)
            masses[i] += _pushed(squares, kernel)
            for a in range(k):
                pushes[i, a] += _dot(kernel, gaps[a, :size])
            if R.shape[1] > 0:
                logs[i] += _pulled(squares, R[i, begin : begin + size], kernel)
                for a in range(k):
                    pulls[i, a] += _dot(kernel, gaps[a, :size])


@njit(parallel=True, cache=True)
def _all_prototypes(Z, R, axes, pulls, pushes, logs, masses):  # type: ignore[no-untyped-def]
    n = Z.shape[0]
    for block in prange((n + BLOCK - 1) // BLOCK):
        last = min((block + 1) * BLOCK, n)
        _prototype_rows(block * BLOCK, last, Z, R, axes, pulls, pushes, logs, masses)


@njit(cache=True)
def _few_prototypes(Z, R, axes, pulls, pushes, logs, masses):  # type: ignore[no-untyped-def]
    _prototype_rows(0, Z.shape[0], Z, R, axes, pulls, pushes, logs, masses)
