"""Sums over all pairs of two clouds of points, weighted by exp(−squared distance), without an array of pairs.

For points x_i and y_j with weights b_j, Z_i = Σ_j b_j exp(−d²_ij) and p_ij = b_j exp(−d²_ij)/Z_i.
Rows are cut into a fixed number of blocks with column sums of their own, which are added in order, so that
the number of threads never changes a result. Exponents are taken relative to the largest of their row: a row
far from every column keeps all its digits. Memory is O((m + 32 n) q).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from relscape.protocols import BlockedRelation, FloatArray, IntArray, RelationOperator

__all__ = ["PairSums", "conditional_sums", "joint_sums"]

BLOCKS = 32
FEW_PAIRS = 100_000  # up to here waking other threads costs more than it saves
TILE = 256  # columns at a time: what one row needs of them stays in the first cache
TOGETHER = 4  # rows whose exponentials enter the column sums in one sweep

# Flags of float arithmetic. No sum may be reordered: the compiler would choose one order where it compiles
# and another where it finds compiled code, so that two processes would differ in the last digit. Sums over
# columns run in as many lanes as a tile has places instead, which vector units like as well.
_EXACT = {"contract"}
_LARGEST = {"nsz", "nnan"}

_NEVER = -1e300  # the logarithm of nothing, for a pair that is left out

_LOWEST = -708.0  # below it exp leaves the normal numbers
_LOG2_E = 1.4426950408889634
# ln 2 in two parts: a whole multiple of the first, up to 2¹⁰ of it, is exact.
_LN2_HIGH = 0.6931471803691238
_LN2_LOW = 1.9082149292705877e-10
# (exp(r) − 1)/r on |r| ≤ ln 2 / 2, interpolated at Chebyshev points; exp is then off by less than 6e-16.
_C0 = 1.0000000000000013
_C1 = 0.5000000000000001
_C2 = 0.16666666666615607
_C3 = 0.04166666666662413
_C4 = 0.008333333367332009
_C5 = 0.0013888888917213717
_C6 = 0.0001984119061583585
_C7 = 2.4801521295954376e-05
_C8 = 2.763265575933203e-06
_C9 = 2.7620088445409746e-07


class PairSums(NamedTuple):
    """What the pairs p_ij sum up to, each pair weighing w_i p_ij.

    ``log_normalisers`` log Z_i (m), ``row_weights`` w_i (m), ``row_means`` Σ_j p_ij y_j (m × q),
    ``column_masses`` Σ_i w_i p_ij (n), ``column_moments`` Σ_i w_i p_ij x_i (n × q), ``log_total`` the
    logarithm of Σ_i a_i Z_i (joint sums only; 0 otherwise).
    """

    log_normalisers: FloatArray
    row_weights: FloatArray
    row_means: FloatArray
    column_masses: FloatArray
    column_moments: FloatArray
    log_total: float


def conditional_sums(
    X: FloatArray,
    Y: FloatArray,
    log_b: FloatArray,
    row_weights: FloatArray,
    exclude_self: bool = False,
    relation: RelationOperator | None = None,
) -> PairSums:
    """Sum up pairs of which every row has the weight it is given.

    Parameters
    ----------
    X, Y : arrays, m × q and n × q
        The two clouds; finite.
    log_b : array of n
        Logarithms of the columns' weights; finite.
    row_weights : array of m
        The weights w_i.
    exclude_self : bool
        Leave out the pairs i = j; both clouds then hold the same objects, at least two.
    relation : RelationOperator, optional
        If it lies in blocks on other machines, the blocks of X are summed there, to the same last digits.
    """
    log_z, means, sums, _ = _pair_sums(X, Y, log_b, row_weights, False, exclude_self, relation)
    total = sums.sum(axis=0)
    return PairSums(log_z, row_weights, means, total[-1], total[:-1].T, 0.0)


def joint_sums(
    X: FloatArray,
    Y: FloatArray,
    log_a: FloatArray,
    log_b: FloatArray,
    exclude_self: bool = False,
    relation: RelationOperator | None = None,
) -> PairSums:
    """Sum up pairs that share one normaliser: w_i = a_i Z_i / Σ_i a_i Z_i.

    Parameters are those of ``conditional_sums``, with the logarithms of the row factors a_i.
    """
    log_z, means, sums, tops = _pair_sums(X, Y, log_b, log_a, True, exclude_self, relation)
    logs = log_a + log_z
    top = logs.max()
    log_total = float(top + np.log(np.exp(logs - top).sum()))
    total = (np.exp(tops - log_total)[:, None, None] * sums).sum(axis=0)
    return PairSums(log_z, np.exp(logs - log_total), means, total[-1], total[:-1].T, log_total)


def _pair_sums(
    X: FloatArray,
    Y: FloatArray,
    log_b: FloatArray,
    weights: FloatArray,
    joint: bool,
    exclude_self: bool,
    relation: RelationOperator | None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Give log Z_i, the row means, and of every block the column sums (moments, then masses) and their scale.

    ``weights`` are w_i, or log a_i for joint sums, which a block holds relative to exp of its scale.
    """
    bounds = np.arange(BLOCKS + 1) * len(X) // BLOCKS
    if not isinstance(relation, BlockedRelation):
        run = _all_blocks if len(X) * len(Y) > FEW_PAIRS else _few_blocks
        return _summed(run, bounds, X, weights, Y, log_b, joint, exclude_self)
    groups = pairwise(np.linspace(0, BLOCKS, min(relation.n_blocks, BLOCKS) + 1).astype(int))
    edges = [bounds[first : last + 1] for first, last in groups]
    pieces = [(edge, X[edge[0] : edge[-1]], weights[edge[0] : edge[-1]]) for edge in edges]
    found = relation.map_pieces(_piece_sums, pieces, Y, log_b, joint, exclude_self)
    log_z, means, sums, tops = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return log_z, means, sums, tops


def _piece_sums(
    bounds: IntArray,
    X: FloatArray,
    weights: FloatArray,
    Y: FloatArray,
    log_b: FloatArray,
    joint: bool,
    exclude_self: bool,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Sum up some of the blocks, on one thread; ``bounds`` are their first rows and the end."""
    return _summed(_few_blocks, bounds, X, weights, Y, log_b, joint, exclude_self)


def _summed(
    run: Any,
    bounds: IntArray,
    X: FloatArray,
    weights: FloatArray,
    Y: FloatArray,
    log_b: FloatArray,
    joint: bool,
    exclude_self: bool,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    m, q = X.shape
    n, blocks = len(Y), len(bounds) - 1
    # One coordinate of all columns after the other: the inner loops run over columns.
    own = int(bounds[0]) if exclude_self else -1
    given = (_floats(X), _floats(Y.T), _floats(log_b), _floats(weights), joint, own)
    log_z, means = np.empty(m), np.empty((m, q))
    sums, largest = np.zeros((blocks, q + 1, n)), np.full(blocks, _NEVER)
    run(bounds - bounds[0], *given, log_z, means, sums, largest)
    return log_z, means, sums, largest


def _floats(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


@njit(cache=True, fastmath=_EXACT)
def _exp(x):  # type: ignore[no-untyped-def]
    """Give exp(x) for x ≤ 0, or 0 below -708: straight code that the compiler turns into vector code.

    x = k ln 2 + r; 2ᵏ is written into the bits of the exponent. The two parts of ln 2 must not be merged:
    no reordering here.
    """
    held = x if x > _LOWEST else _LOWEST
    k = np.floor(held * _LOG2_E + 0.5)
    r = (held - k * _LN2_HIGH) - k * _LN2_LOW
    s = _C9 * r + _C8
    s = s * r + _C7
    s = s * r + _C6
    s = s * r + _C5
    s = s * r + _C4
    s = s * r + _C3
    s = s * r + _C2
    s = s * r + _C1
    s = s * r + _C0
    power = np.int64((np.int64(np.int32(k)) + 1023) << 52).view(np.float64)
    value = (s * r + 1.0) * power
    return value if x > _LOWEST else 0.0


@njit(cache=True, fastmath=_EXACT)
def _one_axis(logs, log_b, axis, at):  # type: ignore[no-untyped-def]
    for j in range(logs.size):
        gap = axis[j] - at
        logs[j] = log_b[j] - gap * gap


@njit(cache=True, fastmath=_EXACT)
def _two_axes(logs, log_b, first, second, at_first, at_second):  # type: ignore[no-untyped-def]
    for j in range(logs.size):
        gap = first[j] - at_first
        other = second[j] - at_second
        logs[j] = log_b[j] - gap * gap - other * other


@njit(cache=True, fastmath=_LARGEST)
def _larger(best, known, logs):  # type: ignore[no-untyped-def]
    """Write the larger of two, place by place; in place, the compiler would see branches, not a maximum."""
    for j in range(logs.size):
        old = known[j]
        new = logs[j]
        best[j] = old if old > new else new


@njit(cache=True, fastmath=_LARGEST)
def _exponents(x, axes, log_b, skip, logs, best):  # type: ignore[no-untyped-def]
    """Write log b_j − ‖x − y_j‖² for all columns and give the largest; column ``skip`` is left out."""
    n = logs.size
    best[:] = _NEVER
    for begin in range(0, n, TILE):
        end = min(begin + TILE, n)
        tile = logs[begin:end]
        if x.size == 1:
            _one_axis(tile, log_b[begin:end], axes[0, begin:end], x[0])
        else:
            _two_axes(tile, log_b[begin:end], axes[0, begin:end], axes[1, begin:end], x[0], x[1])
        for a in range(2, x.size):
            _one_axis(tile, tile, axes[a, begin:end], x[a])
        if begin <= skip < end:
            logs[skip] = _NEVER
        turn = (begin // TILE) % 2
        _larger(best[turn], best[1 - turn], tile)
    return best.max()


@njit(cache=True, fastmath=_EXACT)
def _exponentiate(logs, top, lanes):  # type: ignore[no-untyped-def]
    for j in range(logs.size):
        value = _exp(logs[j] - top)
        logs[j] = value
        lanes[j] += value


@njit(cache=True, fastmath=_EXACT)
def _multiply(first, second, lanes):  # type: ignore[no-untyped-def]
    for j in range(first.size):
        lanes[j] += first[j] * second[j]


@njit(cache=True, fastmath=_EXACT)
def _folded(lanes):  # type: ignore[no-untyped-def]
    """Add the second half of the lanes to the first until one is left."""
    size = lanes.size
    while size > 1:
        half = (size + 1) // 2
        lower, upper = lanes[:half], lanes[half:size]
        for j in range(upper.size):
            lower[j] += upper[j]
        size = half
    return lanes[0]


@njit(cache=True, fastmath=_EXACT)
def _weighted(values, top, axes, mean, lanes):  # type: ignore[no-untyped-def]
    """Turn exponents into exponentials, give their sum, and write their mean position."""
    n = values.size
    lanes[:] = 0.0
    for begin in range(0, n, TILE):
        end = min(begin + TILE, n)
        tile = values[begin:end]
        _exponentiate(tile, top, lanes[mean.size])
        for a in range(mean.size):
            _multiply(tile, axes[a, begin:end], lanes[a])
    total = _folded(lanes[mean.size])
    for a in range(mean.size):
        mean[a] = _folded(lanes[a]) / total
    return total


@njit(cache=True, fastmath=_EXACT)
def _add_rows(sums, values, factors):  # type: ignore[no-untyped-def]
    first, second, third, fourth = values[0], values[1], values[2], values[3]
    f0, f1, f2, f3 = factors[0], factors[1], factors[2], factors[3]
    for j in range(sums.size):
        sums[j] += f0 * first[j] + f1 * second[j] + f2 * third[j] + f3 * fourth[j]


@njit(cache=True, fastmath=_EXACT)
def _scale_joint(sums, top, factors, tops):  # type: ignore[no-untyped-def]
    """Bring a block's sums and the next rows' factors to one new largest exponent, and give it."""
    highest = max(top, tops.max())
    if highest > top:
        sums *= np.exp(top - highest)
    for r in range(tops.size):
        factors[r] = np.exp(tops[r] - highest)
    return highest


@njit(cache=True)
def _block(block, bounds, X, axes, log_b, weights, joint, own, log_z, means, sums, largest):  # type: ignore[no-untyped-def]
    """Sum up the rows of one block, a few at a time; ``own`` is the first row's own column, or -1."""
    q = X.shape[1]
    n = axes.shape[1]
    values = np.zeros((TOGETHER, n))
    best = np.empty((2, min(TILE, n)))
    lanes = np.empty((q + 1, min(TILE, n)))
    tops = np.empty(TOGETHER)
    factors = np.empty(TOGETHER)
    scaled = np.empty(TOGETHER)
    last = bounds[block + 1]
    for start in range(bounds[block], last, TOGETHER):
        rows = min(TOGETHER, last - start)
        factors[:] = 0.0
        tops[:] = _NEVER
        for r in range(rows):
            i = start + r
            top = _exponents(X[i], axes, log_b, i + own if own >= 0 else -1, values[r], best)
            total = _weighted(values[r], top, axes, means[i], lanes)
            log_z[i] = top + np.log(total)
            factors[r] = weights[i] / total
            tops[r] = weights[i] + top
        if joint:
            largest[block] = _scale_joint(sums[block], largest[block], factors, tops)
        _add_rows(sums[block, q], values, factors)
        for a in range(q):
            scaled[:] = 0.0
            for r in range(rows):
                scaled[r] = factors[r] * X[start + r, a]
            _add_rows(sums[block, a], values, scaled)


@njit(parallel=True, cache=True)
def _all_blocks(bounds, X, axes, log_b, weights, joint, own, log_z, means, sums, largest):  # type: ignore[no-untyped-def]
    for block in prange(bounds.size - 1):
        _block(block, bounds, X, axes, log_b, weights, joint, own, log_z, means, sums, largest)


@njit(cache=True)
def _few_blocks(bounds, X, axes, log_b, weights, joint, own, log_z, means, sums, largest):  # type: ignore[no-untyped-def]
    for block in range(bounds.size - 1):
        _block(block, bounds, X, axes, log_b, weights, joint, own, log_z, means, sums, largest)
