"""How alike documents are by their contents: for every document, probabilities of all the others.

q_ij is proportional to exp(−β_i D_ij) of the squared distances D of the contents (or to 1/(1 + β_i D_ij)),
and β_i is chosen such that the entropy of row i is that of ``perplexity`` equally likely documents. Not every
row can be brought there: where too many others are equally near, or all distances are much alike, a warning
says for how many rows, and the nearest that can be had is used (specification of the document network,
section 3).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numba import njit, prange
from scipy.sparse import csr_array, issparse

from relscape.data.links import FEWEST_DOCUMENTS
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError, listing
from relscape.matrix.calibration import calibrated
from relscape.matrix.knn import neighbours as nearest_others
from relscape.matrix.knn import neighbours_of
from relscape.matrix.pair_distances import ROUNDING, Cloud
from relscape.protocols import BoolArray, FloatArray, IntArray, SparseArray

__all__ = ["EXACT_DOCUMENTS", "content_probabilities", "content_row", "row_normalized"]

EXACT_DOCUMENTS = 4_000  # whose probabilities are kept in full: 128 MB
KERNELS = ("gaussian", "cauchy")
BLOCK_ENTRIES = 4_000_000

_HALVINGS = 200
_CLOSE_ENOUGH = 1e-10
_WIDEST, _NARROWEST = 1e-9, 1e12  # relative to one over the mean distance of a row


def content_probabilities(
    V: Any, perplexity: float = 20.0, kernel: str = "gaussian", neighbours: int | None = None
) -> FloatArray | SparseArray:
    """Give every document probabilities of the others, by how near their contents are.

    Parameters
    ----------
    V : array or sparse array of shape (n, d)
        The contents, such as counts of words; at least three documents.
    perplexity : float
        How many others a document's probabilities are worth, at least 1.
    kernel : {"gaussian", "cauchy"}
        Texts are nearly all equally far from one another, where only the Gaussian kernel can be narrow.
    neighbours : int, optional
        Only so many nearest documents each have probabilities, and the result is sparse; three times the
        perplexity is usual. Without, all others have, of up to 4,000 documents.

    Returns
    -------
    probabilities : array or sparse array of shape (n, n)
        Rows sum to 1; no document has a probability of its own.
    """
    n = int(V.shape[0])
    _check(n, perplexity, kernel)
    if neighbours is None:
        if n > EXACT_DOCUMENTS:
            raise ParameterError(
                f"neighbours=None keeps the probabilities of all pairs of {n} documents; beyond "
                f"{EXACT_DOCUMENTS} choose neighbours={int(np.ceil(3 * perplexity))} or so, the nearest each."
            )
        return _with_diagonal(_calibrated(_all_squares(V), perplexity, kernel))
    distances, found = nearest_others(V, _candidates(neighbours, n - 1))
    return _sparse(_calibrated(distances**2, perplexity, kernel), found, n)


def content_row(
    V: Any, v_new: Any, perplexity: float = 20.0, kernel: str = "gaussian", neighbours: int | None = None
) -> FloatArray | SparseArray:
    """Give new documents probabilities of the old ones; see :func:`content_probabilities`.

    Returns
    -------
    probabilities : array or sparse array of shape (q, n)
        Sparse with ``neighbours``. Rows sum to 1.
    """
    n = int(V.shape[0])
    _check(n, perplexity, kernel)
    if neighbours is not None:
        distances, found = neighbours_of(V, v_new, _candidates(neighbours, n))
        return _sparse(_calibrated(distances**2, perplexity, kernel), found, n)
    cloud, new = _clouds(V, v_new)
    squares = np.empty((new.n, n))
    rows = max(1, BLOCK_ENTRIES // n)
    for begin in range(0, new.n, rows):
        block = slice(begin, min(begin + rows, new.n))
        squares[block] = _cleared(new.rounded_squares(cloud, block), cloud.slack(new, block))
    return _calibrated(squares, perplexity, kernel)


def row_normalized(V: Any) -> Any:
    """Divide every row by its length; rows of zeros stay as they are, sparse stays sparse."""
    table = csr_array(V, dtype=np.float64) if issparse(V) else np.asarray(V, dtype=np.float64)
    return Cloud.of(table, cosine=True).table


def _check(n: int, perplexity: float, kernel: str) -> None:
    if kernel not in KERNELS:
        raise UnknownNameError("kernel of the contents", kernel, KERNELS)
    if not 1 <= perplexity < np.inf:
        raise ParameterError(f"perplexity={perplexity}: a neighbourhood has at least 1 member.")
    if n < FEWEST_DOCUMENTS:
        raise DataError(
            f"there are {n} documents; at least {FEWEST_DOCUMENTS} are needed: with fewer, a document has no "
            "others to choose between."
        )


def _candidates(neighbours: int, others: int) -> int:
    if neighbours < 1:
        raise ParameterError(f"neighbours={neighbours}: a document needs at least 1 neighbour.")
    return min(neighbours, others)


def _clouds(V: Any, v_new: Any) -> tuple[Cloud, Cloud]:
    if issparse(V) != issparse(v_new):
        V, v_new = csr_array(V), csr_array(v_new)
    cloud, new = Cloud.of(V, cosine=False), Cloud.of(v_new, cosine=False)
    if cloud.d != new.d:
        raise DataError(
            f"the new documents have {new.d} features, those of the network {cloud.d}; give the same "
            "features in the same order."
        )
    return cloud, new


def _cleared(squares: FloatArray, slack: FloatArray) -> FloatArray:
    """Take distances that rounding alone makes for none."""
    squares[squares <= slack[:, None]] = 0.0
    return squares


def _all_squares(V: Any) -> FloatArray:
    """Give the squared distances of every document to all the others, itself left out (n × n − 1)."""
    cloud = Cloud.of(V, cosine=False)
    everyone = slice(0, cloud.n)
    squares = _cleared(cloud.rounded_squares(cloud, everyone), cloud.slack(cloud, everyone))
    return squares[~np.eye(cloud.n, dtype=bool)].reshape(cloud.n, cloud.n - 1)


def _with_diagonal(probabilities: FloatArray) -> FloatArray:
    n = len(probabilities)
    full = np.zeros((n, n))
    full[~np.eye(n, dtype=bool)] = probabilities.ravel()
    return full


def _sparse(probabilities: FloatArray, found: IntArray, n: int) -> SparseArray:
    rows, k = found.shape
    graph = csr_array((probabilities.ravel(), found.ravel(), np.arange(0, rows * k + 1, k)), shape=(rows, n))
    graph.sort_indices()
    return graph


def _calibrated(squares: FloatArray, perplexity: float, kernel: str) -> FloatArray:
    """Turn each row of squared distances into probabilities, and warn of rows that cannot be calibrated."""
    candidates = squares.shape[1]
    if perplexity >= candidates:
        return calibrated(squares, perplexity)[0]
    if kernel == "gaussian":
        squares, ties = _tied(squares)
        _warn(
            ties >= perplexity,
            f"at least {perplexity:g} others equally near",
            "these share their probabilities evenly. Documents without contents, or with the same as many "
            "others, are a usual cause",
        )
        return calibrated(squares, perplexity)[0]
    probabilities: FloatArray
    probabilities, reached = _calibrate_cauchy(np.ascontiguousarray(squares), perplexity)
    _warn(
        ~reached,
        f"distances so alike that the Cauchy kernel cannot reach perplexity {perplexity:g}",
        "they get the narrowest probabilities it has; kernel='gaussian' reaches lower",
    )
    return probabilities


def _tied(squares: FloatArray) -> tuple[FloatArray, IntArray]:
    """Make distances that only rounding tells from the smallest of their row equal to it, and count them."""
    nearest = squares.min(axis=1, keepdims=True)
    near = squares <= nearest * (1.0 + ROUNDING)
    return np.where(near, nearest, squares), near.sum(axis=1)


def _warn(rows: BoolArray, fault: str, remedy: str) -> None:
    numbers = np.flatnonzero(rows)
    if numbers.size:
        warnings.warn(
            f"{numbers.size} of {rows.size} documents have {fault} (rows {listing(numbers)}): {remedy}.",
            RelscapeWarning,
            stacklevel=4,
        )


@njit(cache=True)
def _weigh(row, beta, weights):  # type: ignore[no-untyped-def]
    """Fill in probabilities proportional to 1/(1 + beta D) and give their perplexity; infinite beta: 1/D."""
    total = 0.0
    for j in range(row.size):
        if beta < np.inf:
            weights[j] = 1.0 / (1.0 + beta * row[j])
        else:
            weights[j] = 1.0 / row[j]
        total += weights[j]
    entropy = 0.0
    for j in range(row.size):
        weights[j] /= total
        if weights[j] > 0.0:
            entropy -= weights[j] * np.log(weights[j])
    return np.exp(entropy)


@njit(cache=True)
def _narrowest(row, weights):  # type: ignore[no-untyped-def]
    """Give the perplexity of the limit of narrow kernels: coinciding documents evenly, else 1/D."""
    zeros = 0
    for j in range(row.size):
        if row[j] == 0.0:
            zeros += 1
    if zeros == 0:
        return _weigh(row, np.inf, weights)
    for j in range(row.size):
        weights[j] = 1.0 / zeros if row[j] == 0.0 else 0.0
    return np.float64(zeros)


@njit(parallel=True, cache=True)
def _calibrate_cauchy(squares, perplexity):  # type: ignore[no-untyped-def]
    """Halve the range of log beta until a row has its perplexity; say which rows can have it."""
    n = squares.shape[0]
    probabilities = np.empty(squares.shape)
    reached = np.ones(n, np.bool_)
    for i in prange(n):
        if _narrowest(squares[i], probabilities[i]) >= perplexity:
            reached[i] = False
            continue
        scale = 1.0 / squares[i].mean()
        low, high = np.log(_WIDEST * scale), np.log(_NARROWEST * scale)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            found = _weigh(squares[i], np.exp(middle), probabilities[i])
            if abs(found - perplexity) <= _CLOSE_ENOUGH or middle in (low, high):
                break
            if found > perplexity:
                low = middle
            else:
                high = middle
    return probabilities, reached
