"""Sums over all pairs of documents of a network, tile by tile, for the kernels of its link probabilities.

A tile holds 1 + d of the pairs of two blocks of documents, d being the squared distance on the map, from one
matrix product. A pair of documents is looked at once and counts for both. In round r of as many rounds as
there are blocks, block I meets block r − I (modulo their number): every block meets one other at a time, so
that the meetings of a round can run side by side, and every sum grows in the order of the rounds. The number
of threads never changes a result, and memory is that of the documents and one tile a thread.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from relscape.objectives.gauss_sums import _exp
from relscape.objectives.neighbour_sums import _log
from relscape.protocols import FloatArray
from relscape.threads import one_thread

__all__ = ["KERNELS", "Tiles"]

KERNELS = ("cauchy", "gaussian")
BLOCK = 256  # documents; a tile of single floats fills a quarter of a megabyte

# Flags of float arithmetic: sums may be reordered so that they run on vector units.
_SUMS = {"reassoc", "contract", "nsz"}
_FAR = 1e30  # 1 + d of a document and itself, which are no pair: its kernel vanishes
_NOTHING = np.inf  # the nearest of nobody


class Tiles:
    """All pairs of documents at their places, ready to be summed.

    Parameters
    ----------
    H : array of shape (n, k)
        Places, finite.
    kernel : {"cauchy", "gaussian"}
        1/(1 + d) or exp(−d).
    dtype : type
        In which numbers the tiles are; totals are kept in double precision.
    """

    def __init__(self, H: FloatArray, kernel: str, dtype: type[np.floating]) -> None:
        # Loads the linear algebra that compiled code calls, so that it can be held to one thread.
        import scipy.linalg  # noqa: F401

        self.places = np.asarray(H, dtype=np.float64)
        # Distances lose fewest digits about the centre.
        centred = self.places - self.places.mean(axis=0)
        squares = np.einsum("ij,ij->i", centred, centred)
        ones = np.ones(len(squares))
        # Matrix products are fastest with whole vectors of eight numbers.
        padding = np.zeros((len(squares), -(centred.shape[1] + 2) % 8))
        self.kernel = kernel
        self.blocks = -(-len(squares) // BLOCK)
        # The product of a row of one with a row of the other is 1 + d.
        self.left = np.column_stack([-2.0 * centred, squares, ones, padding]).astype(dtype, order="C")
        self.right = np.column_stack([centred, ones, 1.0 + squares, padding]).astype(dtype, order="C")

    def normalisers(self) -> FloatArray:
        """Sum every document's kernel over all the others; for the Gaussian one, give the logarithms."""
        n = len(self.left)
        with one_thread():
            if self.kernel == "cauchy":
                masses = np.zeros(n)
                _add_masses(self.left, self.right, self.blocks, masses)
                return masses
            nearest, masses = np.full(n, _NOTHING), np.zeros(n)
            _add_log_masses(self.left, self.right, self.blocks, nearest, masses)
        return np.asarray(np.log(masses) - nearest)

    def forces(
        self, normalisers: FloatArray, weights: FloatArray, pulls: FloatArray
    ) -> tuple[FloatArray, float]:
        """Sum up what every document gets from all the others.

        Parameters
        ----------
        normalisers : array of shape (n,)
            What :meth:`normalisers` gave.
        weights : array of shape (n,)
            How much row i of the link probabilities p counts; negative pushes apart.
        pulls : array of shape (n, n), or (0, 0) for none
            A symmetric matrix of weights y without diagonal.

        Returns
        -------
        forces : array of shape (n, k)
            Σ_j (a_i p_ij + a_j p_ji + y_ij) f_ij (h_i − h_j), where f is 1/(1 + d) for the Cauchy kernel
            and 1 for the Gaussian one.
        energy : float
            Σ_{i<j} y_ij (−log w_ij), w being the kernel.
        """
        n = len(self.left)
        sums, energies = np.zeros((n, self.left.shape[1])), np.zeros(n)
        dtype = self.left.dtype
        pulls = np.ascontiguousarray(pulls, dtype=dtype)
        cauchy = self.kernel == "cauchy"
        factors = (weights / normalisers if cauchy else weights).astype(dtype)
        logs = np.zeros(n) if cauchy else normalisers
        with one_thread():
            _add_forces(self.left, self.right, self.blocks, cauchy, factors, logs, pulls, sums, energies)
        k = self.places.shape[1]
        centred = self.right[:, :k].astype(np.float64)
        return sums[:, k, None] * centred - sums[:, :k], float(energies.sum())


@njit(cache=True)
def _meeting(number, turn, blocks):  # type: ignore[no-untyped-def]
    """Give the two blocks of a round's meeting, the lower one first."""
    low = turn // 2 + 1
    first = number if number < low else turn + 1 + number - low
    return first, (turn - first) % blocks


@njit(cache=True)
def _meetings(turn, blocks):  # type: ignore[no-untyped-def]
    return turn // 2 + 1 + (turn + blocks) // 2 - turn


@njit(cache=True)
def _bounds(block, blocks, n):  # type: ignore[no-untyped-def]
    return block * n // blocks, (block + 1) * n // blocks


@njit(cache=True)
def _tile(left, right, first, second, blocks):  # type: ignore[no-untyped-def]
    a, b = _bounds(first, blocks, left.shape[0])
    c, d = _bounds(second, blocks, left.shape[0])
    tile = np.dot(left[a:b], right[c:d].T)
    if first == second:
        for r in range(b - a):
            tile[r, r] = _FAR
    return tile


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _mass_row(row, columns):  # type: ignore[no-untyped-def]
    """Add a row's kernels to the columns, and give their sum."""
    one = row.dtype.type(1)
    total = row.dtype.type(0)
    for j in range(row.size):
        x = row[j] if row[j] > one else one
        w = one / x
        total += w
        columns[j] += w
    return total


@njit(cache=True)
def _masses_of(left, right, first, second, blocks, masses):  # type: ignore[no-untyped-def]
    tile = _tile(left, right, first, second, blocks)
    a, _ = _bounds(first, blocks, left.shape[0])
    c, _ = _bounds(second, blocks, left.shape[0])
    columns = np.zeros(tile.shape[1], tile.dtype)
    for r in range(tile.shape[0]):
        masses[a + r] += _mass_row(tile[r], columns)
    if first != second:
        for j in range(columns.size):
            masses[c + j] += columns[j]


@njit(parallel=True, cache=True)
def _add_masses(left, right, blocks, masses):  # type: ignore[no-untyped-def]
    for turn in range(blocks):
        for number in prange(_meetings(turn, blocks)):
            first, second = _meeting(np.int64(number), turn, blocks)
            _masses_of(left, right, first, second, blocks, masses)


@njit(cache=True, fastmath=_SUMS)
def _least(row, columns):  # type: ignore[no-untyped-def]
    """Lower the columns to a row's entries, and give the row's least entry."""
    least = row[0]
    for j in range(row.size):
        least = row[j] if row[j] < least else least
        columns[j] = row[j] if row[j] < columns[j] else columns[j]
    return least


@njit(cache=True, fastmath=_SUMS)
def _exponential_row(row, least, lowest, columns):  # type: ignore[no-untyped-def]
    """Add a row's exponentials relative to every column's least; give their sum relative to the row's."""
    total = 0.0
    for j in range(row.size):
        total += _exp(np.float64(least - row[j]))
        columns[j] += _exp(np.float64(lowest[j] - row[j]))
    return total


@njit(cache=True)
def _merge(nearest, masses, at, least, total):  # type: ignore[no-untyped-def]
    """Add a sum of exponentials relative to its own least exponent."""
    if least < nearest[at]:
        masses[at] *= np.exp(least - nearest[at])
        nearest[at] = least
    masses[at] += total * np.exp(nearest[at] - least)


@njit(cache=True)
def _log_masses_of(left, right, first, second, blocks, nearest, masses):  # type: ignore[no-untyped-def]
    tile = _tile(left, right, first, second, blocks)
    a, _ = _bounds(first, blocks, left.shape[0])
    c, _ = _bounds(second, blocks, left.shape[0])
    rows, width = tile.shape
    leasts = np.empty(rows, tile.dtype)
    lowest = np.full(width, _FAR, tile.dtype)
    for r in range(rows):
        leasts[r] = _least(tile[r], lowest)
    columns = np.zeros(width)
    for r in range(rows):
        total = _exponential_row(tile[r], leasts[r], lowest, columns)
        if leasts[r] < _FAR:
            _merge(nearest, masses, a + r, np.float64(leasts[r]) - 1.0, total)
    if first != second:
        for j in range(width):
            _merge(nearest, masses, c + j, np.float64(lowest[j]) - 1.0, columns[j])


@njit(parallel=True, cache=True)
def _add_log_masses(left, right, blocks, nearest, masses):  # type: ignore[no-untyped-def]
    for turn in range(blocks):
        for number in prange(_meetings(turn, blocks)):
            first, second = _meeting(np.int64(number), turn, blocks)
            _log_masses_of(left, right, first, second, blocks, nearest, masses)


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _cauchy_row(row, own, factors):  # type: ignore[no-untyped-def]
    one = row.dtype.type(1)
    for j in range(row.size):
        x = row[j] if row[j] > one else one
        w = one / x
        row[j] = (own + factors[j]) * w * w


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _pulled_cauchy_row(row, own, factors, pulls):  # type: ignore[no-untyped-def]
    one = row.dtype.type(1)
    energy = 0.0
    for j in range(row.size):
        x = row[j] if row[j] > one else one
        w = one / x
        energy += pulls[j] * _log(x)
        row[j] = ((own + factors[j]) * w + pulls[j]) * w
    return energy


@njit(cache=True, fastmath=_SUMS)
def _gaussian_row(row, own, log, factors, logs):  # type: ignore[no-untyped-def]
    for j in range(row.size):
        minus = 1.0 - np.float64(row[j])
        row[j] = own * _exp(minus - log) + factors[j] * _exp(minus - logs[j])


@njit(cache=True, fastmath=_SUMS)
def _pulled_gaussian_row(row, own, log, factors, logs, pulls):  # type: ignore[no-untyped-def]
    energy = 0.0
    for j in range(row.size):
        minus = 1.0 - np.float64(row[j])
        energy -= pulls[j] * minus
        row[j] = own * _exp(minus - log) + factors[j] * _exp(minus - logs[j]) + pulls[j]
    return energy


@njit(cache=True)
def _accumulate(sums, begin, part):  # type: ignore[no-untyped-def]
    for r in range(part.shape[0]):
        for a in range(part.shape[1]):
            sums[begin + r, a] += part[r, a]


@njit(cache=True)
def _forces_of(left, right, first, second, blocks, cauchy, factors, logs, pulls, sums, energies):  # type: ignore[no-untyped-def]
    tile = _tile(left, right, first, second, blocks)
    a, b = _bounds(first, blocks, left.shape[0])
    c, d = _bounds(second, blocks, left.shape[0])
    share = 0.5 if first == second else 1.0
    for r in range(b - a):
        i = a + r
        if pulls.size == 0 and cauchy:
            _cauchy_row(tile[r], factors[i], factors[c:d])
        elif pulls.size == 0:
            _gaussian_row(tile[r], factors[i], logs[i], factors[c:d], logs[c:d])
        elif cauchy:
            energies[i] += share * _pulled_cauchy_row(tile[r], factors[i], factors[c:d], pulls[i, c:d])
        else:
            energies[i] += share * _pulled_gaussian_row(
                tile[r], factors[i], logs[i], factors[c:d], logs[c:d], pulls[i, c:d]
            )
    _accumulate(sums, a, np.dot(tile, right[c:d]))
    if first != second:
        _accumulate(sums, c, np.dot(tile.T, right[a:b]))


@njit(parallel=True, cache=True)
def _add_forces(left, right, blocks, cauchy, factors, logs, pulls, sums, energies):  # type: ignore[no-untyped-def]
    for turn in range(blocks):
        for number in prange(_meetings(turn, blocks)):
            first, second = _meeting(np.int64(number), turn, blocks)
            _forces_of(left, right, first, second, blocks, cauchy, factors, logs, pulls, sums, energies)
