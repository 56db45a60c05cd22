"""Triples of a document, one it links to and one it does not, which the margin of a network compares."""

from __future__ import annotations

import numpy as np

from relscape.protocols import IntArray

__all__ = ["draw_triples"]


def draw_triples(pairs: IntArray, n: int, rng: np.random.Generator, exclude: bool = True) -> IntArray:
    """Draw for every link (i, j) a document l that i does not link to.

    All such documents are equally likely, and never i itself. They are found by counting, without
    trial and error, so that a document with links to nearly all the others costs no more than any other.

    Parameters
    ----------
    pairs : array of shape (L, 2)
        The links, sorted, each once, none from a document to itself.
    n : int
        How many documents there are.
    rng : numpy.random.Generator
    exclude : bool
        Whether documents that i links to are left out; without, l is any other document.

    Returns
    -------
    triples : array of shape (T, 3)
        Rows i, j, l in the order of the links. A link of a document that links to all the others has
        no such l, and no triple.
    """
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    sources = np.arange(n)
    barred = np.column_stack([sources, sources])
    if exclude:
        barred = np.concatenate([barred, pairs])
        barred = barred[np.lexsort((barred[:, 1], barred[:, 0]))]
    starts = np.searchsorted(barred[:, 0], np.arange(n + 1))
    choices = n - np.diff(starts)
    kept = pairs[choices[pairs[:, 0]] > 0]
    row = kept[:, 0]
    rank = rng.integers(choices[row])
    # Below the t-th barred document of a row lie its number less t free ones; both grow, row by row.
    free_below = barred[:, 1] - (np.arange(len(barred)) - starts[barred[:, 0]])
    passed = np.searchsorted(barred[:, 0] * (n + 1) + free_below, row * (n + 1) + rank, side="right")
    return np.column_stack([kept, rank + passed - starts[row]])
