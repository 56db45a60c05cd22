"""Where the documents of a network are before training."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import LinearOperator

from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.solvers.spectral import truncated_svd

__all__ = ["INITS", "first_places"]

INITS = ("auto", "spectral", "random")
_JITTER = 1e-3  # of the spread; keeps documents of the same contents and links from staying together
_TOLERANCE = 1e-4
_ROUNDING = 1e-12


def first_places(
    contents: FloatArray | SparseArray | None,
    pairs: IntArray,
    n: int,
    k: int,
    init: str,
    rng: np.random.Generator,
) -> FloatArray:
    """Place n documents in k dimensions, with a mean square of 2/k a coordinate.

    "random" draws them uniformly between ±√(6/k). "spectral" puts them on the leading eigenvectors of the
    random walk on a graph in which a document goes to its neighbours by contents and to its links with
    probability one half each; "auto" does so where there are contents. Where there are no such vectors, as
    when every document is as near to every other, places are random.
    """
    bound = np.sqrt(6.0 / k)
    drawn = rng.uniform(-bound, bound, (n, k))
    if init == "random" or (init == "auto" and contents is None):
        return drawn
    places = _walk_vectors(_graph(contents, pairs, n), min(k, n - 2), rng)
    if not places.any():
        return drawn
    places *= np.sqrt(2.0 / k / np.mean(places**2))
    start = _JITTER * drawn
    start[:, : places.shape[1]] += places
    return start


def _graph(contents: FloatArray | SparseArray | None, pairs: IntArray, n: int) -> FloatArray | SparseArray:
    """Join content probabilities and links, either way, each worth 1 a document that has them; symmetric."""
    table = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n))
    either = table + table.T
    counts = np.maximum(np.asarray(either.sum(axis=1)), 1.0)
    walk = csr_array(either.multiply(1.0 / counts[:, None]))
    if contents is None:
        return csr_array(walk + walk.T)
    both = walk + contents
    return csr_array(both + both.T) if issparse(both) else np.asarray(both + both.T)


def _walk_vectors(graph: FloatArray | SparseArray, k: int, rng: np.random.Generator) -> FloatArray:
    """Give the k leading eigenvectors of the walk on a graph, the constant one left out, by their values."""
    n = graph.shape[0]
    roots = np.sqrt(np.maximum(np.asarray(graph.sum(axis=1)), np.finfo(float).tiny))[:, None]

    def step(vectors: FloatArray) -> FloatArray:
        """Stay or walk, evenly: all eigenvalues are then at least 0, and singular values the same."""
        columns = np.asarray(vectors).reshape(n, -1)
        return np.asarray(0.5 * (columns + (graph @ (columns / roots)) / roots))

    operator = LinearOperator((n, n), matvec=step, rmatvec=step, matmat=step, rmatmat=step, dtype=np.float64)
    found = truncated_svd(operator, k + 1, rng, tolerance=_TOLERANCE)
    strengths = 2.0 * found.values[1:] - 1.0
    strengths[strengths < _ROUNDING] = 0.0
    return np.asarray(found.U[:, 1:] / roots * strengths)
