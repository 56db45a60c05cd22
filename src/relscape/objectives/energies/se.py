"""SE: a matrix for heads and one for tails of every relation, u = A e_h − B e_t, E = N(u).

A relation's row holds A, then B (k × k each).
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, pulls_of, values_of
from relscape.objectives.energies.norms import ALLOCATING, L1, LOOP, norm_of, signed, slope
from relscape.objectives.energies.rows import add_part, dot
from relscape.objectives.energies.scoring import distances, per_relation
from relscape.objectives.energies.starting import glorot, unit_rows
from relscape.protocols import FloatArray, IntArray

__all__ = ["SE"]


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities of length 1 and matrices after Glorot."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(
        entities, glorot((sizes.n_relations, 2, sizes.k, sizes.k), rng).reshape(sizes.n_relations, -1)
    )


@njit(**ALLOCATING)
def _images(E, R, h, l, t, norm, u):  # type: ignore[no-untyped-def]
    """Fill u = A e_h − B e_t and sum its absolute values (l1) or squares."""
    k = E.shape[1]
    total = 0.0
    for i in range(k):
        found = dot(R, l, i * k, E, h, 0, k) - dot(R, l, (k + i) * k, E, t, 0, k)
        u[i] = found
        total += abs(found) if len(norm) == L1 else found * found
    return total


@njit(**ALLOCATING)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    return norm_of(_images(E, R, h, l, t, norm, np.empty(E.shape[1], E.dtype)), norm)


@njit(**ALLOCATING)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``."""
    k = E.shape[1]
    u = np.empty(k, E.dtype)
    total = _images(E, R, h, l, t, norm, u)
    if len(norm) != L1:
        scale *= slope(total, norm)
    factor = to.dtype.type(scale)
    for i in range(k):
        s = signed(u[i], factor) if len(norm) == L1 else factor * u[i]
        at, other = i * k, (k + i) * k
        add_part(to, a, 0, s, R, l, at, k)
        add_part(to, b, 0, -s, R, l, other, k)
        add_part(to_R, l, at, s, E, h, 0, k)
        add_part(to_R, l, other, -s, E, t, 0, k)


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
    return _score(params, heads, relations, 0, settings.norm)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return _score(params, tails, relations, 1, settings.norm)


def _score(
    params: Params, entities: IntArray, relations: IntArray, side: int, norm: tuple[int, ...]
) -> FloatArray:
    """Compare images: the known side (0 head, 1 tail) by its matrix, all candidates by the other's."""
    E, k = params["entities"], params["entities"].shape[1]
    found = np.empty((len(entities), len(E)), dtype=E.dtype)
    for l, places in per_relation(relations):
        matrices = params["relations"][l].reshape(2, k, k)
        found[places] = distances(E @ matrices[1 - side].T, E[entities[places]] @ matrices[side].T, norm)
    return found


SE = Energy(
    "SE",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l1", "l2", "l2sq"),
)
