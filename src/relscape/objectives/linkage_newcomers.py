"""New documents on the map of a network, from their contents alone.

The old documents keep their places; a new one goes where its link probabilities diverge least from its
content probabilities (specification of the document network, section 7). New documents do not see one
another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import log_expit, logsumexp, xlogy

from relscape.errors import DataError, UnknownNameError
from relscape.objectives.linkage_tiles import KERNELS
from relscape.protocols import FloatArray, SparseArray
from relscape.threads import one_thread

__all__ = ["log_incoming", "place_newcomers"]

NEAREST_STARTS = 3
MOST_STEPS = 300
BLOCK_ENTRIES = 2_000_000
_FLAT = 1e-6  # of a gradient, on a map whose kernel has width 1
_ARMIJO = 1e-4
_SHORTEST = 1e-10


def place_newcomers(
    H: FloatArray, q: FloatArray | SparseArray, kernel: str = "cauchy"
) -> tuple[FloatArray, FloatArray]:
    """Find places of new documents.

    There may be several valleys: each document walks downhill from the mean place of the old ones, weighted
    by its probabilities, and from those of the three most probable; the lowest end counts.

    Parameters
    ----------
    H : array of shape (n, k)
        Places of the old documents.
    q : array or sparse array of shape (m, n)
        Content probabilities of the new ones; rows sum to 1.
    kernel : {"cauchy", "gaussian"}

    Returns
    -------
    places : array of shape (m, k)
    divergences : array of shape (m,)
        What is left of Σ_j q_j log(q_j/p_j).
    """
    _check(kernel)
    H = np.asarray(H, dtype=np.float64)
    m, n = q.shape
    if n != len(H):
        raise DataError(f"probabilities of {n} documents, but {len(H)} places; give one column a document.")
    centre = H.mean(axis=0)
    places, divergences = np.empty((m, H.shape[1])), np.empty(m)
    with one_thread():
        for block, rows in _blocks(q, n):
            starts = _starts(H - centre, rows)
            targets = np.repeat(rows, starts.shape[1], axis=0)
            ends, values = _descend(H - centre, targets, starts.reshape(-1, H.shape[1]), kernel)
            values = values.reshape(len(rows), -1)
            best = values.argmin(axis=1)
            everyone = np.arange(len(rows))
            places[block] = centre + ends.reshape(starts.shape)[everyone, best]
            divergences[block] = values[everyone, best] + xlogy(rows, rows).sum(axis=1)
    return places, np.maximum(divergences, 0.0)


def log_incoming(H: FloatArray, normalisers: FloatArray, h: FloatArray, kernel: str = "cauchy") -> FloatArray:
    """Give the log probability that an old document links to a new one, were it the only new one.

    Logarithms tell far documents apart whose probabilities are too small for any number.

    Parameters
    ----------
    H : array of shape (n, k)
    normalisers : array of shape (n,)
        Sums Z of the old documents' kernels; their logarithms for the Gaussian one.
    h : array of shape (m, k)
        Places of new documents.
    kernel : {"cauchy", "gaussian"}

    Returns
    -------
    logs : array of shape (m, n)
        log(w_i/(Z_i + w_i)).
    """
    _check(kernel)
    squares = _squares(np.asarray(h, dtype=np.float64), np.asarray(H, dtype=np.float64))
    if kernel == "cauchy":
        return np.asarray(-np.log1p(normalisers * (1.0 + squares)))
    return np.asarray(log_expit(-(normalisers + squares)))


def _check(kernel: str) -> None:
    if kernel not in KERNELS:
        raise UnknownNameError("kernel", kernel, KERNELS)


def _blocks(q: FloatArray | SparseArray, n: int) -> Iterator[tuple[slice, FloatArray]]:
    """Walk over some rows of the probabilities at a time, as dense arrays."""
    size = max(1, BLOCK_ENTRIES // ((1 + NEAREST_STARTS) * n))
    table: Any = csr_array(q) if issparse(q) else np.asarray(q, dtype=np.float64)
    for begin in range(0, table.shape[0], size):
        block = slice(begin, min(begin + size, table.shape[0]))
        rows = table[block]
        yield block, rows.toarray() if issparse(rows) else rows


def _starts(H: FloatArray, rows: FloatArray) -> FloatArray:
    nearest = np.argsort(-rows, axis=1, kind="stable")[:, :NEAREST_STARTS]
    return np.concatenate([(rows @ H)[:, None], H[nearest]], axis=1)


def _squares(h: FloatArray, H: FloatArray) -> FloatArray:
    centre = H.mean(axis=0)
    one, other = h - centre, H - centre
    squares = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1) - 2.0 * one @ other.T
    return np.asarray(np.maximum(squares, 0.0))


def _value_and_gradient(
    H: FloatArray, q: FloatArray, h: FloatArray, kernel: str
) -> tuple[FloatArray, FloatArray]:
    """Give Σ_j q_j (−log p_j) of every row, and its gradient 2 Σ_j (q_j − p_j) f_j (h − h_j)."""
    squares = _squares(h, H)
    if kernel == "cauchy":
        slopes = 1.0 / (1.0 + squares)
        masses = slopes.sum(axis=1)
        values = np.einsum("ij,ij->i", q, np.log1p(squares)) + np.log(masses)
        strengths = (q - slopes / masses[:, None]) * slopes
    else:
        logs = logsumexp(-squares, axis=1)
        values = np.einsum("ij,ij->i", q, squares) + logs
        strengths = q - np.exp(-squares - logs[:, None])
    return values, 2.0 * (strengths.sum(axis=1)[:, None] * h - strengths @ H)


def _descend(H: FloatArray, q: FloatArray, start: FloatArray, kernel: str) -> tuple[FloatArray, FloatArray]:
    """Walk downhill from many places at once, each with steps of its own.

    A step has the length of Barzilai and Borwein (1988), as the last change of the gradient suggests, and is
    halved until the value falls enough. Who stands on flat ground, or finds nothing lower, stays.
    """
    ends = start.copy()
    values, gradients = _value_and_gradient(H, q, ends, kernel)
    lengths = np.ones(len(ends))
    walking = np.arange(len(ends))
    for _ in range(MOST_STEPS):
        steep = (gradients[walking] ** 2).sum(axis=1)
        alive = (steep > _FLAT**2) & (lengths[walking] > _SHORTEST)
        walking, steep = walking[alive], steep[alive]
        if walking.size == 0:
            break
        tried = ends[walking] - lengths[walking, None] * gradients[walking]
        found, slopes = _value_and_gradient(H, q[walking], tried, kernel)
        lower = found <= values[walking] - _ARMIJO * lengths[walking] * steep
        lengths[walking[~lower]] *= 0.5
        moved = walking[lower]
        paces, changes = tried[lower] - ends[moved], slopes[lower] - gradients[moved]
        ends[moved], values[moved], gradients[moved] = tried[lower], found[lower], slopes[lower]
        lengths[moved] = _pace(paces, changes, lengths[moved])
    return ends, values


def _pace(paces: FloatArray, changes: FloatArray, lengths: FloatArray) -> FloatArray:
    """Give the next step's length; where the ground curves downward, twice the last one."""
    curved = (paces * changes).sum(axis=1)
    suggested = np.divide((paces**2).sum(axis=1), curved, out=2.0 * lengths, where=curved > 0)
    return np.asarray(np.clip(suggested, 0.1 * lengths, 10.0 * lengths))
