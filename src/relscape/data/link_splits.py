"""Holding out links, or documents with all their links, to see how well they are predicted."""

from __future__ import annotations

import numpy as np

from relscape.errors import DataError, ParameterError
from relscape.protocols import IntArray

__all__ = ["hold_out_documents", "hold_out_links"]


def hold_out_links(
    pairs: IntArray,
    share: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    undirected: bool = False,
) -> tuple[IntArray, IntArray]:
    """Deal links at random into those to train with and those to test with.

    Parameters
    ----------
    pairs : integer array of shape (L, 2)
        The links: from, to.
    share : float
        The share to test with, between 0 and 1; at least one link goes either way.
    random_state : int, Generator or None
        Draws them.
    undirected : bool
        Whether i to j and j to i are one link, and go together. Otherwise a network whose links go both ways
        gives its test links away: most of them are there to train with, the other way round.

    Returns
    -------
    train, test : arrays of shape (·, 2)
        In the order they came.

    Examples
    --------
    >>> both_ways = np.array([[0, 1], [1, 0], [1, 2], [2, 1]])
    >>> train, test = hold_out_links(both_ways, 0.5, random_state=0, undirected=True)
    >>> train.tolist(), test.tolist()
    ([[0, 1], [1, 0]], [[1, 2], [2, 1]])
    """
    pairs = np.asarray(pairs)
    links, numbers = pairs, np.arange(len(pairs))
    if undirected and len(pairs):
        links, numbers = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    if len(links) < 2:
        raise DataError(f"there are {len(links)} links; at least 2 are needed to hold one out.")
    held_out = np.isin(numbers.ravel(), _drawn(len(links), share, random_state))
    return pairs[~held_out], pairs[held_out]


def hold_out_documents(
    pairs: IntArray, n: int, share: float = 0.1, random_state: int | np.random.Generator | None = None
) -> tuple[IntArray, IntArray, IntArray]:
    """Draw documents and test with every link from or to one of them.

    Parameters
    ----------
    pairs : integer array of shape (L, 2)
        The links: from, to.
    n : int
        How many documents there are.
    share : float
        The share of documents to draw, between 0 and 1; at least one.
    random_state : int, Generator or None
        Draws them.

    Returns
    -------
    train, test : arrays of shape (·, 2)
        Links in the order they came; none of train touches a document that was drawn.
    documents : array
        Those that were drawn, ascending.
    """
    pairs = np.asarray(pairs)
    documents = np.sort(_drawn(n, share, random_state))
    touched = np.isin(pairs, documents).any(axis=1)
    if not touched.any() or touched.all():
        raise DataError(
            f"the {len(documents)} documents drawn have {touched.sum()} of {len(pairs)} links, so there are "
            "none to test or to train with; choose another share or random_state."
        )
    return pairs[~touched], pairs[touched], documents


def _drawn(count: int, share: float, random_state: int | np.random.Generator | None) -> IntArray:
    if not 0 < share < 1:
        raise ParameterError(f"share={share!r}: expected a number between 0 and 1.")
    held_out = min(max(round(share * count), 1), count - 1)
    return np.random.default_rng(random_state).choice(count, held_out, replace=False)
