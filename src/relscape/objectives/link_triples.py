"""Triples of a document, one it links to and one it does not, which the margin of a network compares."""

from __future__ import annotations

import numpy as np

from relscape.protocols import IntArray

__all__ = ["LinkTriples", "draw_triples"]


class LinkTriples:
    """Links from which triples are drawn again and again.

    For every link (i, j) a document l is drawn that i does not link to. All such documents are equally
    likely, and never i itself. They are found by counting, without trial and error, so that a document with
    links to nearly all the others costs no more than any other; what is counted in is sorted once.

    Parameters
    ----------
    pairs : array of shape (L, 2)
        The links, sorted, each once, none from a document to itself.
    n : int
        How many documents there are.
    exclude : bool
        Whether documents that i links to are left out; without, l is any other document.
    """

    def __init__(self, pairs: IntArray, n: int, exclude: bool = True) -> None:
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        sources = np.arange(n)
        barred = np.column_stack([sources, sources])
        if exclude:
            barred = np.concatenate([barred, pairs])
            barred = barred[np.lexsort((barred[:, 1], barred[:, 0]))]
        starts = np.searchsorted(barred[:, 0], np.arange(n + 1))
        choices = n - np.diff(starts)
        self._kept = pairs[choices[pairs[:, 0]] > 0]
        row = self._kept[:, 0]
        self._choices, self._starts, self._row_keys = choices[row], starts[row], row * (n + 1)
        # Below the t-th barred document of a row lie its number less t free ones; both grow, row by row.
        free_below = barred[:, 1] - (np.arange(len(barred)) - starts[barred[:, 0]])
        self._keys = barred[:, 0] * (n + 1) + free_below

    def draw(self, rng: np.random.Generator) -> IntArray:
        """Draw a triple of every link.

        Returns
        -------
        triples : array of shape (T, 3)
            Rows i, j, l in the order of the links. A link of a document that links to all the others has
            no such l, and no triple.
        """
        rank = rng.integers(self._choices)
        passed = np.searchsorted(self._keys, self._row_keys + rank, side="right")
        return np.column_stack([self._kept, rank + passed - self._starts])


def draw_triples(pairs: IntArray, n: int, rng: np.random.Generator, exclude: bool = True) -> IntArray:
    """Draw triples once; see :class:`LinkTriples`."""
    return LinkTriples(pairs, n, exclude).draw(rng)
