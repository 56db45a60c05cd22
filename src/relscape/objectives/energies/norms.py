"""The three norms of distance models and their sub-gradients, for compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from relscape.errors import ParameterError

__all__ = [
    "ALLOCATING",
    "FAST",
    "HELPER",
    "L1",
    "L2",
    "L2SQ",
    "LOOP",
    "NORMS",
    "norm_of",
    "norm_tag",
    "signed",
    "slope",
]

# Flags of float arithmetic: sums may be reordered so that they run on vector units, NaN stays NaN.
FAST = {"reassoc", "contract", "arcp", "nsz"}
# How hot code is compiled. Without numba's runtime (_nrt) no references are counted: every count would be an
# atomic operation on a number that all threads share. The price is that such code makes no arrays.
LOOP: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": FAST, "error_model": "numpy", "_nrt": False}
HELPER: dict[str, Any] = {**LOOP, "forceinline": True}
ALLOCATING: dict[str, Any] = {**HELPER, "_nrt": True}
L1, L2, L2SQ = 1, 2, 3
NORMS = {"l1": L1, "l2": L2, "l2sq": L2SQ}


def norm_tag(name: str, allowed: tuple[str, ...] = tuple(NORMS)) -> tuple[int, ...]:
    """Give the tuple by whose length compiled code knows a norm.

    >>> len(norm_tag("l2"))
    2
    """
    if name not in allowed:
        raise ParameterError(f"norm={name!r}: expected one of {', '.join(allowed)}.")
    return (0,) * NORMS[name]


@njit(**HELPER)
def signed(u, size):  # type: ignore[no-untyped-def]
    """Give ``size`` the sign of u, 0 at 0, in a way that runs on vector units."""
    return size if u > 0 else (-size if u < 0 else size - size)


@njit(**HELPER)
def norm_of(total, norm):  # type: ignore[no-untyped-def]
    """Finish a norm whose sum of absolute values (l1) or of squares (l2, l2sq) is known."""
    return np.sqrt(max(total, 0.0)) if len(norm) == L2 else total


@njit(**HELPER)
def slope(total, norm):  # type: ignore[no-untyped-def]
    """Give the factor that turns u into the sub-gradient of l2 or l2sq at u; no direction at u = 0."""
    if len(norm) == L2SQ:
        return 2.0
    return 1.0 / np.sqrt(total) if total > 0.0 else 0.0
