"""Products of parts of rows, which the energies with matrices are made of.

A part is an array, the number of a row, and where it begins there. Compiled code looks at every index that
might be negative, for it would then count from the end, and a loop with such a look does not run on vector
units; :func:`place` says that an index is not negative, and makes these loops about six times as fast.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.norms import HELPER

__all__ = ["add_part", "dot", "place"]


@njit(**HELPER)
def place(i):  # type: ignore[no-untyped-def]
    """Say that an index is not negative."""
    return np.uintp(i)


@njit(**HELPER)
def dot(A, a, i, B, b, j, n):  # type: ignore[no-untyped-def]
    """Add up the products of n numbers: of row ``a`` of A from i on, and of row ``b`` of B from j on."""
    found = A.dtype.type(0.0)
    for m in range(n):
        found += A[a, place(i + m)] * B[b, place(j + m)]
    return found


@njit(**HELPER)
def add_part(A, a, i, factor, B, b, j, n):  # type: ignore[no-untyped-def]
    """Add to n numbers of row ``a`` of A from i on ``factor`` times as many of row ``b`` of B from j on."""
    for m in range(n):
        A[a, place(i + m)] += factor * B[b, place(j + m)]
