"""LFM: bilinear forms made of shared factors, E = −Σ_j α_j p_j q_j with p = U'e_h, q = V'e_t.

A relation's row holds α; shared are U, then V (k × s each).
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import ALLOCATING, LOOP
from relscape.objectives.energies.rows import add_part, dot
from relscape.objectives.energies.starting import glorot, unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["LFM"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities of length 1, factors and their weights after Glorot."""
    rank = sizes.rank or sizes.k
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(entities, unit_rows(sizes.n_relations, rank, rng), glorot((2, sizes.k, rank), rng))


@njit(**ALLOCATING)
def _factors(E, R, S, h, t):  # type: ignore[no-untyped-def]
    """Give U'e_h and V'e_t."""
    k, s = E.shape[1], R.shape[1]
    p, q = np.zeros((1, s), E.dtype), np.zeros((1, s), E.dtype)
    for i in range(k):
        add_part(p, 0, 0, E[h, i], S, 0, i * s, s)
        add_part(q, 0, 0, E[t, i], S, 0, (k + i) * s, s)
    return p, q


@njit(**ALLOCATING)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    p, q = _factors(E, R, S, h, t)
    total = 0.0
    for j in range(R.shape[1]):
        total -= R[l, j] * p[0, j] * q[0, j]
    return total


@njit(**ALLOCATING)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    k, s = E.shape[1], R.shape[1]
    p, q = _factors(E, R, S, h, t)
    factor = to.dtype.type(scale)
    for j in range(s):
        to_R[l, j] -= factor * p[0, j] * q[0, j]
        p[0, j], q[0, j] = factor * R[l, j] * p[0, j], factor * R[l, j] * q[0, j]
    for i in range(k):
        at, other = i * s, (k + i) * s
        to[a, i] -= dot(S, 0, at, q, 0, 0, s)
        to[b, i] -= dot(S, 0, other, p, 0, 0, s)
        add_part(to_S, 0, at, -E[h, i], q, 0, 0, s)
        add_part(to_S, 0, other, -E[t, i], p, 0, 0, s)


@njit(**LOOP)
def sweep(model, batch, margin, sums, step):  # type: ignore[no-untyped-def]
    """Walk over a batch."""
    return margin_sweep(value, add_gradient, model, batch, margin, sums, step)


@njit(cache=True, nogil=True)
def values(model, triples, hints):  # type: ignore[no-untyped-def]
    """Give the energies of triples."""
    return values_of(value, model, triples, hints)


@njit(**LOOP)
def pulls(model, triples, hints, weights, sums):  # type: ignore[no-untyped-def]
    """Add up the gradients of triples' energies, each times its weight."""
    pulls_of(add_gradient, model, triples, hints, weights, sums)


def tails_of(params: Params, heads: IntArray, relations: IntArray, settings: Settings) -> FloatArray:
    """Score all tails of queries."""
    E = params["entities"]
    U, V = params["shared"].reshape(2, E.shape[1], -1)
    return -(((params["relations"][relations] * (E[heads] @ U)) @ V.T) @ E.T)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    E = params["entities"]
    U, V = params["shared"].reshape(2, E.shape[1], -1)
    return -(((params["relations"][relations] * (E[tails] @ V)) @ U.T) @ E.T)


LFM = Energy(
    "LFM",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    shared_rule="decay",
    defaults={"lambda2": 0.001},
)
