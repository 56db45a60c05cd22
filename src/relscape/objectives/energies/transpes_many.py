"""TransPES with many candidates shared by a batch: its five inner products are matrix products.

They are taken in the precision of the rows; pairs for which that is too rough are worked out one by one in
double precision. The gradient is made of multiples of the known rows, relations and candidates, so that the
way back is matrix products, too.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from relscape.objectives.energies.base import Pull, Settings
from relscape.objectives.energies.norms import HELPER, norm_of, slope
from relscape.objectives.energies.plane import ROUGH, solve, square
from relscape.protocols import FloatArray

__all__ = ["many_heads", "many_tails"]


def many_tails(
    heads: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as tails, with the way back."""
    return _many(heads, relations, candidates, settings)


def many_heads(
    tails: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    """Score candidates as heads, with the way back: E(h, r, t) = E(t, −r, h)."""
    found, back = _many(tails, -relations, candidates, settings)

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        to_tails, to_relations, to_candidates = back(weights)
        return to_tails, -to_relations, to_candidates

    return found, pull


def _many(
    known: FloatArray, relations: FloatArray, candidates: FloatArray, settings: Settings
) -> tuple[FloatArray, Pull]:
    K, R, C = (np.ascontiguousarray(rows) for rows in (known, relations, candidates))
    products = (
        K @ C.T,
        R @ C.T,
        *(np.einsum("ij,ij->i", *pair, dtype=np.float64) for pair in ((K, K), (C, C), (K, R))),
    )

    def pull(weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        kk, rk, kc, rc, cc = _multiples(*products, K, R, C, *settings, weights)
        to_known = kk[:, None] * K + kc @ C + rk[:, None] * R
        to_relations = rk[:, None] * K + rc @ C
        to_candidates = kc.T @ K + cc.sum(axis=0)[:, None] * C + rc.T @ R
        return to_known, to_relations, to_candidates

    return np.asarray(_energies(*products, K, R, C, *settings)), pull


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _pieces(a, b, c, p, q, xi, norm):  # type: ignore[no-untyped-def]
    """Give the energy of a pair by its five products, and of what multiples its gradient is made.

    They are those of known row and candidate in the gradients of either (three, one of them twice), then
    those of the relation. Last comes whether rounded products are too rough for all this.
    """
    x1, x2 = solve(a, b, c, p, q, xi)
    alpha, beta = 1.0 + x1, x2 - 1.0
    total = square(a, b, c, alpha, beta)
    size = slope(total, norm)
    y1, y2 = solve(a, b, c, size * (alpha * a + beta * c), size * (alpha * c + beta * b), xi)
    both = (a + xi) * (b + xi)
    along = alpha * alpha * a + beta * beta * b
    return (
        norm_of(total, norm),
        size * alpha * alpha - 2.0 * x1 * y1,
        size * alpha * beta - x1 * y2 - x2 * y1,
        size * beta * beta - 2.0 * x2 * y2,
        y1,
        y2,
        (both - c * c < ROUGH * both) | (total < ROUGH * along),
    )


@njit(**HELPER)
def _product(X, x, Y, y):  # type: ignore[no-untyped-def]
    """Multiply two rows in double precision."""
    total = 0.0
    for i in range(X.shape[1]):
        total += np.float64(X[x, i]) * np.float64(Y[y, i])
    return total


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _energies(c, q, own_squares, squares, own, K, R, C, xi, norm):  # type: ignore[no-untyped-def]
    """Give the energies of all known rows (with their relations) and candidates."""
    found = np.empty_like(c)
    for i in prange(c.shape[0]):
        a, p = own_squares[i], own[i]
        for j in range(c.shape[1]):
            value, _, _, _, _, _, rough = _pieces(
                a, squares[j], np.float64(c[i, j]), p, np.float64(q[i, j]), xi, norm
            )
            found[i, j] = -1.0 if rough else value
        for j in range(c.shape[1]):
            if found[i, j] < 0.0:
                cc, qq = _product(K, i, C, j), _product(R, i, C, j)
                found[i, j] = _pieces(a, squares[j], cc, p, qq, xi, norm)[0]
    return found


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _multiples(c, q, own_squares, squares, own, K, R, C, xi, norm, weights):  # type: ignore[no-untyped-def]
    """Give what the rows are multiplied with in the gradient of the weighted sum of energies.

    Of known rows and relations summed over candidates, then for every pair known row with candidate,
    relation with candidate, and candidate with itself.
    """
    kk, rk = np.empty(c.shape[0], c.dtype), np.empty(c.shape[0], c.dtype)
    kc, rc, cc = np.empty_like(c), np.empty_like(c), np.empty_like(c)
    for i in prange(c.shape[0]):
        a, p = own_squares[i], own[i]
        ones, links = np.empty(c.shape[1]), np.empty(c.shape[1])
        roughs = np.empty(c.shape[1], dtype=np.uint8)
        for j in range(c.shape[1]):
            _, one, two, three, y1, y2, rough = _pieces(
                a, squares[j], np.float64(c[i, j]), p, np.float64(q[i, j]), xi, norm
            )
            weight = np.float64(weights[i, j])
            ones[j], links[j], roughs[j] = weight * one, weight * y1, rough
            kc[i, j], cc[i, j], rc[i, j] = weight * two, weight * three, weight * y2
        for j in range(c.shape[1]):
            if roughs[j]:
                _, one, two, three, y1, y2, _ = _pieces(
                    a, squares[j], _product(K, i, C, j), p, _product(R, i, C, j), xi, norm
                )
                weight = np.float64(weights[i, j])
                ones[j], links[j] = weight * one, weight * y1
                kc[i, j], cc[i, j], rc[i, j] = weight * two, weight * three, weight * y2
        kk[i], rk[i] = ones.sum(), links.sum()
    return kk, rk, kc, rc, cc
