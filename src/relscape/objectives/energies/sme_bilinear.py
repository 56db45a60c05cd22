"""SME, bilinear: the relation makes the two maps of head and tail by shared third-order tensors.

Mh = Σ_m Wh[:, :, m] r_m and Mt likewise, a = Mh e_h + bh, c = Mt e_t + bt, E = −a'c. Shared are Wh, Wt
(k × d × d each), bh, bt. The maps depend on the relation alone: they are worked out once for a batch's
relations (:func:`expand`), and the gradients of maps go back to tensors and relations once as well
(:func:`pull_back`). Compiled code sees rows of Mh, Mt (k × d each), bh and bt in the place of relations.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import ALLOCATING, LOOP
from relscape.objectives.energies.rows import add_part, dot
from relscape.objectives.energies.scoring import per_relation
from relscape.objectives.energies.starting import glorot, unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["SMEBILINEAR"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1 and tensors after Glorot; biases begin at 0."""
    d = sizes.entity
    entities = unit_rows(sizes.n_entities, d, rng)
    shared = np.concatenate([glorot((2, sizes.k, d, d), rng).ravel(), np.zeros(2 * sizes.k)])
    return assemble(entities, unit_rows(sizes.n_relations, d, rng), shared)


def expand(params: Params, relations: IntArray) -> FloatArray:
    """Work out the maps of relations."""
    tensors, biases = _parts(params)
    r = params["relations"][relations]
    maps = r @ tensors.reshape(-1, r.shape[1]).T
    return np.hstack([maps, np.tile(biases.ravel(), (len(r), 1))])


def pull_back(params: Params, relations: IntArray, gradient: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Turn the gradient for maps and biases into that for relations and shared numbers."""
    tensors, biases = _parts(params)
    r = params["relations"][relations]
    maps = gradient[:, : -biases.size]
    to_shared = np.concatenate([(maps.T @ r).ravel(), gradient[:, -biases.size :].sum(axis=0)])
    return maps @ tensors.reshape(-1, r.shape[1]), to_shared


@njit(**ALLOCATING)
def _sides(E, R, h, l, t):  # type: ignore[no-untyped-def]
    """Give a and c."""
    d = E.shape[1]
    k = R.shape[1] // (2 * d + 2)
    block = k * d
    x, y = np.empty(k, E.dtype), np.empty(k, E.dtype)
    for i in range(k):
        left, right = R[l, 2 * block + i], R[l, 2 * block + k + i]
        x[i] = left + dot(R, l, i * d, E, h, 0, d)
        y[i] = right + dot(R, l, block + i * d, E, t, 0, d)
    return x, y


@njit(**ALLOCATING)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    x, y = _sides(E, R, h, l, t)
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
    x, y = _sides(E, R, h, l, t)
    k = x.shape[0]
    factor = to.dtype.type(scale)
    block = k * d
    for i in range(k):
        left, right = factor * x[i], factor * y[i]
        to_R[l, 2 * block + i] -= right
        to_R[l, 2 * block + k + i] -= left
        m = i * d
        add_part(to, a, 0, -right, R, l, m, d)
        add_part(to, b, 0, -left, R, l, block + m, d)
        add_part(to_R, l, m, -right, E, h, 0, d)
        add_part(to_R, l, block + m, -left, E, t, 0, d)


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
    return _score(params, heads, relations, 0)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return _score(params, tails, relations, 1)


def _score(params: Params, entities: IntArray, relations: IntArray, side: int) -> FloatArray:
    """Multiply the known side (0 head, 1 tail) with all candidates on the other."""
    E, (_, biases) = params["entities"], _parts(params)
    found = np.empty((len(entities), len(E)), dtype=E.dtype)
    for l, places in per_relation(relations):
        maps = expand(params, np.array([l]))[0, : -biases.size].reshape(2, biases.shape[1], -1)
        known = E[entities[places]] @ maps[side].T + biases[side]
        found[places] = -((known @ maps[1 - side]) @ E.T) - (known @ biases[1 - side])[:, None]
    return found


def _parts(params: Params) -> tuple[FloatArray, FloatArray]:
    """Give the two tensors (2 × k × d × d) and the two biases (2 × k)."""
    d, shared = params["entities"].shape[1], params["shared"][0]
    k = shared.size // (2 * d * d + 2)
    return shared[: 2 * k * d * d].reshape(2, k, d, d), shared[2 * k * d * d :].reshape(2, k)


SMEBILINEAR = Energy(
    "SMEBilinear",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    expand=expand,
    pull_back=pull_back,
)
