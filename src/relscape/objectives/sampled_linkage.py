"""The cost of a document network from samples, where there are too many documents to look at all pairs.

Every document sees its near ones exactly, those that its contents or its links tie it to in either direction,
and of all others a sample, which stands for them (specification of the document network, section 8). A sample
is drawn for all documents at once: they are put in a random order on a ring, and each sees those that follow
and precede it by the same few random steps. So every other is equally likely, nobody is seen twice, and who
is seen sees back: each document sums up its own forces, and the number of threads never changes a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from scipy.sparse import coo_array, csr_array

from relscape.errors import DataError, ParameterError
from relscape.objectives.link_margin import link_terms
from relscape.objectives.linkage import LinkageValue, check_linkage, linkage_value
from relscape.objectives.neighbour import information
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["SampledLinkage"]

REMEMBERED = 0.9
BLOCKS = 64
_FAR = 1e30  # the squared distance to nobody
# Flags of float arithmetic: sums may be reordered so that they run on vector units.
_SUMS = {"reassoc", "contract", "nsz"}


class SampledLinkage:
    """The cost of :class:`~relscape.objectives.linkage.Linkage`, normalisers and repulsion from samples.

    Normalisers of documents that do not see all the others are averaged over calls, an older one counting
    nine tenths of the next. The error falls with the number of samples; when all others are seen, it is zero.

    Parameters
    ----------
    contents : sparse array of shape (n, n)
        Content probabilities; without any entries where only links count.
    pairs : array of shape (L, 2)
        The links.
    content_weight, margin, kernel
        As in ``Linkage``.
    samples : int
        How many others each document sees at a call, about 100 to 500.
    random_state : numpy.random.Generator or int, optional
    """

    def __init__(
        self,
        contents: SparseArray,
        pairs: IntArray,
        content_weight: float,
        margin: float,
        kernel: str = "cauchy",
        samples: int = 200,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        check_linkage(contents, content_weight, margin, kernel)
        if samples < 1:
            raise ParameterError(f"samples={samples}: a document has to see at least 1 other.")
        self.margin, self.kernel, self.samples = margin, kernel, samples
        self.n = int(contents.shape[0])
        self._rng = np.random.default_rng(random_state)
        self._share = content_weight / (self.n - 1)
        self._constant = self._share * information(contents)
        self._near = _ties(csr_array(contents), np.asarray(pairs), self._share)
        self._average: FloatArray | None = None

    def value_and_gradient_of(self, H: FloatArray, triples: IntArray) -> tuple[LinkageValue, FloatArray]:
        """Give the cost made of these triples (T × 3: i, j, l) and of all contents, and its gradient."""
        seen, fresh, scales = self._look(H)
        normalisers = self._averaged(fresh, scales)
        links = link_terms(H, normalisers, triples, self.margin, self.kernel)
        weights = links.row_weights - self._share
        cauchy = self.kernel == "cauchy"
        factors = weights / normalisers if cauchy else weights
        forces, energies = np.zeros((self.n, H.shape[1])), np.zeros(self.n)
        _push(*seen, cauchy, factors, scales, normalisers, self._near.data, forces, energies)
        energy = self._constant + 0.5 * float(energies.sum())
        value = linkage_value(links, normalisers, self.kernel, self._share, energy)
        return value, links.gradient + 2.0 * forces

    def _look(self, H: FloatArray) -> tuple[tuple[Any, ...], FloatArray, FloatArray]:
        """Draw a sample: who sees whom, the normalisers, and how many others each one seen stands for."""
        if len(H) != self.n:
            raise DataError(f"there are {len(H)} places for {self.n} documents; give one place each.")
        steps = 1 + self._rng.permutation(self.n // 2)[: -(-self.samples // 2)]
        steps = np.unique(np.concatenate([steps, self.n - steps]))
        order = self._rng.permutation(self.n)
        spot = np.empty(self.n, dtype=np.int64)
        spot[order] = np.arange(self.n)
        slots = np.full(self.n, -1)
        slots[steps] = np.arange(steps.size)
        places = np.ascontiguousarray(H, dtype=np.float64)
        seen = (places, places[order], order, spot, steps, slots, self._near.indptr, self._near.indices)
        normalisers, scales = np.empty(self.n), np.empty(self.n)
        _sum_kernels(*seen, self.kernel == "cauchy", normalisers, scales)
        return seen, normalisers, scales

    def _averaged(self, fresh: FloatArray, scales: FloatArray) -> FloatArray:
        if self._average is None:
            self._average = fresh
        elif self.kernel == "cauchy":
            self._average = REMEMBERED * self._average + (1.0 - REMEMBERED) * fresh
        else:
            older, newer = np.log(REMEMBERED), np.log1p(-REMEMBERED)
            self._average = np.logaddexp(older + self._average, newer + fresh)
        # Where everybody was seen there is nothing to smooth.
        self._average = np.where(scales > 1.0, self._average, fresh)
        return self._average


def _ties(contents: SparseArray, pairs: IntArray, share: float) -> SparseArray:
    """Give the symmetric graph of near documents: what the contents pull, 0 where there is but a link."""
    table = coo_array(contents)
    rows, columns = table.coords
    sources, targets = pairs[:, 0], pairs[:, 1]
    pulls = share * table.data
    no_pulls = np.zeros(len(pairs))
    graph = csr_array(
        (
            np.concatenate([pulls, pulls, no_pulls, no_pulls]),
            (
                np.concatenate([rows, columns, sources, targets]),
                np.concatenate([columns, rows, targets, sources]),
            ),
        ),
        shape=contents.shape,
    )
    graph.sum_duplicates()
    return graph


@njit(cache=True, fastmath=_SUMS)
def _square(places, i, others, j):  # type: ignore[no-untyped-def]
    total = 0.0
    for a in range(places.shape[1]):
        gap = places[i, a] - others[j, a]
        total += gap * gap
    return total


@njit(cache=True)
def _ahead(at, steps, n):  # type: ignore[no-untyped-def]
    """Go so many steps, at most n, along the ring; a remainder would take longer."""
    there = at + steps
    return there - n if there >= n else there


@njit(cache=True)
def _measure(i, places, ring, spot, steps, slots, near, near_squares, far_squares):  # type: ignore[no-untyped-def]
    """Write squared distances to those near and to those sampled, a very long one to who is both.

    Gives how many of the sampled are left.
    """
    n = spot.size
    at = spot[i]
    for s in range(steps.size):
        far_squares[s] = _square(places, i, ring, _ahead(at, steps[s], n))
    left = steps.size
    for e in range(near.size):
        near_squares[e] = _square(places, i, places, near[e])
        slot = slots[_ahead(spot[near[e]], n - at, n)]
        if slot >= 0:
            far_squares[slot] = _FAR
            left -= 1
    return left


@njit(cache=True, fastmath=_SUMS)
def _cauchy_sum(squares):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(squares.size):
        total += 1.0 / (1.0 + squares[j])
    return total


@njit(cache=True)
def _least(squares):  # type: ignore[no-untyped-def]
    least = _FAR
    for j in range(squares.size):
        least = min(least, squares[j])
    return least


@njit(cache=True)
def _gaussian_sum(squares, least):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(squares.size):
        total += np.exp(least - squares[j])
    return total


@njit(cache=True)
def _sum_block(block, places, ring, order, spot, steps, slots, indptr, indices, cauchy, normalisers, scales):  # type: ignore[no-untyped-def]
    n = spot.size
    far = np.empty(steps.size)
    # In the order of the ring, whose next member sees the next of those this one saw.
    for at in range(block * n // BLOCKS, (block + 1) * n // BLOCKS):
        i = order[at]
        who = indices[indptr[i] : indptr[i + 1]]
        near = np.empty(who.size)
        left = _measure(i, places, ring, spot, steps, slots, who, near, far)
        scales[i] = (n - 1 - who.size) / left if left > 0 else 1.0
        if cauchy:
            normalisers[i] = _cauchy_sum(near) + scales[i] * _cauchy_sum(far)
        else:
            least = min(_least(near), _least(far))
            mass = _gaussian_sum(near, least) + scales[i] * _gaussian_sum(far, least)
            normalisers[i] = np.log(mass) - least


@njit(parallel=True, cache=True)
def _sum_kernels(places, ring, order, spot, steps, slots, indptr, indices, cauchy, normalisers, scales):  # type: ignore[no-untyped-def]
    for block in prange(BLOCKS):
        _sum_block(
            np.int64(block),
            places,
            ring,
            order,
            spot,
            steps,
            slots,
            indptr,
            indices,
            cauchy,
            normalisers,
            scales,
        )


@njit(cache=True)
def _strength(square, cauchy, own, own_log, other, other_log):  # type: ignore[no-untyped-def]
    """Give the weights' sum a_i p_ij + a_j p_ji times the slope of the kernel's logarithm."""
    if cauchy:
        w = 1.0 / (1.0 + square)
        return (own + other) * w * w
    return own * np.exp(-square - own_log) + other * np.exp(-square - other_log)


@njit(cache=True, fastmath=_SUMS)
def _add(forces, strength, places, i, others, j):  # type: ignore[no-untyped-def]
    for a in range(places.shape[1]):
        forces[i, a] += strength * (places[i, a] - others[j, a])


@njit(cache=True)
def _push_block(  # type: ignore[no-untyped-def]
    block, places, ring, order, spot, steps, slots, indptr, indices, cauchy, factors, scales, logs, pulls,
    forces, energies,
):  # fmt: skip
    n = spot.size
    far = np.empty(steps.size)
    for at in range(block * n // BLOCKS, (block + 1) * n // BLOCKS):
        i = order[at]
        who = indices[indptr[i] : indptr[i + 1]]
        near = np.empty(who.size)
        _measure(i, places, ring, spot, steps, slots, who, near, far)
        for s in range(steps.size):
            if far[s] < _FAR:
                there = _ahead(at, steps[s], n)
                j = order[there]
                strength = _strength(
                    far[s], cauchy, scales[i] * factors[i], logs[i], scales[j] * factors[j], logs[j]
                )
                _add(forces, strength, places, i, ring, there)
        for e in range(who.size):
            j, pull = who[e], pulls[indptr[i] + e]
            strength = _strength(near[e], cauchy, factors[i], logs[i], factors[j], logs[j])
            if cauchy:
                energies[i] += pull * np.log1p(near[e])
                pull /= 1.0 + near[e]
            else:
                energies[i] += pull * near[e]
            _add(forces, strength + pull, places, i, places, j)


@njit(parallel=True, cache=True)
def _push(  # type: ignore[no-untyped-def]
    places, ring, order, spot, steps, slots, indptr, indices, cauchy, factors, scales, logs, pulls, forces,
    energies,
):  # fmt: skip
    for block in prange(BLOCKS):
        _push_block(
            np.int64(block), places, ring, order, spot, steps, slots, indptr, indices, cauchy, factors,
            scales, logs, pulls, forces, energies,
        )  # fmt: skip
