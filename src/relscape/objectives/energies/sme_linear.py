"""SME, linear: head and tail each meet the relation in a shared map, and the two results are multiplied.

a = Wh1 e_h + Wh2 r + bh, c = Wt1 e_t + Wt2 r + bt, E = −a'c. Shared are Wh1, Wh2, Wt1, Wt2 (k × d each), bh,
bt.
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

__all__ = ["SMELINEAR"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1 and maps after Glorot; biases begin at 0."""
    d = sizes.entity
    entities = unit_rows(sizes.n_entities, d, rng)
    shared = np.concatenate([glorot((4, sizes.k, d), rng).ravel(), np.zeros(2 * sizes.k)])
    return assemble(entities, unit_rows(sizes.n_relations, d, rng), shared)


@njit(**ALLOCATING)
def _sides(E, R, S, h, l, t):  # type: ignore[no-untyped-def]
    """Give a and c."""
    d = E.shape[1]
    k = S.shape[1] // (4 * d + 2)
    block = k * d
    x, y = np.empty(k, E.dtype), np.empty(k, E.dtype)
    for i in range(k):
        left, right = S[0, 4 * block + i], S[0, 4 * block + k + i]
        m = i * d
        left += dot(S, 0, m, E, h, 0, d) + dot(S, 0, block + m, R, l, 0, d)
        right += dot(S, 0, 2 * block + m, E, t, 0, d) + dot(S, 0, 3 * block + m, R, l, 0, d)
        x[i], y[i] = left, right
    return x, y


@njit(**ALLOCATING)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    x, y = _sides(E, R, S, h, l, t)
    total = 0.0
    for i in range(x.shape[0]):
        total -= x[i] * y[i]
    return total


@njit(**ALLOCATING)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    d = E.shape[1]
    x, y = _sides(E, R, S, h, l, t)
    k = x.shape[0]
    factor = to.dtype.type(scale)
    block = k * d
    for i in range(k):
        left, right = factor * x[i], factor * y[i]
        to_S[0, 4 * block + i] -= right
        to_S[0, 4 * block + k + i] -= left
        m = i * d
        add_part(to, a, 0, -right, S, 0, m, d)
        add_part(to, b, 0, -left, S, 0, 2 * block + m, d)
        add_part(to_R, l, 0, -right, S, 0, block + m, d)
        add_part(to_R, l, 0, -left, S, 0, 3 * block + m, d)
        add_part(to_S, 0, m, -right, E, h, 0, d)
        add_part(to_S, 0, block + m, -right, R, l, 0, d)
        add_part(to_S, 0, 2 * block + m, -left, E, t, 0, d)
        add_part(to_S, 0, 3 * block + m, -left, R, l, 0, d)


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
    W, b = _parts(params)
    r = params["relations"][relations]
    x = E[heads] @ W[0].T + r @ W[1].T + b[0]
    return np.asarray(-((x @ W[2]) @ E.T) - np.einsum("ij,ij->i", x, r @ W[3].T + b[1])[:, None])


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    E = params["entities"]
    W, b = _parts(params)
    r = params["relations"][relations]
    y = E[tails] @ W[2].T + r @ W[3].T + b[1]
    return np.asarray(-((y @ W[0]) @ E.T) - np.einsum("ij,ij->i", y, r @ W[1].T + b[0])[:, None])


def _parts(params: Params) -> tuple[FloatArray, FloatArray]:
    """Give the four maps (4 × k × d) and the two biases (2 × k)."""
    d, shared = params["entities"].shape[1], params["shared"][0]
    k = shared.size // (4 * d + 2)
    return shared[: 4 * k * d].reshape(4, k, d), shared[4 * k * d :].reshape(2, k)


SMELINEAR = Energy(
    "SMELinear",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
)
