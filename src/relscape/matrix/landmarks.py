"""Weights among a few landmarks from random walks over all samples, the landmark device of t-SNE.

A walk starts at a landmark, moves along the weights, and ends at the next landmark it meets. The
chance of ending at j tells how near j is along the data, also where i and j are no neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import splu

from relscape.errors import DataError, ParameterError
from relscape.protocols import BoolArray, FloatArray, IntArray, SparseArray

__all__ = ["landmark_walks", "sampled_landmark_walks"]

MOST_STEPS = 100_000


def landmark_walks(P: Any, landmarks: Any) -> SparseArray:
    """Give the exact chances that a walk from one landmark next meets the landmarks at another.

    With K the landmarks and U the other samples this is ``P_KK + P_KU (I − P_UU)⁻¹ P_UK``. It
    factorises a matrix of the size of U: from some ten thousand samples on use
    :func:`sampled_landmark_walks`.

    Parameters
    ----------
    P : sparse array of shape (n, n)
        Weights of the moves, nonnegative; every row is divided by its sum.
    landmarks : array of int, shape (m,)
        Positions of the landmarks, each once.

    Returns
    -------
    sparse array of shape (m, m)
        Rows sum to 1. Walks that get lost where no landmark can be reached are left out, and a
        landmark from which all do, or which has no weights, stays with itself.
    """
    moves, chosen, is_landmark = _moves(P, landmarks)
    others = np.flatnonzero(_can_reach(moves, is_landmark) & ~is_landmark)
    direct = moves[chosen][:, chosen].toarray()
    if others.size:
        inside = csc_array(eye_array(others.size) - moves[others][:, others])
        met = splu(inside).solve(moves[others][:, chosen].toarray())
        direct = direct + moves[chosen][:, others] @ met
    return _normalised(csr_array(np.maximum(direct, 0.0)))


def sampled_landmark_walks(
    P: Any, landmarks: Any, n_walks: int = 1000, random_state: np.random.Generator | None = None
) -> SparseArray:
    """Estimate :func:`landmark_walks` by walking ``n_walks`` times from every landmark.

    Every landmark has a random stream of its own, so the number of threads changes nothing. A walk
    that has met no landmark after 100,000 steps counts as lost.
    """
    if n_walks < 1:
        raise ParameterError(f"n_walks={n_walks}: at least one walk is needed.")
    rng = np.random.default_rng() if random_state is None else random_state
    moves, chosen, is_landmark = _moves(P, landmarks)
    number = np.full(moves.shape[0], -1, dtype=np.int64)
    number[chosen] = np.arange(chosen.size)
    seeds = rng.integers(2**64, size=chosen.size, dtype=np.uint64)
    lost = ~_can_reach(moves, is_landmark)
    ends = _walk(moves.indptr, moves.indices, _row_cumulated(moves), chosen, number, lost, n_walks, seeds)
    start, walk = np.nonzero(ends >= 0)
    shape = (chosen.size, chosen.size)
    return _normalised(csr_array((np.ones(start.size), (start, ends[start, walk])), shape=shape))


def _moves(P: Any, landmarks: Any) -> tuple[SparseArray, IntArray, BoolArray]:
    """Check weights and landmarks; give row-stochastic moves, the landmarks, and a mark on each."""
    weights = csr_array(P, dtype=np.float64)
    n = weights.shape[0]
    if weights.shape != (n, n):
        raise DataError(f"the weights have shape {weights.shape}; one row and one column a sample is needed.")
    if not np.isfinite(weights.data).all() or (weights.data < 0).any():
        raise DataError("some weights are negative or not finite; walks need finite weights of 0 or more.")
    chosen = np.asarray(landmarks, dtype=np.int64)
    if chosen.ndim != 1 or not chosen.size or not 0 <= chosen.min() <= chosen.max() < n:
        raise ParameterError(f"landmarks must be a list of positions among the {n} samples, at least one.")
    is_landmark = np.zeros(n, dtype=bool)
    is_landmark[chosen] = True
    if np.count_nonzero(is_landmark) < chosen.size:
        raise ParameterError("some landmarks are named twice; name each once.")
    return _row_divided(weights), chosen, is_landmark


def _row_divided(weights: SparseArray) -> SparseArray:
    sums = np.asarray(weights.sum(axis=1)).ravel()
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    divided = csr_array(weights.multiply(inverse[:, None]))
    divided.eliminate_zeros()
    return divided


def _can_reach(moves: SparseArray, is_landmark: BoolArray) -> BoolArray:
    """Mark the samples from which some walk meets a landmark."""
    reached = is_landmark
    while True:
        wider: BoolArray = reached | (moves @ reached.astype(np.float64) > 0)
        if (wider == reached).all():
            return reached
        reached = wider


def _normalised(walks: SparseArray) -> SparseArray:
    """Divide rows by their sums; a row without walks stays with its landmark."""
    walks.sum_duplicates()
    lonely = (np.asarray(walks.sum(axis=1)).ravel() == 0).astype(np.float64)
    diagonal = csr_array((lonely, (np.arange(lonely.size), np.arange(lonely.size))), shape=walks.shape)
    return _row_divided(csr_array(walks + diagonal))


def _row_cumulated(moves: SparseArray) -> FloatArray:
    """Sum every row's entries up to and including each; the last is 1 exactly."""
    sums: FloatArray = _cumulate(moves.indptr, moves.data)
    return sums


@njit(cache=True)
def _cumulate(starts, data):  # type: ignore[no-untyped-def]
    sums = np.empty(data.size)
    for row in range(starts.size - 1):
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            total += data[entry]
            sums[entry] = total
        if starts[row + 1] > starts[row]:
            sums[starts[row + 1] - 1] = 1.0
    return sums


@njit(cache=True)
def _scrambled(counter):  # type: ignore[no-untyped-def]
    """Turn a counter into 64 random bits (the finaliser of SplitMix64)."""
    z = counter
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(parallel=True, cache=True)
def _walk(starts, columns, sums, landmarks, number, lost, n_walks, seeds):  # type: ignore[no-untyped-def]
    ends = np.full((landmarks.size, n_walks), -1, np.int64)
    for i in prange(landmarks.size):
        counter = seeds[i]
        for walk in range(n_walks):
            at = landmarks[i]
            for _ in range(MOST_STEPS):
                first, last = starts[at], starts[at + 1]
                if first == last:
                    break
                counter += np.uint64(0x9E3779B97F4A7C15)
                draw = np.float64(_scrambled(counter) >> np.uint64(11)) / 9007199254740992.0
                at = columns[first + np.searchsorted(sums[first:last], draw, side="right")]
                if number[at] >= 0:
                    ends[i, walk] = number[at]
                    break
                if lost[at]:
                    break
    return ends
