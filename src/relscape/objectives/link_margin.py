"""The link part of a network's cost: a margin between documents that are linked to and those that are not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from relscape.protocols import FloatArray, IntArray

__all__ = ["LinkTerms", "link_terms"]


class LinkTerms(NamedTuple):
    """What some triples (i, j, l) add to the cost n · mean [p_il − p_ij + margin]₊.

    ``value``; ``active_share``, that of triples whose bracket is positive; ``mean_link_probability``, that of
    p_ij; ``gradient`` (n × k), in which the normalisers are constants; ``row_weights`` (n), the remaining
    part: how much the derivatives of the logarithms of the normalisers count, with the opposite sign.
    """

    value: float
    active_share: float
    mean_link_probability: float
    gradient: FloatArray
    row_weights: FloatArray


def link_terms(
    H: FloatArray, normalisers: FloatArray, triples: IntArray, margin: float, kernel: str
) -> LinkTerms:
    """Compare the probabilities of every triple.

    Parameters
    ----------
    H : array of shape (n, k)
    normalisers : array of shape (n,)
        The sums of the kernel; their logarithms for the Gaussian one.
    triples : array of shape (T, 3)
        Documents i, j, l: a link from i to j, none from i to l. None of them: everything is zero.
    margin : float
    kernel : {"cauchy", "gaussian"}
    """
    places = np.ascontiguousarray(H, dtype=np.float64)
    gradient, row_weights = np.zeros(places.shape), np.zeros(len(places))
    count = len(triples)
    if count == 0:
        return LinkTerms(0.0, 0.0, 0.0, gradient, row_weights)
    scale = len(places) / count
    total, active, linked = _compare(
        places,
        np.asarray(normalisers, dtype=np.float64),
        np.ascontiguousarray(triples, dtype=np.int64),
        margin,
        kernel == "cauchy",
        scale,
        gradient,
        row_weights,
    )
    return LinkTerms(scale * total, active / count, linked / count, gradient, row_weights)


@njit(cache=True)
def _probability(H, i, j, normaliser, cauchy):  # type: ignore[no-untyped-def]
    """Give p_ij and −d log w / d d, w being the kernel."""
    square = 0.0
    for a in range(H.shape[1]):
        gap = H[i, a] - H[j, a]
        square += gap * gap
    if cauchy:
        slope = 1.0 / (1.0 + square)
        return slope / normaliser, slope
    return np.exp(-square - normaliser), 1.0


@njit(cache=True)
def _pull(H, i, j, strength, gradient):  # type: ignore[no-untyped-def]
    for a in range(H.shape[1]):
        force = strength * (H[i, a] - H[j, a])
        gradient[i, a] += force
        gradient[j, a] -= force


@njit(cache=True)
def _compare(H, normalisers, triples, margin, cauchy, scale, gradient, row_weights):  # type: ignore[no-untyped-def]
    total, active, linked = 0.0, 0, 0.0
    for t in range(triples.shape[0]):
        i, j, other = triples[t]
        p_link, slope_link = _probability(H, i, j, normalisers[i], cauchy)
        p_other, slope_other = _probability(H, i, other, normalisers[i], cauchy)
        linked += p_link
        bracket = p_other - p_link + margin
        if bracket > 0.0:
            total += bracket
            active += 1
            row_weights[i] += scale * (p_other - p_link)
            _pull(H, i, j, 2.0 * scale * slope_link * p_link, gradient)
            _pull(H, i, other, -2.0 * scale * slope_other * p_other, gradient)
    return total, active, linked
