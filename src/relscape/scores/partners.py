"""Whether the nearest things of another kind are the true partners: NDCG of nearest-tag retrieval.

Gress and Davidson (2014) ask an image with q tags for its q nearest tags on the map, and compare the gains
of these, discounted by their place, with the best there can be. *Guess* answers every image with the tags
most frequent in training, and is what a map has to beat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.errors import DataError, UnknownNameError
from relscape.matrix.neighbours import nearest
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.scores.guidance import guided_places, guided_weights

__all__ = ["guess_ndcg", "ndcg"]

GAINS = ("binary", "rank")

# Neighbours held at once: some 64 MB of distances and indices.
_TILE = 4_000_000


def ndcg(W: Any, rows: Any, columns: Any = None, gains: str = "binary") -> float:
    """Score the nearest columns of every row thing by the gains of those that are its partners.

    A row thing with q partners, the columns where W is above 0, is asked for the q columns nearest to it.
    The one at place r gives its gain divided by log₂(r + 1); their sum is divided by the largest possible,
    and averaged over all row things that have partners.

    Parameters
    ----------
    W : array or sparse array of shape (m, n)
        Above 0 for partners; entries of 0 and below have no gain.
    rows, columns : arrays of shape (m, k) and (n, k)
        Coordinates in one space; things with NaN are left out, as if W had never named them. Without columns
        partners are sought among the other rows.
    gains : str
        "binary": every partner has gain 1. "rank": the entries of W are the gains. Where partners come in an
        order, that of the tags of an image say, give the first of q the entry q, the last 1.

    Returns
    -------
    float
        From 0 to 1. Equally near columns come in their order. Chance, for binary gains and rows of q
        partners among n columns, is q / n.

    Examples
    --------
    >>> ndcg([[1, 0, 1]], [[0.0]], [[1.0], [2.0], [3.0]])
    0.6131471927654584
    >>> ndcg([[1, 1, 0]], [[0.0]], [[1.0], [2.0], [3.0]])
    1.0
    """
    weights, left, right = guided_places(W, rows, columns)
    partners = _partners(weights, gains)
    total = 0.0
    for asked, answers in _answers(partners, left, right, columns is None):
        total += _relative_gains(partners, asked, answers)
    return total / int(np.count_nonzero(np.diff(partners.indptr)))


def guess_ndcg(W_train: Any, W_test: Any, gains: str = "binary") -> float:
    """Score the guess that the partners of everything are the columns with most partners in training.

    Parameters
    ----------
    W_train, W_test : arrays or sparse arrays of shapes (m, n) and (q, n)
        What is known of row things, and what is asked about others; the same columns.
    gains : str
        As for :func:`ndcg`.

    Returns
    -------
    float
        The score that :func:`ndcg` would give to these answers. Equally frequent columns come in their order.

    Examples
    --------
    >>> guess_ndcg([[1, 0], [1, 0], [0, 1]], [[1, 0], [0, 1]])
    0.5
    """
    known, asked_for = guided_weights(W_train, "W_train"), guided_weights(W_test, "W_test")
    if known.shape[1] != asked_for.shape[1]:
        raise DataError(
            f"W_train has {known.shape[1]} columns and W_test {asked_for.shape[1]}; expected the same ones."
        )
    partners = _partners(asked_for, gains)
    frequency = np.bincount(known.indices[known.data > 0], minlength=known.shape[1])
    order = np.argsort(-frequency, kind="stable")
    total = 0.0
    for asked, q in _equally_many(partners):
        total += _relative_gains(partners, asked, np.broadcast_to(order[:q], (len(asked), q)))
    return total / int(np.count_nonzero(np.diff(partners.indptr)))


def _partners(weights: SparseArray, gains: str) -> SparseArray:
    """Keep the entries above 0, as gains."""
    if gains not in GAINS:
        raise UnknownNameError("rule for gains", gains, GAINS)
    cells = weights.tocoo()
    chosen = cells.data > 0
    if not chosen.any():
        raise DataError(
            "no row thing has a partner, an entry above 0 at a column with coordinates; nothing to score."
        )
    values = cells.data[chosen].astype(np.float64) if gains == "rank" else np.ones(int(chosen.sum()))
    return csr_array((values, tuple(side[chosen] for side in cells.coords)), shape=weights.shape)


def _equally_many(partners: SparseArray) -> Iterator[tuple[IntArray, int]]:
    """Walk over the rows that have partners, in parts of equally many."""
    counts = np.diff(partners.indptr)
    for q in np.unique(counts[counts > 0]).tolist():
        asked = np.flatnonzero(counts == q)
        step = max(1, _TILE // (q + 1))
        for start in range(0, len(asked), step):
            yield asked[start : start + step], q


def _answers(
    partners: SparseArray, rows: FloatArray, columns: FloatArray, within: bool
) -> Iterator[tuple[IntArray, IntArray]]:
    """Walk over rows and their nearest columns, as many as each has partners; within a kind, other things."""
    for asked, q in _equally_many(partners):
        if not within:
            yield asked, nearest(columns, rows[asked], q)[1]
            continue
        _, found = nearest(columns, rows[asked], q + 1)
        other = found != asked[:, None]
        # Where enough things share its place, a thing is not in its own list, and the last one goes.
        other[other.all(axis=1), -1] = False
        yield asked, found[other].reshape(len(asked), q)


def _relative_gains(partners: SparseArray, asked: IntArray, answers: IntArray) -> float:
    """Sum over rows of equally many partners: the discounted gains of the answers, divided by the best."""
    q = answers.shape[1]
    discounts = 1.0 / np.log2(np.arange(2, q + 2))
    asked_for = partners[asked]
    found = asked_for[np.repeat(np.arange(len(asked)), q), answers.ravel()]
    best = -np.sort(-asked_for.data.reshape(len(asked), q), axis=1)
    gained = np.asarray(found, dtype=np.float64).reshape(len(asked), q)
    return float(((gained @ discounts) / (best @ discounts)).sum())
