"""New samples among the fixed ones of a COVA with divergences: each slides downhill by itself.

What a new sample adds to the objective is that of section 7 of COVA's specification with all old samples and
prototypes in their places: its own pairs enter the sums T_s and Q_s, whose other parts are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, prange

from relscape.objectives.neighbour import repulsion
from relscape.protocols import FloatArray, SparseArray

__all__ = ["Surroundings", "settle"]

_STEPS = 30
_NEAR = 1e-4  # a shorter step is none, on a map whose kernel has width 1
_TILE = 256  # old samples at a time
# Flags of float arithmetic: sums may be reordered so that they run on vector units.
_SUMS = {"reassoc", "contract", "nsz"}
_HALVINGS = 40
_ARMIJO = 1e-4
_DIVERGENCES = {"1": (False, False), "2": (True, True), "3": (False, True), "4": (True, False)}
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Old samples and prototypes, in their places, and the objective's weight and variant ("1" to "4")."""

    places: FloatArray
    prototypes: FloatArray
    alpha: float
    variant: str

    def totals(self) -> tuple[float, float]:
        """Give T_s, the sum of 1/(1 + |z − v|²) over samples and prototypes, and Q_s over their pairs."""
        by_prototypes, by_neighbours = _DIVERGENCES[self.variant]
        return (
            _kernel_total(self.places, self.prototypes) if by_prototypes else 1.0,
            repulsion(self.places)[1] if by_neighbours else 1.0,
        )


def settle(
    around: Surroundings, starts: Sequence[FloatArray], weights: SparseArray, confidence: FloatArray
) -> FloatArray:
    """Let new samples slide downhill, a few steps each, not seeing one another.

    Parameters
    ----------
    around : Surroundings
    starts : sequence of arrays, q × k
        Where they begin: the lowest end counts, for there are several valleys.
    weights : sparse array, q × n
        Weights to the old samples, carrying the divisor of theirs.
    confidence : array, q × c
        Confidences in the cohorts, carrying the divisor of theirs.
    """
    given = _arguments(around, weights, confidence)
    lowest = np.full(len(confidence), np.inf)
    settled = np.array(starts[0], dtype=np.float64)
    for start in starts:
        places, values = np.array(start, dtype=np.float64), np.empty(len(lowest))
        _settle_all(*given, places, values)
        lower = values < lowest
        settled[lower], lowest[lower] = places[lower], values[lower]
    return settled


def _arguments(around: Surroundings, weights: SparseArray, confidence: FloatArray) -> tuple[Any, ...]:
    by_prototypes, by_neighbours = _DIVERGENCES[around.variant]
    return (
        weights.indptr,
        weights.indices,
        weights.data,
        np.ascontiguousarray(confidence, dtype=np.float64),
        np.ascontiguousarray(around.places.T),
        np.ascontiguousarray(around.prototypes),
        around.alpha,
        by_prototypes,
        by_neighbours,
        *around.totals(),
    )


def _kernel_total(Z: FloatArray, V: FloatArray) -> float:
    """Sum 1/(1 + |z − v|²) over all samples and prototypes, some samples at a time."""
    total = 0.0
    for begin in range(0, len(Z), _ROWS):
        gaps = Z[begin : begin + _ROWS, None, :] - V[None, :, :]
        total += float((1.0 / (1.0 + (gaps**2).sum(axis=2))).sum())
    return total


@njit(cache=True, parallel=True)
def _settle_all(  # type: ignore[no-untyped-def]
    indptr, indices, data, confidence, Z, V, alpha, by_prototypes, by_neighbours, T, Q, places, values
):
    for row in prange(places.shape[0]):
        span = slice(indptr[row], indptr[row + 1])
        values[row] = _slide(
            places[row], indices[span], data[span], confidence[row], Z, V, alpha, by_prototypes,
            by_neighbours, T, Q,
        )  # fmt: skip


@njit(cache=True)
def _slide(z, who, w, r, Z, V, alpha, by_prototypes, by_neighbours, T, Q):  # type: ignore[no-untyped-def]
    """Take a few steps against the slope, each halved until the value falls; moves ``z``, gives the value."""
    k = z.size
    slope, next_slope, trial = np.empty(k), np.empty(k), np.empty(k)
    value = _value(z, slope, who, w, r, Z, V, alpha, by_prototypes, by_neighbours, T, Q)
    step = 1.0 / max(alpha * r.sum() + (1.0 - alpha) * w.sum(), 1e-300)
    for _ in range(_STEPS):
        square = 0.0
        for t in range(k):
            square += slope[t] ** 2
        if square == 0.0:
            break
        accepted = False
        for _ in range(_HALVINGS):
            for t in range(k):
                trial[t] = z[t] - step * slope[t]
            lower = _value(trial, next_slope, who, w, r, Z, V, alpha, by_prototypes, by_neighbours, T, Q)
            if lower <= value - _ARMIJO * step * square:
                accepted = True
                break
            step /= 2.0
        if not accepted:
            break
        value = lower
        if step**2 * square < _NEAR**2:
            z[:] = trial
            break
        for t in range(k):
            z[t] = trial[t]
            slope[t] = next_slope[t]
        step *= 2.0
    return value


@njit(cache=True)
def _value(z, slope, who, w, r, Z, V, alpha, by_prototypes, by_neighbours, T, Q):  # type: ignore[no-untyped-def]
    """Give the value at a place and leave the slope in ``slope``."""
    k = z.size
    slope[:] = 0.0
    value = 0.0
    if alpha > 0.0:
        value += alpha * _cohort_part(z, slope, r, V, alpha, by_prototypes, T)
    if alpha < 1.0:
        local = 1.0 - alpha
        drawn = 0.0
        total = 0.0
        for e in range(who.size):
            square = 0.0
            for t in range(k):
                square += (z[t] - Z[t, who[e]]) ** 2
            total += w[e]
            drawn += w[e] * (np.log1p(square) if by_neighbours else square)
            factor = 4.0 / (1.0 + square) if by_neighbours else 2.0
            for t in range(k):
                slope[t] += local * factor * w[e] * (z[t] - Z[t, who[e]])
        value += local * (2.0 if by_neighbours else 1.0) * drawn
        if by_neighbours:
            value += local * _push(z, slope, Z, local, total, Q)
    return value


@njit(cache=True)
def _cohort_part(z, slope, r, V, alpha, by_prototypes, T):  # type: ignore[no-untyped-def]
    k = z.size
    value, mass, kernel = 0.0, 0.0, 0.0
    push = np.zeros(k)
    for j in range(r.size):
        square = 0.0
        for t in range(k):
            square += (z[t] - V[j, t]) ** 2
        mass += r[j]
        value += r[j] * (np.log1p(square) if by_prototypes else square)
        near = 1.0 / (1.0 + square)
        kernel += near
        factor = 2.0 * r[j] * (near if by_prototypes else 1.0)
        for t in range(k):
            slope[t] += alpha * factor * (z[t] - V[j, t])
            push[t] += near**2 * (z[t] - V[j, t])
    if by_prototypes:
        value += (1.0 + mass) * np.log(T + kernel)
        for t in range(k):
            slope[t] -= alpha * (1.0 + mass) * 2.0 * push[t] / (T + kernel)
    return value


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _push(z, slope, Z, local, total, Q):  # type: ignore[no-untyped-def]
    """Give the part of all old samples (axis by axis, k × n) in log Q_s; every pair counts twice in it."""
    k, n = Z.shape
    kernel = 0.0
    push = np.zeros(k)
    near = np.empty(_TILE)
    for begin in range(0, n, _TILE):
        size = min(_TILE, n - begin)
        near[:size] = 1.0
        for t in range(k):
            for i in range(size):
                near[i] += (z[t] - Z[t, begin + i]) ** 2
        for i in range(size):
            near[i] = 1.0 / near[i]
            kernel += near[i]
        for t in range(k):
            part = 0.0
            for i in range(size):
                part += near[i] ** 2 * (z[t] - Z[t, begin + i])
            push[t] += part
    mass = 1.0 + 2.0 * total
    for t in range(k):
        slope[t] -= local * mass * 4.0 * push[t] / (Q + 2.0 * kernel)
    return mass * np.log(Q + 2.0 * kernel)
