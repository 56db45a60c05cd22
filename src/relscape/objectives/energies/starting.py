"""How parameters begin: rows drawn evenly and brought to length 1, matrices after Glorot."""

from __future__ import annotations

import numpy as np

from relscape.protocols import FloatArray

__all__ = ["glorot", "identities", "unit_rows"]


def unit_rows(n: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw n rows of length 1, each coordinate even on (−6/√size, 6/√size) before scaling."""
    bound = 6.0 / np.sqrt(size)
    rows = rng.uniform(-bound, bound, (n, size))
    lengths = np.linalg.norm(rows, axis=1)
    while not lengths.all():
        zero = lengths == 0
        rows[zero] = rng.uniform(-bound, bound, (int(zero.sum()), size))
        lengths = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / lengths[:, None])


def glorot(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Draw matrices (the last two of ``shape``) even on ±√(6 / (rows + columns))."""
    bound = np.sqrt(6.0 / (shape[-2] + shape[-1]))
    return rng.uniform(-bound, bound, shape)


def identities(n: int, rows: int, columns: int) -> FloatArray:
    """Lay n identity matrices (cut or padded with zeros to rows × columns) out flat, one a row."""
    return np.tile(np.eye(rows, columns).ravel(), (n, 1))
