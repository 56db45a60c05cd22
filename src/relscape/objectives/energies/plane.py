"""The plane of two rows, as TransPES sees it: inner products, and the two-by-two system of its projector."""

# ruff: noqa: E741 (l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.norms import HELPER

__all__ = ["ROUGH", "products", "products_of_three", "solve", "square"]

ROUGH = 0.05  # what part is left of a difference whose terms may be rounded


@njit(**HELPER)
def products(E, R, h, l, t):  # type: ignore[no-untyped-def]
    """Give the five inner products in double precision."""
    a, b, c, p, q = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(E.shape[1]):
        head, tail, link = np.float64(E[h, i]), np.float64(E[t, i]), np.float64(R[l, i])
        a += head * head
        b += tail * tail
        c += head * tail
        p += head * link
        q += tail * link
    return a, b, c, p, q


@njit(**HELPER)
def products_of_three(E, R, h, l, t, x, by_x, y, by_y):  # type: ignore[no-untyped-def]
    """Give the five of a triple, and three of each of two more entities: with itself, ``by`` and the link."""
    a, b, c, p, q = 0.0, 0.0, 0.0, 0.0, 0.0
    xx, xb, xr, yy, yb, yr = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(E.shape[1]):
        head, tail, link = np.float64(E[h, i]), np.float64(E[t, i]), np.float64(R[l, i])
        one, two = np.float64(E[x, i]), np.float64(E[y, i])
        a += head * head
        b += tail * tail
        c += head * tail
        p += head * link
        q += tail * link
        xx += one * one
        xb += one * np.float64(E[by_x, i])
        xr += one * link
        yy += two * two
        yb += two * np.float64(E[by_y, i])
        yr += two * link
    return (a, b, c, p, q), (xx, xb, xr), (yy, yb, yr)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def solve(a, b, c, p, q, xi):  # type: ignore[no-untyped-def]
    """Solve (F'F + ξI) x = (p, q) in the order of operations as written."""
    det = (a + xi) * (b + xi) - c * c
    return ((b + xi) * p - c * q) / det, ((a + xi) * q - c * p) / det


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def square(a, b, c, alpha, beta):  # type: ignore[no-untyped-def]
    """Give |α e_h + β e_t|², never below 0."""
    return max(alpha * alpha * a + 2.0 * alpha * beta * c + beta * beta * b, 0.0)
